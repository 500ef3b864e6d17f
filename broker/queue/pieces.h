// SPDX-License-Identifier: GPL-3.0-or-later
// What one write offers: pieces of memory, small ones copied together, large ones where they lie.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>

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
  bool continues(wire::ByteView bytes) const;

  std::array<iovec, pieces_max> pieces_;
  size_t count_ = 0;
  size_t bytes_ = 0;
  wire::Bytes scratch_;
  size_t scratch_used_ = 0;
};

}  // namespace n2nq
