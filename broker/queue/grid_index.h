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
// At first there is one cell. A new border splits the cells that it crosses, once; a border that no rule has any more goes when room for
// others is needed: messages then come into new, larger cells, and the old ones disappear with their last message.
// A cell exists from its first message on. An interest is one distinct list; receivers with equal lists share one.
// Holds no messages itself: what lies in a cell is the owner's (Contents). No sockets, no time, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/wire/messages.h"

namespace n2nq {

class GridIndex {
 public:
  /// Lines on one axis, and rules in one list; more is refused.
  static constexpr size_t lines_max = 1024;
  static constexpr size_t rules_max = 1024;
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
    /// `into` is new and has the interests of `from`; messages of `from` that lie in the area of `into` now belong there.
    virtual void on_cell_split(uint32_t from, uint32_t into) = 0;
    /// An empty cell goes; its number may be used again.
    virtual void on_cell_dropped(uint32_t cell) = 0;
    virtual bool is_empty(uint32_t cell) const = 0;
    /// Whether an empty cell stays for the next message; otherwise it goes, so that memory stays within limits.
    virtual bool keeps_empty() const = 0;
  };

  /// Senders are numbered from 1 to `senders`.
  GridIndex(uint32_t senders, Contents& contents);

  using List = std::vector<wire::Rule>;
  struct Taken {
    uint32_t interest = none;
    std::string refusal;  // says what is wrong with the list, and what would be right; empty: it is in force
  };
  /// The interest of this list, held once more. Costs a look at each cell when the list is new, and one at each message of the cells that
  /// its new borders cross.
  Taken take(List list);
  void release(uint32_t interest);

  /// The cell of a message; makes it when it does not exist yet.
  uint32_t cell_of(uint32_t sender, uint32_t size);
  /// The owner took the last message out: the cell goes unless it is worth keeping.
  void note_empty(uint32_t cell);

  const std::vector<uint32_t>& interests_of(uint32_t cell) const { return cells_[cell].interests; }
  const Area& area(uint32_t cell) const { return cells_[cell].area; }
  bool covers(uint32_t interest, uint32_t cell) const { return covers(interests_[interest], cells_[cell].area); }
  /// Cell numbers are below this; not each of them exists.
  uint32_t cells_end() const { return static_cast<uint32_t>(cells_.size()); }
  bool exists(uint32_t cell) const { return cells_[cell].exists; }
  size_t cells() const { return cells_.size() - free_cells_.size(); }
  uint32_t interests_end() const { return static_cast<uint32_t>(interests_.size()); }
  /// Memory of cells and lists, roughly.
  size_t bytes_held() const;

 private:
  struct Cell {
    Area area;
    std::vector<uint32_t> interests;
    bool exists = false;
    bool retired = false;  // no message comes into it any more
  };
  struct Interest {
    List list;
    uint32_t holders = 0;
  };
  struct Axis {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::vector<uint64_t> lines;  // rising
    std::vector<uint32_t> users;  // interests that have a border there, beside lines

    bool within(uint64_t border) const { return border > begin && border < end; }
    size_t at(uint64_t border) const;
    bool has(uint64_t border) const;
    /// True when the line is new.
    bool use(uint64_t border);
    void give_back(uint64_t border);
    void drop_unused();
    /// The interval around a value.
    void around(uint64_t value, uint64_t& interval_begin, uint64_t& interval_end) const;
  };
  struct Earlier {
    bool operator()(const List& a, const List& b) const;
  };

  static std::string refusal_of(const List& list);
  static bool covers(const Interest& interest, const Area& area);
  std::vector<uint64_t> borders(const List& list, const Axis& axis, bool senders) const;
  std::string make_room(Axis& axis, const std::vector<uint64_t>& wanted, const char* name);
  void draw(uint64_t border, bool on_senders);
  uint32_t split(uint32_t cell, uint64_t border, bool on_senders);
  void drop(uint32_t cell);
  uint32_t new_cell(const Area& area);
  void retire_all();
  static uint64_t key_of(const Area& area) { return area.sender_begin << 32 | area.size_begin; }

  Contents& contents_;
  Axis senders_;
  Axis sizes_;
  std::vector<Cell> cells_;
  std::vector<uint32_t> free_cells_;
  std::unordered_map<uint64_t, uint32_t> arrivals_;  // where new messages go, by the area's first corner
  uint32_t last_cell_ = none;                        // of arrivals_, the last one asked for
  std::vector<Interest> interests_;
  std::vector<uint32_t> free_interests_;
  std::map<List, uint32_t, Earlier> by_list_;
  size_t rules_held_ = 0;
};

}  // namespace n2nq
