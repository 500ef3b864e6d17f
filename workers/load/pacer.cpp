// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/load/pacer.h"

namespace n2nq::worker {

namespace {

__extension__ typedef __int128 int128;  // products of an index and an interval pass 2^63 within hours

}  // namespace

Pacer::Pacer(Interval interval, StartPhase start, std::uint32_t number, std::uint32_t total) : interval_(interval), phase_ns_(0) {
  if (start == StartPhase::spread && total > 0) {
    phase_ns_ = static_cast<std::int64_t>(int128{number - 1} * interval.num_ns / (int128{interval.den} * total));
  }
}

std::int64_t Pacer::due_ns(std::int64_t index) const {
  const int128 product = int128{index} * interval_.num_ns;
  const int128 floor = product >= 0 ? product / interval_.den : -((-product + interval_.den - 1) / interval_.den);
  return phase_ns_ + static_cast<std::int64_t>(floor);
}

std::uint64_t Pacer::messages_within(std::int64_t duration_ns) const {
  if (duration_ns <= phase_ns_) return 0;
  // floor(i * num / den) < left  <=>  i * num < left * den  <=>  i < ceil(left * den / num).
  const int128 left = static_cast<int128>(duration_ns - phase_ns_) * interval_.den;
  return static_cast<std::uint64_t>((left + interval_.num_ns - 1) / interval_.num_ns);
}

}  // namespace n2nq::worker
