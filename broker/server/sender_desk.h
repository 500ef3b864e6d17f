// SPDX-License-Identifier: GPL-3.0-or-later
// The senders' side: takes their messages into the queue, tells them what is accepted, holds them back when the queue is full.
//
// At the memory budget nobody is read who has not begun a long frame. Who has one in memory shared for these is read to its end: that memory
// is in use until then, and what is wanted of it leaves again, where the queue may hold only what nobody wants. Where memory grows by it
// beyond what there was when the hold began, the others of these wait, too, and all of them as long as a receiver is behind.
//
// A message is accepted when it is in the queue; its index must be the next one. What a sender repeats after a reconnect is dropped.
// Messages of kinds that are new are compared with every list of rules, which may be much. A wake-up has time for about a millisecond of it:
// a frame that needs more goes on in later ones, in turns with those of other senders. Messages of known kinds wait for nobody.
// ACCEPTED is told unasked, by one timer for all senders that is only armed when there is something to tell; in parts, between which
// messages are served.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "broker/net/event_loop.h"
#include "broker/queue/queue.h"
#include "broker/server/event_log.h"
#include "broker/server/hold.h"
#include "broker/server/options.h"
#include "broker/server/session.h"

namespace n2nq {

class SenderDesk {
 public:
  struct Account {
    Session* session = nullptr;  // while serving
    bool known = false;          // was connected at least once, to this broker or, as far as it knows, to the one before
    bool joined = false;         // to this one
    bool ended = false;
    bool lapsed = false;  // counted as ended without END
    uint64_t next_index = 0;
    std::optional<uint64_t> end_said;  // what END said, as long as nothing was published since
    uint64_t accepted = 0;
    uint64_t warm_up = 0;  // of those accepted
    uint64_t refused = 0;
    int64_t gone_since_ns = 0;  // while known and not connected
    bool untold = false;        // ACCEPTED is due
    std::vector<wire::RefusedRange> refused_untold;
    std::vector<wire::RefusedRange> refused_told;  // on this connection: may be lost with it
    bool awaits_turn = false;  // stands in turns_
    size_t walked_bytes = 0;   // of the frame that waits for its turn: of these records nothing is new
  };

  SenderDesk(net::EventLoop& loop, const Options& options, Queue& queue, net::FramePlaces& frame_places, EventLog& log);

  /// A sender said HELLO with a number in range; returns the index the broker expects next. A former session of the same number was
  /// refused by the caller.
  uint64_t join(Session& session, const wire::Hello& hello);
  void on_frame(Session& session, const wire::Frame& frame);
  /// False: it is one message over the limit, which is refused by its head.
  bool wants(Session& session, const wire::BegunFrame& frame);
  void on_left(Session& session);

  const Account& account(uint32_t number) const { return accounts_[number - 1]; }
  uint32_t connected() const { return connected_; }
  /// Every expected sender has ended, and there was something to end: a run in which nothing was published is not over.
  bool all_ended() const { return ended_ == accounts_.size() && (accepted_ + refused_ > 0 || any_lapsed_); }
  uint64_t accepted() const { return accepted_; }
  uint64_t refused() const { return refused_; }

  /// The run has begun. Without this it does with the first message, as far as check_gone() sees it.
  void begin(int64_t now_ns) { begun_ns_ = now_ns; }
  /// Counts senders that are gone longer than their reconnect deadline, in a run that has begun, as ended.
  void check_gone(int64_t now_ns);
  /// Messages that come from now on are refused.
  void refuse_new() { ending_ = true; }
  /// Also of those that were gone for too long and counted as ended without saying END.
  void refuse_lapsed() { lapsed_refused_ = true; }
  bool refuses_lapsed() const { return lapsed_refused_; }
  /// Behind each wake-up's deliveries: tells what is due of what is accepted, or a part of it.
  void tell_due();
  /// Tells everything that is untold, then says to those who have not ended that N2NQ is ending.
  void dismiss();

  /// What counts against the memory budget.
  size_t memory_bytes() const { return queue_.bytes_held() + frame_places_.bytes_taken(); }
  /// Stops or resumes reading from senders; to be told again and again while it lasts. `finish`: no receiver is behind for whom what long
  /// frames that are under way bring would be too much.
  void hold_back(Hold hold, bool finish = false);
  Hold hold() const { return hold_; }
  bool held_back() const { return hold_ != Hold::none; }
  /// How long in all for this reason, until now.
  int64_t held_back_ns(Hold why, int64_t now_ns) const {
    return held_total_ns_[static_cast<size_t>(why)] + (hold_ == why ? now_ns - held_since_ns_ : 0);
  }

  /// At most 100 sentences, and a last one that counts the others: senders may go and come back for days.
  std::vector<std::string> faults() const;

 private:
  void on_publish(Session& session, const wire::Frame& frame);
  bool has_time_for(const uint8_t* record);
  void wait_for_turn(Session& session);
  void give_turns();
  void on_end(Session& session, const wire::End& end);
  void published(uint32_t number);
  /// Records that are taken in together: they lie side by side in a frame, one read completed them, and nothing is to be said about any.
  struct Run {
    /// No longer, so that what was just copied is in the nearest cache when its fields are filled in.
    static constexpr size_t bytes_max = 8 * 1024;
    wire::ByteView records;
    size_t messages = 0;
    size_t warm_up = 0;  // of them
    int64_t read_ns = 0;
  };
  Run run_at(const Session& session, const Account& account, wire::ByteView records, size_t before_bytes,
             net::Connection::ReadTimes& times) const;
  void take(Account& account, wire::ByteView record, int64_t read_ns);
  void take_in(Account& account, const Run& run);
  void refuse_record(Session& session, uint64_t next_index, const uint8_t* record);
  void refuse_message(Account& account, uint64_t index, wire::RefuseReason reason);
  void set_ended(Account& account, bool ended);
  void mark_untold(uint32_t number);
  void tell(Account& account);
  void say_accepted(Account& account);
  static void remember_told(Account& account);
  void tell_later(int64_t now_ns);
  void tell_next(size_t senders_max);
  void forget_told();
  void let_finish(bool finish, const Session* all_the_same = nullptr);
  void note_fault(std::string sentence);

  net::EventLoop& loop_;
  const Options& options_;
  Queue& queue_;
  net::FramePlaces& frame_places_;
  EventLog& log_;
  std::vector<Account> accounts_;
  std::vector<uint32_t> untold_;  // at most twice as many as senders: one that was told is marked again behind those that are due
  size_t due_ = 0, told_ = 0;     // the first ones of `untold_`: to be told now, and told of these
  net::Timer tell_timer_;
  bool tells_ = false, took_in_ = false;  // behind this wake-up; in it
  int64_t tell_by_ns_ = 0;                // until then a wake-up that brought no messages is waited for
  int64_t looks_woke_ns_ = 0;  // of this wake-up is looks_max_
  uint64_t looks_max_ = 0;     // as Queue::looks_at_new_kinds() counts
  std::deque<uint32_t> turns_;  // senders whose frame goes on when there is time
  net::Timer turns_timer_;
  std::minstd_rand chance_;
  uint32_t connected_ = 0;
  size_t ended_ = 0;
  uint64_t accepted_ = 0;
  uint64_t refused_ = 0;
  bool ending_ = false;
  bool any_lapsed_ = false;
  int64_t begun_ns_ = 0;  // 0: not yet
  bool lapsed_refused_ = false;
  Hold hold_ = Hold::none;
  size_t held_bytes_max_ = 0;  // while held by memory
  bool finish_ = false;        // likewise: frames that have their memory are read on
  int64_t held_since_ns_ = 0;
  std::array<int64_t, 3> held_total_ns_{};  // by reason
  std::array<bool, 3> hold_told_{};         // likewise
  std::vector<std::string> faults_;
  uint64_t faults_beyond_ = 0;
};

}  // namespace n2nq
