// SPDX-License-Identifier: GPL-3.0-or-later
// Queue mode 1: every receiver gets every message, in the order of taking in. Receivers are cursors into the shared log.
// A message leaves the queue when every expected receiver has it, or (the other rule) a set time after it came in; at its retention anyway.
// Who joins late gets what the queue still holds. What was removed before an expected receiver got it is counted as expired for that one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "broker/queue/queue.h"
#include "broker/queue/taken_in.h"

namespace n2nq {

class Broadcaster : public Queue {
 public:
  explicit Broadcaster(const QueueOptions& options);

  void join(uint32_t receiver) override;
  void lose(uint32_t receiver) override;
  void replace(uint32_t receiver) override;
  void stop_giving(uint32_t receiver) override;
  void leave(uint32_t receiver) override;
  void cut_off(uint32_t receiver) override;
  bool has_next(uint32_t receiver) const override;
  void begin_batch(uint32_t receiver, int64_t now_ns) override;
  bool is_in_step(uint32_t receiver) const override;
  void taken_common(uint32_t receiver) override;
  size_t backlog_bytes(uint32_t receiver) const override;
  bool drained(uint32_t receiver) const override;
  void trim() override;
  void expire(int64_t now_ns) override;
  int64_t next_expiry_ns() const override;
  bool drained() const override;
  void finish() override;
  size_t account_text_bytes() const override {
    return Queue::account_text_bytes() + (away_ ? away_count_ * away_->since_text_bytes_max() : 0);
  }
  void bring_books_up_to_date() override;
  /// Those of who is absent count as their own already: skipped, and untold.
  size_t books_bytes() const override {
    const size_t away_bytes = away_ ? away_->bytes() + 2 * away_count_ * away_->since_bytes_max() : 0;
    return Queue::books_bytes() + taken_in_.bytes() + (waiting_ ? waiting_->sets.bytes() : 0) + away_bytes;
  }
  void fit() override;

 private:
  struct Cursor {
    Position begin;           // of the batch under way
    uint64_t last_chunk = 0;  // of the batch under way; it holds begin.chunk to this one
    Position next;            // behind it: where the next batch begins (or the head, when that is further on)
    std::shared_ptr<const TakenIn::Snapshot> gone_at;  // what had been taken in when it left or was cut off
    std::shared_ptr<const TakenIn::Snapshot> away_at;  // of those that are away: what had expired for them before
  };

  /// Which messages are in the queue, from one place to another; kept for a while, so that who leaves, or comes back, over and over does not
  /// make N2NQ walk over all that waits each time.
  struct Waiting {
    Position from, to;
    SenderSets sets;
    uint32_t unused = 0;  // calls of fit()
  };
  static constexpr uint64_t waiting_min = 4096;  // messages; fewer are walked over in no time
  static constexpr uint32_t waiting_unused_max = 20;

  /// Beyond, what a receiver costs is no matter any more beside what its bytes cost.
  static constexpr size_t common_bytes_max = 16 * 1024;

  void collect_ready(std::vector<uint32_t>& ready) override;
  void make_common_frame(const Position& from);
  void on_taken_in(const MessageLog::Appended& appended) override;
  void gather_records(uint32_t receiver, size_t skip, Pieces& pieces) override;
  void complete_batch(uint32_t receiver, int64_t now_ns) override;

  Cursor& cursor_of(uint32_t receiver) { return cursors_[receiver - 1]; }
  const Position& next_of(uint32_t receiver) const;
  void release_batch(Cursor& cursor);
  void give_up_batch(uint32_t receiver, bool cut = false);
  void disconnect(uint32_t receiver, ReceiverAccount::State state);
  void move_head(const Position& to);
  SenderSets walk(Position from, const Position& to) const;
  /// All of the queue from there on.
  SenderSets waiting_from(const Position& from);
  void take_back(uint32_t receiver);
  void miss_with_others(uint32_t receiver);
  void take_own_books(uint32_t receiver);

  TakenIn taken_in_;  // outlives the snapshots
  /// What expired for those that are absent and had not even the first of it, since there is one. Outlives the snapshots, too. Written into
  /// each one's books a hundred times a second it would hold up the others.
  std::optional<TakenIn> away_;
  size_t away_count_ = 0;
  std::vector<Cursor> cursors_;
  std::vector<uint32_t> connected_;  // rising numbers
  Position head_;                    // the oldest message in the queue; its chunk and those behind it are held
  std::optional<Waiting> waiting_;
  bool has_new_ = false;
  Position told_;  // the tail at the last take_ready()
  Position common_from_;
  bool trim_due_ = false;
};

}  // namespace n2nq
