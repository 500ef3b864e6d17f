// SPDX-License-Identifier: GPL-3.0-or-later
// Every frame of docs/wire-protocol.md as a struct, with encode and decode.
//
// encode() appends the whole frame, header included. decode() reads a body; its length was checked with the frame header
// (check_frame_header), it is checked again here because a body may come from elsewhere. none means: not this frame's layout.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/wire/frame.h"

namespace n2nq::wire {

constexpr uint32_t magic = 0x514E324E;  // "N2NQ"
constexpr uint16_t version = 1;
/// Of messages; one above it, a sender's next_index, is one of 64 bits too.
constexpr uint64_t index_max = INT64_MAX - 1;
constexpr size_t error_text_bytes_max = 1024;

using Token = std::array<uint8_t, 32>;
/// 64 hex digits, or empty for no token (zeros); none for anything else.
std::optional<Token> token_from_hex(std::string_view text);

enum class Role : uint8_t { sender = 1, receiver = 2, probe = 3 };
enum class QueueMode : uint8_t { broadcaster = 1, load_balancer = 2 };
enum class SkipReason : uint32_t { expired = 1, unrequested = 2, parked = 3, cut_off = 4 };
enum class RefuseReason : uint32_t { too_large = 1, ending = 2 };

enum class ErrorCode : uint16_t {
  not_n2nq = 1,
  other_version = 2,
  token = 3,
  number = 4,
  frame = 5,
  index_gap = 6,
  confirmation = 7,
  too_many = 8,
  replaced = 9,
  too_slow = 10,
  silent = 11,
  handshake = 12,
  ending = 13,
  not_offered = 14,
  rules = 15,
};
/// The name in the protocol's table ("not n2nq", "token", …); "?" for a code that is not in it.
const char* name_of(ErrorCode code);
const char* name_of(Role role);

constexpr uint8_t feature_responses = 1;  // bit 0
constexpr uint8_t feature_requests = 2;   // bit 1

//  0  u32 magic     4 u16 version   6 u8 role   7 u8 0
//  8  u32 number   12 u32 session  16 u64 next_index   24 token (32 bytes)
struct Hello {
  static constexpr size_t body_bytes = 56;
  Role role = Role::sender;  // may hold a value outside the enum after decode(): the broker answers `number` then
  uint32_t number = 0;
  uint32_t session = 0;
  uint64_t next_index = 0;
  Token token{};
  uint32_t magic_read = magic;      // what came; encode() writes it too, so that tests can be wrong on purpose
  uint16_t version_read = version;  // the same
  uint8_t reserved_read = 0;        // the same; must be 0

  void encode(Bytes& out) const;
  static std::optional<Hello> decode(ByteView body);

  /// The part that every version of the protocol has in the same place.
  struct Opening {
    uint32_t magic = 0;
    uint16_t version = 0;
  };
  static std::optional<Opening> decode_opening(ByteView body);
};

//  0  u16 version    2 u8 queue mode   3 u8 features     4 u32 heartbeat_ms      8 u32 message_bytes_max  12 u32 frame_bytes_max
// 16  u64 epoch     24 u64 next_index 32 u32 responses_window  36 u32 senders_expected  40 i64 now_ns
struct Welcome {
  static constexpr size_t body_bytes = 48;
  uint16_t version_read = version;
  QueueMode queue_mode = QueueMode::broadcaster;
  uint8_t features = 0;
  uint32_t heartbeat_ms = 0;
  uint32_t message_bytes_max = 0;
  uint32_t frame_bytes_max = 0;
  uint64_t epoch = 0;
  uint64_t next_index = 0;
  uint32_t responses_window = 0;
  uint32_t senders_expected = 0;
  int64_t now_ns = 0;

  void encode(Bytes& out) const;
  static std::optional<Welcome> decode(ByteView body);
};

struct RefusedRange {
  uint64_t from = 0;
  uint64_t to = 0;  // inclusive
  RefuseReason reason = RefuseReason::too_large;
  bool operator==(const RefusedRange&) const = default;
};

//  0  u64 next_index, then n times: u64 from, u64 to, u32 reason, u32 0
struct Accepted {
  uint64_t next_index = 0;
  std::vector<RefusedRange> refused;

  void encode(Bytes& out) const;
  static std::optional<Accepted> decode(ByteView body);
};

//  n times: u32 sender, u32 reason, u64 from, u64 to
struct SkippedRange {
  static constexpr size_t entry_bytes = 24;
  uint32_t sender = 0;
  SkipReason reason = SkipReason::expired;
  uint64_t from = 0;
  uint64_t to = 0;  // inclusive
  bool operator==(const SkippedRange&) const = default;
};
struct Skipped {
  std::vector<SkippedRange> ranges;

  void encode(Bytes& out) const;
  static std::optional<Skipped> decode(ByteView body);
};

//  n times: u64 first_delivery, u32 count, u8 kind, 3 bytes 0
struct ConfirmRange {
  static constexpr size_t entry_bytes = 16;
  static constexpr size_t per_frame_max = frame_bytes_max_from_receiver / entry_bytes;
  uint64_t first_delivery = 0;
  uint32_t count = 0;
  bool negative = false;
  bool operator==(const ConfirmRange&) const = default;
};
struct Confirm {
  std::vector<ConfirmRange> ranges;

  void encode(Bytes& out) const;
  static std::optional<Confirm> decode(ByteView body);
  /// The same into this one, whose memory is used again. False: not this frame's layout.
  bool read(ByteView body);
};

struct Rule {
  static constexpr size_t entry_bytes = 16;
  uint32_t sender_first = 0;
  uint32_t sender_last = 0xFFFFFFFF;
  uint32_t size_min = 0;
  uint32_t size_max = 0xFFFFFFFF;
  bool operator==(const Rule&) const = default;
};
//  0 u32 list   4 u32 count, then n times: u32 sender_first, u32 sender_last, u32 size_min, u32 size_max
struct Rules {
  uint32_t list = 0;
  std::vector<Rule> rules;

  void encode(Bytes& out) const;
  static std::optional<Rules> decode(ByteView body);
};

//  0 u64 more
struct Credit {
  uint64_t more = 0;

  void encode(Bytes& out) const;
  static std::optional<Credit> decode(ByteView body);
};

//  0 i64 t1_ns
struct Probe {
  int64_t t1_ns = 0;

  void encode(Bytes& out) const;
  static std::optional<Probe> decode(ByteView body);
};

//  0 i64 t1_ns   8 i64 t2_ns   16 i64 t3_ns
struct ProbeReply {
  int64_t t1_ns = 0;
  int64_t t2_ns = 0;
  int64_t t3_ns = 0;

  void encode(Bytes& out) const;
  static std::optional<ProbeReply> decode(ByteView body);
};

//  0 u64: sender: next_index; receiver: 0; broker to sender: accepted
struct End {
  uint64_t value = 0;

  void encode(Bytes& out) const;
  static std::optional<End> decode(ByteView body);
};

//  seven u64, in the order of the fields
struct EndTotals {
  static constexpr size_t body_bytes = 56;
  uint64_t handed_over = 0;
  uint64_t redelivered = 0;
  uint64_t expired = 0;
  uint64_t unrequested = 0;
  uint64_t parked = 0;
  uint64_t cut_off = 0;
  uint64_t still_queued = 0;
  bool operator==(const EndTotals&) const = default;

  void encode(Bytes& out) const;
  static std::optional<EndTotals> decode(ByteView body);
};

//  0 u16 code   2 u16 0   4 u32 0   8 text (UTF-8, cut at error_text_bytes_max)
struct Error {
  static constexpr size_t body_bytes_max = 8 + error_text_bytes_max;
  ErrorCode code = ErrorCode::frame;
  std::string text;

  void encode(Bytes& out) const;
  /// The text comes back printable (see printable.h): a peer says what it likes.
  static std::optional<Error> decode(ByteView body);
};

/// HEARTBEAT has no body.
void encode_heartbeat(Bytes& out);

}  // namespace n2nq::wire
