// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/sender_sets.h"

namespace n2nq {

void SenderSets::add(uint32_t sender, uint64_t index) {
  add_range(sender, index, index);
}

void SenderSets::add_range(uint32_t sender, uint64_t from, uint64_t to) {
  if (from > to) return;
  wire::IndexSet& set = sets_[sender];
  take_off(set);
  set.add_range(from, to);
  put_on(set);
}

bool SenderSets::remove(uint32_t sender, uint64_t index) {
  const auto own = sets_.find(sender);
  if (own == sets_.end()) return false;
  take_off(own->second);
  const bool was_there = own->second.remove(index);
  put_on_or_erase(own);
  return was_there;
}

void SenderSets::clear() {
  sets_.clear();
  count_ = 0;
  bytes_ = text_bytes_ = 0;
}

void SenderSets::remove_senders_below(uint32_t sender) {
  while (!sets_.empty() && sets_.begin()->first < sender) {
    take_off(sets_.begin()->second);
    sets_.erase(sets_.begin());
  }
}

SenderSets& SenderSets::operator+=(const SenderSets& other) {
  // Without a look at the other senders: this is done for each receiver, each second.
  for (const auto& [sender, set] : other.sets_) {
    wire::IndexSet& own = sets_[sender];
    take_off(own);
    own += set;
    put_on(own);
  }
  return *this;
}

SenderSets& SenderSets::operator-=(const SenderSets& other) {
  for (const auto& [sender, set] : other.sets_) {
    const auto own = sets_.find(sender);
    if (own == sets_.end()) continue;
    take_off(own->second);
    own->second -= set;
    put_on_or_erase(own);
  }
  return *this;
}

void SenderSets::take_off(const wire::IndexSet& set) {
  count_ -= set.count();
  bytes_ -= set.bytes();
  text_bytes_ -= set.text_bytes();
}

void SenderSets::put_on(const wire::IndexSet& set) {
  count_ += set.count();
  bytes_ += set.bytes();
  text_bytes_ += set.text_bytes();
}

/// One that is empty may have memory in reserve, which goes with it.
void SenderSets::put_on_or_erase(std::map<uint32_t, wire::IndexSet>::iterator own) {
  if (own->second.empty()) {
    sets_.erase(own);
  } else {
    put_on(own->second);
  }
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
