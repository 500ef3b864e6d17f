// SPDX-License-Identifier: GPL-3.0-or-later
// The receivers' side: writes the queue's batches, one write per receiver and wake-up, and cuts off who is too slow.
// With `io: io_uring` what a wake-up has for several receivers goes to the kernel in one call.
//
// flush() is called at the end of each wake-up. A receiver whose socket is full is left alone until it has room; nothing is stamped for it
// meanwhile. Two limits end its patience: its backlog (pending limit) and the time one batch takes (write deadline); see also
// watch_silent().
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/net/core_keeper.h"
#include "broker/net/event_loop.h"
#include "broker/queue/pieces.h"
#include "broker/queue/queue.h"
#include "broker/server/event_log.h"
#include "broker/server/options.h"
#include "broker/server/session.h"
#include "broker/server/telling.h"
#include "broker/server/turns.h"
#include "broker/server/write_deadline.h"

namespace n2nq {

class ReceiverDesk {
 public:
  ReceiverDesk(net::EventLoop& loop, const Options& options, Queue& queue, EventLog& log);

  /// Why this number may not come back; empty when it may.
  std::string refusal(uint32_t number) const;
  /// A receiver said HELLO with a number in range; no session of this number is left (see replace()).
  void join(Session& session);
  /// The session of this number, if there is one, makes room for another that goes on where it was.
  void replace(uint32_t number);
  void on_frame(Session& session, const wire::Frame& frame);
  void on_writable(Session& session) { mark(session.number()); }
  void on_left(Session& session);
  /// It has left before.
  void on_gone(const Session& session);

  /// A list that was taken is not to be in force after all.
  void refuse_list(const RefusedList& list);
  /// Writes what there is to write.
  void flush();
  /// Whether some receiver went since this was asked last: what was under way to it may be older than its retention.
  bool take_went() { return std::exchange(went_, false); }
  /// Something was skipped: receivers that have to be told are looked at by the next flush().
  void mark_untold();
  /// True in the middle of a DELIVER frame: no other frame may be written.
  bool in_frame(uint32_t number) const { return queue_.batch(number).under_way(); }
  /// To be called at each wake-up while much of the memory budget is in use. Where it is nearly used up (`memory_is_needed`), who keeps
  /// others from it is cut off: something was kept for it for the write deadline, and it has neither answered nor given credit. (With
  /// credit used up nothing is under way that the write deadline itself could be for.)
  void watch_silent(bool memory_is_needed);
  /// From now on streams end as soon as nothing is left for them.
  void set_ending(bool ending) { ending_ = ending; }
  /// What is being told to receivers that they will not get takes so much memory. O(receivers).
  size_t telling_bytes();
  /// Ends every stream now, with Queue::finish().
  void end_all();

  Session* session(uint32_t number) const { return desks_[number - 1].session; }
  uint32_t connected() const { return connected_; }
  /// Those of them that have not said that they leave.
  uint32_t staying() const { return connected_ - leaving_; }
  /// The stream was ended in order, by the broker or by the receiver.
  bool ended(uint32_t number) const { return desks_[number - 1].ended; }
  /// Some receiver was told that nothing comes any more.
  bool any_stream_ended() const { return any_stream_ended_; }
  const std::string& cut_off_reason(uint32_t number) const { return desks_[number - 1].cut_off_reason; }
  wire::EndTotals totals(uint32_t number) const;
  /// How many were handed over on its last connection, which may still be there.
  uint64_t handed_over_on_last_connection(uint32_t number) const {
    return queue_.account(number).handed_over - desks_[number - 1].handed_over_before;
  }
  /// Deliveries that were not answered, though a later one of the same connection was: none from a receiver that answers everything in
  /// order.
  uint64_t answers_missing(uint32_t number) const {
    const Desk& desk = desks_[number - 1];
    return desk.missing_before + (desk.answered_below - std::min(desk.answered, desk.answered_below));  // what is forgotten may come again
  }

  /// Receivers that are behind and moving. `held`: senders are held back, so that less is enough for it.
  uint32_t behind(bool held, int64_t now_ns) const;

 private:
  struct Desk {
    Session* session = nullptr;
    std::unique_ptr<Telling> telling;            // null: nothing is
    uint64_t connection = 0;                     // how many this number has had
    std::unique_ptr<WriteDeadline> write_deadline;  // armed while the kernel has no room for what is under way
    bool marked = false;
    bool within_host = false;  // its connection
    bool leaving = false;  // it said END; the batch under way is its last
    bool ended = false;
    size_t joined_with_bytes = 0;       // backlog at joining that is not caught up: a late joiner is not slow
    int64_t moved_ns = 0;               // when the kernel last took something
    int64_t owes_since_ns = 0;          // when it last answered something, gave credit, or was seen to owe neither
    uint64_t handed_over_before = 0;    // on earlier connections
    std::optional<uint32_t> last_list;  // of RULES on this connection
    uint64_t answered = 0;              // on this connection
    uint64_t answered_below = 0;        // one above the highest delivery that was answered
    uint64_t missing_before = 0;        // answers_missing() of earlier connections
    std::string cut_off_reason;
  };

  /// What a receiver that has ended is told before its END.
  struct LastWords {
    const Session* session;
    uint32_t number;
    std::weak_ptr<Telling> rest;
  };

  void on_confirm(Session& session, wire::ByteView body);
  void on_rules(Session& session, wire::ByteView body);
  void on_credit(Session& session, wire::ByteView body);
  void refuse(Session& session, wire::ErrorCode code, const std::string& text);
  Desk& desk_of(uint32_t number) { return desks_[number - 1]; }
  const Desk& desk_of(uint32_t number) const { return desks_[number - 1]; }
  void mark(uint32_t number);
  void begin_round();
  void keep_core();
  void flush_one(uint32_t number);
  bool takes_common(uint32_t number) const;
  bool write_common(uint32_t number);
  void stamp_common();
  void settle_common(uint32_t number, size_t bytes);
  bool add_to_ring(uint32_t number);
  void submit_ring();
  bool write_control(uint32_t number);
  bool tell(uint32_t number);
  void tell_some(uint32_t number);
  std::unique_ptr<Telling> begin_telling(uint32_t number);
  void stop_telling(uint32_t number);
  void take_last_words(const LastWords& words);
  bool gather_batch(uint32_t number);
  bool write_batch(uint32_t number);
  bool took(uint32_t number, size_t bytes);
  void look_after(uint32_t number);
  void watch_limits(uint32_t number);
  void watch_all_limits();
  void end_if_due(uint32_t number);
  void send_end(uint32_t number, const char* why);
  void pass_write_deadline(uint32_t number);
  void cut_off(uint32_t number, const std::string& reason);

  net::EventLoop& loop_;
  const Options& options_;
  Queue& queue_;
  EventLog& log_;
  std::vector<Desk> desks_;
  std::vector<uint32_t> marked_;  // to be flushed beside those the queue names
  std::vector<uint32_t> round_;   // being flushed
  size_t turn_ = 0;               // who is first moves on, so that nobody is always last
  Pieces pieces_;
  struct InRing {
    uint32_t number;
    size_t bytes;
    bool common;
  };
  bool any_stream_ended_ = false;
  bool books_closed_ = false;
  std::vector<LastWords> last_words_;  // of those that read them still
  /// Lists that are looked at as they come; a read may have two thousand, of 0.05 ms each. The others wait for their part of the time.
  Turns lists_at_once_{16};
  std::unique_ptr<net::SendRing> ring_;  // null: each write is a call of its own
  std::vector<InRing> in_ring_;          // in the order of adding
  std::vector<uint32_t> apart_;           // of a round through the ring: who is served behind it
  bool may_keep_core_;
  std::unique_ptr<net::CoreKeeper> core_keeper_;  // made when it is first needed
  ptrdiff_t within_host_ = 0;                     // of those who are connected
  uint64_t messages_before_ = 0;                  // taken in before this round
  wire::Confirm confirm_;                // the one being looked at
  uint32_t connected_ = 0;
  uint32_t leaving_ = 0;  // of these
  bool went_ = false;  // since take_went()
  bool ending_ = false;
  int64_t looked_ns_ = 0;                // by watch_all_limits()
  int64_t silent_looked_ns_ = 0;         // by watch_silent()
  int64_t silent_watched_since_ns_ = 0;  // it has looked without a gap since
};

}  // namespace n2nq
