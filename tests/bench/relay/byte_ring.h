// SPDX-License-Identifier: GPL-3.0-or-later
// A ring of bytes whose memory is mapped twice, one behind the other: what is in it always lies in one piece. Positions only rise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace n2nq::bench {

class ByteRing {
 public:
  static constexpr std::size_t size = 1024 * 1024;  // a multiple of the page size

  ByteRing() = default;
  ~ByteRing();
  ByteRing(ByteRing&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  ByteRing& operator=(ByteRing&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }

  /// Throws std::system_error.
  void allocate();
  /// The byte at a position; `size` bytes from there on lie in one piece.
  std::uint8_t* at(std::uint64_t position) const { return memory_ + position % size; }

  std::uint64_t begin = 0;  // what is before it is not needed any more
  std::uint64_t end = 0;
  std::size_t room() const { return size - static_cast<std::size_t>(end - begin); }
  /// Begins at the front again, which the caches know. Only while it is empty; all positions in it are 0 then.
  void rewind() { begin = end = 0; }

 private:
  std::uint8_t* memory_ = nullptr;
};

}  // namespace n2nq::bench
