// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/lab/emulator/lane.h"

namespace n2nq::lab {
namespace {

constexpr std::int64_t ms = 1'000'000;

class ALane : public testing::Test {
 protected:
  void put(std::size_t bytes, std::int64_t at_ns) { lane.put(std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(bytes)), at_ns); }
  /// When what is under way comes out.
  std::vector<std::int64_t> dues() {
    std::vector<std::int64_t> found;
    for (; !lane.empty(); lane.pop()) found.push_back(lane.due_ns());
    return found;
  }

  Lane lane{1};
};

TEST_F(ALane, DelaysEachFrameAndKeepsItsBytes) {
  lane.set_shape({.delay_ns = 2 * ms});
  put(60, 0);
  put(61, 5);
  EXPECT_EQ(lane.front().size(), 60u);
  EXPECT_EQ(lane.front()[59], 60);
  EXPECT_EQ(dues(), (std::vector<std::int64_t>{2 * ms, 2 * ms + 5}));
  EXPECT_EQ(lane.counts().frames, 2u);
  EXPECT_EQ(lane.counts().bytes, 121u);
  put(62, 10 * ms);
  EXPECT_EQ(lane.counts().under_way_bytes_max, 121u) << "of two at a time; the third came later";
}

TEST_F(ALane, KeepsTheOrderWhenTheDelayShrinks) {
  lane.set_shape({.delay_ns = 10 * ms});
  put(60, 0);
  lane.set_shape({.delay_ns = ms});
  put(60, 1);
  EXPECT_EQ(dues(), (std::vector<std::int64_t>{10 * ms, 10 * ms}));
  put(60, 20 * ms);
  EXPECT_EQ(dues(), (std::vector<std::int64_t>{21 * ms}));
}

TEST_F(ALane, TransmitsOneFrameAfterTheOther) {
  lane.set_shape({.delay_ns = ms, .rate_bps = 8'000'000});  // a byte a microsecond
  put(100, 0);
  put(200, 0);
  put(100, 5 * ms);
  EXPECT_EQ(dues(), (std::vector<std::int64_t>{ms + 100'000, ms + 300'000, 6 * ms + 100'000}));
}

TEST_F(ALane, DropsWhatWouldWaitTooLongForTransmission) {
  lane.set_shape({.rate_bps = 8'000});  // a byte a millisecond
  put(150, 0);
  put(50, 0);
  put(1, 0);
  EXPECT_EQ(dues(), (std::vector<std::int64_t>{150 * ms, 200 * ms}));
  EXPECT_EQ(lane.counts().dropped, 1u);
}

TEST_F(ALane, SpreadsJitterOverItsShareOfTheFrames) {
  lane.set_shape({.delay_ns = ms, .jitter_ns = 2 * ms, .jitter_share = 0.25});
  int delayed = 0;
  std::int64_t sum_ns = 0;
  for (int i = 0; i < 10'000; ++i) {
    put(60, i * 10 * ms);
    const std::int64_t extra_ns = dues().front() - i * 10 * ms - ms;
    ASSERT_GE(extra_ns, 0);
    ASSERT_LE(extra_ns, 2 * ms);
    if (extra_ns > 0) ++delayed, sum_ns += extra_ns;
  }
  EXPECT_NEAR(delayed, 2500, 200);
  EXPECT_NEAR(static_cast<double>(sum_ns) / delayed, ms, 0.05 * ms);
}

TEST_F(ALane, LetsOthersOvertakeWhatJitterFallsOnWhereThatIsSaid) {
  lane.set_shape({.delay_ns = ms, .jitter_ns = 20 * ms, .jitter_share = 0.1, .jitter_overtaken = true});
  int late = 0;
  for (int i = 0; i < 10'000; ++i) {
    put(60, i * 100 * ms);
    put(61, i * 100 * ms + 1);
    std::size_t first_size = 0;
    for (; !lane.empty(); lane.pop()) {
      const std::int64_t extra_ns = lane.due_ns() - i * 100 * ms - ms;
      ASSERT_LE(extra_ns, 20 * ms + 1);
      if (first_size == 0) first_size = lane.front().size();
    }
    late += first_size == 61 ? 1 : 0;
  }
  EXPECT_NEAR(late, 900, 100) << "on the first, and not on the second";
}

TEST_F(ALane, LosesTheShareThatItIsTold) {
  lane.set_shape({.loss = 0.1});
  for (int i = 0; i < 10'000; ++i) put(60, i);
  EXPECT_NEAR(static_cast<double>(lane.counts().lost), 1000, 150);
  EXPECT_EQ(dues().size(), 10'000 - lane.counts().lost);
}

TEST_F(ALane, LetsOthersOvertakeTheShareThatItIsTold) {
  lane.set_shape({.delay_ns = ms, .reorder = 1, .reorder_ns = 3 * ms});
  put(60, 0);
  lane.set_shape({.delay_ns = ms});
  put(61, 1);
  put(62, 5 * ms);
  std::vector<std::size_t> sizes;
  std::vector<std::int64_t> when;
  for (; !lane.empty(); lane.pop()) sizes.push_back(lane.front().size()), when.push_back(lane.due_ns());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{61, 60, 62}));
  EXPECT_EQ(when, (std::vector<std::int64_t>{ms + 1, 4 * ms, 6 * ms}));

  lane.set_shape({.reorder = 0.1});
  for (int i = 0; i < 10'000; ++i) put(60, 10 * ms + i);
  EXPECT_NEAR(static_cast<double>(lane.counts().held_up), 1001, 150);
  const auto found = dues();
  EXPECT_EQ(found.size(), 10'000u);
  EXPECT_TRUE(std::ranges::is_sorted(found));
}

TEST_F(ALane, SwallowsEverythingAsABlackhole) {
  lane.set_shape({.delay_ns = ms});
  put(60, 0);
  lane.set_shape({.delay_ns = ms, .blackhole = true});
  put(60, 1);
  EXPECT_TRUE(lane.empty());
  EXPECT_EQ(lane.counts().swallowed, 2u);
  lane.set_shape({.delay_ns = ms});
  put(60, 2);
  EXPECT_EQ(dues(), (std::vector<std::int64_t>{ms + 2}));
}

TEST_F(ALane, KeepsNobodyWaitingForWhatABlackholeSwallowed) {
  lane.set_shape({.delay_ns = 100 * ms});
  put(60, 0);
  lane.set_shape({.blackhole = true});
  lane.set_shape({.delay_ns = ms});
  put(60, 1);
  EXPECT_EQ(dues(), (std::vector<std::int64_t>{ms + 1}));
}

TEST_F(ALane, HasAnEnd) {
  lane.set_shape({.delay_ns = ms});
  for (std::size_t i = 0; i < frames_max + 3; ++i) put(60, 0);
  put(frame_bytes_max + 1, 0);
  EXPECT_EQ(lane.counts().dropped, 4u);
  EXPECT_EQ(dues().size(), frames_max);
}

}  // namespace
}  // namespace n2nq::lab
