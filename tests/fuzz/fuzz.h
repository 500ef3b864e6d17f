// SPDX-License-Identifier: GPL-3.0-or-later
// What the fuzz targets have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

/// One input. Must come back whatever it is; a wrong outcome ends the process.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace n2nq::fuzz {

/// Something that must be true for every input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not true for this input: %s\n", what);
  std::abort();
}

inline std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Whether the text of an error about a file begins with its name, the line, which it has, and the key: one of the two at least, unless
/// the error is about the file as a whole, and then it is the only one.
inline bool says_where(std::string_view text, std::string_view file, int line, std::string_view key, std::span<const uint8_t> bytes,
                       bool only) {
  const auto lines = std::count(bytes.begin(), bytes.end(), uint8_t{'\n'}) + 1;
  const std::string place = std::string(file) + (line > 0 ? ':' + std::to_string(line) : std::string()) + ": " + std::string(key);
  return (line > 0 || !key.empty() || only) && line <= lines && text.starts_with(place);
}

}  // namespace n2nq::fuzz
