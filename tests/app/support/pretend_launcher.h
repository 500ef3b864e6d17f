// SPDX-License-Identifier: GPL-3.0-or-later
// Pretend processes behind the launcher interface: they speak the control protocol, keep a consistent ledger among each other, and can be
// told to misbehave. No process is started and no clock is read: a run through them takes milliseconds.
#pragma once

#include <QPointer>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "app/control/run_control.h"
#include "app/host/launcher.h"

namespace n2nq::app::testing {

enum class Moment { never, launched, waiting, connected, running, ending };

/// What a pretend process does otherwise than the protocol says.
struct Behaviour {
  Moment dies = Moment::never;   // by SIGSEGV, as soon as it gets there
  Moment exits = Moment::never;  // with code 0 and without having been asked
  bool fails_to_start = false;
  int keeps_back_ms = 0;           // so long it is not given what is written first
  bool answers = true;             // false: reads and says nothing, and does not end on TERM
  bool refuses_to_end = false;     // takes no stop, bye and TERM any more once it runs
  QString host_refuses;            // why the host carries out no TERM and KILL; empty: it does
  bool hears_the_end = true;       // with host_refuses: ends when its input does
  bool outlives_kill = false;      // as what waits for a dead disk
  bool silent_in_traffic = false;  // answers no stats
  int bye_ms = 0;                  // so long after it was told to it ends
  bool bye_is_late = false;        // then it has ended, and what it said last is on its way until the test brings it
  bool ends_by_itself = true;      // broker: false: goes on when all senders have ended
  bool connects = true;            // workers: false: wait for N2NQ for ever
  bool runs_on = false;            // senders: go on until they are stopped
  bool held_back = false;          // senders: all is sent, and N2NQ has accepted one message more whenever they are asked
  QByteArray says_first;           // before its hello
  QByteArray says_as_hello;        // in place of its hello
  QByteArray says_when_running;    // in between
};

class PretendLauncher;

/// What the pretend processes of one run have in common, and what a test wants to know about them.
struct PretendHost {
  std::map<Role, Behaviour> behaviour;
  std::map<Role, QPointer<PretendLauncher>> process;  // the present one of each role
  std::map<Role, std::vector<nlohmann::json>> heard;  // what each role was told, over all its processes
  std::map<Role, int> leases;                         // empty lines
  std::map<Role, int> killed, terminated;
  std::set<Role> paused;
  int alive = 0;
  std::string staging_file;  // of both worker groups; empty: a killed one leaves nothing
  bool salvage_fails = false;
  std::string salvage_error = "no such staging file", salvage_error_code = "files";
  bool salvage_lost_behind_bye = false;     // the link, before its end is seen
  bool salvage_stands_still = false;        // behind its hello
  std::set<std::string> away;               // hosts whose links are cut: what is put there fails, and bringing back waits for the test
  std::set<std::string> asks_nothing;       // hosts that were told to ask a person for nothing any more
  std::set<std::string> unreachable;        // hosts that a launcher never gets to: neither put nor failed
  std::optional<qint64> since_answer_ms;    // a person's
  QString problem;                          // what the factory has against every settings; empty: nothing
  std::function<void()> looked_at_again;    // as a run begins; may be empty
  std::map<Role, std::string> launched_on;  // the host of each role's last launcher
  std::map<Role, QPointer<PretendLauncher>> bringing;  // the one of each role that brings its files
  std::map<Role, QString> brought;          // where to what each role wrote was brought
  std::map<Role, QString> bring_error;      // why it cannot be; empty: it can
  bool brings_when_told = false;            // bring_back is answered by the test
  bool all_here = false;                    // what is waited for is clearing away
  QStringList followed;                     // files that are kept up to date
  QStringList touched;                      // files that are needed
  std::int64_t sent_each = 0;               // messages of each sender, once traffic began

  /// The first thing of this type that the role was told; null when there is none.
  nlohmann::json told(Role role, const std::string& type) const;
  std::size_t times_told(Role role, const std::string& type) const;
};

class PretendLauncher : public Launcher {
  Q_OBJECT
 public:
  PretendLauncher(PretendHost& host, std::string name) : host_(host), name_(std::move(name)) {}
  ~PretendLauncher() override;

  /// Nobody knows them before the file is put.
  QString data_address() const override { return put_ ? QString::fromStdString("address of " + name_) : QString(); }
  QString folder_there(const QString& local_folder) const override { return put_ ? local_folder : QString(); }
  void put_file(const QString& program) override;
  void put_without_asking() override { host_.asks_nothing.insert(name_); }
  std::optional<qint64> since_answer_ms() const override { return host_.since_answer_ms; }
  QString not_reached() const override;
  void start(const QString& program) override;
  void write(const QByteArray& bytes) override;
  void terminate() override;
  void kill() override;
  void end_input() override;
  void pause() override { host_.paused.insert(role_); }
  void resume() override { host_.paused.erase(role_); }
  void bring_back(const QString& local_folder) override;
  void go_on_bringing() override;
  bool was_away() const override { return was_away_; }
  bool all_here() const override { return host_.all_here; }
  void follow(const QString& local_file) override { host_.followed += local_file; }
  void unfollow(const QString& local_file) override { host_.followed.removeAll(local_file); }
  void touch(const QString& path) override { host_.touched += path; }

  void say(const nlohmann::json& object);
  void say_waiting(const char* what_for);
  void say_connected();
  void end_traffic();
  /// Where that is late.
  void bring_bye();
  void lose_link(const QString& why);
  /// Behind bring_back_waits: its host is reached again, or was waited for as long as that is done.
  void end_waiting(bool reached_again);

 private:
  void hear(const nlohmann::json& object);
  void on_configure(const nlohmann::json& configure);
  void make_logs() const;
  void on_start();
  void reach(Moment moment);
  void say_state(const std::string& state);
  void end(int code, int signal);
  void end_before_bye_comes();
  int amount(const char* role) const;
  nlohmann::json stats(std::uint64_t id) const;
  nlohmann::json bye() const;
  const Behaviour& behaviour() const { return host_.behaviour[role_]; }
  bool stands_still() const { return host_.salvage_stands_still && configure_.contains("salvage"); }

  Role role_ = Role::broker;  // known once the program is named
  PretendHost& host_;
  std::string name_;
  bool put_ = false, was_away_ = false;
  QByteArray open_line_, kept_back_;
  bool keeps_back_ = false, has_kept_back_ = false;
  nlohmann::json configure_;
  bool running_ = false;
  bool ended_ = false;
  bool bye_on_its_way_ = false;
};

class PretendFactory : public LauncherFactory {
 public:
  explicit PretendFactory(PretendHost& host) : host_(host) {}
  MakeLauncher launchers_of(const QString& host) override;
  void look_again() override {
    if (host_.looked_at_again) host_.looked_at_again();
  }
 private:
  QString find_problem(const Settings&, const std::set<std::string>&) const override { return host_.problem; }

  PretendHost& host_;
};

}  // namespace n2nq::app::testing
