// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/record.h"

#include "broker/wire/crc32c.h"

namespace n2nq::wire {

namespace {
constexpr size_t checked_header_bytes = 32;
}

RecordHeader read_record_header(const uint8_t* at) {
  RecordHeader header;
  header.size = load<uint32_t>(at);
  header.sender = load<uint32_t>(at + 4);
  header.index = load<uint64_t>(at + 8);
  header.intended_ns = load<int64_t>(at + 16);
  header.sent_ns = load<int64_t>(at + 24);
  header.taken_in_ns = load<int64_t>(at + 32);
  header.flags = load<uint16_t>(at + 40);
  header.attempt = load<uint16_t>(at + 42);
  header.checksum = load<uint32_t>(at + 44);
  return header;
}

void write_record_header(uint8_t* at, const RecordHeader& header) {
  store(at, header.size);
  store(at + 4, header.sender);
  store(at + 8, header.index);
  store(at + 16, header.intended_ns);
  store(at + 24, header.sent_ns);
  store(at + 32, header.taken_in_ns);
  store(at + 40, header.flags);
  store(at + 42, header.attempt);
  store(at + 44, header.checksum);
}

uint32_t compute_record_checksum(const uint8_t* at) {
  const uint32_t header_crc = crc32c({at, checked_header_bytes});
  return crc32c({at + record_header_bytes, record_size(at)}, header_crc);
}

std::optional<ByteView> RecordWalk::next() {
  if (rest_.empty() || failed_) return std::nullopt;
  // Compared without adding, so that a size near 2^64 cannot wrap around.
  failed_ = rest_.size() < record_header_bytes || rest_.size() - record_header_bytes < record_size(rest_.data());
  if (failed_) return std::nullopt;
  const ByteView record = rest_.first(record_bytes(rest_.data()));
  rest_ = rest_.subspan(record.size());
  return record;
}

}  // namespace n2nq::wire
