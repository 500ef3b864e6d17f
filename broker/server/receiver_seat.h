// SPDX-License-Identifier: GPL-3.0-or-later
// One receiver's number in a run: the session that has it now, if one has, and what counts over all its connections. The loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/server/session.h"
#include "broker/server/write_deadline.h"

namespace n2nq {

struct ReceiverSeat {
  Session* session = nullptr;
  uint64_t connection = 0;                        // how many this number has had
  std::unique_ptr<WriteDeadline> write_deadline;  // armed while the kernel has no room for what is under way
  bool within_host = false;                       // its connection
  bool leaving = false;                           // it said END; the batch under way is its last
  bool ended = false;
  size_t joined_with_bytes = SIZE_MAX;  // backlog at joining that is not caught up: a late joiner is not slow; before it joins no limit
  int64_t moved_ns = 0;               // when the kernel last took something
  int64_t owes_since_ns = 0;          // when it last answered something, gave credit, or was seen to owe neither
  uint64_t handed_over_before = 0;    // on earlier connections
  std::optional<uint32_t> last_list;  // of RULES on this connection
  uint64_t answered = 0;              // on this connection
  uint64_t answered_below = 0;        // one above the highest delivery that was answered
  uint64_t missing_before = 0;        // answers that were missing on earlier connections
  std::string cut_off_reason;

  bool serving() const { return session && session->serving(); }
};

/// By number, from 1.
class ReceiverSeats {
 public:
  explicit ReceiverSeats(uint32_t receivers) : seats_(receivers) {}
  uint32_t count() const { return static_cast<uint32_t>(seats_.size()); }
  ReceiverSeat& of(uint32_t number) { return seats_[number - 1]; }
  const ReceiverSeat& of(uint32_t number) const { return seats_[number - 1]; }

 private:
  std::vector<ReceiverSeat> seats_;
};

}  // namespace n2nq
