// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/message_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "broker/wire/record.h"

namespace n2nq {

MessageLog::Appended MessageLog::append(wire::ByteView record) {
  const bool fits = open_ && chunks_.back().capacity - chunks_.back().used >= record.size();
  if (!fits) open_chunk(record.size());
  Chunk& chunk = chunks_.back();
  const Position at = tail_;
  uint8_t* place = chunk.bytes.get() + chunk.used;
  std::memcpy(place, record.data(), record.size());
  chunk.used += record.size();
  bytes_held_ += record.size();
  tail_.offset += static_cast<uint32_t>(record.size());
  tail_.byte += record.size();
  ++tail_.message;
  chunk.end = tail_;
  if (!fits || holds_ == Holds::messages) ++chunk.holders;
  if (chunk.used == chunk.capacity) close_chunk();
  return {place, at};
}

Position MessageLog::end_of_chunk(const Position& position) const {
  return slot(position.chunk).end;
}

Position MessageLog::normal(Position position) const {
  while (position.chunk < tail_.chunk && position.offset == slot(position.chunk).used) {
    ++position.chunk;
    position.offset = 0;
  }
  return position;
}

Position MessageLog::behind(const Position& position) const {
  const size_t bytes = wire::record_bytes(at(position));
  Position next = position;
  next.offset += static_cast<uint32_t>(bytes);
  next.byte += bytes;
  ++next.message;
  return normal(next);
}

void MessageLog::open_chunk(size_t bytes) {
  close_chunk();
  chunks_.push_back(take_chunk(std::max(bytes, chunk_bytes)));
  chunks_.back().holders = 1;
  open_ = true;
}

void MessageLog::close_chunk() {
  if (!open_) return;
  open_ = false;
  const uint64_t closed = tail_.chunk;
  ++tail_.chunk;
  tail_.offset = 0;
  Chunk& chunk = chunks_.back();
  bytes_held_ += chunk.capacity - chunk.used;
  release(closed);
}

void MessageLog::release(uint64_t number) {
  Chunk& chunk = slot(number);
  if (--chunk.holders > 0) return;
  bytes_held_ -= chunk.capacity;
  give_back(std::exchange(chunk, Chunk()));
  while (!chunks_.empty() && !chunks_.front().bytes) {
    chunks_.pop_front();
    ++first_chunk_;
  }
}

MessageLog::Chunk MessageLog::take_chunk(size_t bytes) {
  // Not one that is far too large: a small message would hold all of it.
  const auto fitting = std::find_if(free_.begin(), free_.end(),
                                    [bytes](const Chunk& chunk) { return chunk.capacity >= bytes && chunk.capacity <= 2 * bytes; });
  Chunk chunk;
  if (fitting == free_.end()) {
    chunk.bytes = std::make_unique_for_overwrite<uint8_t[]>(bytes);
    chunk.capacity = bytes;
    return chunk;
  }
  chunk = std::move(*fitting);
  *fitting = std::move(free_.back());
  free_.pop_back();
  free_bytes_ -= chunk.capacity;
  return chunk;
}

void MessageLog::give_back(Chunk chunk) {
  if (free_bytes_ + chunk.capacity > free_bytes_max) return;
  free_bytes_ += chunk.capacity;
  chunk.used = 0;
  free_.push_back(std::move(chunk));
}

}  // namespace n2nq
