// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes to frames, and frames to what they say: the same however the bytes are cut, and no more memory than bytes came.
//   byte 0  how large the parts are in which the rest is fed
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "broker/wire/frame.h"
#include "broker/wire/messages.h"
#include "broker/wire/record.h"
#include "tests/fuzz/fuzz.h"

namespace n2nq::wire {
namespace {

using fuzz::require;

constexpr uint32_t frame_bytes_max = 1 << 20;

struct Seen {
  std::vector<std::pair<FrameType, Bytes>> frames;
  std::string error;
  bool operator==(const Seen&) const = default;
};

/// `shares`: by way of memory that others use between two reads, and long frames by way of memory that is lent. `skips`: a PUBLISH that has
/// not come whole is not wanted.
Seen feed(ByteView stream, size_t part_bytes, bool shares = false, bool skips = false) {
  FrameReader reader(frame_bytes_max);
  if (shares) reader.ask_for_large();
  std::array<uint8_t, 512> shared_room;
  Seen seen;
  for (size_t fed = 0; fed < stream.size() && !reader.failed();) {
    const std::span<uint8_t> room = shares ? reader.room(shared_room) : reader.room();
    require(reader.has_large() || room.size() <= 4 * stream.size() + 2 * FrameReader::read_bytes_max, "memory follows the bytes that came");
    const size_t bytes = std::min({room.size(), part_bytes, stream.size() - fed});
    std::copy_n(stream.begin() + static_cast<ptrdiff_t>(fed), bytes, room.begin());
    reader.commit(bytes);
    fed += bytes;
    while (const auto frame = reader.next()) seen.frames.emplace_back(frame->type, Bytes(frame->body.begin(), frame->body.end()));
    if (const auto begun = reader.begun(); skips && begun && begun->type == FrameType::publish) reader.skip();
    if (!shares) continue;
    if (reader.has_large() && reader.bytes_waiting() == 0) reader.give_back();
    if (const size_t wanted = reader.bytes_wanted(); wanted > 0) {
      require(wanted <= frame_header_bytes + frame_bytes_max, "no more is wanted than a frame may have");
      reader.reserve({std::make_unique<uint8_t[]>(wanted), wanted});
    }
    reader.keep();
    shared_room.fill(0xEE);
  }
  seen.error = reader.error();
  return seen;
}

Seen without_publish(Seen seen) {
  std::erase_if(seen.frames, [](const auto& frame) { return frame.first == FrameType::publish; });
  return seen;
}

/// A body that decodes is encoded to the same bytes again.
template <typename Message>
void check_message(FrameType type, ByteView body) {
  const auto message = Message::decode(body);
  if (!message) return;
  Bytes again;
  message->encode(again);
  require(again.size() == frame_header_bytes + body.size() && again[4] == static_cast<uint8_t>(type), "encoded as it came: header");
  require(std::equal(body.begin(), body.end(), again.begin() + frame_header_bytes), "encoded as it came: body");
}

void check_records(ByteView body) {
  RecordWalk walk(body);
  size_t bytes = 0;
  while (const auto record = walk.next()) {
    bytes += record->size();
    require(read_record_header(record->data()).record_bytes() == record->size(), "a record is as long as its header says");
    compute_record_checksum(record->data());
  }
  require(walk.failed() || bytes == body.size(), "records fill their frame");
}

void check_body(FrameType type, ByteView body) {
  switch (type) {
    case FrameType::hello:
      Hello::decode_opening(body);
      Hello::decode(body);
      break;
    case FrameType::welcome:
      Welcome::decode(body);
      break;
    case FrameType::publish:
      check_records(body);
      break;
    case FrameType::deliver:
      check_records(body.subspan(deliver_prefix_bytes));
      break;
    case FrameType::confirm:
      check_message<Confirm>(type, body);
      break;
    case FrameType::rules:
      check_message<Rules>(type, body);
      break;
    case FrameType::credit:
      check_message<Credit>(type, body);
      break;
    case FrameType::accepted:
      check_message<Accepted>(type, body);
      break;
    case FrameType::skipped:
      check_message<Skipped>(type, body);
      break;
    case FrameType::probe:
      check_message<Probe>(type, body);
      break;
    case FrameType::probe_reply:
      check_message<ProbeReply>(type, body);
      break;
    case FrameType::end:
      check_message<End>(type, body);
      check_message<EndTotals>(type, body);
      break;
    case FrameType::error:
      Error::decode(body);
      break;
    case FrameType::heartbeat:
      break;
  }
}

}  // namespace
}  // namespace n2nq::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace n2nq::wire;
  if (size == 0) return 0;
  const ByteView stream(data + 1, size - 1);
  const Seen whole = feed(stream, stream.size());
  const Seen parts = feed(stream, 1 + data[0] % 97u);
  n2nq::fuzz::require(whole == parts, "the same however the bytes are cut");
  n2nq::fuzz::require(whole == feed(stream, 1 + data[0] % 97u, true), "the same in memory that is shared");
  for (const bool shares : {false, true}) {
    const Seen skipping = feed(stream, 1 + data[0] % 97u, shares, true);
    n2nq::fuzz::require(without_publish(skipping) == without_publish(whole), "what is not wanted changes nothing else");
  }
  for (const auto& [type, body] : whole.frames) check_body(type, body);
  return 0;
}
