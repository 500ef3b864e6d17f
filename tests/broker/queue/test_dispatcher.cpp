// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/dispatcher.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace n2nq {
namespace {

/// The least load, and among equals who comes next behind `last`, going round: by looking at everybody.
uint32_t next_free(const std::vector<uint32_t>& loads, uint32_t last) {
  uint32_t best = 0;
  for (uint32_t place = 0; place < loads.size(); ++place) {
    const auto rank = [last](uint32_t number) { return number - last - 1; };
    if (loads[place] < loads[best] || (loads[place] == loads[best] && rank(place) < rank(best))) best = place;
  }
  return best;
}

TEST(Dispatcher, SeveralGroupsGiveTheNextFreeOneThatAllOfThemWouldGiveAsOne) {
  constexpr uint32_t receivers = 40;
  std::minstd_rand random(1);
  for (const uint32_t groups_count : {1u, 2u, 5u}) {
    Dispatcher dispatcher(DispatchRule::next_free, 1);
    uint32_t last = 0;
    for (int message = 0; message < 2000; ++message) {
      std::vector<std::vector<uint32_t>> numbers(groups_count);
      std::vector<uint32_t> loads(receivers);
      for (uint32_t number = 0; number < receivers; ++number) {
        numbers[random() % groups_count].push_back(number);
        loads[number] = static_cast<uint32_t>(random() % 3 + message % 2);
      }
      std::vector<Dispatcher::Group> groups;
      for (const auto& group : numbers) {
        if (!group.empty()) groups.emplace_back(group);
      }
      last = next_free(loads, last);
      ASSERT_EQ(dispatcher.choose_among(groups, [&](uint32_t number) { return loads[number]; }), last);
    }
  }
}

TEST(Dispatcher, WhoHasNothingToDoIsNotLookedForAmongAll) {
  Dispatcher dispatcher(DispatchRule::next_free, 1);
  std::vector<uint32_t> even, odd;
  for (uint32_t number = 0; number < 2000; number += 2) {
    even.push_back(number);
    odd.push_back(number + 1);
  }
  const std::vector<Dispatcher::Group> groups{even, odd};
  int looks = 0;
  for (int message = 0; message < 1000; ++message) {
    dispatcher.choose_among(groups, [&](uint32_t) { return ++looks, 0u; });
  }
  EXPECT_EQ(looks, 4000) << "at the next one of each group, twice";
}

}  // namespace
}  // namespace n2nq
