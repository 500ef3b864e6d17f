// SPDX-License-Identifier: GPL-3.0-or-later
// The broker's last words: `bye` of docs/control-protocol.md.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "broker/queue/queue.h"
#include "broker/server/options.h"
#include "broker/server/receiver_desk.h"
#include "broker/server/sender_desk.h"

namespace n2nq {

struct SummaryFacts {
  uint64_t epoch = 0;
  size_t memory_bytes_max = 0;
  size_t books_bytes = 0, books_bytes_max = 0;  // the most with what was foreseen
  size_t kinds_bytes = 0;
  size_t kept_bytes = 0;  // which nobody has, to be used again
  size_t heap_bytes = 0, heap_holes_bytes = 0;
  int64_t held_back_by_memory_ns = 0, held_back_by_receivers_ns = 0;
  int64_t waited_for_places_ns = 0;  // while others' frames that had not come whole took the memory there is for these
  std::map<std::string, uint64_t> sessions_refused;
  std::vector<std::string> faults;
};

/// What a summary's sets take of a line. They may be many times what a line holds: what is beyond `most` is counted and not built.
struct SetLetters {
  size_t most = SIZE_MAX;
  size_t count = 0;  // at least
  bool fit() const { return count <= most; }
};

/// After Queue::finish(). Where the letters do not fit, sets are missing in it.
nlohmann::json make_summary(const Options& options, const Queue& queue, const SenderDesk& senders, const ReceiverDesk& receivers,
                            const SummaryFacts& facts, SetLetters& letters);

}  // namespace n2nq
