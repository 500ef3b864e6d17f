// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_shared.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "app/host/ssh_threads.h"

namespace n2nq::app {
namespace {

using std::chrono::milliseconds;

struct SshSharedTest : ::testing::Test {
  using Clock = SshShared::Clock;
  static constexpr int step_ms = 400;
  static constexpr milliseconds patience{60'000}, held_up_min{200};
  static constexpr const char* is_slow = "Is it slow?";
  QObject owner;
  std::shared_ptr<SshShared> shared = std::make_shared<SshShared>(&owner);
  Clock::time_point began;  // the step; later by what was stood still on purpose since
  Clock::time_point looked_at;
  Clock::duration held_up{};  // between looks, by a busy machine

  void begin_step(SshProblem::Kind kind = SshProblem::Kind::silent) {
    began = looked_at = Clock::now();
    held_up = {};
    shared->begin_step(step_ms, {kind, "took too long", is_slow});
  }
  /// Of this machine with itself: its two ends.
  static std::pair<OwnedFd, OwnedFd> connection() {
    const OwnedFd listens(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    EXPECT_TRUE(::bind(listens.get(), place, size) == 0 && ::listen(listens.get(), 1) == 0 && ::getsockname(listens.get(), place, &size) == 0);
    OwnedFd ours(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(ours.get(), place, size), 0);
    return {std::move(ours), OwnedFd(::accept(listens.get(), nullptr, nullptr))};
  }
  /// By its other end, and the kernel of this one knows.
  static void reset(const OwnedFd& ours, OwnedFd& theirs) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(::setsockopt(theirs.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    theirs.reset();
    pollfd is_over{ours.get(), 0, 0};
    ASSERT_EQ(::poll(&is_over, 1, static_cast<int>(patience.count())), 1);
  }
  /// As a session's owner does a few times a second while its thread runs.
  void look() {
    shared->look_at_deadline();
    const Clock::duration gap = Clock::now() - looked_at;
    looked_at += gap;
    if (gap > held_up_min) held_up += gap;
  }
  void look_for(milliseconds time) {
    for (const auto until = Clock::now() + time; Clock::now() < until;) {
      look();
      std::this_thread::sleep_for(milliseconds(20));
    }
    look();  // the last sleep may have been as long as all
  }
  void stand_still() {
    const auto from = Clock::now();
    std::this_thread::sleep_for(own_standstill_min + milliseconds(200));
    looked_at = Clock::now();
    began += looked_at - from;
  }
  /// Of a session of its own. Done anew where it is closed because a busy machine took all of the step's time meanwhile.
  bool stays_open(const std::function<void()>& meanwhile) {
    const auto until = Clock::now() + patience;
    do {
      shared = std::make_shared<SshShared>(&owner);
      meanwhile();
      if (!shared->closed()) return true;
    } while (Clock::now() - began >= milliseconds(step_ms) && Clock::now() < until);
    return false;
  }
  /// How much of the step's time is over then, without what a busy machine held up.
  std::int64_t closed_after_ms() {
    for (const auto until = Clock::now() + patience; !shared->closed() && Clock::now() < until;) {
      std::this_thread::sleep_for(milliseconds(20));
      look();
    }
    return std::chrono::duration_cast<milliseconds>(looked_at - began - held_up).count();
  }
};

TEST_F(SshSharedTest, a_step_that_takes_too_long_closes_the_session) {
  EXPECT_TRUE(stays_open([this] {
    begin_step();
    look_for(milliseconds(step_ms / 2));
  }));
  EXPECT_LT(closed_after_ms(), 2 * step_ms);
  ASSERT_TRUE(shared->closed());
  EXPECT_EQ(shared->why_closed().why, "took too long");
}

TEST_F(SshSharedTest, the_time_in_which_this_bench_stood_still_does_not_count) {
  EXPECT_TRUE(stays_open([this] {
    begin_step();
    look_for(milliseconds(step_ms / 4));
    stand_still();
    look_for(milliseconds(step_ms / 4));
  }));
  EXPECT_LT(closed_after_ms(), 2 * step_ms) << "but what it takes behind that does";
  EXPECT_TRUE(shared->closed());
}

/// Also where the thread goes on before its owner looks, or is between two steps.
TEST_F(SshSharedTest, nor_does_it_of_what_reaching_the_host_may_take) {
  const std::pair<const char*, std::function<void()>> goes_on_with[] = {{"a look", [this] { look(); }},
                                                                        {"a step", [this] { begin_step(); }}};
  for (const bool in_a_step : {true, false}) {
    for (const auto& [what, go_on] : goes_on_with) {
      shared = std::make_shared<SshShared>(&owner);
      shared->begin_reach();
      if (in_a_step) begin_step();
      const int before_ms = shared->reach_left_ms();
      stand_still();
      go_on();
      EXPECT_GT(shared->reach_left_ms(), before_ms - own_standstill_min.count()) << what << ", in a step: " << in_a_step;
    }
  }
}

TEST_F(SshSharedTest, a_step_that_began_after_a_standstill_has_its_own_time_and_no_more) {
  look();
  stand_still();
  begin_step();
  EXPECT_LT(closed_after_ms(), 2 * step_ms);
  EXPECT_TRUE(shared->closed());
}

/// What is sent there is not answered for as long as the step may take: which of both is seen first, that or its end, is up to the machine.
TEST_F(SshSharedTest, a_connection_that_the_kernel_has_given_up_is_lost_and_not_slow) {
  for (const bool given_up : {false, true}) {
    auto [ours, theirs] = connection();
    shared = std::make_shared<SshShared>(&owner);
    shared->watch_socket(ours.get());
    if (given_up) {
      ASSERT_NO_FATAL_FAILURE(reset(ours, theirs));
    }
    begin_step();
    closed_after_ms();
    EXPECT_EQ(shared->why_closed().kind, given_up ? SshProblem::Kind::lost : SshProblem::Kind::silent);
    EXPECT_EQ(shared->why_closed().what_to_do, given_up ? still_there : is_slow);
  }
}

/// A file of this machine, or the agent.
TEST_F(SshSharedTest, what_is_not_up_to_the_connection_keeps_its_advice_where_that_is_lost_meanwhile) {
  auto [ours, theirs] = connection();
  ASSERT_NO_FATAL_FAILURE(reset(ours, theirs));
  for (const SshProblem::Kind kind : {SshProblem::Kind::settings, SshProblem::Kind::login}) {
    shared = std::make_shared<SshShared>(&owner);
    shared->watch_socket(ours.get());
    begin_step(kind);
    closed_after_ms();
    EXPECT_EQ(shared->why_closed().kind, kind);
    EXPECT_EQ(shared->why_closed().what_to_do, is_slow);
  }
}

/// With a stack that no machine has room for, the system has no thread to give, whoever asks.
TEST(SshThreads, one_that_the_system_does_not_give_is_told) {
  pthread_attr_t usual, huge;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(::pthread_attr_init(&huge), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 62), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
  bool ran = false;
  EXPECT_FALSE(SshThreads::start([&ran] { ran = true; }));
  ASSERT_EQ(::pthread_setattr_default_np(&usual), 0);
  EXPECT_FALSE(ran);
  std::atomic<bool> runs{false};
  EXPECT_TRUE(SshThreads::start([&runs] { runs = true; })) << "the next one is given again";
  while (!runs) std::this_thread::yield();
}

}  // namespace
}  // namespace n2nq::app
