// SPDX-License-Identifier: GPL-3.0-or-later
// What all receivers are being told that they will not get: to those that are served between their batches, to those that have ended before
// their END, as they read it. What is not told goes back to the queue, for the receiver's next connection. The loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "broker/queue/queue.h"
#include "broker/server/session.h"
#include "broker/server/telling.h"

namespace n2nq {

class Tellings {
 public:
  Tellings(Queue& queue, uint32_t receivers) : queue_(queue), under_way_(receivers) {}

  /// Whether this receiver is to be told something, or is being told it.
  bool any(uint32_t number) const { return under_way_[number - 1] || queue_.account(number).has_untold; }
  /// Appends one frame of it.
  void tell_some(uint32_t number, wire::Bytes& out);
  /// Nothing is told between batches any more.
  void stop(uint32_t number);
  /// What this session, which has ended, is told before its END; null: nothing.
  std::shared_ptr<Telling> begin_last_words(const Session& session);
  /// The session is gone, with what it had not read of that.
  void end_last_words(const Session& session);
  /// So is any session of that number.
  void end_last_words(uint32_t number);
  /// From now on nothing of last words goes back to the queue.
  void close_books() { books_closed_ = true; }
  /// What it takes in memory. O(receivers).
  size_t bytes();

 private:
  struct LastWords {
    const Session* session;
    uint32_t number;
    std::weak_ptr<Telling> rest;
  };

  std::unique_ptr<Telling> begin(uint32_t number);
  void take(const LastWords& words);

  Queue& queue_;
  std::vector<std::unique_ptr<Telling>> under_way_;  // by number - 1; null: nothing is told
  std::vector<LastWords> last_words_;                // of those that read them still
  bool books_closed_ = false;
};

}  // namespace n2nq
