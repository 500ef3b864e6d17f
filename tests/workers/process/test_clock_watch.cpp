// SPDX-License-Identifier: GPL-3.0-or-later
// Asking N2NQ for its clock, and what is known while it does not answer.
#include "workers/group/clock_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>
#include <utility>

#include "broker/net/clock.h"
#include "tests/workers/support/small_run.h"

namespace n2nq::worker::testing {
namespace {

/// The newest report of a watch.
class Reports {
 public:
  void take(const measure::ClockReport& report) {
    const std::lock_guard lock(mutex_);
    newest_ = report;
    ++count_;
    came_.notify_all();
  }
  /// The first one behind those that were seen; throws when none comes.
  measure::ClockReport next() {
    std::unique_lock lock(mutex_);
    const bool came = came_.wait_for(lock, std::chrono::nanoseconds(Child::deadline_ns), [this] { return count_ > seen_; });
    if (!came) throw std::runtime_error("no report of the clock came");
    seen_ = count_;
    return newest_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  measure::ClockReport newest_;
  int count_ = 0, seen_ = 0;
};

TEST(ClockWatch, WhileNobodyAnswersWhatIsKnownGetsOlder) {
  SmallRun run(RunShape{});
  run.launch_broker();
  Reports reports;
  const auto token = wire::token_from_hex(run.configure_broker()["token"].get<std::string>());
  ASSERT_TRUE(token);
  ClockWatch watch(*net::SocketAddress::parse("127.0.0.1", static_cast<std::uint16_t>(run.port)), *token,
                   [&](const measure::ClockReport& report) { reports.take(report); });
  watch.measure_from(net::now_ns());
  measure::ClockReport known = reports.next();
  EXPECT_GT(known.bound.total_ns(), 0);
  run.broker->kill(SIGKILL);
  run.broker->wait_for_exit();
  const std::int64_t gone_ns = net::now_ns();
  measure::ClockReport older = reports.next();
  for (; older.probes != known.probes; older = reports.next()) known = older;
  EXPECT_GT(older.bound.total_ns(), known.bound.total_ns());
  EXPECT_GE(older.worst.total_ns(), older.bound.total_ns());
  const auto last = watch.finish(gone_ns + 60 * net::ns_per_s);
  ASSERT_TRUE(last);
  EXPECT_GT(last->worst.estimation_ns, 60 * 500) << "half a microsecond a second, at least";
  EXPECT_GT(last->worst.total_ns(), older.worst.total_ns());
  ASSERT_TRUE(older.later);
  EXPECT_GE(older.bound_after(60 * net::ns_per_s).total_ns(), last->bound.total_ns()) << "who dies has told how wrong it would be";
  EXPECT_FALSE(last->later) << "nothing comes behind it";
}

/// Whoever is killed before the burst behind a jump is over has said all that is known of it.
bool a_jump_is_told_at_once() {
  SmallRun run(RunShape{});
  run.launch_broker();
  Reports reports;
  std::promise<measure::ClockReport> jumped;
  bool has_jumped = false;
  const auto token = wire::token_from_hex(run.configure_broker()["token"].get<std::string>());
  ClockWatch watch(*net::SocketAddress::parse("127.0.0.1", static_cast<std::uint16_t>(run.port)), *token,
                   [&](const measure::ClockReport& report) {
                     if (report.jumps > 0 && !std::exchange(has_jumped, true)) jumped.set_value(report);
                     reports.take(report);
                   });
  reports.next();
  net::set_test_clock({.step_ns = net::ns_per_s});
  auto first = jumped.get_future();
  if (first.wait_for(std::chrono::nanoseconds(Child::deadline_ns)) != std::future_status::ready) return false;
  const measure::ClockReport told = first.get();
  if (told.spans.size() != 1) return false;
  const measure::ClockSpan& span = told.spans.front();
  return std::abs(span.jump_ns + net::ns_per_s) < net::ns_per_s / 2 && span.to_broker_ns > span.from_broker_ns;
}

TEST(ClockWatch, AJumpIsNamedBeforeItsSpanIsOver) {
  // A clock that is set is set for good: in a process of its own.
  EXPECT_EXIT(_exit(a_jump_is_told_at_once() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace n2nq::worker::testing
