// SPDX-License-Identifier: GPL-3.0-or-later
// One valid frame of each kind, with unusual values in every field.
#pragma once

#include <string>
#include <vector>

#include "broker/wire/bytes.h"

namespace n2nq::support {

struct SeedFrame {
  std::string name;
  wire::Bytes bytes;
};

const std::vector<SeedFrame>& seed_frames();

/// A whole record with a right checksum.
wire::Bytes make_record(uint32_t sender, uint64_t index, size_t payload_bytes, int64_t sent_ns = 0);

}  // namespace n2nq::support
