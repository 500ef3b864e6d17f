// SPDX-License-Identifier: GPL-3.0-or-later
// What the fuzz targets have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
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

}  // namespace n2nq::fuzz
