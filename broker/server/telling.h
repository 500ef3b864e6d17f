// SPDX-License-Identifier: GPL-3.0-or-later
// What one receiver is being told that it will not get, SKIPPED frame by frame. The sets are turned into runs as they are told, because there
// are far more bytes in the runs. No sockets, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "broker/queue/queue.h"
#include "broker/wire/messages.h"

namespace n2nq {

class Telling {
 public:
  explicit Telling(SkippedSets sets) : sets_(std::move(sets)) {}
  Telling(const Telling&) = delete;  // its iterators are those of its sets
  Telling& operator=(const Telling&) = delete;

  /// The next run; none: all is told.
  std::optional<wire::SkippedRange> next();
  /// Appends one frame of at most 64 KiB; false: nothing is left to tell.
  bool write(wire::Bytes& out);
  /// What was not told; nothing is left to tell then.
  SkippedSets take_rest();
  /// What it takes in memory, roughly.
  size_t bytes() const;

 private:
  SkippedSets sets_;
  size_t reason_ = 0;
  std::optional<std::map<uint32_t, wire::IndexSet>::const_iterator> set_;  // of that reason; none: it has not begun
  std::optional<wire::IndexSet::RunIterator> run_;                         // of that set, the next one; none: it has not begun
};

}  // namespace n2nq
