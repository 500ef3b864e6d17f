// SPDX-License-Identifier: GPL-3.0-or-later
// How far each machine's clock is ahead of one machine's, out of what machines found of each other's. Pure.
#pragma once

#include <QtGlobal>
#include <map>
#include <string>
#include <vector>

namespace n2nq::app {

/// One machine has compared its clock with another's.
struct ClockWay {
  std::string from, to;
  double offset_us = 0;  // how far the clock of `to` is ahead of that of `from`, at `at_ms`
  double bound_us = 0;   // how far that may be off, ±
  qint64 at_ms = 0;      // of any clock, the same for all
};

struct ClockOffset {
  double offset_us = 0, bound_us = 0;
  std::vector<std::string> by = {};  // the machines between, the nearest to the reference first; empty: one of both has compared them itself
};

/// Of every machine that a chain of ways, each in whichever direction, leads to; where there are several chains, one with a small bound
/// (grown from the reference by the smallest one so far, as Dijkstra, 1959). The bounds of a chain add up, and so does what each of its
/// clocks may have drifted between its way and the newest one of the chain (500 millionths, as in the estimates of a run).
std::map<std::string, ClockOffset> clock_offsets(const std::string& reference, const std::vector<ClockWay>& ways);

}  // namespace n2nq::app
