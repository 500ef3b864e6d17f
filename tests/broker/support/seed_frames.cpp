// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/broker/support/seed_frames.h"

#include "broker/wire/messages.h"
#include "broker/wire/record.h"

namespace n2nq::support {

using namespace wire;

namespace {

template <typename Message>
SeedFrame seed(const std::string& name, const Message& message) {
  SeedFrame frame{name, {}};
  message.encode(frame.bytes);
  return frame;
}

SeedFrame records_seed(const std::string& name, FrameType type, size_t prefix_bytes) {
  SeedFrame frame{name, {}};
  const size_t begun_at = begin_frame(frame.bytes, type);
  frame.bytes.resize(frame.bytes.size() + prefix_bytes, 0x5A);
  for (uint64_t index = 0; index < 3; ++index) Writer(frame.bytes).put_bytes(make_record(7, index, 20 * index));
  end_frame(frame.bytes, begun_at);
  return frame;
}

std::vector<SeedFrame> make_seed_frames() {
  Token token;
  for (size_t i = 0; i < token.size(); ++i) token[i] = static_cast<uint8_t>(200 + i);
  std::vector<SeedFrame> seeds;
  Hello hello;
  hello.role = Role::receiver;
  hello.number = 0xFFFFFFFE;
  hello.session = 3;
  hello.next_index = 0x0102030405060708;
  hello.token = token;
  seeds.push_back(seed("HELLO", hello));
  seeds.push_back(seed("WELCOME", Welcome{1, QueueMode::load_balancer, 3, 10'000, 1 << 20, (1 << 20) + 64, ~0ull, 5, 256, 1000, -1}));
  seeds.push_back(records_seed("PUBLISH", FrameType::publish, 0));
  seeds.push_back(records_seed("DELIVER", FrameType::deliver, deliver_prefix_bytes));
  seeds.push_back(seed("CONFIRM", Confirm{{{1, 2, false}, {~0ull, 0xFFFFFFFF, true}}}));
  seeds.push_back(seed("RULES", Rules{9, {{1, 10, 20, 100}, {}}}));
  seeds.push_back(seed("RULES that get nothing", Rules{10, {}}));
  seeds.push_back(seed("CREDIT", Credit{~0ull}));
  seeds.push_back(seed("ACCEPTED", Accepted{77, {{3, 4, RefuseReason::too_large}, {9, 9, RefuseReason::ending}}}));
  seeds.push_back(seed("SKIPPED", Skipped{{{1, SkipReason::expired, 0, 9}, {2, SkipReason::cut_off, ~0ull, ~0ull}}}));
  seeds.push_back(seed("PROBE", Probe{INT64_MIN}));
  seeds.push_back(seed("PROBE_REPLY", ProbeReply{1, INT64_MAX, -3}));
  seeds.push_back(seed("END", End{123}));
  seeds.push_back(seed("END with totals", EndTotals{1, 2, 3, 4, 5, 6, 7}));
  seeds.push_back(seed("ERROR", Error{ErrorCode::not_offered, "nicht in diesem Lauf: größer"}));
  SeedFrame heartbeat{"HEARTBEAT", {}};
  encode_heartbeat(heartbeat.bytes);
  seeds.push_back(heartbeat);
  return seeds;
}

}  // namespace

const std::vector<SeedFrame>& seed_frames() {
  static const std::vector<SeedFrame> seeds = make_seed_frames();
  return seeds;
}

Bytes make_record(uint32_t sender, uint64_t index, size_t payload_bytes, int64_t sent_ns) {
  Bytes record(record_header_bytes + payload_bytes);
  RecordHeader header;
  header.size = static_cast<uint32_t>(payload_bytes);
  header.sender = sender;
  header.index = index;
  header.intended_ns = sent_ns;
  header.sent_ns = sent_ns;
  write_record_header(record.data(), header);
  for (size_t i = 0; i < payload_bytes; ++i) record[record_header_bytes + i] = static_cast<uint8_t>('A' + (i + index) % 26);
  set_record_checksum(record.data(), compute_record_checksum(record.data()));
  return record;
}

}  // namespace n2nq::support
