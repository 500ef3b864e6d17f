// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/delivered.h"

#include <algorithm>
#include <bit>

namespace n2nq::worker {

namespace {

/// Adds the set of one sender behind those before it, or to the run of the sender before when it is the same.
void append(measure::SenderSets& sets, std::uint32_t sender, wire::IndexSet set) {
  if (set.empty()) return;
  if (!sets.empty() && sets.back().last + 1 == sender && sets.back().set == set) {
    sets.back().last = sender;
  } else {
    sets.push_back({sender, sender, std::move(set)});
  }
}

}  // namespace

DeliveredSets::Finding DeliveredSets::add(std::uint32_t sender, std::uint64_t index, bool flagged) {
  Run& run = runs_[sender - 1];
  if (run.from == Run::has_gaps) return add_gapped(gapped_[run.to], index, flagged);
  if (index == run.to && run.from != run.to) [[likely]] {
    ++run.to;
    return {};
  }
  if (run.from == run.to) {
    run = {index, index + 1};
    return {};
  }
  if (index >= run.from && index < run.to) return {.duplicate = true};
  Gapped gapped;
  gapped.set.add_range(run.from, run.to - 1);
  gapped.next_unflagged = run.to;
  gapped_.push_back(std::move(gapped));
  run = {Run::has_gaps, gapped_.size() - 1};
  return add_gapped(gapped_.back(), index, flagged);
}

DeliveredSets::Finding DeliveredSets::add_gapped(Gapped& gapped, std::uint64_t index, bool flagged) {
  if (!gapped.set.add(index)) return {.duplicate = true};
  const bool inverted = !flagged && index < gapped.next_unflagged;
  if (!flagged && !inverted) gapped.next_unflagged = index + 1;
  return {.inverted = inverted};
}

std::uint64_t DeliveredSets::count_in(std::uint32_t sender, std::uint64_t from, std::uint64_t to) const {
  const Run& run = runs_[sender - 1];
  if (run.from == Run::has_gaps) return gapped_[run.to].set.count_in(from, to);
  const std::uint64_t first = std::max(from, run.from), behind = std::min(to + 1, run.to);
  return first < behind ? behind - first : 0;
}

measure::SenderSets DeliveredSets::sets() const {
  measure::SenderSets sets;
  for (std::size_t place = 0; place < runs_.size(); ++place) {
    const Run& run = runs_[place];
    wire::IndexSet set;
    if (run.from == Run::has_gaps) {
      set = gapped_[run.to].set;
    } else if (run.from < run.to) {
      set.add_range(run.from, run.to - 1);
    }
    append(sets, static_cast<std::uint32_t>(place + 1), std::move(set));
  }
  return sets;
}

/// The block beyond those there are; the ones between come into being unless they are too many.
IndexBits::Block& IndexBits::grow_to(std::size_t place) {
  if (place > blocks_.size() + blocks_left_out_max) return far_[place];
  blocks_.resize(place + 1);
  for (auto it = far_.begin(); it != far_.end() && it->first < blocks_.size(); it = far_.erase(it)) blocks_[it->first] = std::move(it->second);
  return blocks_[place];
}

/// Of those from `first` to `last` in the block, both inclusive.
std::uint64_t IndexBits::count_in_block(const Block& block, std::uint64_t first, std::uint64_t last) {
  if (block.count == 0) return 0;
  if (block.count == block_bits) return last - first + 1;
  std::uint64_t count = 0;
  for (std::uint64_t word = first / 64; word <= last / 64; ++word) {
    std::uint64_t bits = block.words[word];
    if (word == first / 64) bits &= ~std::uint64_t{0} << (first % 64);
    if (word == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
    count += static_cast<std::uint64_t>(std::popcount(bits));
  }
  return count;
}

std::uint64_t IndexBits::count_in(std::uint64_t from, std::uint64_t to) const {
  std::uint64_t count = 0;
  const auto look_at = [&](std::uint64_t place, const Block& block) {
    const std::uint64_t base = place * block_bits;
    count += count_in_block(block, std::max(from, base) - base, std::min(to - base, block_bits - 1));
  };
  for (std::uint64_t place = from / block_bits; place <= to / block_bits && place < blocks_.size(); ++place)
    look_at(place, blocks_[static_cast<std::size_t>(place)]);
  for (auto it = far_.lower_bound(static_cast<std::size_t>(from / block_bits)); it != far_.end() && it->first <= to / block_bits; ++it)
    look_at(it->first, it->second);
  return count;
}

void IndexBits::add_block_to(wire::IndexSet& set, std::uint64_t base, const Block& block) {
  if (block.count == block_bits) set.add_range(base, base + block_bits - 1);
  if (!block.words) return;
  for (std::uint64_t word = 0; word < block_bits / 64; ++word) {
    std::uint64_t bits = block.words[word];
    while (bits != 0) {  // one run of ones after the other
      const int from = std::countr_zero(bits);
      const int length = std::countr_one(bits >> from);
      set.add_range(base + word * 64 + static_cast<std::uint64_t>(from), base + word * 64 + static_cast<std::uint64_t>(from + length - 1));
      if (from + length == 64) break;
      bits &= ~std::uint64_t{0} << (from + length);
    }
  }
}

wire::IndexSet IndexBits::set() const {
  wire::IndexSet set;
  for (std::size_t place = 0; place < blocks_.size(); ++place) add_block_to(set, place * block_bits, blocks_[place]);
  for (const auto& [place, block] : far_) add_block_to(set, place * block_bits, block);
  return set;
}

measure::SenderSets SharedDelivered::sets() const {
  measure::SenderSets sets;
  for (std::size_t place = 0; place < bits_.size(); ++place) append(sets, static_cast<std::uint32_t>(place + 1), bits_[place].set());
  return sets;
}

}  // namespace n2nq::worker
