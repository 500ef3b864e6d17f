// SPDX-License-Identifier: GPL-3.0-or-later
// Records: one message each, as PUBLISH and DELIVER carry them one behind another.
//
//  0  u32 size          4 u32 sender        8 u64 index        16 i64 intended_ns
// 24  i64 sent_ns      32 i64 taken_in_ns  40 u16 flags        42 u16 attempt   44 u32 checksum   48 payload
//
// The sender's part (bytes 0–31 and the payload) is covered by the checksum; bytes 32–43 are filled in by the broker, in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "broker/wire/bytes.h"

namespace n2nq::wire {

constexpr size_t record_header_bytes = 48;
/// Bytes of a DELIVER body before its records: i64 sent_on_ns.
constexpr size_t deliver_prefix_bytes = 8;

/// Of a stamp, and of a difference between two: 18 years. What others say may be anything, and these can be added and subtracted.
constexpr int64_t stamp_ns_max = int64_t{1} << 59;
constexpr bool is_stamp(int64_t ns) {
  return ns >= -stamp_ns_max && ns <= stamp_ns_max;
}

constexpr uint16_t flag_warm_up = 1;
constexpr uint16_t flag_redelivered = 2;
constexpr uint16_t flag_newly_matched = 4;

struct RecordHeader {
  uint32_t size = 0;
  uint32_t sender = 0;
  uint64_t index = 0;
  int64_t intended_ns = 0;
  int64_t sent_ns = 0;
  int64_t taken_in_ns = 0;
  uint16_t flags = 0;
  uint16_t attempt = 0;
  uint32_t checksum = 0;
  bool operator==(const RecordHeader&) const = default;

  size_t record_bytes() const { return record_header_bytes + size; }
};

/// `at` has room for 48 bytes.
RecordHeader read_record_header(const uint8_t* at);
void write_record_header(uint8_t* at, const RecordHeader& header);

// Single fields of a record in place.
inline uint32_t record_size(const uint8_t* at) {
  return load<uint32_t>(at);
}
inline uint32_t record_sender(const uint8_t* at) {
  return load<uint32_t>(at + 4);
}
inline uint64_t record_index(const uint8_t* at) {
  return load<uint64_t>(at + 8);
}
inline int64_t record_intended_ns(const uint8_t* at) {
  return load<int64_t>(at + 16);
}
inline int64_t record_sent_ns(const uint8_t* at) {
  return load<int64_t>(at + 24);
}
inline int64_t record_taken_in_ns(const uint8_t* at) {
  return load<int64_t>(at + 32);
}
inline uint16_t record_flags(const uint8_t* at) {
  return load<uint16_t>(at + 40);
}
inline uint16_t record_attempt(const uint8_t* at) {
  return load<uint16_t>(at + 42);
}
inline size_t record_bytes(const uint8_t* at) {
  return record_header_bytes + record_size(at);
}
inline void set_record_sent_ns(uint8_t* at, int64_t sent_ns) {
  store(at + 24, sent_ns);
}
inline void set_record_taken_in_ns(uint8_t* at, int64_t taken_in_ns) {
  store(at + 32, taken_in_ns);
}
inline void set_record_flags(uint8_t* at, uint16_t flags) {
  store(at + 40, flags);
}
inline void set_record_attempt(uint8_t* at, uint16_t attempt) {
  store(at + 42, attempt);
}
/// One more; the field says of all beyond its end that they are that many.
inline uint16_t next_attempt(uint16_t attempt) {
  return attempt == UINT16_MAX ? attempt : static_cast<uint16_t>(attempt + 1);
}
inline void set_record_checksum(uint8_t* at, uint32_t checksum) {
  store(at + 44, checksum);
}

/// CRC-32C of bytes 0–31 and the payload of the whole record at `at` (its size field says how long it is).
uint32_t compute_record_checksum(const uint8_t* at);

/// Walks over the records of a body. Stops at the end, or at a record that does not fit (failed() tells).
class RecordWalk {
 public:
  explicit RecordWalk(ByteView records) : rest_(records) {}

  /// The next whole record, header and payload; none at the end or when what is left is no whole record.
  std::optional<ByteView> next() {
    if (rest_.empty() || failed_) return std::nullopt;
    // Compared without adding, so that a size near 2^64 cannot wrap around.
    failed_ = rest_.size() < record_header_bytes || rest_.size() - record_header_bytes < record_size(rest_.data());
    if (failed_) return std::nullopt;
    const ByteView record = rest_.first(record_bytes(rest_.data()));
    rest_ = rest_.subspan(record.size());
    return record;
  }
  /// What was not walked over yet.
  ByteView rest() const { return rest_; }
  /// Goes on behind so many bytes of it.
  void skip(size_t bytes) { rest_ = rest_.subspan(bytes); }
  /// True when bytes were left over that are no whole record.
  bool failed() const { return failed_; }

 private:
  ByteView rest_;
  bool failed_ = false;
};

}  // namespace n2nq::wire
