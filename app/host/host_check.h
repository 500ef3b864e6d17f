// SPDX-License-Identifier: GPL-3.0-or-later
// The check of lab machines: each is connected to, N2NQ is put and started there, and then a receiver on each connects to N2NQ on each
// other. So what is found out is what a run will find: the same programs, the same ports, the same clocks. Nothing of it stays.
//
//   every host, side by side:    reach ─► log in ─► put ─► N2NQ says hello (kernel, cores, load) ─► free disk
//   when all are through:        from each host, one after the other, a receiver to N2NQ on each other (round trip, clock, floor)
#pragma once

#include <QTimer>
#include <functional>
#include <memory>
#include <vector>

#include "app/host/host_pool.h"
#include "app/host/host_report.h"

namespace n2nq::app {

class HostCheck : public HostChecker {
  Q_OBJECT
 public:
  /// `pool` lives longer.
  explicit HostCheck(HostPool& pool, QObject* parent = nullptr);
  ~HostCheck() override;

  void check(const Hosts& hosts, int port) override;
  void cancel() override;
  bool is_checking() const override { return checking_; }
  const HostReports& hosts() const override { return reports_; }
  const PathReports& paths() const override { return paths_; }

 private:
  struct Place;  // a machine under check
  class Helper;  // one process on it

  void begin(Place& place);
  void on_host_problem(Place& place, const SshProblem& problem);
  void start_broker(Place& place);
  void on_broker_hello(Place& place, const nlohmann::json& hello);
  void look_at_disk(Place& place);
  void place_is_ready(Place& place);
  void begin_paths();
  void next_path(Place& from);
  void on_path_message(Place& from, Place& to, const nlohmann::json& message);
  void end_path(Place& from, const CheckCell& cell);
  void finish();
  void fill_rest(CheckState state, const QString& why);
  std::function<bool()> is_now() const;
  HostReport& report(const Place& place);
  CheckCell& cell(const Place& place, CheckItem item);

  HostPool& pool_;
  bool checking_ = false;
  int round_ = 0;  // which check it is
  int port_ = 0;
  std::string token_;
  HostReports reports_;
  PathReports paths_;
  std::vector<std::unique_ptr<Place>> places_;
  QTimer deadline_, lease_;
};

}  // namespace n2nq::app
