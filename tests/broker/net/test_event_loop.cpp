// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "broker/net/clock.h"

namespace n2nq::net {
namespace {

TEST(EventLoop, TimersFireInTheOrderOfTheirInstantsAndNeverEarly) {
  EventLoop loop;
  std::mt19937 random(1);
  const int64_t begin = now_ns();
  std::vector<std::unique_ptr<Timer>> timers;
  std::vector<int64_t> fired;
  for (int i = 0; i < 200; ++i) {
    timers.push_back(std::make_unique<Timer>(loop, [&, i] {
      EXPECT_GE(now_ns(), timers[i]->at_ns());
      fired.push_back(timers[i]->at_ns());
      if (fired.size() == 100) loop.stop();
    }));
    timers.back()->arm(begin + static_cast<int64_t>(random() % 20'000'000));
  }
  for (int i = 0; i < 200; i += 2) timers[i]->disarm();
  for (int i = 1; i < 200; i += 4) timers[i]->arm(begin + static_cast<int64_t>(random() % 20'000'000));  // moved
  loop.run();
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
  for (const auto& timer : timers) EXPECT_FALSE(timer->armed());
}

TEST(EventLoop, ATimerMayArmItselfAnewAndDestroyOthers) {
  EventLoop loop;
  int times = 0;
  auto other = std::make_unique<Timer>(loop, [] { FAIL() << "it was destroyed"; });
  Timer* self = nullptr;
  Timer timer(loop, [&] {
    other.reset();
    if (++times == 5) {
      loop.stop();
    } else {
      self->arm(now_ns());
    }
  });
  self = &timer;
  const int64_t now = now_ns();
  timer.arm(now - 1);
  other->arm(now);
  loop.run();
  EXPECT_EQ(times, 5);
}

TEST(EventLoop, ATimerThatIsArmedForThePastOverAndOverLeavesOthersTheirTurn) {
  EventLoop loop;
  int again = 0, others = 0, looks = 0;
  Timer* self = nullptr;
  Timer impatient(loop, [&] {
    ++again;
    self->arm(0);
  });
  self = &impatient;
  Timer other(loop, [&] { ++others; });
  loop.set_after_wake_up([&] {
    if (++looks == 3) loop.stop();
  });
  impatient.arm(0);
  other.arm(now_ns() - 1'000'000);
  loop.run();
  EXPECT_EQ(others, 1);
  EXPECT_EQ(again, looks) << "once in each wake-up, so that descriptors have their turn in between";
}

TEST(EventLoop, WorkFromManyThreadsRunsOnceAndInEachThreadsOrder) {
  EventLoop loop;
  constexpr int threads = 4, posts = 2000;
  std::vector<std::vector<int>> seen(threads);
  int left = threads * posts;
  std::vector<std::thread> posting;
  for (int thread = 0; thread < threads; ++thread) {
    posting.emplace_back([&, thread] {
      for (int i = 0; i < posts; ++i) {
        loop.post([&, thread, i] {
          seen[thread].push_back(i);
          if (--left == 0) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (std::thread& thread : posting) thread.join();
  for (const auto& one : seen) {
    EXPECT_EQ(one.size(), size_t{posts});
    EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
  }
}

TEST(EventLoop, AStopFromAnotherThreadOrBeforeTheStartEndsIt) {
  EventLoop loop;
  std::thread stopping([&loop] { loop.stop(); });
  loop.run();
  stopping.join();
  loop.stop();
  loop.run();
}

class PipeWatcher : public Watcher {
 public:
  explicit PipeWatcher(EventLoop& loop, std::function<void()> on_ready) : loop_(loop), on_ready_(std::move(on_ready)) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    read_.reset(ends[0]);
    write_.reset(ends[1]);
    loop_.watch(read_.get(), EPOLLIN, *this);
    [[maybe_unused]] const ssize_t bytes = ::write(write_.get(), "x", 1);
  }
  ~PipeWatcher() override { unwatch(); }
  void unwatch() {
    if (!read_.valid()) return;
    loop_.unwatch(read_.get(), *this);
    read_.reset();
  }
  void on_events(uint32_t events) override {
    EXPECT_TRUE(events & EPOLLIN);
    on_ready_();
  }

 private:
  EventLoop& loop_;
  std::function<void()> on_ready_;
  Fd read_, write_;
};

TEST(EventLoop, WhatIsUnwatchedInAWakeUpIsNotCalledInItAnyMore) {
  EventLoop loop;
  std::vector<std::unique_ptr<PipeWatcher>> watchers;
  int calls = 0;
  for (int i = 0; i < 10; ++i) {
    watchers.push_back(std::make_unique<PipeWatcher>(loop, [&] {
      ++calls;
      for (auto& watcher : watchers) watcher->unwatch();
      loop.stop();
    }));
  }
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, ALoopThatSpinsBeforeItSleepsMissesNothing) {
  EventLoop loop;
  loop.set_spin(1'000'000);
  std::vector<std::string> happened;
  // Within the time of spinning, behind it, and from another thread.
  Timer soon(loop, [&] { happened.push_back("soon"); });
  Timer later(loop, [&] {
    happened.push_back("later");
    std::thread([&loop, &happened] {
      loop.post([&] {
        happened.push_back("posted");
        loop.stop();
      });
    }).join();
  });
  soon.arm(now_ns() + 100'000);
  later.arm(now_ns() + 20'000'000);
  loop.run();
  EXPECT_EQ(happened, (std::vector<std::string>{"soon", "later", "posted"}));
}

long times_asleep() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST(EventLoop, WhatSleptShortlyLooksUntilNothingComesForAsLong) {
  constexpr int64_t soon_ns = 200'000, nap_ns = 1'000'000'000;
  const auto sleeps_in_100_waits = [&](int64_t short_nap_ns) {
    EventLoop loop;
    loop.set_short_nap(short_nap_ns);
    int left = 100;
    Timer timer(loop, [&] { --left > 0 ? timer.arm(now_ns() + soon_ns) : loop.stop(); });
    timer.arm(now_ns() + soon_ns);
    const long before = times_asleep();
    loop.run();
    return times_asleep() - before;
  };
  EXPECT_GE(sleeps_in_100_waits(0), 50);
  EXPECT_LE(sleeps_in_100_waits(nap_ns), 10) << "but for the first one, and where it waited for something else";
  EXPECT_GE(sleeps_in_100_waits(1), 50) << "what came after longer than that is slept for";
}

std::string order_of_many_timers() {
  EventLoop loop;
  loop.set_due_max(8);
  std::string order;
  PipeWatcher watcher(loop, [&] { order += 'd'; });
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 20; ++i) {
    timers.push_back(std::make_unique<Timer>(loop, [&] { order += 't'; }));
    timers.back()->arm(1);
  }
  loop.set_after_wake_up([&] {
    order += '.';
    if (std::count(order.begin(), order.end(), 't') == 20) loop.stop();
  });
  loop.run();
  return order;
}

TEST(EventLoop, WhoHasSomethingToReadHasATurnBetweenManyTimersThatAreDue) {
  const std::string wanted = "dtttttttt.dtttttttt.dtttt.";
  std::string order;
  // Where the machine holds a wake-up up, more of them have their share of it.
  for (int attempt = 0; attempt < 100 && order != wanted; ++attempt) order = order_of_many_timers();
  EXPECT_EQ(order, wanted);
}

TEST(EventLoop, ManyTimersThatAreDueHaveAShareOfALongWakeUp) {
  EventLoop loop;
  loop.set_due_max(8);
  int due = 0, wake_ups = 0;
  PipeWatcher watcher(loop, [] {
    for (const int64_t until_ns = now_ns() + 50 * ns_per_ms; now_ns() < until_ns;) continue;  // work
  });
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 2000; ++i) {
    timers.push_back(std::make_unique<Timer>(loop, [&] { ++due; }));
    timers.back()->arm(1);
  }
  loop.set_after_wake_up([&] {
    ++wake_ups;
    if (due == 2000) loop.stop();
  });
  loop.run();
  EXPECT_LT(wake_ups, 50) << "by their number alone 250";
}

/// Closes nothing and is always ready.
class Ready : public Watcher {
 public:
  void on_events(uint32_t) override { ++times; }
  int times = 0;
};

TEST(EventLoop, SaysUntilWhenItHasLookedAtAllThatWasReady) {
  constexpr int watched = 600;  // one wake-up looks at 512
  EventLoop loop;
  std::vector<Fd> counters;
  std::vector<Ready> ready(watched);
  for (Ready& watcher : ready) {
    counters.emplace_back(eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
    loop.watch(counters.back().get(), EPOLLIN, watcher);
  }
  const int64_t begin_ns = now_ns();
  std::vector<bool> looked;
  Timer* again = nullptr;
  Timer timer(loop, [&] {
    looked.push_back(loop.looked_ns() >= begin_ns);
    const auto seen = std::count_if(ready.begin(), ready.end(), [](const Ready& watcher) { return watcher.times > 0; });
    EXPECT_EQ(seen, looked.back() ? watched : 512);
    EXPECT_LT(loop.looked_ns(), loop.woke_ns());
    looked.size() == 2 ? loop.stop() : again->arm(now_ns());
  });
  again = &timer;
  timer.arm(now_ns());
  loop.run();
  EXPECT_EQ(looked, (std::vector<bool>{false, true}));
  for (int i = 0; i < watched; ++i) loop.unwatch(counters[i].get(), ready[i]);
}

TEST(EventLoop, TheEndOfAWakeUpComesAfterEverythingElse) {
  EventLoop loop;
  std::string order;
  PipeWatcher watcher(loop, [&] { order += "d"; });
  Timer timer(loop, [&] { order += "t"; });
  timer.arm(1);
  loop.post([&] { order += "p"; });
  loop.set_after_wake_up([&] {
    order += ".";
    if (order.find('p') != std::string::npos && order.find('t') != std::string::npos) loop.stop();
  });
  loop.run();
  EXPECT_EQ(order.substr(0, 4), "dtp.");
}

}  // namespace
}  // namespace n2nq::net
