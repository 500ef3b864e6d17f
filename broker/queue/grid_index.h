// SPDX-License-Identifier: GPL-3.0-or-later
// Which queued messages a list of rules matches, without looking at the messages: they lie in cells.
//
//   size ^      |        |
//        |  c3  |   c4   |   c5        a line stands where a rule in force has a border,
//   100 -+------+--------+-----        so that each list matches a cell as a whole or not at all
//        |  c0  |   c1   |   c2
//        +------+--------+-----> sender
//               11       26
//
// At first there is one cell. New borders part the cells that they cross, once; a border that no rule has any more goes when room for
// others is needed: messages then come into new, larger cells, and the old ones disappear with their last message.
// A cell exists from its first message on. An interest is one distinct list; receivers with equal lists share one.
//
// To bring a list in force is work at each cell, and at each message of the cells that its new borders cross. It can be done in parts, one
// list at a time, while messages come and go:
//
//   begin() --> part(), until parted() --> enter() --> mark() for each cell --> entered()
//                  |
//                  +--> refused: too many cells. All is as before, but for what was parted already
//
// Holds no messages itself: what lies in a cell is the owner's (Contents). No sockets, no time, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/wire/messages.h"

namespace n2nq {

class GridIndex {
 public:
  /// Rules in one list, and its borders on one axis; more is refused.
  static constexpr size_t rules_max = 1024;
  static constexpr size_t borders_max = 1024;
  /// Of the borders on one axis each receiver has a share for itself: 8,192 shared out equally, and at least 4. What lists have beyond that
  /// comes from another 8,192 for all: who comes first. So nobody's list can leave another one without borders.
  static constexpr size_t borders_shared_out = 8192;
  static constexpr size_t borders_share_min = 4;
  static constexpr size_t borders_for_all = 8192;
  static constexpr uint32_t none = UINT32_MAX;

  /// Half open: begin is in it, end is not.
  struct Area {
    uint64_t sender_begin = 0;
    uint64_t sender_end = 0;
    uint64_t size_begin = 0;
    uint64_t size_end = 0;
    bool contains(uint32_t sender, uint32_t size) const {
      return sender >= sender_begin && sender < sender_end && size >= size_begin && size < size_end;
    }
  };

  class Contents {
   public:
    virtual ~Contents() = default;
    /// A new, empty cell. Its interests are known.
    virtual void on_cell_made(uint32_t cell) = 0;
    /// Moves messages of `from`, the oldest first, each behind those of the cell that part_of() names, about as many as `units` are for
    /// (one for each thing that is looked at); at least one. Stops where part_of() names none. Returns what it took.
    virtual size_t move_parts(uint32_t from, size_t units) = 0;
    /// Whether a part that no new message comes into gets more of the same cell by the next move_parts(); otherwise that makes parts anew.
    virtual bool parts_may_grow() const = 0;
    /// Whether one more cell may be parted from this one; otherwise the list that needs it is refused.
    virtual bool has_room_for_part(uint32_t from) const = 0;
    /// An empty cell goes; its number may be used again.
    virtual void on_cell_dropped(uint32_t cell) = 0;
    virtual bool is_empty(uint32_t cell) const = 0;
    /// Whether an empty cell stays for the next message; otherwise it goes, so that memory stays within limits.
    virtual bool keeps_empty() const = 0;
  };

  /// Senders are numbered from 1 to `senders`.
  GridIndex(uint32_t senders, uint32_t receivers, Contents& contents);

  using List = std::vector<wire::Rule>;
  /// Says what is wrong with the list, and what would be right; empty: it is to be brought in force.
  std::string begin(List list);
  /// Now and then all cells are retired, which leaves empty ones: they go before a list goes on. Returns the units it took.
  size_t tidy(size_t units);
  bool tidied() const { return next_to_tidy_ == tidy_end_ && former_arrivals_.empty(); }
  /// Returns the units it took. `refusal` as for begin(); then this list is done with.
  size_t part(size_t units, std::string& refusal);
  bool parted() const;
  /// The interest of the list, held once more.
  uint32_t enter();
  /// Adds the interest to a cell that its list matches, and says whether it does. For each cell, also for those that are made meanwhile.
  bool mark(uint32_t interest, uint32_t cell);
  void entered(uint32_t interest) { interests_[interest].entering = false; }

  /// Held once less. True: nobody holds it any more; then unmark() is to follow for each cell, and forget().
  bool leave(uint32_t interest);
  void unmark(uint32_t interest, uint32_t cell);
  void forget(uint32_t interest);

  /// In Contents::move_parts() only: the cell of a message that leaves `from`; none: there is no room for one more.
  struct Part {
    uint32_t cell = none;
    bool is_new = false;
  };
  Part part_of(uint32_t from, uint32_t sender, uint32_t size);

  /// What is wrong with the list whatever else there is, in a sentence; empty: nothing.
  static std::string refusal_of(const List& list);
  /// All at once.
  struct Taken {
    uint32_t interest = none;
    std::string refusal;
  };
  Taken take(List list);
  void release(uint32_t interest);

  /// The cell of a message; makes it when it does not exist yet.
  uint32_t cell_of(uint32_t sender, uint32_t size);
  bool has_cell_for(uint32_t sender, uint32_t size) const { return arrivals_.contains(key_of(area_of(sender, size))); }
  /// The owner took the last message out: the cell goes unless it is worth keeping.
  void note_empty(uint32_t cell);
  /// For a cell that cell_of() has just made, where messages may never come to lie in it: while there are more cells than are kept, a few
  /// that are empty go. Not this one: its kind is in use, and it would be made again for each message.
  void make_way_for(uint32_t cell);
  /// Gives back what cells that are gone took, of some at a time: cells_end() may be lower then. To be called now and then, but not while
  /// a list is being brought in force.
  void fit();

  const std::vector<uint32_t>& interests_of(uint32_t cell) const { return cells_[cell].interests; }
  const Area& area(uint32_t cell) const { return cells_[cell].area; }
  /// Whether the interest is that of this list, whose rules may come in any order. Never for one that is to be refused.
  bool is(uint32_t interest, List list) const { return refusal_of(list).empty() && interests_[interest].list == ordered(std::move(list)); }
  /// Looks at the cell's interests or at the list's rules, whichever are fewer.
  bool covers(uint32_t interest, uint32_t cell) const;
  size_t rules_of(uint32_t interest) const { return interests_[interest].list.size(); }
  /// Numbers of cells that exist are below this; not each of them exists.
  uint32_t cells_end() const { return static_cast<uint32_t>(cells_.size()); }
  bool exists(uint32_t cell) const { return cell < cells_.size() && cells_[cell].exists; }
  size_t cells() const { return existing_; }
  uint32_t interests_end() const { return static_cast<uint32_t>(interests_.size()); }
  /// Memory that is there for more cells, mostly because there were more.
  size_t free_bytes() const { return (cells_.capacity() - existing_) * sizeof(Cell) + free_cells_.capacity() * sizeof(uint32_t); }
  /// How often an interest stands at a cell, in all.
  size_t marks() const { return marks_; }
  /// At how many cells it stands.
  size_t marks_of(uint32_t interest) const { return interests_[interest].marks; }
  /// Rules that cell_of() has looked at so far: a new cell is compared with every list.
  uint64_t rules_looked_at() const { return rules_looked_at_; }

 private:
  struct Cell {
    Area area;
    std::vector<uint32_t> interests;
    bool exists = false;
    uint64_t era = 0;              // retired, when it is not the present one
    bool is_being_parted = false;  // and that is why
  };
  struct Interest {
    List list;
    uint32_t holders = 0;
    bool entering = false;  // not every cell that it matches has it yet
    size_t marks = 0;
  };
  struct Axis {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::vector<uint64_t> lines;  // rising
    std::vector<uint32_t> users;  // interests that have a border there, beside lines

    bool within(uint64_t border) const { return border > begin && border < end; }
    size_t at(uint64_t border) const;
    size_t beyond_shares = 0;  // borders that lists in force have beyond a share

    /// Rising, each once.
    void use(const std::vector<uint64_t>& borders, size_t share);
    void give_back(const std::vector<uint64_t>& borders, size_t share);
    size_t unused() const;
    void drop_unused();
    bool crosses(uint64_t interval_begin, uint64_t interval_end) const;
    /// The interval around a value.
    void around(uint64_t value, uint64_t& interval_begin, uint64_t& interval_end) const;
  };
  struct Earlier {
    bool operator()(const List& a, const List& b) const;
  };

  /// The list that is being brought in force, up to enter().
  struct Beginning {
    List list;
    uint32_t known = none;  // as this interest
    std::vector<uint64_t> sender_borders;
    std::vector<uint64_t> size_borders;
    uint32_t next_cell = 0;  // those before it are parted
    uint32_t cells_end = 0;  // those from it on were made within the new borders
  };

  /// As interests keep them: sorted, each rule once.
  static List ordered(List list);
  static bool covers(const List& list, const Area& area);
  std::vector<uint64_t> borders(const List& list, const Axis& axis, bool senders) const;
  std::string refusal_of(const std::vector<uint64_t>& borders, const Axis& axis, const char* name) const;
  void abandon();
  /// No message comes into it any more.
  bool is_retired(const Cell& cell) const { return cell.era != era_; }
  void retire(uint32_t cell);
  void drop(uint32_t cell);
  uint32_t new_cell(const Area& area);
  void retire_all();
  /// So many more of each, or fewer.
  void count_marks(std::span<const uint32_t> interests, ptrdiff_t more);
  /// Between today's lines.
  Area area_of(uint32_t sender, uint32_t size) const;
  static uint64_t key_of(const Area& area) { return area.sender_begin << 32 | area.size_begin; }

  Contents& contents_;
  const size_t share_;  // of borders, on each axis
  Axis senders_;
  Axis sizes_;
  std::vector<Cell> cells_;
  size_t existing_ = 0;               // of them
  std::vector<uint32_t> free_cells_;  // a heap, the lowest first, so that the others come to be at the end; they may be behind it already
  uint64_t era_ = 1;                                 // since cells were retired all at once; never 0
  std::unordered_map<uint64_t, uint32_t> arrivals_;  // where new messages go, by the area's first corner
  std::unordered_map<uint64_t, uint32_t> former_arrivals_;
  uint32_t next_to_tidy_ = 0, tidy_end_ = 0;  // cells that were retired all at once
  uint32_t last_cell_ = none;                        // of arrivals_, the last one asked for
  uint32_t next_to_make_way_ = 0;                    // of all cells, in turn
  std::vector<Interest> interests_;
  std::vector<uint32_t> free_interests_;
  std::map<List, uint32_t, Earlier> by_list_;
  size_t marks_ = 0;
  uint64_t rules_looked_at_ = 0;
  Beginning beginning_;
  std::unordered_map<uint64_t, uint32_t> parts_;  // of the cell that is being parted, by the area's first corner
  std::vector<uint64_t> arrivals_made_;           // of these, what new messages come into, too
  bool part_retired_ = false;                     // no message comes into the cell that is being parted any more; nor into its parts
  bool no_room_ = false;                          // part_of() found none
};

}  // namespace n2nq
