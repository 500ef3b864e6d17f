// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/log_line.h"

#include <charconv>
#include <cstring>
#include <string>

#include "workers/measure/clock_line.h"

namespace n2nq::measure {

namespace {

constexpr std::size_t shown_bytes_max = 60;  // of what is wrong in a line

constexpr std::string_view flag_words[] = {"warm-up",    "redelivered", "newly-matched", "duplicate", "out-of-order",
                                           "unexpected", "negative",    "bad-checksum",  "unasked",   "confirmed",
                                           "refused",    "reconnected", "overtaken"};

constexpr std::string_view reason_words[] = {"expired", "unrequested", "parked", "cut-off"};  // as wire::SkipReason, from 1 on

class LineWriter {
 public:
  explicit LineWriter(char* out) : start_(out), at_(out) {}

  template <typename Int>
  LineWriter& number(Int value) {
    at_ = std::to_chars(at_, at_ + 24, value).ptr;
    return *this;
  }
  LineWriter& text(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    return *this;
  }
  LineWriter& tab() {
    *at_++ = '\t';
    return *this;
  }
  /// Microseconds with three decimals: exact to the nanosecond.
  LineWriter& micros(std::int64_t ns) {
    if (ns < 0) *at_++ = '-';
    const std::uint64_t magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    number(magnitude / 1000);
    const auto rest = static_cast<unsigned>(magnitude % 1000);
    *at_++ = '.';
    *at_++ = static_cast<char>('0' + rest / 100);
    *at_++ = static_cast<char>('0' + rest / 10 % 10);
    *at_++ = static_cast<char>('0' + rest % 10);
    return *this;
  }
  LineWriter& micros(std::optional<std::int64_t> ns) {
    if (ns) return micros(*ns);
    *at_++ = '-';
    return *this;
  }
  LineWriter& flags(std::uint16_t flags) {
    bool any = false;
    for (unsigned bit = 0; bit < std::size(flag_words); ++bit) {
      if ((flags >> bit & 1) == 0) continue;
      if (any) *at_++ = ',';
      any = true;
      text(flag_words[bit]);
    }
    if (!any) *at_++ = '-';
    return *this;
  }
  std::size_t end_of_line() {
    *at_++ = '\n';
    return static_cast<std::size_t>(at_ - start_);
  }

 private:
  char* start_;
  char* at_;
};

class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {
    // A power cut may leave megabytes of zeros at a file's end.
    if (line.size() < line_bytes_max) return;
    error_ = std::to_string(line.size()) + " bytes long, which no line is: it begins with " + in_quotes(line);
  }

  template <typename Int>
  void number(const char* column, Int& value) {
    const std::string_view text = field(column);
    if (failed()) return;
    const auto [end, result] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result != std::errc{} || end != text.data() + text.size()) fail(column, text, "a whole number");
  }
  void stamp(const char* column, std::int64_t& ns) {
    number(column, ns);
    if (!failed() && !is_stamp(ns)) fail(column, std::to_string(ns), "nanoseconds of at most 18 years");
  }
  void micros(const char* column, std::int64_t& ns) {
    const std::string_view text = field(column);
    if (!failed()) ns = parse_micros(column, text);
  }
  void micros(const char* column, std::optional<std::int64_t>& ns) {
    const std::string_view text = field(column);
    if (!failed() && text != "-") ns = parse_micros(column, text);
  }
  void flags(std::uint16_t& flags) {
    std::string_view text = field("flags");
    if (failed() || text == "-") return;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      unsigned bit = 0;
      while (bit < std::size(flag_words) && flag_words[bit] != word) ++bit;
      if (bit == std::size(flag_words)) return fail("flags", word, "a known word or \"-\"");
      flags = static_cast<std::uint16_t>(flags | 1u << bit);
    }
  }
  void end_of_line() {
    if (!failed() && !ended_) error_ = "more columns than expected";
  }

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  std::string_view field(const char* column) {
    if (failed()) return {};
    if (ended_) {
      error_ = std::string("column ") + column + " is missing";
      return {};
    }
    const std::size_t tab = rest_.find('\t');
    const std::string_view text = rest_.substr(0, tab);
    if (tab == std::string_view::npos) {
      ended_ = true;
    } else {
      rest_.remove_prefix(tab + 1);
    }
    return text;
  }
  std::int64_t parse_micros(const char* column, std::string_view text) {
    std::string_view digits = text;
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    std::uint64_t whole = 0;
    const char* end = digits.data() + digits.size();
    const auto [dot, result] = std::from_chars(digits.data(), end, whole);
    unsigned rest = 0;
    const bool fits = result == std::errc{} && end - dot == 4 && *dot == '.' && std::from_chars(dot + 1, end, rest).ptr == end;
    constexpr auto most_ns = static_cast<std::uint64_t>(stamp_ns_max);
    if (!fits || whole > most_ns / 1000 || whole * 1000 + rest > most_ns) {
      fail(column, text, "microseconds with three decimals, of at most 18 years");
      return 0;
    }
    const std::uint64_t magnitude = whole * 1000 + rest;
    return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  }
  void fail(const char* column, std::string_view text, const char* wanted) {
    error_ = std::string("column ") + column + " is " + in_quotes(text) + ", expected " + wanted;
  }
  static std::string in_quotes(std::string_view text) {
    const bool whole = text.size() <= shown_bytes_max;
    return '"' + std::string(text.substr(0, shown_bytes_max)) + (whole ? "\"" : "…\"");
  }

  std::string_view rest_;
  bool ended_ = false;
  std::string error_;
};

template <typename Line>
std::optional<Line> finish(LineReader& reader, const Line& line, std::string* error) {
  reader.end_of_line();
  if (!reader.failed()) return line;
  if (error != nullptr) *error = reader.error();
  return std::nullopt;
}

}  // namespace

std::size_t format_line(char* out, const SentLine& line) {
  LineWriter writer(out);
  writer.number(line.index).tab().number(line.size).tab().number(line.intended_ns).tab().number(line.sent_ns).tab();
  writer.micros(line.lag_ns).tab().micros(line.delay_ns).tab().number(line.attempt).tab().flags(line.flags);
  return writer.end_of_line();
}

std::size_t format_line(char* out, const ReceivedLine& line) {
  LineWriter writer(out);
  writer.number(line.index).tab().number(line.sender).tab().number(line.size).tab().number(line.intended_ns).tab();
  writer.number(line.sent_ns).tab().number(line.received_ns).tab().micros(line.latency_ns).tab();
  writer.micros(line.to_broker_ns).tab().micros(line.in_queue_ns).tab().micros(line.to_receiver_ns).tab();
  writer.number(line.attempt).tab().flags(line.flags);
  return writer.end_of_line();
}

std::size_t format_line(char* out, const SkippedLine& line) {
  LineWriter writer(out);
  const std::size_t reason = static_cast<std::size_t>(line.reason) - 1;
  writer.text("# skipped: senders=")
      .number(line.sender_first)
      .text("-")
      .number(line.sender_last)
      .text(" from=")
      .number(line.from)
      .text(" to=")
      .number(line.to)
      .text(" reason=");
  writer.text(reason < std::size(reason_words) ? reason_words[reason] : "unknown").text(" told_ns=").number(line.told_ns);
  return writer.end_of_line();
}

std::optional<SentLine> parse_sent_line(std::string_view text, std::string* error) {
  LineReader reader(text);
  SentLine line;
  reader.number("index", line.index);
  reader.number("size", line.size);
  reader.stamp("intended_ns", line.intended_ns);
  reader.stamp("sent_ns", line.sent_ns);
  reader.micros("lag_us", line.lag_ns);
  reader.micros("delay_us", line.delay_ns);
  reader.number("attempt", line.attempt);
  reader.flags(line.flags);
  return finish(reader, line, error);
}

std::optional<ReceivedLine> parse_received_line(std::string_view text, std::string* error) {
  LineReader reader(text);
  ReceivedLine line;
  reader.number("index", line.index);
  reader.number("sender", line.sender);
  reader.number("size", line.size);
  reader.stamp("intended_ns", line.intended_ns);
  reader.stamp("sent_ns", line.sent_ns);
  reader.stamp("received_ns", line.received_ns);
  reader.micros("latency_us", line.latency_ns);
  reader.micros("to_broker_us", line.to_broker_ns);
  reader.micros("in_queue_us", line.in_queue_ns);
  reader.micros("to_receiver_us", line.to_receiver_ns);
  reader.number("attempt", line.attempt);
  reader.flags(line.flags);
  return finish(reader, line, error);
}

std::optional<SkippedLine> parse_skipped_line(std::string_view text) {
  SkippedLine line;
  const auto take = [&text](std::string_view word) {
    const bool there = text.starts_with(word);
    if (there) text.remove_prefix(word.size());
    return there;
  };
  const auto take_number = [&](std::string_view word, auto& value) {
    if (!take(word)) return false;
    const auto [end, result] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return result == std::errc{};
  };
  const auto take_reason = [&] {
    for (std::size_t i = 0; i < std::size(reason_words); ++i) {
      if (!take(reason_words[i])) continue;
      line.reason = static_cast<wire::SkipReason>(i + 1);
      return true;
    }
    return false;
  };
  const bool fits = take_number("# skipped: senders=", line.sender_first) && take_number("-", line.sender_last) &&
                    take_number(" from=", line.from) && take_number(" to=", line.to) && take(" reason=") && take_reason() &&
                    take_number(" told_ns=", line.told_ns) && is_stamp(line.told_ns) && text.empty() &&
                    line.sender_first <= line.sender_last && line.from <= line.to;
  return fits ? std::optional(line) : std::nullopt;
}

std::string service_name(char letter, std::uint32_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 3) digits.insert(0, 3 - digits.size(), '0');
  return letter + digits;
}

}  // namespace n2nq::measure
