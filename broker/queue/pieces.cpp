// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/pieces.h"

namespace n2nq {

Pieces::Pieces() : scratch_(scratch_bytes) {}

void Pieces::clear() {
  count_ = 0;
  bytes_ = 0;
  scratch_used_ = 0;
}

}  // namespace n2nq
