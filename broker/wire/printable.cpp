// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/printable.h"

#include <cstddef>
#include <cstdint>

namespace n2nq::wire {

namespace {

struct Letter {
  size_t bytes = 0;  // 0: no UTF-8
  uint32_t code = 0;
};

uint8_t byte_at(std::string_view text, size_t i) {
  return static_cast<uint8_t>(text[i]);
}

/// The first letter of what is not empty. Overlong forms, surrogates and what lies above U+10FFFF are no UTF-8.
Letter first_letter(std::string_view text) {
  const uint8_t head = byte_at(text, 0);
  if (head < 0x80) return {1, head};
  const size_t bytes = head >= 0xF0 ? 4 : head >= 0xE0 ? 3 : 2;
  if (head < 0xC2 || head > 0xF4 || text.size() < bytes) return {};
  uint32_t code = head & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte_at(text, i) & 0x3Fu);
  }
  const uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {bytes, code};
}

bool obeyed(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
  const bool separator_or_direction = (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return control || separator_or_direction;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr char digits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t byte = byte_at(bytes, i);
    out += "\\x";
    out += digits[byte >> 4];
    out += digits[byte & 0x0F];
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    const std::string_view bytes = text.substr(0, letter.bytes == 0 ? 1 : letter.bytes);
    if (letter.bytes == 0 || obeyed(letter.code)) {
      append_escaped(out, bytes);
    } else {
      out += bytes;
    }
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace n2nq::wire
