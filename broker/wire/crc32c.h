// SPDX-License-Identifier: GPL-3.0-or-later
// CRC-32C (Castagnoli, polynomial 0x1EDC6F41, RFC 3720 appendix B.4).
#pragma once

#include <cstdint>

#include "broker/wire/bytes.h"

namespace n2nq::wire {

/// CRC of `bytes` behind bytes whose CRC is `before` (0 at the start), so that a checksum can be taken piece by piece.
/// Uses the processor's instruction where there is one (asked once, at run time), tables otherwise. Any thread.
uint32_t crc32c(ByteView bytes, uint32_t before = 0);
/// The same of two pieces, one behind the other, in one call.
uint32_t crc32c_of_two(ByteView first, ByteView second);

/// The table way, on any processor: what crc32c() falls back to, and what tests compare it with.
uint32_t crc32c_portable(ByteView bytes, uint32_t before = 0);
/// True when crc32c() uses SSE4.2.
bool crc32c_is_accelerated();

}  // namespace n2nq::wire
