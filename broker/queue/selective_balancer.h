// SPDX-License-Identifier: GPL-3.0-or-later
// Queue mode 2 with responses, requests or both: every message goes to one receiver that asked for it and has room for it.
//
//              nobody has room            begin_batch()      kernel took it     confirmed, or without responses
//   take_in --> waiting (in its cell) --> assigned --> batch --> flight ------------------------------------> gone
//                  ^                          |          |         |
//                  +--------------------------+----------+---------+---> parked (attempts), expired (retention)
//                     in its place: negative, deadline, receiver gone; of very many new kinds at once in parts (work())
//
// Room is credit (requests) and window (responses). The dispatch rule chooses among those who have room and whose list matches; a receiver
// that gets room takes the oldest message that its list matches. What nobody asks for waits aside and is in nobody's way.
// What comes back goes to another receiver than before where one has room. At most share_bytes_max, or share_messages_max of small ones,
// wait for one receiver's socket. Whose new list waits for its turn gives back, in parts, what is not on its way yet: others may have it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "broker/queue/allowance.h"
#include "broker/queue/grid_index.h"
#include "broker/queue/message_table.h"
#include "broker/queue/queue.h"
#include "broker/queue/round.h"

namespace n2nq {

class SelectiveBalancer : public Queue, private GridIndex::Contents, private RuleChanges::Owner {
 public:
  /// Beside one message.
  static constexpr size_t share_bytes_max = 1024 * 1024;
  /// Where a list's turn takes them back, or gives as many, that is one piece of work.
  static constexpr size_t share_messages_max = 4096;

  /// Cells, of which some may be empty.
  static constexpr size_t cells_kept_max = 16'384;
  /// Roughly; the second for each interest that stands at a cell.
  static constexpr size_t bytes_per_cell = 480;
  static constexpr size_t bytes_per_mark = 80;

  explicit SelectiveBalancer(const QueueOptions& options);

  uint64_t looks_at_new_kinds() const override { return grid_.rules_looked_at(); }
  bool is_new_kind(uint32_t sender, uint32_t size) const override { return !grid_.has_cell_for(sender, size); }
  void join(uint32_t receiver) override;
  void lose(uint32_t receiver) override;
  void replace(uint32_t receiver) override { lose(receiver); }
  void stop_giving(uint32_t receiver) override;
  void leave(uint32_t receiver) override;
  void cut_off(uint32_t receiver) override;
  bool has_next(uint32_t receiver) const override { return receivers_[receiver - 1].assigned > 0 && !changes_.pending(receiver); }
  void begin_batch(uint32_t receiver, int64_t now_ns) override;
  size_t backlog_bytes(uint32_t receiver) const override;
  bool is_kept_waiting(uint32_t receiver) const override;
  uint64_t unconfirmed(uint32_t receiver) const override { return receivers_[receiver - 1].allowance.unconfirmed(); }
  Confirmed confirm(uint32_t receiver, uint64_t first_delivery, uint32_t count, bool negative) override;
  std::string set_rules(uint32_t receiver, const std::vector<wire::Rule>& rules, uint64_t asked_on, bool at_once) override;
  size_t work(size_t units) override;
  bool has_work() const override { return !coming_back_.empty(); }
  std::vector<RefusedList> take_refused_lists() override { return changes_.take_refused(); }
  void add_credit(uint32_t receiver, uint64_t more) override;
  bool pass_deadlines(int64_t now_ns) override;
  int64_t next_deadline_ns() const override;
  /// The same for all: a message may still be given to any of them.
  bool drained(uint32_t receiver) const override;
  void expire(int64_t now_ns) override;
  int64_t next_expiry_ns() const override;
  bool drained() const override;
  void finish() override;
  size_t bytes_held() const override;
  size_t kinds_bytes() const override { return noted_bytes() + grid_.free_bytes() + (cells_.capacity() - grid_.cells()) * sizeof(Cell); }
  void fit() override;

 private:
  /// A waiting message, or a cell that begins with it.
  struct Waiting {
    uint64_t number = 0;
    uint32_t of = 0;  // message or cell
  };
  struct Cell {
    Ring<Waiting> fresh;            // rising
    std::vector<Waiting> returned;  // a heap, the lowest number first
    bool empty() const { return fresh.empty() && returned.empty(); }
  };
  struct Interest {
    std::vector<uint32_t> with_room;  // rising numbers
    uint32_t receivers = 0;           // whose list it is
    uint32_t expected = 0;            // of them, and of who changes over from it
    // Cells where something waits, a heap by what is first in them. An entry may be stale: then its number is too low. At most twice as many
    // as cells that the list matches, and 64.
    std::vector<Waiting> cells;
  };
  struct Receiver {
    Receiver(Allowance none_taken, uint32_t first_interest) : allowance(std::move(none_taken)), interest(first_interest) {}
    Allowance allowance;
    uint32_t interest;
    Ring<uint32_t> share;  // assigned, in the order of assigning; some may be gone
    size_t assigned = 0;   // of them not gone
    size_t share_bytes = 0;
    std::vector<uint32_t> batch;
    uint64_t above_highest = 0;  // one above the highest number that it was assigned
    bool has_room = false;       // stands in its interest's list
    bool marked_ready = false;
    bool gives_back = false;  // stands in giving_back_
  };
  using Place = QueuedMessage::Place;

  void collect_ready(std::vector<uint32_t>& ready) override;
  void on_taken_in(const MessageLog::Appended& appended) override;
  void gather_records(uint32_t receiver, size_t skip, Pieces& pieces) override;
  void complete_batch(uint32_t receiver, int64_t now_ns) override;

  void on_cell_made(uint32_t cell) override;
  size_t move_parts(uint32_t from, size_t units) override;
  bool parts_may_grow() const override { return true; }
  bool has_room_for_part(uint32_t from) const override;
  void on_cell_dropped(uint32_t cell) override { cells_[cell] = Cell(); }
  bool is_empty(uint32_t cell) const override { return cells_[cell].empty(); }
  bool keeps_empty() const override { return grid_.cells() <= cells_kept_max && noted_bytes() <= options_.kinds_kept_bytes_max(); }

  uint32_t interest_of(uint32_t receiver) const override { return receivers_[receiver - 1].interest; }
  size_t on_turn(uint32_t receiver) override;
  void on_change_begun(uint32_t receiver, uint32_t interest) override;
  size_t on_cell_changes(uint32_t receiver, uint32_t cell, bool matches) override;
  size_t on_change_done(uint32_t receiver) override;
  void on_refused(uint32_t receiver) override;

  /// Of kinds, without the memory of those that are gone, which the next ones use.
  size_t noted_bytes() const { return grid_.cells() * bytes_per_cell + grid_.marks() * bytes_per_mark; }
  Receiver& receiver_of(uint32_t receiver) { return receivers_[receiver - 1]; }
  uint8_t* record_of(uint32_t handle) { return log_.at(messages_[handle].chunk, messages_[handle].offset); }
  const uint8_t* record_of(uint32_t handle) const { return log_.at(messages_[handle].chunk, messages_[handle].offset); }

  size_t unwritten_bytes(uint32_t number) const;
  /// By which next-free chooses.
  size_t load_bytes(uint32_t number) const;

  // Waiting messages. (selective_balancer_cells.cpp)
  Waiting first_of(uint32_t cell) const;
  void pop_first(uint32_t cell);
  void wait(uint32_t handle);
  void announce(uint32_t interest, uint32_t cell);
  void take_out_stale(uint32_t interest);
  uint32_t take_lowest(uint32_t interest);

  // Who gets what.
  bool has_room(uint32_t receiver) const;
  void set_room(uint32_t receiver, bool has_room);
  void refill(uint32_t receiver);
  uint32_t choose(uint32_t cell);
  void dispatch(uint32_t handle, uint32_t not_to);
  void assign(uint32_t receiver, uint32_t handle);
  enum class Why { receiver_gone, failed };
  void come_back(std::vector<uint32_t> handles);
  void come_back_unsent(std::vector<uint32_t> handles);
  void bring_back(uint32_t handle);
  void come_back_unanswered(std::vector<uint32_t> handles, Why why);
  std::vector<uint32_t> take_share(uint32_t receiver, size_t most = SIZE_MAX);
  size_t free_share(uint32_t receiver, size_t most);
  size_t give_back(size_t units);
  void count_whole(uint32_t receiver, std::vector<uint32_t>& whole);
  void disconnect(uint32_t receiver, ReceiverAccount::State state);
  void set_state(uint32_t receiver, ReceiverAccount::State state);

  // Leaving the queue. (selective_balancer_leaving.cpp)
  void remove(uint32_t handle);
  void skip_and_remove(uint32_t handle, wire::SkipReason reason);
  void expire_waiting(uint32_t handle);
  void drop_gone(Receiver& receiver);
  bool is_wanted(uint32_t cell) const;
  void add_to(SenderSets& sets, uint32_t handle) const;

  Dispatcher dispatcher_;
  GridIndex grid_;
  RuleChanges changes_{grid_, *this};
  bool announces_ = false;  // the list that changes over is new: its interest hears of each cell
  /// Whose list changes over (0: nobody's), and from which interest. It counts for that still, as not every cell has the new one yet.
  uint32_t changing_ = 0, changing_from_ = 0;
  MessageTable messages_;
  DeliveryMemory deliveries_;
  std::vector<Cell> cells_;
  Round fitting_;  // of them
  std::vector<Interest> interests_;
  std::vector<Receiver> receivers_;
  std::vector<uint32_t> marked_;
  uint32_t deadlines_from_ = 1;  // the receiver that pass_deadlines() begins with
  std::deque<uint32_t> giving_back_;       // receivers that give back their shares, in turn: work() goes on
  std::deque<uint32_t> coming_back_;       // of kinds that are new, in turn: likewise
  uint64_t looks_end_ = 0;                 // as GridIndex::rules_looked_at() counts; then what comes back has to wait for work()
  std::vector<Dispatcher::Group> groups_;  // of the one choice being made
  size_t waiting_ = 0;
  size_t under_way_ = 0;                 // assigned, batch, flight, coming back
  mutable std::optional<bool> drained_;  // none: to be found out
};

}  // namespace n2nq
