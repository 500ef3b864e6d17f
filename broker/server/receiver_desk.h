// SPDX-License-Identifier: GPL-3.0-or-later
// The receivers' side: who is there, what they say, what they get (WriteRound writes it), and who is cut off for being too slow.
//
// flush() is called at the end of each wake-up. A receiver whose socket is full is left alone until it has room. Two limits end that patience:
// its backlog (pending limit) and the time one batch takes (write deadline); see also watch_silent().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "broker/net/event_loop.h"
#include "broker/queue/queue.h"
#include "broker/server/event_log.h"
#include "broker/server/options.h"
#include "broker/server/per_wake_up.h"
#include "broker/server/receiver_seat.h"
#include "broker/server/session.h"
#include "broker/server/tellings.h"
#include "broker/server/write_round.h"

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
  void on_writable(Session& session) { round_.mark(session.number()); }
  void on_left(Session& session);
  /// It has left before.
  void on_gone(const Session& session) { tellings_.end_last_words(session); }

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
  size_t telling_bytes() { return tellings_.bytes(); }
  /// Ends every stream now, with Queue::finish().
  void end_all();

  Session* session(uint32_t number) const { return seats_.of(number).session; }
  uint32_t connected() const { return connected_; }
  /// Those of them that have not said that they leave.
  uint32_t staying() const { return connected_ - leaving_; }
  /// The stream was ended in order, by the broker or by the receiver.
  bool ended(uint32_t number) const { return seats_.of(number).ended; }
  /// Some receiver was told that nothing comes any more.
  bool any_stream_ended() const { return any_stream_ended_; }
  const std::string& cut_off_reason(uint32_t number) const { return seats_.of(number).cut_off_reason; }
  wire::EndTotals totals(uint32_t number) const;
  /// How many were handed over on its last connection, which may still be there.
  uint64_t handed_over_on_last_connection(uint32_t number) const {
    return queue_.account(number).handed_over - seats_.of(number).handed_over_before;
  }
  /// Deliveries that were not answered, though a later one of the same connection was: none from a receiver that answers everything in
  /// order.
  uint64_t answers_missing(uint32_t number) const {
    const ReceiverSeat& seat = seats_.of(number);
    return seat.missing_before + (seat.answered_below - std::min(seat.answered, seat.answered_below));  // what is forgotten may come again
  }

  /// Receivers that are behind and moving. `held`: senders are held back, so that less is enough for it.
  uint32_t behind(bool held, int64_t now_ns) const;

 private:
  void on_confirm(Session& session, wire::ByteView body);
  void on_rules(Session& session, wire::ByteView body);
  void on_credit(Session& session, wire::ByteView body);
  void refuse(Session& session, wire::ErrorCode code, const std::string& text);
  void detach(uint32_t number);
  void count_taken_back(uint32_t number);
  bool may_take_back(uint32_t number);
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
  ReceiverSeats seats_;
  Tellings tellings_;
  WriteRound round_;
  /// Lists that are looked at as they come; a read may have two thousand, of 0.05 ms each. The others wait for their part of the time.
  PerWakeUp lists_at_once_{16};
  wire::Confirm confirm_;  // the one being looked at
  uint32_t connected_ = 0;
  uint32_t leaving_ = 0;       // of these
  ptrdiff_t within_host_ = 0;  // of those who are connected
  bool any_stream_ended_ = false;
  bool books_closed_ = false;
  bool went_ = false;  // since take_went()
  bool ending_ = false;
  int64_t looked_ns_ = 0;                // by watch_all_limits()
  bool look_again_ = false;              // in the next wake-up: not all could be cut off
  int64_t silent_looked_ns_ = 0;         // by watch_silent()
  int64_t silent_watched_since_ns_ = 0;  // it has looked without a gap since
};

}  // namespace n2nq
