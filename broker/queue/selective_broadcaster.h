// SPDX-License-Identifier: GPL-3.0-or-later
// Queue mode 1 with responses, requests or both: every receiver gets every message that its list matches.
//
//   cell:  [ 7 | 9 | 12 | 15 | 16 ]         a FIFO of messages that every list matches all or none of (grid_index.h)
//            ^           ^         ^
//            R3          R1        R2       one place per cell and receiver whose list matches: what is before it was begun for that
//            receiver
//
// What a receiver has passed in a cell is always a prefix of it, whatever lists came and went: when its list does not match the cell any
// more, the place is kept as a number. Next for a receiver is the lowest number over its cells (a heap). What was begun and has to be
// delivered (again) is owed to the receiver, beside the cells.
//
// A message leaves (when-all-have-it) when no place is at or before it, at least one list matches it, and nobody holds it (batch under way,
// unconfirmed, owed); else at its retention. Each message counts the places that are exactly on it, so that the lowest place of a cell is
// never searched for. What leaves is written down per cell, and settle() counts it as unrequested for those whose list does not match.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/queue/allowance.h"
#include "broker/queue/grid_index.h"
#include "broker/queue/message_table.h"
#include "broker/queue/queue.h"
#include "broker/queue/round.h"
#include "broker/queue/taken_in.h"
#include "broker/wire/record.h"

namespace n2nq {

class SelectiveBroadcaster : public Queue, private GridIndex::Contents, private RuleChanges::Owner {
 public:
  /// Places, of which some may be in empty cells.
  static constexpr size_t places_kept_max = 262'144;
  /// Roughly.
  static constexpr size_t bytes_per_place = 80;
  static constexpr size_t bytes_per_passed = 48;
  static constexpr size_t bytes_per_cell = 640;
  /// For each interest that stands at a cell, whether anybody has a place there or not.
  static constexpr size_t bytes_per_mark = 8;
  /// What a place costs that a new cell gets, in looks at a rule; roughly.
  static constexpr uint64_t looks_per_place = 128;
  /// Of sets that are added to others; roughly.
  static constexpr size_t bytes_per_look = 64;
  /// Calls of fit(), about, for which a cell knows which messages are in it though nobody asked.
  static constexpr uint32_t waiting_unused_max = 20;
  /// Places from which on a cell knows that, at most; one where all cells together know more than so much, roughly.
  static constexpr size_t waiting_kept_max = 4;
  static constexpr size_t waiting_bytes_max = 16 * 1024 * 1024;

  explicit SelectiveBroadcaster(const QueueOptions& options);

  uint64_t looks_at_new_kinds() const override { return grid_.rules_looked_at() + looks_per_place * places_made_; }
  bool is_new_kind(uint32_t sender, uint32_t size) const override { return !grid_.has_cell_for(sender, size); }
  void join(uint32_t receiver) override;
  void lose(uint32_t receiver) override;
  void replace(uint32_t receiver) override { lose(receiver); }
  void stop_giving(uint32_t receiver) override;
  void leave(uint32_t receiver) override;
  void cut_off(uint32_t receiver) override;
  bool has_next(uint32_t receiver) const override;
  void begin_batch(uint32_t receiver, int64_t now_ns) override;
  /// With requests the receiver sets the pace: what it has not asked for is no backlog.
  size_t backlog_bytes(uint32_t receiver) const override;
  bool is_kept_waiting(uint32_t receiver) const override;
  uint64_t unconfirmed(uint32_t receiver) const override { return receivers_[receiver - 1].allowance.unconfirmed(); }
  Confirmed confirm(uint32_t receiver, uint64_t first_delivery, uint32_t count, bool negative) override;
  std::string set_rules(uint32_t receiver, const std::vector<wire::Rule>& rules, uint64_t asked_on, bool at_once) override;
  size_t work(size_t units) override;
  bool has_work() const override { return !holding_passed_.empty(); }
  std::vector<RefusedList> take_refused_lists() override { return changes_.take_refused(); }
  void add_credit(uint32_t receiver, uint64_t more) override;
  bool pass_deadlines(int64_t now_ns) override;
  int64_t next_deadline_ns() const override;
  bool settle(size_t bytes_max) override;
  bool drained(uint32_t receiver) const override;
  void trim() override;
  void expire(int64_t now_ns) override;
  int64_t next_expiry_ns() const override;
  bool drained() const override;
  void finish() override;
  size_t bytes_held() const override;
  size_t books_bytes() const override;
  size_t kinds_bytes() const override { return noted_bytes() + grid_.free_bytes() + (cells_.capacity() - grid_.cells()) * sizeof(Cell); }
  void fit() override;
  /// Over how many messages it has walked so far to know which of them wait, or expire, for whom.
  uint64_t walked_over() const { return walked_over_; }

 private:
  struct Entry {
    uint64_t number = 0;
    uint32_t message = MessageTable::none;  // none: it has left
    uint32_t here = 0;                      // places that are on it
  };
  /// Which messages of a cell are in it, of those from the number `from` on and below another, and how many bytes they are.
  struct Waiting {
    uint64_t from = 0;
    uint64_t below = 0;
    SenderSets sets;
    uint64_t bytes = 0;
  };
  struct Cell {
    Ring<Entry> entries;  // rising numbers; the first one has not left, and of the others not many more have left than not
    size_t gone = 0;      // of them have left
    uint64_t bytes = 0;   // of those that have not
    uint64_t first = 0;   // entries[0] is the cell's message number `first`; places and `least` count like this
    uint64_t least = 0;   // the lowest place, when there is one; below it while work() is to take out what all have passed
    bool holds_passed = false;  // it stands in holding_passed_
    uint32_t places = 0;
    uint32_t at_end = 0;                            // places behind the last message
    std::vector<uint32_t> idle;                     // receivers whose place may be there
    std::unordered_map<uint32_t, uint64_t> passed;  // receivers without a place: they have what is below this number
    std::vector<uint64_t> cuts;                     // the numbers in `passed`, rising
    std::map<uint64_t, SenderSets> left;            // since settle(); what left between two cuts, by the lower one
    /// From the places on for which somebody needed to know lately, the latest one last. So that who leaves, or comes back, over and over,
    /// wherever its place is, does not make N2NQ walk over all that waits each time.
    std::vector<Waiting> waiting;
    uint32_t waiting_used_on = 0;  // as fits_ counts
    uint64_t end() const { return first + entries.size(); }
  };
  /// What left a cell, on its way to those whose list does not match it. Neither its lists nor its `passed` change meanwhile.
  struct Settling {
    uint32_t cell = GridIndex::none;  // none: nothing is under way
    std::map<uint64_t, SenderSets> left;
    uint32_t next = 1;          // those below have it
    std::vector<char> matches;  // by receiver
  };
  struct Place {
    uint64_t at = 0;
    bool idle = false;  // stands in the cell's list, not in the receiver's heap
  };
  struct Next {
    uint64_t number = 0;
    uint32_t cell = 0;
  };
  struct Delivery {
    uint64_t number = 0;
    uint32_t message = 0;
    uint16_t attempt = 1;
    uint16_t flags = 0;     // beside those of the sender
    uint16_t failures = 0;  // as in Flight
  };
  using Head = std::array<uint8_t, wire::record_header_bytes>;
  struct Receiver {
    Receiver(Allowance none_taken, uint32_t first_interest) : allowance(std::move(none_taken)), interest(first_interest) {}
    Allowance allowance;
    uint32_t interest;
    std::unordered_map<uint32_t, Place> places;  // by cell
    std::vector<Next> next;                      // a heap, the lowest first, which is never stale; others may be, then they are too low
    std::vector<Delivery> owed;                  // a heap, the lowest first
    std::vector<Delivery> batch;
    std::vector<Head> heads;     // of the marked ones in the batch, in their order
    uint64_t above_highest = 0;  // one above the highest number that was begun
    uint64_t bytes_passed = 0;   // without requests: of bytes_taken_in_
    bool marked_ready = false;
    std::shared_ptr<const TakenIn::Snapshot> gone_at;  // what had been taken in when it left or was cut off
    SenderSets foreign;           // had left the queue when it came back, but settle() may find it for it still
    uint32_t foreign_rounds = 0;  // of settle(); then it has found all of that
  };
  /// Of a receiver in a cell.
  struct Standing {
    uint32_t receiver = 0;
    uint64_t at = 0;  // what is before it was begun for that receiver
    bool matches = false;
  };
  /// What is in the queue and was not begun for a receiver.
  struct Queued {
    SenderSets matched;
    SenderSets rest;  // its list does not match it
  };
  using Place_ = QueuedMessage::Place;

  void collect_ready(std::vector<uint32_t>& ready) override;
  void on_taken_in(const MessageLog::Appended& appended) override;
  void gather_records(uint32_t receiver, size_t skip, Pieces& pieces) override;
  void complete_batch(uint32_t receiver, int64_t now_ns) override;

  void on_cell_made(uint32_t cell) override;
  size_t move_parts(uint32_t from, size_t units) override;
  /// A receiver's place in a part says what it has of it, and of what is moved later it may have more.
  bool parts_may_grow() const override { return false; }
  bool has_room_for_part(uint32_t from) const override;
  void on_cell_dropped(uint32_t cell) override;
  bool is_empty(uint32_t cell) const override { return cells_[cell].entries.empty(); }
  bool keeps_empty() const override { return places_ <= places_kept_max && noted_bytes() <= options_.kinds_kept_bytes_max(); }

  uint32_t interest_of(uint32_t receiver) const override { return receivers_[receiver - 1].interest; }
  size_t on_turn(uint32_t) override { return 0; }
  void on_change_begun(uint32_t receiver, uint32_t interest) override;
  size_t on_cell_changes(uint32_t receiver, uint32_t cell, bool matches) override;
  size_t on_change_done(uint32_t receiver) override;
  void on_refused(uint32_t receiver) override;

  /// Of kinds, without the memory of those that are gone, which the next ones use.
  size_t noted_bytes() const {
    return places_ * bytes_per_place + passed_ * bytes_per_passed + grid_.cells() * bytes_per_cell + grid_.marks() * bytes_per_mark;
  }
  Receiver& receiver_of(uint32_t receiver) { return receivers_[receiver - 1]; }
  const uint8_t* record_of(uint32_t handle) const { return log_.at(messages_[handle].chunk, messages_[handle].offset); }
  bool is_gone(uint32_t handle) const { return messages_[handle].place == Place_::gone; }
  void file(const uint8_t* record, QueuedMessage message);
  void mark_ready(uint32_t receiver);

  // Deliveries.
  Delivery take_next(uint32_t receiver);
  void owe(uint32_t receiver, const Delivery& delivery);
  void pop_owed(Receiver& receiver);
  void owe_again(uint32_t receiver, uint32_t handle, uint16_t attempt, uint16_t failures);
  void give_up_batch(uint32_t receiver);
  void interrupt(uint32_t receiver);
  void go(uint32_t receiver, ReceiverAccount::State state);
  SenderSets close_books(uint32_t receiver, ReceiverAccount::State state);
  void count_bytes_passed(uint32_t receiver);
  SenderSets drop_owed(uint32_t receiver);
  void expire_owed(uint32_t receiver);
  void skip_one(uint32_t receiver, wire::SkipReason reason, uint32_t handle);

  // Places. (selective_broadcaster_cells.cpp)
  // The first two return what move_least() does, of `most`.
  size_t cover(uint32_t receiver, uint32_t cell, size_t most);
  size_t uncover(uint32_t receiver, uint32_t cell, size_t most);
  static void forget_cuts(Cell& cell);
  void cover_all(uint32_t receiver);
  void uncover_all(uint32_t receiver);
  void set_place(uint32_t receiver, uint32_t cell, Place& place, uint64_t from_number);
  void put_into_part(uint32_t part, const Cell& from, const std::vector<uint32_t>& receivers, const std::vector<uint64_t>& from_numbers);
  void leave_place(Cell& cell, uint64_t at);
  void put_place(Cell& cell, uint64_t at);
  uint64_t step(const Cell& cell, uint64_t at) const;
  void go_idle(uint32_t receiver, uint32_t cell, Place& place);
  void forget_idle(uint32_t cell);
  void fix_next(uint32_t receiver);
  /// Good until the next call.
  const std::vector<uint32_t>& coverers(uint32_t cell);
  uint64_t number_at(const Cell& cell, uint64_t at) const;
  static uint64_t find(const Cell& cell, uint64_t number);

  // Leaving the queue. (the same)
  void release(uint32_t handle);
  size_t move_least(uint32_t cell, size_t most);
  size_t move_least(uint32_t cell) { return move_least(cell, options_.passed_at_once); }
  void take_out(uint32_t handle);
  void remove(uint32_t handle);
  void tidy(Cell& cell);
  void pop_entry(Cell& cell);
  bool is_sparse(const Cell& cell) const;
  void close_up(uint32_t cell);
  static void forget(std::vector<uint32_t>& list);
  void settle_all();
  void settle_for(uint32_t receiver);
  void note_foreign(uint32_t receiver);
  size_t take_unsettled(uint32_t receiver);
  size_t settle_cell(uint32_t cell);
  void begin_settling(Settling& settling, uint32_t cell);
  size_t go_on(Settling& settling, size_t bytes_max);
  size_t add_unsettled(uint32_t receiver, const Cell& cell, const std::map<uint64_t, SenderSets>& left);
  void expire_places(uint32_t cell, uint64_t below, std::vector<uint32_t>& moved);

  // The books. (selective_broadcaster_books.cpp)
  Standing standing_in(uint32_t cell, uint32_t receiver) const;
  Queued queued_for(uint32_t receiver);
  std::vector<Queued> queued_for_all();
  uint64_t walk(const Cell& cell, uint64_t from, uint64_t to, SenderSets& found);
  const Waiting& waiting_from(Cell& cell, uint64_t at);
  void move_waiting(const Cell& cell, Waiting& waiting, uint64_t to);
  void note_waiting_gone(Cell& cell, const QueuedMessage& message);
  static size_t waiting_bytes(const Cell& cell);
  void forget_waiting(Cell& cell);
  SenderSets missed_by(uint32_t receiver);
  void take_back(uint32_t receiver);

  GridIndex grid_;
  RuleChanges changes_{grid_, *this};
  MessageTable messages_;
  DeliveryMemory deliveries_;
  std::vector<Cell> cells_;
  Round fitting_;      // of them
  uint32_t fits_ = 0;  // calls of fit()
  // By interest: receivers whose list it is and who are expected, rising numbers. One is missing: the receiver that changes over.
  std::vector<std::vector<uint32_t>> expected_;
  uint32_t changing_ = 0;  // its list counts where it has a place; 0: none does
  TakenIn taken_in_;  // outlives the snapshots
  std::vector<Receiver> receivers_;
  std::vector<uint32_t> marked_;
  std::vector<uint32_t> dirty_;     // cells with something in `left`
  std::vector<uint32_t> settling_;  // the same, of those that settle() is at
  Settling settling_cell_;          // the one that it is in the middle of
  uint32_t unsettled_above_ = 0;    // when it is through with cells: up to here receivers have what it found for them still in `unsettled`
  std::vector<uint32_t> holding_passed_;  // cells with messages that all have passed, which work() takes out
  std::vector<uint32_t> emptied_;   // cells that may be dropped
  std::vector<uint32_t> sparse_;    // cells that may be closed up
  std::vector<uint32_t> coverers_;
  std::array<std::vector<uint32_t>, 3> expiring_;  // expire()'s lists, empty between two calls
  size_t entries_ = 0;  // of all cells
  size_t waiting_bytes_ = 0;  // of all cells' sets of what waits
  uint64_t walked_over_ = 0;
  size_t owed_ = 0;     // deliveries
  size_t places_ = 0;
  uint64_t places_made_ = 0;  // in new cells
  size_t passed_ = 0;
  uint32_t expected_receivers_ = 0;
  uint32_t deadlines_from_ = 1;  // the receiver that pass_deadlines() begins with
  bool closing_ = false;  // the books are being closed: an answer that is still due is not waited for, and is no reason to park
  uint64_t bytes_taken_in_ = 0;
};

}  // namespace n2nq
