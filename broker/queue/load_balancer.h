// SPDX-License-Identifier: GPL-3.0-or-later
// Queue mode 2: every message goes to exactly one receiver, which the dispatch rule chooses when it comes in.
// It leaves the queue once the kernel took its last byte, at the latest at its retention. With no receiver connected it waits.
// When a receiver goes away, what it did not get goes to others, a part of it with each work(), and to each so little at a time that nobody is
// cut off for it; so does what waited for the first to come. What comes in meanwhile goes behind it. Flagged as redelivered is what the kernel
// took in part, and what that other one gets behind later messages; of a receiver that was cut off, the message that the kernel took in part
// is counted as cut off.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "broker/queue/in_order.h"
#include "broker/queue/queue.h"

namespace n2nq {

class LoadBalancer : public Queue {
 public:
  explicit LoadBalancer(const QueueOptions& options);

  void join(uint32_t receiver) override;
  void lose(uint32_t receiver) override;
  void replace(uint32_t receiver) override;
  void stop_giving(uint32_t receiver) override;
  void leave(uint32_t receiver) override;
  void cut_off(uint32_t receiver) override;
  size_t work(size_t units) override;
  bool has_work() const override;
  size_t unassigned_bytes() const override { return left_behind_bytes_; }
  bool has_next(uint32_t receiver) const override;
  void begin_batch(uint32_t receiver, int64_t now_ns) override;
  size_t backlog_bytes(uint32_t receiver) const override;
  /// The same for all: a message may still be given to any of them.
  bool drained(uint32_t receiver) const override;
  void expire(int64_t now_ns) override;
  int64_t next_expiry_ns() const override;
  bool drained() const override { return queued_ == 0; }
  void finish() override;
  size_t bytes_held() const override { return log_.bytes_held() + queued_ * 2 * sizeof(Assigned); }
  void fit() override;

 private:
  /// As small as can be: each message is one, and beside those that wait nothing else is written for it.
  struct Assigned {
    uint64_t chunk = 0;
    uint32_t offset = 0;
    uint32_t bytes : 31 = 0;
    uint32_t again : 1 = 0;  // its record is flagged as redelivered
    /// It was taken in behind the other one.
    bool is_behind(const Assigned& other) const { return chunk > other.chunk || (chunk == other.chunk && offset > other.offset); }
  };
  /// What is to go to one receiver: the two as one, in the order of taking in. The first `batch.messages` of `waiting` are under way.
  struct Share {
    Ring<Assigned> waiting;    // in that order
    InOrder<Assigned> passed;  // what others left behind; comes into `waiting` as batches are begun
    size_t bytes = 0;          // of both
    size_t passed_bytes = 0;   // of `passed`
    Assigned latest;  // that was handed over to it so far
    bool marked_ready = false;
  };

  /// Of what others left behind: so much at most is given to one receiver before it begins to take that, unless it is a single message.
  static constexpr size_t passed_bytes_max = 1024 * 1024;

  void collect_ready(std::vector<uint32_t>& ready) override;
  void on_taken_in(const MessageLog::Appended& appended) override;
  void gather_records(uint32_t receiver, size_t skip, Pieces& pieces) override;
  void complete_batch(uint32_t receiver, int64_t now_ns) override;

  Share& share_of(uint32_t receiver) { return shares_[receiver - 1]; }
  static Assigned assigned(uint64_t chunk, uint32_t offset, size_t bytes);
  uint32_t choose_among(std::span<const uint32_t> receivers);
  void assign_in_turn(const MessageLog::Appended& appended);
  void mark_ready(uint32_t receiver);
  bool has_room_for(uint32_t receiver, size_t bytes) const;
  void hand_over_first(uint32_t receiver, uint64_t messages);
  void give_up_batch(uint32_t receiver, bool for_good = false);
  void disconnect(uint32_t receiver, ReceiverAccount::State state);
  void leave_behind(Share& share, Ring<Assigned>& waiting);
  /// Into `waiting`, as much of what was passed on as one batch may have. Returns how many messages at its front that batch may be of.
  size_t bring_in_passed(Share& share);
  void flag_as_redelivered(Assigned& assigned);
  const uint8_t* record_of(const Assigned& assigned) const { return log_.at(assigned.chunk, assigned.offset); }
  /// Out of the queue, handed over or not.
  void remove(const Assigned& assigned);
  size_t take_expired(InOrder<Assigned>& list, int64_t now_ns, SenderSets& expired);
  void expire_share(uint32_t receiver, int64_t now_ns);
  void take_out(const Assigned& assigned, GatheredRuns& expired);
  void add_to(SenderSets& sets, const Assigned& assigned) const;

  Dispatcher dispatcher_;
  std::vector<Share> shares_;
  std::vector<uint32_t> connected_;  // rising numbers
  std::vector<uint32_t> marked_;     // have something new
  InOrder<Assigned> left_behind_;    // by who went; what came while nobody was connected; and what came in behind these
  size_t left_behind_bytes_ = 0;
  int64_t expired_ns_ = 0;           // when expire() looked last
  size_t came_behind_ = 0;           // messages that came in behind these since work()
  uint64_t queued_ = 0;              // messages, assigned or not
};

}  // namespace n2nq
