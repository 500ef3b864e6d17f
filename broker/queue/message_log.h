// SPDX-License-Identifier: GPL-3.0-or-later
// The messages themselves: records as they go over the wire, one behind another in chunks, encoded once and shared by all receivers.
//
//   chunk 7            chunk 8            chunk 9 (open)
//  +----+------+---+  +-----------------+ +---+-----+........+
//  | r  | r    | r |  | r (a large one) | | r | r   |        |     a record never spans chunks
//  +----+------+---+  +-----------------+ +---+-----+........+
//                                                   ^ tail()
//
// A chunk lives as long as somebody holds it (the log itself holds the open one) and is then used again. Knows no receivers and no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "broker/queue/ring.h"
#include "broker/wire/bytes.h"
#include "broker/wire/frame.h"
#include "broker/wire/record.h"

namespace n2nq {

/// Between two messages: where the next one begins, and how much came before it.
struct Position {
  uint64_t chunk = 0;
  uint32_t offset = 0;   // in the chunk
  uint64_t message = 0;  // messages before it, since the start
  uint64_t byte = 0;     // bytes before it, since the start
};

class MessageLog {
 public:
  /// A whole one makes one DELIVER frame that a receiver reads at once.
  static constexpr size_t chunk_bytes = wire::FrameReader::read_bytes_max - wire::frame_header_bytes - wire::deliver_prefix_bytes;
  /// Memory of chunks that nobody holds, kept to be used again.
  static constexpr size_t free_bytes_max = 16 * 1024 * 1024;

  /// Records that lie side by side.
  struct Appended {
    uint8_t* records;  // stay where they are as long as their chunk is held
    size_t bytes;
    size_t messages;
    uint64_t chunk;    // of all of them
    uint32_t offset;   // of the first one
    uint64_t message;  // likewise

    /// Calls take(record, bytes, offset) for each, from the first on.
    template <typename Take>
    void for_each(const Take& take) const {
      uint8_t* record = records;
      for (size_t i = 0; i < messages; ++i) {
        const size_t record_bytes = wire::record_bytes(record);
        take(record, record_bytes, offset + static_cast<uint32_t>(record - records));
        record += record_bytes;
      }
    }
  };
  /// What the caller holds, beginning with append(): each chunk once, or once for each of its messages.
  enum class Holds { chunks, messages };
  explicit MessageLog(Holds holds) : holds_(holds) {}

  /// Copies whole records in, as many as there are or as there is room for in one chunk: one at least. A record larger than chunk_bytes gets
  /// a chunk of its own.
  Appended append(wire::ByteView records, size_t messages);

  /// Where the next message will be.
  const Position& tail() const { return tail_; }

  // The following need a chunk that is held.
  uint8_t* at(uint64_t chunk, uint32_t offset) { return slot(chunk).bytes.get() + offset; }
  const uint8_t* at(uint64_t chunk, uint32_t offset) const { return slot(chunk).bytes.get() + offset; }
  const uint8_t* at(const Position& position) const { return slot(position.chunk).bytes.get() + position.offset; }
  /// The end of the position's chunk as far as it is filled.
  Position end_of_chunk(const Position& position) const;
  /// The same place, named by the chunk that follows when there is nothing more in this one.
  Position normal(Position position) const;
  /// Behind the record at `position` (normal form in and out).
  Position behind(const Position& position) const;

  void hold(uint64_t chunk) { ++slot(chunk).holders; }
  /// Gives up `times` holds. Of the open chunk there may be fewer than given up, as those of append() are added up when it closes.
  void release(uint64_t chunk, size_t times = 1) {
    if ((slot(chunk).holders -= times) == 0) free_chunk(chunk);
  }

  /// Memory of all chunks that are held (the open one as far as it is filled), and of the slots between them.
  size_t bytes_held() const { return bytes_held_ + tail_.offset + empty_slots_ * 2 * sizeof(Chunk); }
  /// Of chunks that nobody holds, kept to be used again: no more than free_bytes_max, and beside bytes_held().
  size_t bytes_free() const { return free_bytes_; }
  /// Gives back what was kept to be used again and was not since the last call: half of it, and a little always stays.
  void fit();

 private:
  struct Chunk {
    std::unique_ptr<uint8_t[]> bytes;
    size_t capacity = 0;
    size_t used = 0;     // once it is closed, like `end`
    size_t holders = 0;  // as long as it is open, above open_holders or below
    Position end;
  };
  /// Never given up: the open chunk stays, whoever takes its messages.
  static constexpr size_t open_holders = size_t{1} << 48;

  Chunk& slot(uint64_t chunk) { return chunks_[chunk - first_chunk_]; }
  const Chunk& slot(uint64_t chunk) const { return chunks_[chunk - first_chunk_]; }
  /// Takes from the list what there is no room for.
  void fit_into_chunk(wire::ByteView& records, size_t& messages);
  void open_chunk(size_t bytes);
  void close_chunk();
  Chunk take_chunk(size_t bytes);
  void free_chunk(uint64_t chunk);
  void give_back(Chunk chunk);

  const Holds holds_;
  Ring<Chunk> chunks_;  // a chunk that was given back leaves an empty slot until it is the first
  uint64_t first_chunk_ = 0;
  // What is written for each message lies here, not in the chunk, which is in nobody's cache.
  uint8_t* open_at_ = nullptr;  // in the last chunk, where the next record goes; null: it is not open
  uint8_t* open_end_ = nullptr;
  uint64_t open_first_message_ = 0;
  Position tail_;
  size_t bytes_held_ = 0;  // of the chunks that are closed
  size_t empty_slots_ = 0;
  std::vector<Chunk> free_;
  size_t free_bytes_ = 0;
  size_t free_unused_bytes_ = 0;  // the least that was free since fit()
};

// Inline, because where messages come one by one it is done for each.
inline MessageLog::Appended MessageLog::append(wire::ByteView records, size_t messages) {
  if (static_cast<size_t>(open_end_ - open_at_) < records.size()) fit_into_chunk(records, messages);
  // Field by field: a copy of the whole would read what the call before has just written in parts, and wait for it to reach the cache.
  const Appended appended{open_at_, records.size(), messages, tail_.chunk, tail_.offset, tail_.message};
  std::memcpy(appended.records, records.data(), records.size());
  open_at_ += records.size();
  tail_.offset += static_cast<uint32_t>(records.size());
  tail_.byte += records.size();
  tail_.message += messages;
  if (open_at_ == open_end_) close_chunk();
  return appended;
}

}  // namespace n2nq
