// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of RunControl: one run's members, and the steps from its first start to its result.
//
//            first start             barrier                 drained, stop, death
//   idle ───────────────► preparing ─────────► running ──────────────────────────────► ending ───► finished
//                             │    stop, death, connect deadline                          ▲            │
//                             └───────────────────────────────────────────────────────────┘            │ first start of the next run
//                         preparing ◄──────────────────────────────────────────────────────────────────┘
//
//   running: none (messages are sent) ─► drain (all is sent; broker and receivers end by themselves)
//   ending:  senders (told to stop) ─► drain (broker and receivers end by themselves) ─► byes ─► terminate ─► all gone ─► bring_back (what
//            they wrote on other hosts) ─► result
//
// Every step of the ending has a deadline after which the next one begins; steps that do not apply are passed over.
// run_beginning.cpp begins the run and launches its processes, run_connecting.cpp brings them together, run_life.cpp hears what they say,
// starts the traffic and looks at it, run_clocks.cpp passes on what is known of clocks, run_faults.cpp does harm on purpose, run_drain.cpp
// waits for N2NQ behind the last message, run_ending.cpp ends, run_bringing_back.cpp reads back what killed groups had noted and fetches logs.
#pragma once

#include <QElapsedTimer>
#include <QThread>
#include <QTimer>
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/control/live_accumulator.h"
#include "app/control/planned_step.h"
#include "app/control/process_watch.h"
#include "app/control/recovery.h"
#include "app/control/result.h"
#include "app/control/run_record.h"
#include "app/control/sleep_watch.h"
#include "app/host/launcher.h"
#include "app/results/folder_lock.h"
#include "app/settings/host_name.h"

namespace n2nq::app {

enum class Step { none, senders, drain, byes, terminate, bring_back };

/// One role's process within a run.
struct Member {
  MakeLauncher make_launcher;              // of the host that it is on, as it was when it was first launched there in this run
  std::string launched_on;                 // that host's name
  std::unique_ptr<ProcessWatch> watch;     // null: not started in this run
  std::unique_ptr<ProcessWatch> salvager;  // reads back what the killed process has left; null: nothing to read
  std::unique_ptr<QObject> stand_by;       // for what that has left, until it is read back
  QString not_read_back;                   // why it could not, its host being away: tried again when that is reached to fetch logs
  ProcessStatus status;
  ProcessRecord record;
  bool connect_sent = false;
  bool connected = false;
  QElapsedTimer since_launched;  // invalid: it comes back from a fault, and is no start
  std::unique_ptr<QTimer> connecting;  // until it is given up, or in a window what may be wrong is told; null: it is not on its way
  bool start_sent = false;
  bool clocks_first = false;  // receivers: they wait for what is told of the senders' clock before they connect
  std::int64_t clock_said_ns = 0;  // of the run, when its last clock report was made at the earliest
  std::int64_t stood_still_before_ns = 0;  // for how long this bench had stood still in this run when that was read
  std::int64_t gone_ns = 0;        // likewise, when it was seen to be gone; 0: it is not
  bool refused_order = false;  // something that it was told, which ends the run
  nlohmann::json clock_told;  // receivers: what they were told of the senders' clock; null: nothing
  QString listen_error;  // as N2NQ said it; empty: it listens, or has not said anything yet
  std::vector<std::string> faults;  // that this process has told so far: the first hundred
  std::uint64_t faults_left_out = 0;
  bool said_ended = false;
  bool end_asked = false;          // told to say bye, or being killed by this bench
  bool killed_on_purpose = false;  // by a fault: gone, or about to be
  bool restart_wanted = false;     // as soon as it is gone
  std::size_t harm_event = 0;      // the last event that says that it is paused, killed or started again
  bool ran_before = false;         // in this run, and was stopped, and started again
  bool bringing_back = false;
  QString told_waiting;  // as it was said last; empty: its logs come, or it is not their turn
  qint64 brought_bytes = 0, to_bring_bytes = 0;
  int first_row = 1, last_row = 0;

  /// As before its first start. The old watch may be the very one whose signal led here.
  void renew();
  /// So may the old salvager.
  void drop_salvager();
  void take_fault(const std::string& fault);
  /// What it has told of faults goes into its record.
  void keep_faults();
  bool alive() const { return watch && watch->alive(); }
  /// There is, or was, a process of it in this run: it may have left files. It may have been one before a start that did not come to it.
  bool ran() const { return watch && (watch->ran() || record.hello || ran_before); }
  /// Killed by a fault, and it may be started again.
  bool awaits_restart() const { return killed_on_purpose && !alive(); }
  /// What one before it left on a lab machine lies where the host had it then, whatever the hosts file says now.
  bool has_left_files_on(const std::string& host) const { return ran() && host != local_host && host == launched_on; }
  bool salvaging() const { return salvager && salvager->alive(); }
};

struct RunControl::Private {
  Private(RunControl* control, Options given, std::unique_ptr<LauncherFactory> factory);
  ~Private();

  // Beginning
  bool start(Role role);
  bool start_or_go_on(Role role);
  bool begin_run();
  bool take_settings();
  std::set<std::string> settled_hosts(const Settings& next) const;
  void launch(Role role);
  void renew(Role role);
  void follow_log(Role role, int number, bool follow);
  void follow_logs(Role role, bool follow);
  std::unique_ptr<ProcessWatch> make_watch(Role role, const ProcessDeadlines& deadlines);
  nlohmann::json configure_of(Role role, Launcher& launcher) const;
  void watch_signals(Role role, ProcessWatch& watch);

  // Connecting
  void connect_workers();
  bool flows_without_receivers() const;
  bool all_share_a_clock() const;
  void watch_connecting(Role role);
  bool may_be_held_up(std::size_t events_before) const;
  void give_up_connecting();
  void advise_connecting(Role role);
  QString on_host(Role role) const;
  QString advice_to_listen() const;
  QString reach_advice() const;
  QString data_address_name() const;

  // Clocks
  void on_clock(Role role, const ClockMessage& clock);
  void note_clock_ages();
  void tell_clocks();

  // Running
  void on_hello(Role role);
  void on_error(Role role, const ErrorMessage& error);
  void note_broker_now(std::int64_t said_ns);
  void on_state(Role role, const StateMessage& state);
  void update_waiting();
  void try_start();
  std::int64_t lead_ns() const;
  void send_start(Role role);
  void note_records();
  void pull();
  void look_for_standstill();
  void wait_longer(qint64 stood_ms);
  void on_stood_still(double stood_s, double began_ago_s);

  // Faults and requests
  void make_planned_steps();
  void make_fault(const Fault& fault);
  void note_event(RunEvent::Kind kind, const QString& what);
  void relaunch(Role role);
  bool any_paused() const;
  bool is_mended_later(Role role) const;
  void resume_by_itself(Role role);
  void on_not_paused(Role role, const QString& why);
  void on_not_killed(Role role, const QString& why);
  void on_went_on(Role role, const QString& why);
  void correct_harm(Role role, const QString& told, bool done);
  void resume_at_planned_end();
  void look_for_recovery();
  void request(const NumberRanges& receivers, const RequestRules& rules);

  // Ending
  void stop_one(Role role);
  void stop_by_user();
  void hurry();
  void hurry_over();
  void kill_all();
  void end_because(const QString& trouble);
  void enter(Step step);
  void say_bye(Role role);
  void ask_last_stats(Role role);
  void advance();
  int step_deadline(Step step) const;
  void on_gone(Role role, const QString& trouble);
  void on_killed(Role role);
  void stand_by(Role role);
  void give_up_faults();
  void read_again(const QString& why);
  bool drains() const;
  void begin_drain();
  void wait_for_drain();
  void give_up_drain();
  int drain_ms_max() const;
  bool answers_may_be_due() const;
  double steps_made_until_s() const;
  bool may_come_back(Role role) const;
  bool nobody_can_take() const;
  bool nobody_will_take() const;
  void look_for_sending_in_vain();
  bool nobody_gives_any_more() const;
  bool nothing_mends_who_does_not_read() const;
  bool anybody_was_made_not_to_read() const;
  bool start_salvage(Role role);
  void touch_left();
  void on_salvaged(Role role, const QString& trouble);
  void tell_not_read_back(const QString& why, bool in_its_logs = false);
  int other_start_left_ms(const Member& member) const;
  void bring_back();
  void fetching_waits(Role role, const QString& why);
  void fetching_goes_on(Role role);
  void take_last_figures();
  void on_brought_back(Role role, const QString& error, bool all_here);
  void leave_files();
  void finish();
  void take_result();

  void set_state(RunState state);
  void set_status(Role role, ProcessState state, const QString& waiting_for = {});
  Member& of(Role role) { return members[index_of(role)]; }
  const Member& of(Role role) const { return members[index_of(role)]; }
  bool any_alive() const {
    return std::any_of(members.begin(), members.end(), [](const Member& member) { return member.alive(); });
  }
  bool any_left() const {
    return any_alive() || std::any_of(members.begin(), members.end(), [](const Member& member) { return member.salvaging(); });
  }
  bool any_bringing_back() const {
    return std::any_of(members.begin(), members.end(), [](const Member& member) { return member.bringing_back; });
  }
  double t_s() const {
    return since_start.isValid() ? static_cast<double>(since_start.nsecsElapsed() - start_lead_ns) / 1e9 - warmup_s() : 0;
  }
  /// By the plan, before the common start.
  double warmup_s() const { return static_cast<double>(run.settings.warmup_ns()) / 1e9; }
  /// Seconds of the plan that are over; below 0 while it warms up.
  double measured_s() const;

  RunControl* const q;
  Options options;
  std::unique_ptr<LauncherFactory> launchers;
  QThread reader_thread;
  Settings wanted;                         // for what is started next
  std::vector<PlannedStep> planned_steps;  // by rising time
  RunState state = RunState::idle;

  // The present run
  RunRecord run;
  std::unique_ptr<FolderLock> folder_lock;  // while it is on: nobody else moves its folder away
  std::string token;
  std::string broker_address;
  int broker_port = 0;
  bool broker_is_for_all_local = false;  // it was started where all ran on this machine, and listens for nobody else
  SleepWatch sleep_watch;  // from the first start to the result
  std::array<Member, 3> members;
  std::int64_t broker_now_ns = 0;  // the broker's clock when since_broker_now was started
  QElapsedTimer since_begun;  // the run
  std::int64_t stood_still_ns = 0;  // since then: of a machine that sleeps, since_begun does so too
  QElapsedTimer since_broker_now;
  QElapsedTimer since_start;          // since the word; the warm-up begins start_lead_ns later, and the common start is when it is over
  std::int64_t start_lead_ns = 0;
  bool hurried = false;               // a person has stopped it twice
  std::set<std::pair<Role, int>> followed_logs;
  std::map<std::pair<Role, int>, FaultKind> misbehaving;  // services that were told to, as far as this bench knows
  QTimer pull_timer, step_timer, rates_timer;
  std::uint64_t stats_id = 0, recovery_round = 0;
  std::int64_t moved = 0;  // messages and deliveries at the last look
  QElapsedTimer since_moved;
  std::optional<LiveAccumulator> accumulator;
  LiveFigures figures;
  Step step = Step::none;
  std::vector<RequestRules> rules;  // by receiver; empty: requests are off
  std::vector<PlannedStep> steps_to_come;
  QTimer plan_timer;
  QTimer touch_timer;  // what killed groups have left belongs to this run, as long as they may be started again
  Recovery recovery;
  bool plan_is_over = false;   // its last message is due by now
  qint64 stood_ms_since_drain = 0, stood_ms_since_stop = 0;  // for so long of these this bench stood still
  QElapsedTimer since_in_vain;  // valid: the plan is over, senders have more to send, and nobody will take it
  QElapsedTimer since_drain;   // valid: all was sent, and nothing ended the run before its time
  bool broker_is_new = false;  // since then: it holds nothing, and no sender tells it any more that it has ended
  QElapsedTimer since_stop;    // valid: a person, or trouble, ends the run early
  RunOutcome outcome;

  std::unique_ptr<QThread> finisher;
  double brought_share = 0;  // as brought_back() said it last
  std::atomic<bool> finisher_cancelled{false};
  RunResult result;  // written by the finisher, read after it
};

}  // namespace n2nq::app
