// SPDX-License-Identifier: GPL-3.0-or-later
// All services of one worker process: their common life, and what is told about them.
//
//   waiting -> connected -> running -> ending -> ended | failed
//
// Failed: a service was refused for good before everybody was connected, or not a single one came to its end in order.
// Connections, start and stop belong to the loop's thread; stats() is called on the control thread and reads what the data thread writes
// without a lock. A Group is made whole in its constructor and stays until the process ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workers/group/clock_watch.h"
#include "workers/group/orders.h"
#include "workers/group/service.h"
#include "workers/group/settings.h"
#include "workers/recorder/recorder.h"

namespace n2nq::worker {

class Group : public ServiceObserver {
 public:
  /// Says a line to the bench; any thread.
  using Tell = std::function<void(const nlohmann::json&)>;

  Group(net::EventLoop& loop, WorkerSettings settings, Tell tell);
  ~Group() override;

  const WorkerSettings& settings() const { return settings_; }

  // --- loop thread ---
  /// `clock_shared`: N2NQ's clock is ours, as the bench has found out from both hellos; else it is probed, and nobody is said to be
  /// connected before that has an estimate. `clocks_first`: nor does anybody connect before all clocks are known that latencies need,
  /// because messages flow already.
  void connect(const net::SocketAddress& address, bool clock_shared, bool clocks_first);
  void start(const StartOrder& order);
  void stop();
  /// Ends whatever is still going on, finishes the logs and gives the final figures. Once.
  nlohmann::json bye();
  /// In place of connect() and start(): reads back what a killed group of the same settings had noted (settings().salvage), for bye().
  /// It began and ended then with the first and the last message that was noted. Throws std::runtime_error.
  void salvage();
  /// Before connect(): the same (settings().continue_of), to go on where that group was: with its counts, figures and logs, and on its
  /// plan.
  void take_over();
  /// From now on. Throws net::SectionError where there is nothing to ask for.
  virtual void request(const RequestOrder& order);
  /// One service does something wrong. Throws net::SectionError for a fault that this role cannot make.
  virtual void make_fault(std::uint32_t number, Fault fault);
  /// From now on. Throws net::SectionError where nobody needs it.
  virtual void set_senders_clock(const ClockOrder& order);
  /// Path of the staging file, or empty.
  std::string staging_file() const { return recorder_.staging_file(); }
  /// Writes what the logs still lack and leaves (the lease is lost).
  void finish_logs() { recorder_.finish(); }

  // --- control thread ---
  nlohmann::json stats(std::uint64_t id, const Ranges& ranges);

 protected:
  enum class State { waiting, connected, running, ending, ended, failed };

  Service::Tools tools();
  net::EventLoop& loop() { return loop_; }
  State state() const { return state_.load(std::memory_order_relaxed); }
  std::uint32_t amount() const { return settings_.last - settings_.first + 1; }
  static bool is_in(const Ranges& ranges, std::uint32_t number) {
    return std::ranges::any_of(ranges, [number](const auto& range) { return range.first <= number && number <= range.second; });
  }
  /// What comes from this instant on is measured: the clock's bounds count.
  void measure_clock_from(std::int64_t instant_ns);
  /// The service with a number of this group.
  std::size_t place_of(std::uint32_t number) const { return number - settings_.first; }
  Recorder& recorder() { return recorder_; }

  // What the two roles do differently.
  virtual Service& service(std::size_t place) = 0;
  /// Traffic begins now; the plan's instant 0 is `start_ns` of this host's clock.
  virtual void begin(std::int64_t start_ns) = 0;
  virtual void stop_services() = 0;
  /// Any thread: payload letters of all.
  virtual std::uint64_t bytes() = 0;
  /// The counts, the same in `stats` and in `bye`, and one row in `rows` for each service in `ranges`; any thread. Each service is looked
  /// at once: where rows of all are asked for, they add up to the counts.
  virtual void put_counts(nlohmann::json& json, const Ranges& ranges, nlohmann::json& rows) = 0;
  /// The `interval` object; control thread.
  virtual nlohmann::json cut_intervals() = 0;
  virtual void replay(const Record& record) = 0;
  /// All that was noted has been replayed, and nobody goes on with it.
  virtual void replayed_all() {}
  /// totals, figures, services and what else a bye has; loop thread.
  virtual void put_totals(nlohmann::json& bye) = 0;
  /// From now on, `now_ns`, this is N2NQ's clock over ours.
  virtual void clock_changed(const measure::ClockLine& /*line*/, std::int64_t /*now_ns*/) {}
  /// All that latencies need.
  virtual bool knows_clocks() const { return clock_known(); }
  /// To be called when one has become known.
  void look_at_clocks();
  bool clock_known() const { return !clock_watch_ || clock_known_; }

 private:
  void service_changed(ServiceState from, ServiceState to) override;
  void service_opened(const OpenFacts& facts) override;
  void service_fault(const std::string& fault) override;
  void service_left(const std::string& fault) override { keep_fault(fault); }
  /// True: it is told by name.
  bool keep_fault(const std::string& fault);

  void set_state(State state);
  void tell_state(nlohmann::json extra = nlohmann::json::object());
  void tell_waiting();
  std::string why_waiting();
  void judge_state();
  void watch_clock();
  void take_clock(const measure::ClockReport& report);
  void connect_services();
  std::int64_t to_broker_ns(std::int64_t now_ns) const { return now_ns + clock_.offset_at(now_ns); }
  void tick();
  void run_at_start();
  std::uint64_t services_in(ServiceState state) const { return by_state_[static_cast<std::size_t>(state)].load(std::memory_order_relaxed); }
  nlohmann::json log_json() const;

  net::EventLoop& loop_;
  const WorkerSettings settings_;
  const Tell tell_;
  Recorder recorder_;
  std::optional<LogCounts> salvaged_;  // then there is nothing that the recorder writes
  nlohmann::json floor_;
  std::string address_;
  std::atomic<State> state_{State::waiting};
  std::atomic<std::uint64_t> by_state_[6] = {};  // services in each ServiceState; written by the loop's thread
  std::vector<std::string> faults_;
  std::uint64_t faults_left_out_ = 0;
  std::string last_fault_;

  net::SocketAddress broker_;
  measure::ClockLine clock_;                  // N2NQ's over ours: zero where it is shared, or in a benchmark what the handshakes say
  bool clock_known_ = false;                  // probes were answered
  bool waits_for_clocks_ = false;             // nobody has begun to connect
  std::int64_t offset_error_ns_ = INT64_MAX;  // of the handshake with the shortest round trip; before the first: nothing is connected
  std::int64_t start_ns_ = 0;                 // of our clock
  std::int64_t ended_ns_ = 0;
  std::optional<std::int64_t> started_late_ns_;
  bool start_told_ = false;
  nlohmann::json waiting_told_;  // last
  std::int64_t tick_due_ns_ = 0;
  net::Timer tick_timer_;
  net::Timer start_timer_;
  std::unique_ptr<ClockWatch> clock_watch_;  // null: the clock is shared. Last: its thread uses what is above
};

}  // namespace n2nq::worker
