// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps asking N2NQ for its clock, from the connection to the end of the process, on a connection and a thread of its own: the thread that
// carries the messages neither waits for it nor reads its answers late. It costs this host some 100 us of processor time per probe, ten
// times a second, and N2NQ half of that (docs/measuring.md).
//
//   connecting -> greeting -> probing (a burst of 30 in 0.3 s, fewer over long ways, then 10 a second) -> connection lost -> connecting …
//
// A lost connection is tried again without end (0.1 s to 1 s apart); what was known stays, and its bound grows.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "broker/net/connection.h"
#include "broker/net/event_loop.h"
#include "broker/wire/messages.h"
#include "workers/measure/clock_report.h"

namespace n2nq::worker {

class ClockWatch : private net::Connection::Handler {
 public:
  /// On the watch's thread: whenever the line has changed, and every five seconds at least (a few more while N2NQ cannot be reached). The
  /// first time behind the first burst.
  using OnReport = std::function<void(const measure::ClockReport& report)>;

  ClockWatch(const net::SocketAddress& broker, const wire::Token& token, OnReport on_report);
  /// Ends the thread.
  ~ClockWatch() override;

  /// Any thread: from this instant on the bounds count for `worst`.
  /// Or from an earlier one that was told.
  void measure_from(std::int64_t now_ns) {
    if (now_ns < measured_from_ns_.load(std::memory_order_relaxed)) measured_from_ns_.store(now_ns, std::memory_order_relaxed);
  }
  /// Any thread: why no probe is answered, as far as that was seen; empty: they are.
  std::string why_not() const;
  /// Ends the thread. What is known of the clock until `ended_ns`, when the last service ended (0: none has); none: no probe was ever
  /// answered. The thread that made it.
  std::optional<measure::ClockReport> finish(std::int64_t ended_ns);

 private:
  enum class State { closed, connecting, greeting, probing };

  void on_connected() override;
  void on_frame(const wire::Frame& frame, std::int64_t read_ns) override;
  void on_malformed(const std::string& error) override;
  void on_closed(const std::string& reason) override;

  void connect();
  void on_due();
  void lose(const std::string& why);
  void tell_why_not(const std::string& why);
  void probe();
  void begin_burst();
  bool is_burst_over();
  void take(const wire::ProbeReply& reply, std::int64_t read_ns);
  void begin_span(const measure::ClockStep& step);
  void end_span(std::int64_t now_ns);
  void add_span(measure::ClockReport& report, std::int64_t until_ns) const;
  void watch_bound(std::int64_t now_ns);
  void watch_unanswered(std::int64_t now_ns);
  bool is_line_due(std::int64_t now_ns) const;
  void report(std::int64_t now_ns);

  const net::SocketAddress broker_;
  const wire::Token token_;
  const OnReport on_report_;
  std::atomic<std::int64_t> measured_from_ns_{INT64_MAX};
  mutable std::mutex why_mutex_;
  std::string why_not_;

  // The watch's thread.
  net::EventLoop loop_;
  net::Timer timer_;  // the next probe, or what is waited for at most
  std::unique_ptr<net::Connection> connection_;
  net::OutBuffer out_;
  State state_ = State::closed;
  std::int64_t pause_ns_ = 0;
  std::int64_t asked_ns_ = 0;     // 0: no probe is under way
  std::int64_t answered_ns_ = 0;  // when the last answer came
  int burst_left_ = 0;
  std::int64_t burst_begun_ns_ = 0;
  std::int64_t settled_ns_ = 0;  // when the last burst was over; 0: not yet
  measure::ClockFit fit_;
  measure::ClockReport report_;
  bool reported_ = false;
  bool worst_is_measured_ = false;
  std::int64_t reported_ns_ = 0;
  std::optional<measure::ClockSpan> span_;  // a clock has jumped, and the burst behind that is not over yet

  std::thread thread_;  // last: uses what is above
};

}  // namespace n2nq::worker
