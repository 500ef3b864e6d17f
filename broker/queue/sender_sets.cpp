// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/sender_sets.h"

namespace n2nq {

void SenderSets::add(uint32_t sender, uint64_t index) {
  add_range(sender, index, index);
}

void SenderSets::add_range(uint32_t sender, uint64_t from, uint64_t to) {
  if (from <= to) count_ += sets_[sender].add_range(from, to);
}

void SenderSets::clear() {
  sets_.clear();
  count_ = 0;
}

SenderSets& SenderSets::operator+=(const SenderSets& other) {
  // Without a look at the other senders: this is done for each receiver, each second.
  for (const auto& [sender, set] : other.sets_) {
    wire::IndexSet& own = sets_[sender];
    count_ -= own.count();
    own += set;
    count_ += own.count();
  }
  return *this;
}

SenderSets& SenderSets::operator-=(const SenderSets& other) {
  for (const auto& [sender, set] : other.sets_) {
    const auto own = sets_.find(sender);
    if (own == sets_.end()) continue;
    own->second -= set;
    if (own->second.empty()) sets_.erase(own);
  }
  recount();
  return *this;
}

void SenderSets::recount() {
  count_ = 0;
  for (const auto& [sender, set] : sets_) count_ += set.count();
}

std::vector<SenderSets::SharedSet> SenderSets::shared() const {
  std::vector<SharedSet> runs;
  for (const auto& [sender, set] : sets_) {
    std::string text = set.text();
    const bool continues = !runs.empty() && runs.back().sender_last + 1 == sender && runs.back().set == text;
    if (continues) {
      runs.back().sender_last = sender;
    } else {
      runs.push_back({sender, sender, std::move(text)});
    }
  }
  return runs;
}

}  // namespace n2nq
