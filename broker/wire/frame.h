// SPDX-License-Identifier: GPL-3.0-or-later
// Frames: bytes to frames and back. No sockets, no roles: which frame may come when is the session's question.
//
//  0        4     5     6        8
//  +--------+-----+-----+--------+----------------------+
//  | body   |type | 0   | 0      | body (body bytes)    |
//  | u32    | u8  | u8  | u16    |                      |
//  +--------+-----+-----+--------+----------------------+
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "broker/wire/bytes.h"
#include "broker/wire/limits.h"

namespace n2nq::wire {

constexpr size_t frame_header_bytes = 8;
/// What a client may send before WELCOME tells it more.
constexpr uint32_t frame_bytes_max_before_welcome = 64;
/// The longest body a receiver may send, whatever a sender may.
constexpr uint32_t frame_bytes_max_from_receiver = 64 * 1024;
/// The longest body of all: one of the largest messages that settings allow, and what lies beside its payload.
constexpr uint32_t frame_bytes_beside_payload = 64;
constexpr uint32_t frame_bytes_max_ever = uint32_t{limits::message_bytes_max.max} + frame_bytes_beside_payload;
/// What a client has to accept before WELCOME: WELCOME itself, or ERROR with its text.
constexpr uint32_t frame_bytes_max_from_broker_before_welcome = 2048;

enum class FrameType : uint8_t {
  hello = 1,
  welcome = 2,
  publish = 3,
  deliver = 4,
  confirm = 5,
  rules = 6,
  credit = 7,
  accepted = 8,
  skipped = 9,
  probe = 10,
  probe_reply = 11,
  end = 12,
  error = 13,
  heartbeat = 14,
};

/// "HELLO", "PUBLISH", …; "?" for a type that does not exist.
const char* name_of(FrameType type);

/// How long the body of each type of frame may be for whoever sends on a connection.
class FrameLimits {
 public:
  /// The same for all types. `longer`: which ones may be longer, for who sends another one; a literal.
  FrameLimits(uint32_t bytes_max, const char* longer = "") : common_(bytes_max), longer_(longer) {  // NOLINT(google-explicit-constructor)
    bytes_max_.fill(bytes_max);
  }
  void set(FrameType type, uint32_t bytes_max) { bytes_max_[static_cast<size_t>(type)] = bytes_max; }
  /// Of a type that exists.
  uint32_t of(FrameType type) const { return bytes_max_[static_cast<size_t>(type)]; }
  const char* longer(FrameType beside) const { return of(beside) == common_ ? longer_ : ""; }
  uint32_t longest() const { return *std::max_element(bytes_max_.begin(), bytes_max_.end()); }

 private:
  std::array<uint32_t, static_cast<size_t>(FrameType::heartbeat) + 1> bytes_max_{};
  uint32_t common_;
  const char* longer_;
};

/// Memory for one frame that is longer than a read. What it holds at first is undefined.
struct LargeBuffer {
  std::unique_ptr<uint8_t[]> bytes;
  size_t capacity = 0;
};

/// A complete frame as it lies in a reader's buffer.
struct Frame {
  FrameType type;
  ByteView body;  // valid until the reader's next room() or reset()
};

/// One that has not come whole.
struct BegunFrame {
  FrameType type;
  size_t body_bytes;
  ByteView so_far;  // of its body; valid as a Frame's
};

/// What is wrong with a frame header, in a sentence; empty when nothing is. Checks the type, the reserved fields, the limit and the
/// lengths the type allows, so that a wrong length is refused before a byte of the body is kept.
std::string check_frame_header(const uint8_t* header, const FrameLimits& limits);

/// Writes the 8 bytes at `at`.
void write_frame_header(uint8_t* at, FrameType type, uint32_t body_bytes);

/// Appends a header whose body length is filled in by end_frame(); returns where the header starts.
size_t begin_frame(Bytes& out, FrameType type);
void end_frame(Bytes& out, size_t begun_at);

/// Turns the bytes of one connection into frames; may be fed one byte at a time.
///
///   reader.room() -> read() into it -> reader.commit(n) -> reader.next() until it gives none
///
/// Memory: at most twice the bytes that came for the frame under way, and never more than the larger of read_bytes_max and
/// the longest frame. The buffer is kept, so that a steady stream allocates nothing, until fit().
///
/// A reader that asks (ask_for_large) keeps no more than read_bytes_max and a header of its own. A frame with a longer body is read into
/// memory that the caller lends it: while bytes_wanted() is not 0, reserve() is to come before the next room(). Once next() has given that
/// frame, give_back().
///
/// Many readers may share the memory of their reads: one after the other, room(shared) to keep(). A reader whose frames come whole then
/// has next to no buffer of its own, and what is touched for each of a thousand connections is the same few pages. While nobody takes the
/// frames, what one such read brought waits in the buffer.
class FrameReader {
 public:
  /// Most bytes asked of one read() into its own memory, as long as no longer frame is under way.
  static constexpr size_t read_bytes_max = 64 * 1024;

  explicit FrameReader(const FrameLimits& limits = frame_bytes_max_before_welcome);
  FrameReader(FrameReader&&) = default;  // no copy: bytes_ points into the buffer

  /// From now on; frames that are in the buffer already are checked against the new limit too.
  void set_limits(const FrameLimits& limits) { limits_ = limits; }

  void ask_for_large() { asks_for_large_ = true; }
  /// After next() gave none: how long the frame is that needs memory; 0: none does.
  size_t bytes_wanted() const { return bytes_wanted_; }
  /// At least bytes_wanted().
  void reserve(LargeBuffer large);
  bool has_large() const { return large_.bytes != nullptr; }
  size_t large_bytes() const { return has_large() ? large_.capacity : 0; }
  /// What was lent. Forgets the frame under way, if there is one in it. Invalidates bodies of frames given before.
  LargeBuffer give_back();

  /// Where the next bytes go: never empty. Invalidates bodies of frames given before.
  std::span<uint8_t> room();
  /// The same; in `shared`, unless much of a frame has come already and the read before found no more of it. Until keep() it must stay as it
  /// is.
  std::span<uint8_t> room(std::span<uint8_t> shared);
  /// `shared` is given back: what waits in it is copied. Invalidates bodies of frames given before.
  void keep();
  /// So much of `shared` is in use, until keep().
  size_t bytes_shared() const { return shares() ? received_ : 0; }
  /// `bytes` of room() are filled. Throws std::logic_error when that is more than there was.
  void commit(size_t bytes);
  /// The next complete frame; none when more bytes are needed or the stream is broken (then error() says why, for good).
  std::optional<Frame> next();
  /// The frame that next() gave just now, and did not get done: it gives it again. No room() meanwhile: there may be none.
  void put_back(const Frame& frame);

  /// After next() gave none: what there is of the frame under way, from its whole header on.
  std::optional<BegunFrame> begun() const;
  /// Nobody wants the frame that begun() gave: what comes of it is thrown away, and next() gives the one behind it.
  void skip();

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  bool in_frame() const { return bytes_waiting() > 0 || skip_bytes_ > 0; }
  /// Bytes of a frame that is not complete yet (after next() gave none).
  size_t bytes_waiting() const { return received_ - parsed_; }
  /// Where nothing waits: gives the own buffer back if it takes more than this. Invalidates bodies of frames given before.
  void fit(size_t kept_bytes);
  /// Forgets everything, for a new connection.
  void reset();

 private:
  void check_invariants() const;
  bool shares() const { return bytes_.data() != buffer_.data() && !has_large(); }
  size_t own_bytes_max() const;

  // 0 <= parsed_ <= received_ <= bytes_.size(); buffer_.size() <= own_bytes_max(), or one read into what is shared; a broken stream gives no frames any more.
  std::span<uint8_t> bytes_;  // the buffer, or what is shared, or what was lent: then exactly one frame
  size_t parsed_ = 0;
  size_t received_ = 0;
  Bytes buffer_;
  LargeBuffer large_;
  size_t bytes_wanted_ = 0;
  size_t skip_bytes_ = 0;  // of the frame that nobody wants, still to come
  FrameLimits limits_;
  bool asks_for_large_ = false;
  bool last_read_filled_room_ = false;
  std::string error_;
};

}  // namespace n2nq::wire
