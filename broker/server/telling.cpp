// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/telling.h"

#include <iterator>
#include <utility>

namespace n2nq {

using wire::SkipReason;

namespace {

constexpr size_t frame_bytes_max = size_t{64} << 10;
constexpr SkipReason reasons[] = {SkipReason::expired, SkipReason::unrequested, SkipReason::parked, SkipReason::cut_off};

}  // namespace

std::optional<wire::SkippedRange> Telling::next() {
  for (; reason_ < std::size(reasons); ++reason_, set_.reset()) {
    const auto& by_sender = of(sets_, reasons[reason_]).sets();
    if (!set_) set_ = by_sender.begin();
    for (; *set_ != by_sender.end(); ++*set_, run_.reset()) {
      if (!run_) run_.emplace((*set_)->second.runs().begin());
      if (*run_ == std::default_sentinel) continue;
      const wire::SkippedRange range{(*set_)->first, reasons[reason_], (*run_)->from, (*run_)->to};
      ++*run_;
      return range;
    }
  }
  return std::nullopt;
}

bool Telling::write(wire::Bytes& out) {
  wire::Skipped skipped;
  constexpr size_t ranges_max = frame_bytes_max / wire::SkippedRange::entry_bytes;
  while (skipped.ranges.size() < ranges_max) {
    const auto range = next();
    if (!range) break;
    skipped.ranges.push_back(*range);
  }
  if (skipped.ranges.empty()) return false;
  skipped.encode(out);
  return true;
}

/// By taking off what was told, not by going on run by run: of millions a receiver that goes would make everybody wait.
SkippedSets Telling::take_rest() {
  for (size_t i = 0; i < reason_; ++i) of(sets_, reasons[i]).clear();
  const size_t reason = std::exchange(reason_, std::size(reasons));
  if (reason == std::size(reasons) || !set_) return std::exchange(sets_, {});
  SenderSets& rest = of(sets_, reasons[reason]);
  if (*set_ == rest.sets().end()) {
    rest.clear();
    return std::exchange(sets_, {});
  }
  const uint32_t sender = (*set_)->first;
  const bool is_told = run_ && *run_ == std::default_sentinel;
  SenderSets told;  // of this sender
  if (run_ && !is_told && (*run_)->from > 0) told.add_range(sender, 0, (*run_)->from - 1);
  rest.remove_senders_below(is_told ? sender + 1 : sender);
  rest -= told;
  return std::exchange(sets_, {});
}

size_t Telling::bytes() const {
  size_t bytes = 0;
  for (const SenderSets& sets : sets_) bytes += sets.bytes();
  return bytes;
}

}  // namespace n2nq
