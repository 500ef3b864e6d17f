// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/queue_client/asked_for.h"

#include <algorithm>
#include <utility>

namespace n2nq::worker {

namespace {

bool asks_for(const std::vector<wire::Rule>& rules, std::uint32_t sender, std::uint32_t size) {
  return std::ranges::any_of(rules, [&](const wire::Rule& rule) {
    return sender >= rule.sender_first && sender <= rule.sender_last && size >= rule.size_min && size <= rule.size_max;
  });
}

}  // namespace

void AskedFor::replace(std::vector<wire::Rule> rules, std::uint64_t older_below, std::int64_t older_until_ns) {
  if (lists_.size() == lists_max) {
    lists_.pop_front();
    lists_.front().rules = {wire::Rule{}};
  }
  lists_.push_back({std::move(rules), older_below, older_until_ns});
}

void AskedFor::reconnect() {
  for (List& list : lists_) {
    list.older_below = any_number;
    list.older_until_ns = any_time;
  }
}

bool AskedFor::matches(std::uint64_t number, std::int64_t sent_ns, std::uint32_t sender, std::uint32_t size) {
  if (lists_.empty()) return true;
  // Whatever comes now was sent under the newest list of which that is certain, or under a later one.
  for (std::size_t newest = lists_.size() - 1; newest > 0; --newest) {
    if (number < lists_[newest].older_below && sent_ns <= lists_[newest].older_until_ns) continue;
    lists_.erase(lists_.begin(), lists_.begin() + static_cast<std::ptrdiff_t>(newest));
    break;
  }
  return std::ranges::any_of(lists_, [&](const List& list) { return asks_for(list.rules, sender, size); });
}

}  // namespace n2nq::worker
