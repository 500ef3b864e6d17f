// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/clock_correction.h"

#include <algorithm>
#include <cstdlib>

namespace n2nq::worker {

std::optional<measure::ClockBound> ClockCorrection::late(const measure::ClockLine& line, const measure::ClockBound& bound,
                                                         std::int64_t now_ns, std::int64_t begun_ns, std::int64_t from_sender_ns) const {
  if (!own_.any() || !senders_.any()) return {};
  const std::optional<measure::ClockLine>& newest = senders_.last(1).line.line;
  if (!newest) return {};
  // What the senders' clock says when ours says `ns`.
  const auto by_sender = [&](std::int64_t ns) { return line.when(ns + own_.at(ns).offset_at(ns)); };
  const std::int64_t since_ns = std::max({line.at_ns, by_sender(begun_ns), from_sender_ns});
  // Behind a jump of N2NQ's clock our own line may still be that of before, and so may only be put together with theirs of before.
  std::int64_t end_ns = std::min(by_sender(now_ns), newest->when(now_ns + own_.at(now_ns).offset_at(now_ns)));
  if (end_ns <= since_ns) return {};
  std::int64_t apart_ns = 0;
  // Several may have come late, one right behind the other: what counts is which one was in force.
  for (std::size_t back = 1; back <= senders_.kept() && end_ns > since_ns; ++back) {
    const auto& [senders, from_ns] = senders_.last(back);
    const std::optional<measure::ClockLine>& used = senders.line;
    const std::int64_t begin_ns = back == senders_.kept() ? since_ns : std::clamp(by_sender(from_ns), since_ns, end_ns);
    // Both are straight: they are farthest apart at one of the ends. Where their clock was taken for ours no line of theirs was used.
    for (const std::int64_t at_ns : {begin_ns, end_ns}) {
      if (used) apart_ns = std::max(apart_ns, std::abs(used->offset_at(at_ns) - line.offset_at(at_ns)));
    }
    end_ns = begin_ns;
  }
  return measure::ClockBound{.asymmetry_ns = bound.asymmetry_ns, .estimation_ns = bound.estimation_ns + apart_ns};
}

void ClockCorrection::note_older(SendersLine& used, std::int64_t sent_ns) {
  if (sent_ns < used.accuracy.since_ns) return;
  used.oldest_sent_ns = sent_ns;
  keep_larger(worst_before_, used.accuracy.past.bound_before(used.accuracy.bound, used.line->at_ns - sent_ns));
}

}  // namespace n2nq::worker
