// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/text_value.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>

namespace n2nq::app {

namespace {

constexpr std::size_t quoted_chars_max = 60;

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "1e3", "-2.5E-3": a number, but not as it has to be written.
bool has_exponent(std::string_view text) {
  if (text.find_first_of("eE") == text.npos || text.find_first_not_of("0123456789.+-eE") != text.npos) return false;
  double unused = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), unused);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

std::string integer_problem(std::string_view text, std::int64_t min, std::int64_t max) {
  return "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max) + ", not " + in_quotes(text);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  out += text.substr(0, quoted_chars_max);
  if (text.size() > quoted_chars_max) out += "…";
  return out + '"';
}

Problem parse_integer(std::string_view text, std::int64_t min, std::int64_t max, std::int64_t& out) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) return integer_problem(text, min, max);
  out = value;
  return {};
}

Problem parse_decimal(std::string_view text, double min, double max, int decimals, double& out) {
  const auto problem = [&](std::string_view what) {
    return "must be a number from " + decimal_text(min) + " to " + decimal_text(max) + std::string(what) + ", not " + in_quotes(text);
  };
  const auto point = text.find('.');
  const bool has_point = point != std::string_view::npos;
  const std::string_view sign_and_whole = text.substr(0, point);
  const std::string_view whole = sign_and_whole.substr(sign_and_whole.starts_with('-') ? 1 : 0);
  const std::string_view places = has_point ? text.substr(point + 1) : std::string_view{};
  if (!is_digits(whole) || (has_point && !is_digits(places))) return problem(has_exponent(text) ? " written without an exponent" : "");
  if (places.size() > static_cast<std::size_t>(decimals)) return problem(" with at most " + std::to_string(decimals) + " decimal places");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) return problem("");
  out = value;
  return {};
}

Problem parse_word(std::string_view text, const std::vector<std::string_view>& words, std::size_t& out) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return "must be " + one_of(words) + ", not " + in_quotes(text);
  out = static_cast<std::size_t>(found - words.begin());
  return {};
}

namespace {

/// Takes the first letter off a text in UTF-8 (RFC 3629); none when it is none.
std::optional<char32_t> take_letter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80 ? 1 : first >> 5 == 0x6 ? 2 : first >> 4 == 0xE ? 3 : first >> 3 == 0x1E ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  char32_t letter = bytes == 1 ? first : first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if (next >> 6 != 0x2) return {};
    letter = letter << 6 | (next & 0x3Fu);
  }
  static constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = letter >= 0xD800 && letter <= 0xDFFF;
  if (letter < smallest[bytes] || letter > 0x10FFFF || surrogate) return {};
  text.remove_prefix(bytes);
  return letter;
}

/// What breaks a line, or has no look of its own; some of it YAML cannot hold.
bool is_control(char32_t letter) {
  const bool separator = letter == 0x2028 || letter == 0x2029 || letter == 0xFEFF;
  return letter < 0x20 || (letter >= 0x7F && letter < 0xA0) || separator || (letter & 0xFFFE) == 0xFFFE;
}

}  // namespace

Problem parse_line(std::string_view text, std::size_t bytes_max, std::string& out) {
  const std::string_view whole = text;
  if (text.size() > bytes_max) {
    return "must be at most " + std::to_string(bytes_max) + " bytes long, not " + std::to_string(text.size());
  }
  while (!text.empty()) {
    const auto letter = take_letter(text);
    if (!letter) return "must be UTF-8 text";
    if (is_control(*letter)) return "must be one line without control characters";
  }
  out = whole;
  return {};
}

std::string decimal_text(double value) {
  // The longest fixed form of a double has a little over 1,000 characters; values here stay far below.
  char buffer[1100];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  return error == std::errc() ? std::string(buffer, end) : std::string("0");
}

std::string one_of(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string_view nearest_word(std::string_view text, const std::vector<std::string_view>& words) {
  const auto nearest = std::min_element(
      words.begin(), words.end(), [&](std::string_view a, std::string_view b) { return edit_distance(a, text) < edit_distance(b, text); });
  return nearest == words.end() ? std::string_view{} : *nearest;
}

}  // namespace n2nq::app
