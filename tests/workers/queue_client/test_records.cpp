// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/queue_client/records.h"

#include <gtest/gtest.h>

#include <string>

#include "broker/wire/record.h"
#include "workers/recorder/record.h"

namespace n2nq::worker {
namespace {

/// A record with a right checksum and these stamps.
wire::Bytes record(std::int64_t intended_ns, std::int64_t sent_ns, std::int64_t taken_in_ns = 3) {
  wire::Bytes bytes(wire::record_header_bytes + 5, 'x');
  wire::write_record_header(bytes.data(), {.size = 5, .sender = 1, .intended_ns = intended_ns, .sent_ns = sent_ns, .taken_in_ns = taken_in_ns});
  wire::set_record_checksum(bytes.data(), wire::compute_record_checksum(bytes.data()));
  return bytes;
}

TEST(Records, StampsThatNobodyCanReckonWithAreNoRightOnes) {
  const Delivery right = read_record(record(-wire::stamp_ns_max, wire::stamp_ns_max).data());
  EXPECT_TRUE(right.checksum_ok);
  EXPECT_EQ(right.intended_ns, -wire::stamp_ns_max);
  for (const wire::Bytes& bytes : {record(INT64_MIN, 0), record(0, INT64_MAX), record(0, wire::stamp_ns_max + 1), record(0, 0, INT64_MIN)}) {
    Delivery wrong = read_record(bytes.data());
    EXPECT_FALSE(wrong.checksum_ok);
    wrong.received_ns = wrong.receiver_clock_ns = wire::stamp_ns_max;
    wrong.sender_clock_ns = -wire::stamp_ns_max;
    EXPECT_NE(wrong.latency_ns() + wrong.to_broker_ns() + wrong.to_receiver_ns(), 0) << "nothing overflows";
  }
}

TEST(Records, WhatIsNotRightCanBeWrittenDownAndReadBack) {
  wire::Bytes changed = record(-wire::stamp_ns_max, -wire::stamp_ns_max, wire::stamp_ns_max);
  changed.back() = 'y';
  for (const wire::Bytes& bytes : {record(0, INT64_MIN), record(0, INT64_MAX), record(0, INT64_MIN, INT64_MAX), changed}) {
    Delivery delivery = read_record(bytes.data());
    EXPECT_FALSE(delivery.checksum_ok);
    delivery.sent_on_ns = delivery.received_ns = 1'000'000'000'000'000;
    Record line;
    line.sent_ns = delivery.sent_ns;
    line.other_ns = delivery.received_ns;
    line.intended_ns = delivery.intended_ns;
    line.to_broker_ns = delivery.to_broker_ns();
    line.in_queue_ns = delivery.in_queue_ns();
    line.service = line.sender = 1;
    line.flags = measure::line_bad_checksum;
    char text[measure::line_bytes_max];
    const std::size_t length = format_record(text, WorkerRole::receivers, line) - 1;
    EXPECT_TRUE(parse_record(WorkerRole::receivers, line.service, {text, length})) << std::string(text, length);
  }
}

}  // namespace
}  // namespace n2nq::worker
