// SPDX-License-Identifier: GPL-3.0-or-later
// Little-endian integers in byte arrays: the only place that knows how numbers lie in memory.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace n2nq::wire {

using Bytes = std::vector<uint8_t>;
using ByteView = std::span<const uint8_t>;

static_assert(std::endian::native == std::endian::little, "the wire is little-endian and is read and written without swapping");

/// The integer that lies at `at`; any alignment.
template <typename Int>
Int load(const uint8_t* at) {
  Int value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename Int>
void store(uint8_t* at, Int value) {
  std::memcpy(at, &value, sizeof value);
}

/// Appends integers and bytes to a byte array.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  template <typename Int>
  Writer& put(Int value) {
    const size_t at = out_.size();
    out_.resize(at + sizeof value);
    store(out_.data() + at, value);
    return *this;
  }
  Writer& put_bytes(ByteView bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    return *this;
  }

 private:
  Bytes& out_;
};

}  // namespace n2nq::wire
