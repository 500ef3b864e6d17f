// SPDX-License-Identifier: GPL-3.0-or-later
// What a wake-up has for receivers, written: one write each, round and round until all had their turn; with `io: io_uring`, where there are
// several, given to the kernel in one call. The loop's thread.
//
// A receiver whose socket is full is left alone until it has room; nothing is stamped for it meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "broker/net/core_keeper.h"
#include "broker/net/event_loop.h"
#include "broker/queue/pieces.h"
#include "broker/queue/queue.h"
#include "broker/server/event_log.h"
#include "broker/server/options.h"
#include "broker/server/receiver_seat.h"
#include "broker/server/tellings.h"

namespace n2nq {

class WriteRound {
 public:
  /// `look_after` is called with each receiver of a round behind its writes, but for who took all of what is the same for many.
  WriteRound(net::EventLoop& loop, const Options& options, Queue& queue, EventLog& log, ReceiverSeats& seats, Tellings& tellings,
             std::function<void(uint32_t)> look_after);

  /// This one is in the next round, too, beside those the queue names.
  void mark(uint32_t number);
  bool any_marked() const { return !marked_.empty(); }
  /// `within_host`: so many of those who are connected are on this host.
  void write(ptrdiff_t within_host);
  /// What this one is to be told that it will not get. False: there is more than the kernel takes now, or than the others are to wait for.
  bool tell(uint32_t number);

 private:
  struct InRing {
    uint32_t number;
    size_t bytes;
    bool common;
  };

  void begin();
  void keep_core(ptrdiff_t within_host);
  void write_one(uint32_t number);
  bool takes_common(uint32_t number) const;
  bool write_common(uint32_t number);
  void stamp_common();
  void settle_common(uint32_t number, size_t bytes);
  bool add_to_ring(uint32_t number);
  void submit_ring();
  bool write_control(uint32_t number);
  bool gather_batch(uint32_t number);
  bool write_batch(uint32_t number);
  bool took(uint32_t number, size_t bytes);

  net::EventLoop& loop_;
  const Options& options_;
  Queue& queue_;
  EventLog& log_;
  ReceiverSeats& seats_;
  Tellings& tellings_;
  const std::function<void(uint32_t)> look_after_;
  std::vector<bool> is_marked_;  // by number - 1
  std::vector<uint32_t> marked_;
  std::vector<uint32_t> round_;  // being written to
  size_t turn_ = 0;              // who is first moves on, so that nobody is always last
  Pieces pieces_;
  std::unique_ptr<net::SendRing> ring_;  // null: each write is a call of its own
  std::vector<InRing> in_ring_;          // in the order of adding
  std::vector<uint32_t> apart_;          // of a round through the ring: who is served behind it
  bool may_keep_core_;
  std::unique_ptr<net::CoreKeeper> core_keeper_;  // made when it is first needed
  uint64_t messages_before_ = 0;                  // taken in before this round
};

}  // namespace n2nq
