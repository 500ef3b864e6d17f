// SPDX-License-Identifier: GPL-3.0-or-later
// What one write offers: pieces of memory, small ones copied together, large ones where they lie.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "broker/wire/bytes.h"

namespace n2nq {

class Pieces {
 public:
  /// The kernel looks at no more (IOV_MAX).
  static constexpr size_t pieces_max = 1024;
  /// From this size on a piece is gathered instead of copied. Measured: docs/decisions/0001-io-layer.md.
  static constexpr size_t gather_bytes_min = 4096;
  static constexpr size_t scratch_bytes = 256 * 1024;

  Pieces();
  void clear();

  /// Memory that stays as it is until the write. False: no room any more, the write goes without it.
  bool gather(wire::ByteView bytes);
  /// The same; copies when that is cheaper, and joins what lies side by side anyway.
  bool add(wire::ByteView bytes);

  const iovec* data() const { return pieces_.data(); }
  int count() const { return static_cast<int>(count_); }
  size_t bytes() const { return bytes_; }

 private:
  bool continues(const uint8_t* at) const { return count_ > 0 && end_ == at; }

  std::array<iovec, pieces_max> pieces_;
  size_t count_ = 0;
  const uint8_t* end_ = nullptr;  // of the last piece
  size_t bytes_ = 0;
  std::unique_ptr<uint8_t[]> scratch_;
  size_t scratch_used_ = 0;
};

// Inline, because they are called once for each message.
inline bool Pieces::gather(wire::ByteView bytes) {
  if (bytes.empty()) return true;
  if (continues(bytes.data())) {
    pieces_[count_ - 1].iov_len += bytes.size();
  } else {
    if (count_ == pieces_max) return false;
    pieces_[count_++] = {const_cast<uint8_t*>(bytes.data()), bytes.size()};  // the kernel reads it only
  }
  end_ = bytes.data() + bytes.size();
  bytes_ += bytes.size();
  return true;
}

inline bool Pieces::add(wire::ByteView bytes) {
  const bool copies = bytes.size() < gather_bytes_min && scratch_bytes - scratch_used_ >= bytes.size();
  if (!copies || continues(bytes.data())) return gather(bytes);
  uint8_t* const copy = scratch_.get() + scratch_used_;
  std::memcpy(copy, bytes.data(), bytes.size());
  scratch_used_ += bytes.size();
  return gather({copy, bytes.size()});
}

}  // namespace n2nq
