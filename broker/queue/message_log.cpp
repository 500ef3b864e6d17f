// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/message_log.h"

#include <algorithm>
#include <utility>

namespace n2nq {

Position MessageLog::end_of_chunk(const Position& position) const {
  return position.chunk == tail_.chunk ? tail_ : slot(position.chunk).end;
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

void MessageLog::fit_into_chunk(wire::ByteView& records, size_t& messages) {
  const size_t first_bytes = wire::record_bytes(records.data());
  if (static_cast<size_t>(open_end_ - open_at_) < first_bytes) open_chunk(first_bytes);
  const size_t room_bytes = static_cast<size_t>(open_end_ - open_at_);
  size_t bytes = first_bytes, fitting = 1;
  for (; fitting < messages; ++fitting) {
    const size_t more = wire::record_bytes(records.data() + bytes);
    if (room_bytes - bytes < more) break;
    bytes += more;
  }
  records = records.first(bytes);
  messages = fitting;
}

void MessageLog::open_chunk(size_t bytes) {
  close_chunk();
  chunks_.push_back(take_chunk(std::max(bytes, chunk_bytes)));
  chunks_.back().holders = open_holders;
  open_at_ = chunks_.back().bytes.get();
  open_end_ = open_at_ + chunks_.back().capacity;
  open_first_message_ = tail_.message;
}

void MessageLog::close_chunk() {
  if (!open_at_) return;
  open_at_ = open_end_ = nullptr;
  const uint64_t closed = tail_.chunk;
  Chunk& chunk = chunks_.back();
  chunk.used = tail_.offset;
  chunk.end = tail_;
  ++tail_.chunk;
  tail_.offset = 0;
  bytes_held_ += chunk.capacity;
  chunk.holders += holds_ == Holds::messages ? tail_.message - open_first_message_ : 1;
  release(closed, open_holders);
}

void MessageLog::free_chunk(uint64_t number) {
  Chunk& chunk = slot(number);
  bytes_held_ -= chunk.capacity;
  give_back(std::exchange(chunk, Chunk()));
  ++empty_slots_;
  while (!chunks_.empty() && !chunks_.front().bytes) {
    chunks_.pop_front();
    ++first_chunk_;
    --empty_slots_;
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
  free_unused_bytes_ = std::min(free_unused_bytes_, free_bytes_);
  return chunk;
}

void MessageLog::fit() {
  chunks_.fit(idle_kept_bytes);
  const size_t kept_bytes = std::max(busy_kept_bytes, free_bytes_ - free_unused_bytes_ / 2);
  for (; free_bytes_ > kept_bytes; free_.pop_back()) free_bytes_ -= free_.back().capacity;
  free_unused_bytes_ = free_bytes_;
}

void MessageLog::give_back(Chunk chunk) {
  if (free_bytes_ + chunk.capacity > free_bytes_max) return;
  free_bytes_ += chunk.capacity;
  chunk.used = 0;
  free_.push_back(std::move(chunk));
}

}  // namespace n2nq
