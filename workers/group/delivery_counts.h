// SPDX-License-Identifier: GPL-3.0-or-later
// What one receiver counts of its deliveries; it has two of these, one of the warm-up and one of what is measured. One thread writes, any
// thread reads.
#pragma once

#include "broker/wire/messages.h"
#include "workers/group/counter.h"
#include "workers/measure/accounts.h"

namespace n2nq::worker {

struct DeliveryCounts {
  Counter received, duplicated, duplicated_unflagged, redelivered, out_of_order, unexpected, negative, bad_checksum, unasked, bytes;
  Counter confirmed, answered_negatively;
  // Copies that N2NQ gave up and that are not here: what arrived is delivered, whatever N2NQ took it for.
  Counter expired, unrequested, parked, cut_off;
  Counter parked_delivered;  // copies that N2NQ parked though they arrived

  Counter& skipped_for(wire::SkipReason reason) {
    switch (reason) {
      case wire::SkipReason::expired:
        return expired;
      case wire::SkipReason::unrequested:
        return unrequested;
      case wire::SkipReason::parked:
        return parked;
      case wire::SkipReason::cut_off:
        break;
    }
    return cut_off;
  }

  measure::ReceivedCounts counts() const {
    return {.received = received.get(),
            .duplicated = duplicated.get(),
            .duplicated_unflagged = duplicated_unflagged.get(),
            .redelivered = redelivered.get(),
            .out_of_order = out_of_order.get(),
            .unexpected = unexpected.get(),
            .negative = negative.get(),
            .bad_checksum = bad_checksum.get(),
            .unasked = unasked.get()};
  }
  measure::SkippedCounts skipped() const {
    return {
        .expired = expired.get(), .unrequested = unrequested.get(), .parked = parked.get(), .cut_off = cut_off.get(), .still_queued = 0};
  }
};

}  // namespace n2nq::worker
