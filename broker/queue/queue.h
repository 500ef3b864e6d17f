// SPDX-License-Identifier: GPL-3.0-or-later
// The queue as the server sees it: messages go in, each receiver's share comes out in batches, and nothing leaves uncounted.
//
//   take_in() --> [ message log ] --> begin_batch() --> gather() --> (kernel) --> taken() --> … --> handed over
//                        |
//                        +--> expire(): what no receiver got in time
//
// Which message goes to which receiver, and when it leaves the queue, is the policy of broadcaster.h and load_balancer.h; with responses or
// requests, of selective_broadcaster.h and selective_balancer.h.
// No sockets, no clock of its own (`now` is an argument), one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "broker/queue/dispatcher.h"
#include "broker/queue/message_log.h"
#include "broker/queue/pieces.h"
#include "broker/queue/rule_changes.h"
#include "broker/queue/sender_sets.h"
#include "broker/wire/limits.h"
#include "broker/wire/messages.h"

namespace n2nq {

enum class RemovalRule { when_all_have_it, after_time };

struct QueueOptions {
  wire::QueueMode mode = wire::QueueMode::broadcaster;
  RemovalRule removal = RemovalRule::when_all_have_it;  // broadcaster
  DispatchRule dispatch = DispatchRule::random;         // load balancer
  int64_t retention_ns = limits::retention_ms.standard * 1'000'000;
  uint32_t senders = 1;    // their numbers are 1 to this
  uint32_t receivers = 1;  // expected; their numbers are 1 to this
  uint64_t seed = 1;       // of the random dispatch
  bool responses = false;
  uint32_t responses_window = limits::responses_window.standard;                       // deliveries a receiver may leave unconfirmed
  int64_t responses_deadline_ns = limits::responses_deadline_ms.standard * 1'000'000;  // then an unconfirmed one is delivered again
  uint32_t responses_attempts_max = limits::responses_attempts_max.standard;  // deliveries of one message that fail; then it is parked
  bool requests = false;
  size_t pending_bytes_max = limits::pending_bytes.standard;  // backlog at which the caller cuts a receiver off
  size_t rule_units_at_once = 2000;  // looks at a message, cell or place that set_rules() takes; work() does the rest
  /// Messages that may leave when the one who held them back goes (work() takes out the rest), and deliveries whose deadline passes.
  size_t passed_at_once = 2000;
  /// Messages of one kind over which the books walk each time to know which wait; of more it is remembered.
  size_t walked_at_once = 256;
  /// What lists of rules may make the queue note about the messages that wait, roughly, when one is brought in force.
  size_t notes_bytes_max = 128 * 1024 * 1024;
  /// Of kinds of which no message waits any more; beyond it they are forgotten, and found out anew when one comes.
  size_t kinds_kept_bytes_max() const { return std::min<size_t>(notes_bytes_max / 2, 32 * 1024 * 1024); }
  /// So many and more that left behind a message which somebody still holds are no longer listed, when most did.
  size_t gone_listed_max = 64;
  /// What deliveries that are begun or not answered may take in memory; beyond it each receiver may have Allowance::always of them.
  size_t deliveries_bytes_max = 64 * 1024 * 1024;
};

/// One batch under way to one receiver: a DELIVER frame whose bytes the kernel is taking. Its stamp is never renewed.
struct Batch {
  static constexpr size_t stamp_at = wire::frame_header_bytes;  // in the head
  static constexpr size_t head_bytes = stamp_at + 8;
  /// Largest body, unless a single message is larger. A receiver reads it at once, mostly into memory that all of its process share.
  static constexpr size_t body_bytes_max = wire::deliver_prefix_bytes + MessageLog::chunk_bytes;
  /// What a receiver keeps of the memory of a list of what is in it.
  static constexpr size_t list_kept_bytes = 6144;

  std::array<uint8_t, head_bytes> head;  // frame header and sent_on_ns
  size_t record_bytes = 0;               // 0: no batch is under way
  size_t written = 0;                    // of head and records, taken by the kernel
  uint64_t messages = 0;

  bool under_way() const { return record_bytes != 0; }
  bool complete() const { return written == head_bytes + record_bytes; }
  /// Bytes of the records that the kernel has taken.
  size_t records_written() const { return written > head_bytes ? written - head_bytes : 0; }
  int64_t sent_on_ns() const { return wire::load<int64_t>(head.data() + stamp_at); }
  void begin(size_t record_bytes_in_it, uint64_t messages_in_it, int64_t now_ns);
};

/// What a receiver will not get, by reason (index: SkipReason − 1).
using SkippedSets = std::array<SenderSets, 4>;
inline SenderSets& of(SkippedSets& sets, wire::SkipReason reason) {
  return sets[static_cast<size_t>(reason) - 1];
}
inline const SenderSets& of(const SkippedSets& sets, wire::SkipReason reason) {
  return sets[static_cast<size_t>(reason) - 1];
}

/// One receiver number over all its connections.
struct ReceiverAccount {
  enum class State {
    absent,     // not connected now (or never was): expected all the same
    connected,  //
    leaving,    // it said so: not expected any more; a batch may be under way to it still, and it gets no other one
    left,       // that is through, or its stream was ended: not expected any more, but it may come back
    cut_off,    // for good
  };
  State state = State::absent;
  uint64_t handed_over = 0;
  uint64_t redelivered = 0;
  uint64_t confirmed = 0;  // with responses
  bool has_untold = false;
  SkippedSets skipped;   // of one that is absent as of the last bring_books_up_to_date()
  SkippedSets untold;    // the part of `skipped` that the receiver was not told yet
  SenderSets unsettled;  // unrequested ones that settle() found, in neither of them yet

  bool expected() const { return state == State::absent || state == State::connected; }
};

class Queue {
 public:
  static std::unique_ptr<Queue> make(const QueueOptions& options);
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Whole records that lie side by side, as one sender wrote them, their indexes one behind another; the caller has checked sender, indexes
  /// and sizes. Fills in taken_in_ns, flags and attempt.
  void take_in(wire::ByteView records, size_t messages, int64_t taken_in_ns);
  /// What take_in() has done so far beside taking in, in looks at a rule: a message of a kind that is new is compared with every list, which
  /// may be much. So a caller that has others to serve can stop in time.
  virtual uint64_t looks_at_new_kinds() const { return 0; }
  virtual bool is_new_kind(uint32_t /*sender*/, uint32_t /*size*/) const { return false; }

  // --- receivers, by number from 1 ---

  /// Connected, for the first time or again.
  virtual void join(uint32_t receiver) = 0;
  /// Its connection broke, and another one under the same number may follow. The batch under way is given up: whole messages that the
  /// kernel took count as handed over, the rest is still to be delivered.
  virtual void lose(uint32_t receiver) = 0;
  /// The same number is connected again before the old connection was lost: goes on where that one was.
  virtual void replace(uint32_t receiver) = 0;
  /// It is connected and has said that it leaves. It is not expected any more and gets no other batch; the one under way goes on. What it was
  /// to have behind that goes to others (load balancer), or is waited for no longer and is still queued as far as it is concerned
  /// (broadcaster). leave() or cut_off() follows when that batch is through or the connection gone, and neither lose() nor replace().
  virtual void stop_giving(uint32_t receiver) = 0;
  /// It is not expected any more.
  virtual void leave(uint32_t receiver) = 0;
  virtual void cut_off(uint32_t receiver) = 0;

  /// Receivers for which messages came in since the last call, or to which work() passed on what others left behind. Valid until the next one.
  const std::vector<uint32_t>& take_ready();
  /// True when there is something to begin a batch with.
  virtual bool has_next(uint32_t receiver) const = 0;
  /// Precondition: has_next(), and no batch under way. `now_ns` goes out as sent_on_ns.
  virtual void begin_batch(uint32_t receiver, int64_t now_ns) = 0;
  /// What is left of the batch under way. The pieces are valid until the next call to anything of this queue.
  void gather(uint32_t receiver, Pieces& pieces);
  /// The kernel took `bytes` more of the batch under way.
  void taken(uint32_t receiver, size_t bytes, int64_t now_ns);
  /// One batch for all who are in step, that is who miss nothing but what came in before the last take_ready(): a whole DELIVER frame,
  /// which the caller stamps (Batch::stamp_at). Empty where there is none: nothing new, much at once, or each receiver gets something else.
  /// Valid until the next take_in() or take_ready().
  std::span<uint8_t> common_frame() { return common_frame_; }
  /// Whether the common frame is exactly what begin_batch() would begin for it.
  virtual bool is_in_step(uint32_t /*receiver*/) const { return false; }
  /// The kernel took all of the common frame. (Of a part of it: begin_batch() with the same stamp, then taken().)
  virtual void taken_common(uint32_t /*receiver*/) {}
  const Batch& batch(uint32_t receiver) const { return batches_[receiver - 1]; }
  /// What waits for this receiver because it does not take it, the batch under way included (bytes of records). With requests that batch
  /// alone: what it has asked for waits for it in the queue.
  virtual size_t backlog_bytes(uint32_t receiver) const = 0;
  /// Something is kept for this receiver that it could have: it has to answer, or to give credit first. With RemovalRule::after_time what
  /// goes by time all the same does not count.
  virtual bool is_kept_waiting(uint32_t /*receiver*/) const { return false; }
  /// Deliveries that lose() would take back.
  virtual uint64_t unconfirmed(uint32_t /*receiver*/) const { return 0; }
  /// Nothing is left for this receiver, and without new messages nothing ever will be.
  virtual bool drained(uint32_t receiver) const = 0;

  // --- responses and requests; only in a queue that was made with them ---

  enum class Confirmed {
    yes,
    nothing,  // none that was not answered before, as far as that is known
    never_sent,
    twice,
  };
  /// The receiver answers `count` deliveries of its present connection. A late answer counts as none. However large the count, the work is
  /// that of deliveries which were not answered before.
  virtual Confirmed confirm(uint32_t receiver, uint64_t first_delivery, uint32_t count, bool negative);
  /// Its whole list from now on, which outlives the connection. Returns what is wrong with it (then the list before stays), or "". Where it
  /// is much work, or not to be done `at_once`, work() does it, and the receiver gets nothing until then; `asked_on` comes back where that
  /// refuses it.
  virtual std::string set_rules(uint32_t receiver, const std::vector<wire::Rule>& rules, uint64_t asked_on, bool at_once = true);
  /// Goes on with what is done in parts, lists that are not in force yet and what receivers left behind, for about so many looks at a message,
  /// cell or place. Returns how many; 0: nothing to do. To be called before take_ready().
  virtual size_t work(size_t /*units*/) { return 0; }
  /// There is more for work() to do than when it was called last, since something was begun or handed over: what receivers left behind
  /// could be passed on now, that had no room before; or more is to leave the queue than does so at once.
  virtual bool has_work() const { return false; }
  /// Waits for receivers, for none of them in particular; it is in no backlog_bytes().
  virtual size_t unassigned_bytes() const { return 0; }
  /// Lists that were found to be wrong, or too much, by work(); the ones before them stay.
  virtual std::vector<RefusedList> take_refused_lists() { return {}; }
  /// So many more deliveries on this connection; no more than Allowance::credit_max in all.
  virtual void add_credit(uint32_t receiver, uint64_t more);
  /// Takes back what was not confirmed in time, about `passed_at_once` deliveries of it. True: there may be more, for the next call.
  virtual bool pass_deadlines(int64_t) { return false; }
  /// When pass_deadlines() is to be called next; 0: nothing is unconfirmed.
  virtual int64_t next_deadline_ns() const { return 0; }
  /// Finds out what left the queue without having been asked for, for take_untold(). To be called now and then. With many receivers and
  /// lists that is much work, so it may be done in parts: sets of about so many bytes are added to others. False: nothing is left to do of
  /// what there was when the first part began. Before all of a receiver's is found, nothing of it is untold: it would fall apart into many
  /// short runs.
  virtual bool settle(size_t /*bytes_max*/) { return false; }

  // --- the whole ---

  /// To be called after each round of writes: removes what everybody has.
  virtual void trim() {}
  /// Removes what has been in the queue for its retention.
  virtual void expire(int64_t now_ns) = 0;
  /// When expire() is to be called next; 0: no message is in the queue.
  virtual int64_t next_expiry_ns() const = 0;
  /// Nobody who is expected has anything left.
  virtual bool drained() const = 0;
  /// Closes the books: what is in the queue now is still queued. No other call but the readers follows.
  virtual void finish() = 0;

  /// Memory of messages and of all that is noted for each of them. O(1).
  virtual size_t bytes_held() const { return log_.bytes_held(); }
  /// Of the memory of messages that have left, kept to be used again; beside bytes_held(). O(1).
  size_t bytes_kept() const { return log_.bytes_free(); }
  /// Gives back what lists needed that are short again. To be called now and then.
  virtual void fit() { log_.fit(); }
  uint64_t messages_taken_in() const { return log_.tail().message; }
  const ReceiverAccount& account(uint32_t receiver) const { return accounts_[receiver - 1]; }
  /// Takes what the receiver was not told yet.
  SkippedSets take_untold(uint32_t receiver);
  void give_back_untold(uint32_t receiver, const SkippedSets& rest);
  /// What the books of messages that receivers did not get take in memory, roughly: for good, and until it was told. O(receivers + senders).
  virtual size_t books_bytes() const;
  /// How long they are as text, at most and roughly, as far as they are kept for good. O(receivers).
  virtual size_t account_text_bytes() const;
  /// What is noted once for all that are absent is written into the books of each. Who comes, leaves or is cut off has its own then anyway,
  /// and at finish() all have.
  virtual void bring_books_up_to_date() {}
  /// What is noted of the kinds of messages that there were (by sender and size, as far as lists tell them apart), roughly: kept within a
  /// limit, so that the next one of that kind need not be compared with every list. O(1).
  virtual size_t kinds_bytes() const { return 0; }
  /// After finish(). Broadcaster: for each receiver. Load balancer: `total` only.
  const SenderSets& still_queued(uint32_t receiver) const { return still_queued_[receiver - 1]; }
  struct Total {
    SkippedSets skipped;
    SenderSets still_queued;
  };
  const Total& total() const { return total_; }

 protected:
  Queue(const QueueOptions& options, MessageLog::Holds holds);

  /// Fills in who has something new, and forgets it.
  virtual void collect_ready(std::vector<uint32_t>& ready) = 0;
  /// Records of one sender were appended, their indexes one behind another.
  virtual void on_taken_in(const MessageLog::Appended& appended) = 0;
  /// Pieces of the records of the batch under way, from `skip` bytes on.
  virtual void gather_records(uint32_t receiver, size_t skip, Pieces& pieces) = 0;
  /// The kernel took the last byte of the batch: its messages are handed over.
  virtual void complete_batch(uint32_t receiver, int64_t now_ns) = 0;

  ReceiverAccount& account_of(uint32_t receiver) { return accounts_[receiver - 1]; }
  Batch& batch_of(uint32_t receiver) { return batches_[receiver - 1]; }
  void skip(uint32_t receiver, wire::SkipReason reason, uint32_t sender, uint64_t index);
  void skip(uint32_t receiver, wire::SkipReason reason, const SenderSets& sets);
  /// Takes what settle() found for it into its books. Returns how many bytes of sets that were.
  size_t skip_unsettled(uint32_t receiver);
  bool is_expired(const uint8_t* record, int64_t now_ns) const;

  const QueueOptions options_;
  wire::Bytes common_frame_;
  MessageLog log_;
  std::vector<SenderSets> still_queued_;
  Total total_;

 private:
  std::vector<ReceiverAccount> accounts_;
  std::vector<Batch> batches_;
  std::vector<uint32_t> ready_;
};

}  // namespace n2nq
