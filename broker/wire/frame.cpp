// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/frame.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "broker/wire/messages.h"
#include "broker/wire/record.h"

namespace n2nq::wire {

namespace {

constexpr size_t buffer_bytes_first = 16 * 1024;
/// A begun frame of so much is put before what comes next, instead of the rest being read behind it.
constexpr size_t carried_bytes_max = 1024;

/// A body is fixed_bytes + n × entry_bytes long, with n >= entries_min; entry_bytes 0: fixed length, 1: any number of bytes more.
struct BodyShape {
  const char* name;
  uint32_t fixed_bytes;
  uint32_t entry_bytes;
  uint32_t entries_min;
  const char* text = nullptr;  // in place of these numbers, for a person
};

const BodyShape* shape_of(uint8_t type) {
  static constexpr BodyShape shapes[] = {
      {"HELLO", 8, 1, 0},  // other versions may have another length; magic and version always lie in the first bytes
      {"WELCOME", Welcome::body_bytes, 0, 0},
      {"PUBLISH", 0, 1, record_header_bytes},
      {"DELIVER", deliver_prefix_bytes, 1, record_header_bytes},
      {"CONFIRM", 0, ConfirmRange::entry_bytes, 1},
      {"RULES", 8, Rule::entry_bytes, 0},
      {"CREDIT", 8, 0, 0},
      {"ACCEPTED", 8, 24, 0},
      {"SKIPPED", 0, SkippedRange::entry_bytes, 1},
      {"PROBE", 8, 0, 0},
      {"PROBE_REPLY", 24, 0, 0},
      {"END", 8, EndTotals::body_bytes - 8, 0, "8 bytes, or 56 to a receiver"},
      {"ERROR", 8, 1, 0},
      {"HEARTBEAT", 0, 0, 0},
  };
  if (type < 1 || type > std::size(shapes)) return nullptr;
  return &shapes[type - 1];
}

std::string shape_text(const BodyShape& shape) {
  if (shape.text) return shape.text;
  const std::string fixed = std::to_string(shape.fixed_bytes);
  if (shape.entry_bytes == 0) return fixed + " bytes";
  if (shape.entry_bytes == 1) return "at least " + std::to_string(shape.fixed_bytes + shape.entries_min) + " bytes";
  const std::string entries = std::to_string(shape.entries_min) + " or more times " + std::to_string(shape.entry_bytes);
  return shape.fixed_bytes == 0 ? entries + " bytes" : fixed + " bytes and " + entries;
}

bool fits(const BodyShape& shape, uint32_t body_bytes) {
  if (body_bytes < shape.fixed_bytes) return false;
  const uint32_t entries_bytes = body_bytes - shape.fixed_bytes;
  if (shape.entry_bytes == 0) return entries_bytes == 0;
  return entries_bytes % shape.entry_bytes == 0 && entries_bytes / shape.entry_bytes >= shape.entries_min;
}

}  // namespace

const char* name_of(FrameType type) {
  const BodyShape* shape = shape_of(static_cast<uint8_t>(type));
  return shape ? shape->name : "?";
}

std::string check_frame_header(const uint8_t* header, const FrameLimits& limits) {
  const auto body_bytes = load<uint32_t>(header);
  const uint8_t type = header[4];
  const BodyShape* shape = shape_of(type);
  if (!shape) return "frame type " + std::to_string(type) + " does not exist (1 to 14 do)";
  if (header[5] != 0 || load<uint16_t>(header + 6) != 0) return std::string(shape->name) + ": bytes 5 to 7 of the header must be 0";
  const uint32_t bytes_max = limits.of(static_cast<FrameType>(type));
  if (body_bytes > bytes_max) {
    return std::string(shape->name) + ": a body of " + std::to_string(body_bytes) + " bytes is over the limit of " +
           std::to_string(bytes_max) + limits.longer(static_cast<FrameType>(type));
  }
  if (!fits(*shape, body_bytes)) {
    return std::string(shape->name) + ": a body of " + std::to_string(body_bytes) + " bytes is impossible, it has " + shape_text(*shape);
  }
  return {};
}

void write_frame_header(uint8_t* at, FrameType type, uint32_t body_bytes) {
  store(at, body_bytes);
  store(at + 4, static_cast<uint32_t>(type));
}

size_t begin_frame(Bytes& out, FrameType type) {
  const size_t begun_at = out.size();
  out.resize(begun_at + frame_header_bytes);
  write_frame_header(out.data() + begun_at, type, 0);
  return begun_at;
}

void end_frame(Bytes& out, size_t begun_at) {
  store(out.data() + begun_at, static_cast<uint32_t>(out.size() - begun_at - frame_header_bytes));
}

FrameReader::FrameReader(const FrameLimits& limits) : limits_(limits) {}

size_t FrameReader::own_bytes_max() const {
  const size_t longest = asks_for_large_ ? read_bytes_max : limits_.longest();
  return std::max(read_bytes_max, longest + frame_header_bytes);
}

void FrameReader::reserve(LargeBuffer large) {
  if (large.capacity < bytes_wanted_) throw std::logic_error("FrameReader: a frame was lent less memory than it wants");
  const std::span<uint8_t> waiting = bytes_.subspan(parsed_, bytes_waiting());
  std::ranges::copy(waiting, large.bytes.get());
  large_ = std::move(large);
  bytes_ = {large_.bytes.get(), bytes_wanted_};
  parsed_ = 0;
  received_ = waiting.size();
  bytes_wanted_ = 0;
  last_read_filled_room_ = false;
}

LargeBuffer FrameReader::give_back() {
  bytes_wanted_ = 0;
  if (!has_large()) return {};
  bytes_ = buffer_;
  parsed_ = received_ = 0;
  return std::exchange(large_, {});
}

std::span<uint8_t> FrameReader::room(std::span<uint8_t> shared) {
  const size_t carried = bytes_waiting();
  // Where more waits to be read than there was room for, many frames are read at once, and the one cut in two is worth its copy.
  const size_t worth_carrying = last_read_filled_room_ && shared.size() > 2 * read_bytes_max ? read_bytes_max : carried_bytes_max;
  if (has_large() || carried > worth_carrying || carried >= shared.size()) return room();
  std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(parsed_), carried, shared.begin());
  bytes_ = shared;
  parsed_ = 0;
  received_ = carried;
  return bytes_.subspan(received_);
}

void FrameReader::keep() {
  if (!shares()) return;
  const std::span<uint8_t> waiting = bytes_.subspan(parsed_, bytes_waiting());
  if (buffer_.size() < waiting.size()) buffer_.resize(waiting.size());
  std::ranges::copy(waiting, buffer_.begin());
  bytes_ = buffer_;
  parsed_ = 0;
  received_ = waiting.size();
}

std::span<uint8_t> FrameReader::room() {
  keep();
  if (has_large()) return bytes_.subspan(received_);
  if (parsed_ > 0) {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(parsed_), buffer_.begin() + static_cast<ptrdiff_t>(received_), buffer_.begin());
    received_ -= parsed_;
    parsed_ = 0;
  }
  // Grows by doubling behind the bytes that really came, so that a length alone reserves nothing.
  const bool grows_for_frame = received_ == buffer_.size();
  const bool grows_for_speed = last_read_filled_room_ && buffer_.size() < read_bytes_max;
  if (grows_for_frame || grows_for_speed) {
    const size_t wanted = std::clamp(buffer_.size() * 2, buffer_bytes_first, own_bytes_max());
    buffer_.resize(std::max(wanted, received_ + 1));
    bytes_ = buffer_;
  }
  last_read_filled_room_ = false;
  return {buffer_.data() + received_, buffer_.size() - received_};
}

void FrameReader::commit(size_t bytes) {
  if (bytes > bytes_.size() - received_) throw std::logic_error("FrameReader: more bytes committed than there was room for");
  received_ += bytes;
  last_read_filled_room_ = received_ == bytes_.size();
  check_invariants();
}

std::optional<Frame> FrameReader::next() {
  const size_t skipped = std::min(skip_bytes_, bytes_waiting());
  parsed_ += skipped;
  skip_bytes_ -= skipped;
  if (failed() || received_ - parsed_ < frame_header_bytes) return std::nullopt;
  const uint8_t* header = bytes_.data() + parsed_;
  error_ = check_frame_header(header, limits_);
  if (failed()) return std::nullopt;
  const size_t body_bytes = load<uint32_t>(header);
  if (received_ - parsed_ - frame_header_bytes < body_bytes) {
    if (asks_for_large_ && !has_large() && body_bytes > read_bytes_max) bytes_wanted_ = frame_header_bytes + body_bytes;
    return std::nullopt;
  }
  parsed_ += frame_header_bytes + body_bytes;
  check_invariants();
  return Frame{static_cast<FrameType>(header[4]), {header + frame_header_bytes, body_bytes}};
}

std::optional<BegunFrame> FrameReader::begun() const {
  if (failed() || bytes_waiting() < frame_header_bytes) return std::nullopt;
  const uint8_t* header = bytes_.data() + parsed_;
  return BegunFrame{static_cast<FrameType>(header[4]), load<uint32_t>(header),
                    {header + frame_header_bytes, bytes_waiting() - frame_header_bytes}};
}

void FrameReader::skip() {
  const auto frame = begun();
  if (!frame) throw std::logic_error("FrameReader: a frame is to be skipped that has not begun");
  skip_bytes_ = frame->body_bytes - frame->so_far.size();
  parsed_ = received_;
  bytes_wanted_ = 0;
}

void FrameReader::put_back(const Frame& frame) {
  const size_t bytes = frame_header_bytes + frame.body.size();
  if (bytes > parsed_) throw std::logic_error("FrameReader: a frame was put back that was not taken");
  parsed_ -= bytes;
}

void FrameReader::fit(size_t kept_bytes) {
  if (bytes_waiting() > 0 || shares() || has_large() || buffer_.capacity() <= kept_bytes) return;
  buffer_ = Bytes();
  bytes_ = buffer_;
  parsed_ = received_ = 0;
  last_read_filled_room_ = false;
}

void FrameReader::reset() {
  bytes_wanted_ = 0;
  skip_bytes_ = 0;
  parsed_ = 0;
  received_ = 0;
  last_read_filled_room_ = false;
  error_.clear();
}

void FrameReader::check_invariants() const {
  if (parsed_ > received_ || received_ > bytes_.size()) throw std::logic_error("FrameReader: counters out of order");
}

}  // namespace n2nq::wire
