// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/host_name.h"

#include <algorithm>

namespace n2nq::app {

namespace {

constexpr std::size_t host_name_chars_max = 64;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Problem parse_host_name(std::string_view text, std::string& out) {
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; };
  if (text.empty() || text.size() > host_name_chars_max || !is_letter_or_digit(text.front()) ||
      !std::all_of(text.begin(), text.end(), allowed)) {
    return "must be 1 to " + std::to_string(host_name_chars_max) +
           " of the characters A–Z a–z 0–9 . _ -, beginning with a letter or digit, not " + in_quotes(text);
  }
  // In any case of letters: a Source would offer two that look alike.
  if (std::ranges::equal(text, local_host, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; }))
    return "must not be local: that is this machine";
  out = text;
  return {};
}

}  // namespace n2nq::app
