// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the accounts of a run apart: what is said of the warm-up, and what is said of the messages that are measured. On the wire each
// sender's indexes begin with its warm-up; here both parts count from 0.
//
// Sets are cut at that index. A count that comes with sets loses what the warm-up's sets hold, so that a contradiction between the two
// stays with the measured part. Some things a process says of both together: what N2NQ handed over, answers, totals of a connection. These
// stay whole in the measured part, and so does every comparison of N2NQ's word with a receiver's. Pure.
#pragma once

#include "workers/measure/ledger.h"

namespace n2nq::measure {

struct SplitInput {
  LedgerInput measured, warm_up;
};

/// `input.warmup_messages` is not 0; it is in neither part.
SplitInput split_warm_up(const LedgerInput& input);

}  // namespace n2nq::measure
