// SPDX-License-Identifier: GPL-3.0-or-later
// A rising list of receiver numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace n2nq {

inline void add_number(std::vector<uint32_t>& numbers, uint32_t number) {
  const auto at = std::lower_bound(numbers.begin(), numbers.end(), number);
  if (at == numbers.end() || *at != number) numbers.insert(at, number);
}

inline void remove_number(std::vector<uint32_t>& numbers, uint32_t number) {
  const auto at = std::lower_bound(numbers.begin(), numbers.end(), number);
  if (at != numbers.end() && *at == number) numbers.erase(at);
}

}  // namespace n2nq
