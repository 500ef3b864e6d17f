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
  // Size and sender as one number: the checksum reads them as one at once, and could not have them from two stores on their way.
  store(at, uint64_t{header.size} | uint64_t{header.sender} << 32);
  store(at + 8, header.index);
  store(at + 16, header.intended_ns);
  store(at + 24, header.sent_ns);
  store(at + 32, header.taken_in_ns);
  store(at + 40, header.flags);
  store(at + 42, header.attempt);
  store(at + 44, header.checksum);
}

uint32_t compute_record_checksum(const uint8_t* at) {
  return crc32c_of_two({at, checked_header_bytes}, {at + record_header_bytes, record_size(at)});
}

}  // namespace n2nq::wire
