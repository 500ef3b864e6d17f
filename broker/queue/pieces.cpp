// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/pieces.h"

namespace n2nq {

// As it comes: what is never used of it takes no memory.
Pieces::Pieces() : scratch_(std::make_unique_for_overwrite<uint8_t[]>(scratch_bytes)) {}

void Pieces::clear() {
  count_ = 0;
  bytes_ = 0;
  scratch_used_ = 0;
}

}  // namespace n2nq
