// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/pieces.h"

#include <cstring>

namespace n2nq {

Pieces::Pieces() : scratch_(scratch_bytes) {}

void Pieces::clear() {
  count_ = 0;
  bytes_ = 0;
  scratch_used_ = 0;
}

bool Pieces::continues(wire::ByteView bytes) const {
  if (count_ == 0) return false;
  const iovec& last = pieces_[count_ - 1];
  return static_cast<const uint8_t*>(last.iov_base) + last.iov_len == bytes.data();
}

bool Pieces::gather(wire::ByteView bytes) {
  if (bytes.empty()) return true;
  if (continues(bytes)) {
    pieces_[count_ - 1].iov_len += bytes.size();
  } else {
    if (count_ == pieces_max) return false;
    pieces_[count_++] = {const_cast<uint8_t*>(bytes.data()), bytes.size()};  // the kernel reads it only
  }
  bytes_ += bytes.size();
  return true;
}

bool Pieces::add(wire::ByteView bytes) {
  const bool copies = bytes.size() < gather_bytes_min && scratch_.size() - scratch_used_ >= bytes.size();
  if (!copies || continues(bytes)) return gather(bytes);
  uint8_t* copy = scratch_.data() + scratch_used_;
  std::memcpy(copy, bytes.data(), bytes.size());
  scratch_used_ += bytes.size();
  return gather({copy, bytes.size()});
}

}  // namespace n2nq
