// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <functional>

#include "workers/load/plan_slip.h"

namespace n2nq::worker {
namespace {

constexpr std::int64_t ms = 1'000'000;

/// Of a plan of so many messages, one each millisecond, `lag_ns` of each.
std::optional<std::int64_t> slip_of(std::int64_t messages, const std::function<std::int64_t(std::int64_t)>& lag_ns) {
  PlanSlip slip(static_cast<std::uint64_t>(messages));
  for (std::int64_t index = 0; index < messages; ++index) slip.note(index, lag_ns(index));
  return slip.ns();
}

/// Late by `held_ms` at `from`, and sent as fast as it goes from then on until the plan is caught up with.
std::function<std::int64_t(std::int64_t)> held_up(std::int64_t from, std::int64_t held_ms) {
  return [=](std::int64_t index) { return index < from ? 50'000 : std::max(std::int64_t{50'000}, (from + held_ms - index) * ms); };
}

TEST(PlanSlip, WhatSlipsByAThousandthDoesSoByAThousandthOfThePlan) {
  for (const std::int64_t messages : {100, 1'000, 10'007, 1'000'000}) {
    const auto slip_ns = slip_of(messages, [](std::int64_t index) { return 70'000 + index * (ms / 1'000); });
    ASSERT_TRUE(slip_ns);
    EXPECT_NEAR(static_cast<double>(*slip_ns), static_cast<double>(messages * (ms / 1'000)), 0.01 * static_cast<double>(messages * (ms / 1'000)));
  }
}

TEST(PlanSlip, WhatIsHeldUpOnceDoesNot) {
  for (const std::int64_t messages : {100, 200, 3'000}) {
    for (std::int64_t from = 0; from < messages; from += messages / 20) {
      for (std::int64_t held_ms = 1; held_ms <= messages; held_ms += messages / 10) {
        const auto slip_ns = slip_of(messages, held_up(from, held_ms));
        ASSERT_TRUE(slip_ns);
        EXPECT_LE(*slip_ns, 0) << messages << " messages, held up at " << from << " for " << held_ms << " ms";
      }
    }
  }
}

TEST(PlanSlip, WhatVariesDoesNot) {
  const auto slip_ns = slip_of(1'000, [](std::int64_t index) { return (index * 7919 % 1'000) * ms; });
  ASSERT_TRUE(slip_ns);
  EXPECT_LT(*slip_ns, 50 * ms);
}

TEST(PlanSlip, OfFewMessagesAndOfThoseThatWereNotSentNothingIsSaid) {
  EXPECT_FALSE(slip_of(99, [](std::int64_t index) { return index * ms; }));
  PlanSlip cut(1'000);
  for (std::int64_t index = 0; index < 900; ++index) cut.note(index, index * ms);
  EXPECT_FALSE(cut.ns());
  PlanSlip without_end(UINT64_MAX);
  for (std::int64_t index = 0; index < 10'000; ++index) without_end.note(index, index * ms);
  EXPECT_FALSE(without_end.ns());
  PlanSlip far(100);
  for (std::int64_t index = 0; index < 100; ++index) far.note(index, index < 50 ? -(std::int64_t{1} << 59) : std::int64_t{1} << 59);
  EXPECT_TRUE(far.ns());
}

}  // namespace
}  // namespace n2nq::worker
