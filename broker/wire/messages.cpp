// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/messages.h"

#include <algorithm>

#include "broker/wire/printable.h"

namespace n2nq::wire {

namespace {

/// Writes a frame's header now and its length when it goes out of scope.
class FrameScope {
 public:
  FrameScope(Bytes& out, FrameType type) : out_(out), begun_at_(begin_frame(out, type)) {}
  ~FrameScope() { end_frame(out_, begun_at_); }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Bytes& out_;
  size_t begun_at_;
};

template <typename Int>
Int at(ByteView body, size_t offset) {
  return load<Int>(body.data() + offset);
}

void encode_u64_frame(Bytes& out, FrameType type, uint64_t value) {
  const FrameScope frame(out, type);
  Writer(out).put(value);
}

std::optional<uint64_t> decode_u64(ByteView body) {
  if (body.size() != 8) return std::nullopt;
  return at<uint64_t>(body, 0);
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<Token> token_from_hex(std::string_view text) {
  Token token{};
  if (text.empty()) return token;
  if (text.size() != 2 * token.size()) return std::nullopt;
  for (size_t i = 0; i < token.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    token[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return token;
}

const char* name_of(ErrorCode code) {
  static constexpr const char* names[] = {"not n2nq",  "version",      "token",    "number",      "frame",
                                          "index gap", "confirmation", "too many", "replaced",    "too slow",
                                          "silent",    "handshake",    "ending",   "not offered", "rules"};
  const auto number = static_cast<size_t>(code);
  return number >= 1 && number <= std::size(names) ? names[number - 1] : "?";
}

const char* name_of(Role role) {
  switch (role) {
    case Role::sender:
      return "sender";
    case Role::receiver:
      return "receiver";
    case Role::probe:
      return "probe";
  }
  return "?";
}

void Hello::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::hello);
  Writer(out).put(magic_read).put(version_read).put(static_cast<uint8_t>(role)).put(reserved_read);
  Writer(out).put(number).put(session).put(next_index).put_bytes(token);
}

std::optional<Hello> Hello::decode(ByteView body) {
  if (body.size() != body_bytes) return std::nullopt;
  Hello hello;
  hello.magic_read = at<uint32_t>(body, 0);
  hello.version_read = at<uint16_t>(body, 4);
  hello.role = static_cast<Role>(body[6]);
  hello.reserved_read = body[7];
  hello.number = at<uint32_t>(body, 8);
  hello.session = at<uint32_t>(body, 12);
  hello.next_index = at<uint64_t>(body, 16);
  std::copy_n(body.begin() + 24, hello.token.size(), hello.token.begin());
  return hello;
}

std::optional<Hello::Opening> Hello::decode_opening(ByteView body) {
  if (body.size() < 6) return std::nullopt;
  return Opening{at<uint32_t>(body, 0), at<uint16_t>(body, 4)};
}

void Welcome::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::welcome);
  Writer(out).put(version_read).put(static_cast<uint8_t>(queue_mode)).put(features);
  Writer(out).put(heartbeat_ms).put(message_bytes_max).put(frame_bytes_max).put(epoch).put(next_index);
  Writer(out).put(responses_window).put(senders_expected).put(now_ns);
}

std::optional<Welcome> Welcome::decode(ByteView body) {
  if (body.size() != body_bytes) return std::nullopt;
  Welcome welcome;
  welcome.version_read = at<uint16_t>(body, 0);
  welcome.queue_mode = static_cast<QueueMode>(body[2]);
  if (welcome.queue_mode != QueueMode::broadcaster && welcome.queue_mode != QueueMode::load_balancer) return std::nullopt;
  welcome.features = body[3];
  welcome.heartbeat_ms = at<uint32_t>(body, 4);
  welcome.message_bytes_max = at<uint32_t>(body, 8);
  welcome.frame_bytes_max = at<uint32_t>(body, 12);
  welcome.epoch = at<uint64_t>(body, 16);
  welcome.next_index = at<uint64_t>(body, 24);
  welcome.responses_window = at<uint32_t>(body, 32);
  welcome.senders_expected = at<uint32_t>(body, 36);
  welcome.now_ns = at<int64_t>(body, 40);
  return welcome;
}

void Accepted::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::accepted);
  Writer writer(out);
  writer.put(next_index);
  for (const RefusedRange& range : refused) writer.put(range.from).put(range.to).put(static_cast<uint32_t>(range.reason)).put(uint32_t{0});
}

std::optional<Accepted> Accepted::decode(ByteView body) {
  if (body.size() < 8 || (body.size() - 8) % 24 != 0) return std::nullopt;
  Accepted accepted;
  accepted.next_index = at<uint64_t>(body, 0);
  for (size_t i = 8; i < body.size(); i += 24) {
    const auto reason = at<uint32_t>(body, i + 16);
    if (reason < 1 || reason > 2 || at<uint32_t>(body, i + 20) != 0) return std::nullopt;
    accepted.refused.push_back({at<uint64_t>(body, i), at<uint64_t>(body, i + 8), static_cast<RefuseReason>(reason)});
  }
  return accepted;
}

void Skipped::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::skipped);
  Writer writer(out);
  for (const SkippedRange& range : ranges) writer.put(range.sender).put(static_cast<uint32_t>(range.reason)).put(range.from).put(range.to);
}

std::optional<Skipped> Skipped::decode(ByteView body) {
  if (body.empty() || body.size() % SkippedRange::entry_bytes != 0) return std::nullopt;
  Skipped skipped;
  for (size_t i = 0; i < body.size(); i += SkippedRange::entry_bytes) {
    const auto reason = at<uint32_t>(body, i + 4);
    const SkippedRange range{at<uint32_t>(body, i), static_cast<SkipReason>(reason), at<uint64_t>(body, i + 8), at<uint64_t>(body, i + 16)};
    if (reason < 1 || reason > 4 || range.from > range.to) return std::nullopt;
    skipped.ranges.push_back(range);
  }
  return skipped;
}

void Confirm::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::confirm);
  Writer writer(out);
  for (const ConfirmRange& range : ranges) writer.put(range.first_delivery).put(range.count).put(uint32_t{range.negative});
}

std::optional<Confirm> Confirm::decode(ByteView body) {
  Confirm confirm;
  if (!confirm.read(body)) return std::nullopt;
  return confirm;
}

bool Confirm::read(ByteView body) {
  ranges.clear();
  if (body.empty() || body.size() % ConfirmRange::entry_bytes != 0) return false;
  for (size_t i = 0; i < body.size(); i += ConfirmRange::entry_bytes) {
    const auto kind = at<uint32_t>(body, i + 12);  // the kind and its three zero bytes
    if (kind > 1) return false;
    ranges.push_back({at<uint64_t>(body, i), at<uint32_t>(body, i + 8), kind == 1});
  }
  return true;
}

void Rules::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::rules);
  Writer writer(out);
  writer.put(list).put(static_cast<uint32_t>(rules.size()));
  for (const Rule& rule : rules) writer.put(rule.sender_first).put(rule.sender_last).put(rule.size_min).put(rule.size_max);
}

std::optional<Rules> Rules::decode(ByteView body) {
  if (body.size() < 8 || (body.size() - 8) % Rule::entry_bytes != 0) return std::nullopt;
  if (at<uint32_t>(body, 4) != (body.size() - 8) / Rule::entry_bytes) return std::nullopt;
  Rules rules;
  rules.list = at<uint32_t>(body, 0);
  for (size_t i = 8; i < body.size(); i += Rule::entry_bytes) {
    rules.rules.push_back({at<uint32_t>(body, i), at<uint32_t>(body, i + 4), at<uint32_t>(body, i + 8), at<uint32_t>(body, i + 12)});
  }
  return rules;
}

void Credit::encode(Bytes& out) const {
  encode_u64_frame(out, FrameType::credit, more);
}

std::optional<Credit> Credit::decode(ByteView body) {
  const auto value = decode_u64(body);
  if (!value) return std::nullopt;
  return Credit{*value};
}

void Probe::encode(Bytes& out) const {
  encode_u64_frame(out, FrameType::probe, static_cast<uint64_t>(t1_ns));
}

std::optional<Probe> Probe::decode(ByteView body) {
  const auto value = decode_u64(body);
  if (!value) return std::nullopt;
  return Probe{static_cast<int64_t>(*value)};
}

void ProbeReply::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::probe_reply);
  Writer(out).put(t1_ns).put(t2_ns).put(t3_ns);
}

std::optional<ProbeReply> ProbeReply::decode(ByteView body) {
  if (body.size() != 24) return std::nullopt;
  return ProbeReply{at<int64_t>(body, 0), at<int64_t>(body, 8), at<int64_t>(body, 16)};
}

void End::encode(Bytes& out) const {
  encode_u64_frame(out, FrameType::end, value);
}

std::optional<End> End::decode(ByteView body) {
  const auto value = decode_u64(body);
  if (!value) return std::nullopt;
  return End{*value};
}

void EndTotals::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::end);
  Writer(out).put(handed_over).put(redelivered).put(expired).put(unrequested).put(parked).put(cut_off).put(still_queued);
}

std::optional<EndTotals> EndTotals::decode(ByteView body) {
  if (body.size() != body_bytes) return std::nullopt;
  return EndTotals{at<uint64_t>(body, 0),  at<uint64_t>(body, 8),  at<uint64_t>(body, 16), at<uint64_t>(body, 24),
                   at<uint64_t>(body, 32), at<uint64_t>(body, 40), at<uint64_t>(body, 48)};
}

void Error::encode(Bytes& out) const {
  const FrameScope frame(out, FrameType::error);
  // A cut must not fall into the middle of a UTF-8 letter: continuation bytes begin with the bits 10.
  size_t bytes = std::min(text.size(), error_text_bytes_max);
  while (bytes > 0 && bytes < text.size() && (static_cast<uint8_t>(text[bytes]) & 0xC0) == 0x80) --bytes;
  Writer(out).put(static_cast<uint16_t>(code)).put(uint16_t{0}).put(uint32_t{0});
  out.insert(out.end(), text.begin(), text.begin() + static_cast<ptrdiff_t>(bytes));
}

std::optional<Error> Error::decode(ByteView body) {
  if (body.size() < 8 || body.size() > Error::body_bytes_max || at<uint16_t>(body, 2) != 0 || at<uint32_t>(body, 4) != 0) return std::nullopt;
  return Error{static_cast<ErrorCode>(at<uint16_t>(body, 0)), printable({reinterpret_cast<const char*>(body.data()) + 8, body.size() - 8})};
}

void encode_heartbeat(Bytes& out) {
  const FrameScope frame(out, FrameType::heartbeat);
}

}  // namespace n2nq::wire
