// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/clock_ways.h"

#include <gtest/gtest.h>

#include "app/host/check_cells.h"

namespace n2nq::app {
namespace {

using Names = std::vector<std::string>;

TEST(ClockWays, what_was_compared_directly_stays_as_it_was_found_whoever_did_it) {
  const auto clocks = clock_offsets("local", {{"local", "h1", 250'000, 30, 1000}, {"h2", "local", 40, 25, 9000}});
  EXPECT_EQ(clocks.at("local").offset_us, 0);
  EXPECT_EQ(clocks.at("h1").offset_us, 250'000);
  EXPECT_EQ(clocks.at("h1").bound_us, 30);
  EXPECT_EQ(clocks.at("h2").offset_us, -40);
  EXPECT_EQ(clocks.at("h2").bound_us, 25);
  EXPECT_EQ(clocks.at("h2").by, Names());
}

TEST(ClockWays, a_chain_adds_up_with_what_its_clocks_may_have_drifted_since) {
  const auto clocks = clock_offsets(
      "local", {{"h3", "h2", -500, 10, 3000}, {"local", "h1", 250'000, 30, 1000}, {"h1", "h2", 1000, 20, 2000}, {"far", "away", 1, 1, 1}});
  EXPECT_EQ(clocks.at("h2").offset_us, 251'000);
  EXPECT_EQ(clocks.at("h2").bound_us, 30 + 20 + 0.5 * 1000);
  EXPECT_EQ(clocks.at("h2").by, Names({"h1"}));
  EXPECT_EQ(clocks.at("h3").offset_us, 251'500);
  EXPECT_EQ(clocks.at("h3").bound_us, 30 + 20 + 10 + 0.5 * (2000 + 1000));
  EXPECT_EQ(clocks.at("h3").by, Names({"h1", "h2"}));
  EXPECT_EQ(clocks.size(), 4u) << "nothing leads to the others";
}

TEST(ClockWays, of_two_chains_the_surer_one_counts) {
  const auto clocks = clock_offsets("local", {{"local", "h1", 10, 400, 0}, {"local", "h2", 20, 30, 0}, {"h1", "h3", 5, 1, 0}, {"h3", "h2", 3, 100, 0}});
  EXPECT_EQ(clocks.at("h3").offset_us, 17);
  EXPECT_EQ(clocks.at("h3").bound_us, 130);
  EXPECT_EQ(clocks.at("h1").offset_us, 12);
  EXPECT_EQ(clocks.at("h1").bound_us, 131);
}

TEST(ClockCell, its_bound_is_whole_and_the_offset_as_exact_as_there_is_room_for) {
  const CheckCell near = clock_cell({-250'004.2, 41.3, {}});
  EXPECT_EQ(near.text, QString::fromUtf8("−250.004 ms ± 42 µs"));
  EXPECT_EQ(near.detail, QString::fromUtf8("Its clock is 250.004 ms behind this machine's, to within 42 µs"));
  const CheckCell far = clock_cell({259'200'412'396, 118.2, {"h1"}});
  EXPECT_EQ(far.text, QString::fromUtf8("≈ +3 d, ± 130 µs"));
  EXPECT_EQ(far.detail, QString::fromUtf8("Its clock is 259 200.41240 s ahead of this machine's, to within 130 µs (found by way of h1)"));
  EXPECT_EQ(far.value, 259'200'412'396);
  EXPECT_EQ(far.bound_us, 118.2);
  EXPECT_EQ(clock_cell({1'500'000, 41.3, {}}).text, QString::fromUtf8("≈ +2 s, ± 42 µs"));
  EXPECT_EQ(clock_cell({-30, 41.3, {}}).detail, QString::fromUtf8("Its clock is that of this machine as far as can be told, to within 42 µs"));
}

}  // namespace
}  // namespace n2nq::app
