// SPDX-License-Identifier: GPL-3.0-or-later
// One machine under check, by itself: reached, logged in to, N2NQ put and started there. N2NQ keeps running until this is destroyed, for
// those who find out whether they reach it. Where it cannot listen for the others it does for that machine alone, which tells the rest.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/host/check_process.h"
#include "app/host/host_pool.h"
#include "app/host/host_report.h"

namespace n2nq::app {

/// What all processes of one check have in common.
struct CheckTerms {
  std::string token;
  int port = 0;  // where N2NQ listens on each machine; 0: any
  std::size_t places = 0;
};

/// Lives on one thread, never blocks it.
class PlaceCheck : public QObject {
  Q_OBJECT
 public:
  /// A lab machine, the `number`-th place of the check, from 1. `pool` lives longer.
  PlaceCheck(HostPool& pool, const CheckTerms& terms, const Host& host, std::size_t number);
  /// This machine; `data_address`: where the others reach it, empty: not known.
  PlaceCheck(HostPool& pool, const CheckTerms& terms, const std::string& data_address, std::size_t number);

  /// ready() follows.
  void begin();
  void renew_lease();
  /// The ways from there to the others are being tried from now on, or have been.
  void note_ways(bool tried);

  const std::string& name() const { return name_; }
  bool is_local() const { return !host_; }
  std::size_t number() const { return number_; }
  bool is_ready() const { return ready_; }
  /// Not before the person has answered what its machine, or one on the way to it, asks for.
  bool waits_for_person() const { return !ready_ && lab_ && lab_->asks(); }
  /// Whether programs can be run there.
  bool runs_programs() const { return runs_programs_; }
  /// Whether it is who is named so as a jump host: by its name or address, and its port. Several may stand behind one address.
  bool is_called(const SshHostConfig& jump) const;
  bool lets_in() const { return lets_in_; }
  /// The jump hosts on the way to it.
  const std::vector<SshHostConfig>& jumps() const { return jumps_; }
  /// Where N2NQ listens there; port 0: it does not run.
  const std::string& address() const { return address_; }
  int port() const { return port_; }
  /// What N2NQ there asks for, and no other one of this check: what answers at its address may be another machine.
  std::string token() const;
  /// Why the others cannot reach it there, as the cell of a way; none: they can be told to try.
  const std::optional<CheckCell>& unreachable() const { return unreachable_; }
  /// Where something listened already at the port that N2NQ was given; empty: nowhere.
  const std::string& taken_address() const { return taken_address_; }
  /// That was N2NQ of this check, under another name of the same machine.
  void note_same_as(const PlaceCheck& other);
  std::unique_ptr<Launcher> launcher() const;
  /// What is not found out here, or not yet, is `checking`.
  const HostReport& report() const { return report_; }

 signals:
  void changed();  // the report
  void sending();  // something of a program has come over
  void ready();    // all but the disk is known
  void asks();     // it waits for the person
 private:
  PlaceCheck(HostPool& pool, const CheckTerms& terms, std::optional<Host> host, std::string name, std::size_t number);
  void on_connected(SshSession& session);
  void on_problem(const SshProblem& problem);
  void look_at_disk();
  void tell_folder(const SshProblem& no_room);
  QString without_name(const QString& why) const;
  void start_broker();
  void launch_broker();
  void on_broker_over(const QString& why);
  void on_broker_hello(const nlohmann::json& hello);
  void become_ready();
  void note_idle();
  void on_sending(const QString& local_file, qint64 sent_bytes, qint64 all_bytes);
  CheckCell& cell(CheckItem item) { return report_.of(item); }

  HostPool& pool_;
  const CheckTerms terms_;
  const std::optional<Host> host_;
  const std::string name_;
  const std::size_t number_;
  std::shared_ptr<LabHost> lab_;
  std::vector<SshHostConfig> jumps_;
  std::unique_ptr<CheckProcess> broker_;
  HostReport report_;
  std::string address_, taken_address_;
  std::optional<CheckCell> unreachable_;
  SshProblem little_staging_;
  QString listen_error_;  // what N2NQ said of the address that it was given
  int port_ = 0;
  bool broker_started_ = false;  // the last one that was launched
  bool ready_ = false, runs_programs_ = false, disk_is_known_ = false, lets_in_ = false, tries_ways_ = false;
};

}  // namespace n2nq::app
