// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/courtesy.h"

#include <gtest/gtest.h>

namespace n2nq::net {
namespace {

constexpr int64_t us = 1000, s = 1'000'000'000;

/// How many of the wake-ups, one each `every_ns` until `until_ns`, yield, where each yield takes `yield_ns`.
int yields(Courtesy& courtesy, int64_t from_ns, int64_t until_ns, int64_t every_ns, int64_t yield_ns) {
  int count = 0;
  for (int64_t now_ns = from_ns; now_ns < until_ns; now_ns += every_ns) {
    if (!courtesy.due(now_ns)) continue;
    ++count;
    courtesy.yielded(now_ns, now_ns + yield_ns);
  }
  return count;
}

TEST(Courtesy, WhoSoonIsDoneGoesFirstEachTime) {
  Courtesy courtesy;
  EXPECT_EQ(yields(courtesy, 0, 10 * s, 1000 * us, 20 * us), 10'000);
}

TEST(Courtesy, WhoComputesGoesFirstFewerAndFewerTimes) {
  Courtesy courtesy;
  EXPECT_EQ(yields(courtesy, 0, 10 * s, 1000 * us, 3000 * us), 3) << "at 0, 2 and 6 s";
  EXPECT_LE(yields(courtesy, 10 * s, 1000 * s, 1000 * us, 3000 * us), 20) << "once a minute";
}

TEST(Courtesy, ItIsForgottenThatSomebodyComputed) {
  Courtesy courtesy;
  yields(courtesy, 0, 100 * s, 1000 * us, 3000 * us);
  EXPECT_FALSE(courtesy.due(110 * s));
  EXPECT_GT(yields(courtesy, 200 * s, 202 * s, 1000 * us, 20 * us), Courtesy::short_ones_min);
  courtesy.yielded(202 * s, 203 * s);
  EXPECT_FALSE(courtesy.due(204 * s));
  EXPECT_TRUE(courtesy.due(203 * s + Courtesy::pause_min_ns));
}

TEST(Courtesy, NowAndThenAShortOneForgetsNothing) {
  Courtesy courtesy;
  int count = 0;
  for (int64_t now_ns = 0; now_ns < 100 * s; now_ns += 1000 * us) {
    if (!courtesy.due(now_ns)) continue;
    courtesy.yielded(now_ns, now_ns + (++count % 2 == 0 ? 20 * us : 3000 * us));
  }
  EXPECT_LE(count, 14);
}

}  // namespace
}  // namespace n2nq::net
