// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/crc32c.h"

#include <array>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace n2nq::wire {

namespace {

constexpr uint32_t polynomial_reflected = 0x82F63B78;
constexpr size_t slices = 8;
using Tables = std::array<std::array<uint32_t, 256>, slices>;

/// Slicing by 8: tables[k][b] is what byte b does to the CRC when k more bytes follow it.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? polynomial_reflected : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < slices; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xFF];
  }
  return tables;
}

constexpr Tables tables = make_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) inline uint32_t go_on_sse42(uint32_t crc_before, ByteView bytes) {
  uint64_t crc = crc_before;
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) crc = _mm_crc32_u64(crc, load<uint64_t>(at));
  auto crc_32 = static_cast<uint32_t>(crc);
  if (left & 4) crc_32 = _mm_crc32_u32(crc_32, load<uint32_t>(at)), at += 4;
  if (left & 2) crc_32 = _mm_crc32_u16(crc_32, load<uint16_t>(at)), at += 2;
  return left & 1 ? _mm_crc32_u8(crc_32, *at) : crc_32;
}

__attribute__((target("sse4.2"))) uint32_t crc32c_sse42(ByteView bytes, uint32_t before) {
  return ~go_on_sse42(~before, bytes);
}

__attribute__((target("sse4.2"))) uint32_t crc32c_sse42_of_two(ByteView first, ByteView second) {
  return ~go_on_sse42(go_on_sse42(~uint32_t{0}, first), second);
}
#endif

}  // namespace

bool crc32c_is_accelerated() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2");
#else
  return false;
#endif
}

#if defined(__x86_64__)
namespace {
const bool accelerated = crc32c_is_accelerated();
}
#endif

uint32_t crc32c(ByteView bytes, uint32_t before) {
#if defined(__x86_64__)
  if (accelerated) return crc32c_sse42(bytes, before);
#endif
  return crc32c_portable(bytes, before);
}

uint32_t crc32c_of_two(ByteView first, ByteView second) {
#if defined(__x86_64__)
  if (accelerated) return crc32c_sse42_of_two(first, second);
#endif
  return crc32c_portable(second, crc32c_portable(first));
}

uint32_t crc32c_portable(ByteView bytes, uint32_t before) {
  uint32_t crc = ~before;
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= slices; at += slices, left -= slices) {
    const uint64_t eight = load<uint64_t>(at) ^ crc;
    crc = 0;
    for (size_t k = 0; k < slices; ++k) crc ^= tables[slices - 1 - k][(eight >> (8 * k)) & 0xFF];
  }
  for (; left > 0; ++at, --left) crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 0xFF];
  return ~crc;
}

}  // namespace n2nq::wire
