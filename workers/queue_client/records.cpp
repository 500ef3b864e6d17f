// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/queue_client/records.h"

#include <algorithm>
#include <cstring>

#include "broker/net/clock.h"
#include "broker/wire/record.h"

namespace n2nq::worker {

std::size_t record_bytes_of(std::span<const Outgoing> messages) {
  std::size_t bytes = 0;
  for (const Outgoing& message : messages) bytes += wire::record_header_bytes + message.letters.size();
  return bytes;
}

void write_records(std::uint8_t* records, std::span<Outgoing> messages, std::uint32_t sender) {
  std::uint8_t* at = records;
  for (const Outgoing& message : messages) {
    std::memcpy(at + wire::record_header_bytes, message.letters.data(), message.letters.size());
    at += wire::record_header_bytes + message.letters.size();
  }
  const std::int64_t now = net::now_ns();
  at = records;
  for (Outgoing& message : messages) {
    if (message.sent_ns == Outgoing::not_sent_yet) message.sent_ns = now;
    wire::RecordHeader header;
    header.size = static_cast<std::uint32_t>(message.letters.size());
    header.sender = sender;
    header.index = message.index;
    header.intended_ns = message.intended_ns == Outgoing::unplanned ? message.sent_ns : message.intended_ns;
    header.sent_ns = message.sent_ns;
    header.flags = message.warm_up ? wire::flag_warm_up : std::uint16_t{0};
    wire::write_record_header(at, header);
    wire::set_record_checksum(at, wire::compute_record_checksum(at));
    at += header.record_bytes();
  }
}

Delivery read_record(const std::uint8_t* record) {
  const wire::RecordHeader header = wire::read_record_header(record);
  Delivery delivery;
  delivery.index = header.index;
  delivery.sender = header.sender;
  delivery.size = header.size;
  delivery.intended_ns = header.intended_ns;
  delivery.sent_ns = header.sent_ns;
  delivery.taken_in_ns = header.taken_in_ns;
  delivery.flags = header.flags;
  delivery.attempt = header.attempt;
  const bool stamps_ok = wire::is_stamp(header.intended_ns) && wire::is_stamp(header.sent_ns) && wire::is_stamp(header.taken_in_ns);
  delivery.checksum_ok = stamps_ok && wire::compute_record_checksum(record) == header.checksum;
  if (delivery.checksum_ok) [[likely]] return delivery;
  // Damaged, or made up: measured nowhere.
  for (std::int64_t* stamp : {&delivery.intended_ns, &delivery.sent_ns, &delivery.taken_in_ns}) {
    *stamp = std::clamp(*stamp, -damaged_stamp_ns_max, damaged_stamp_ns_max);
  }
  return delivery;
}

}  // namespace n2nq::worker
