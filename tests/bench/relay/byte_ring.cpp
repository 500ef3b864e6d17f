// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/relay/byte_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "broker/net/fd.h"

namespace n2nq::bench {

ByteRing::~ByteRing() {
  if (memory_ != nullptr) munmap(memory_, 2 * size);
}

void ByteRing::allocate() {
  const net::Fd file(memfd_create("byte-ring", MFD_CLOEXEC));
  void* both = MAP_FAILED;
  if (file.valid() && ftruncate(file.get(), size) == 0) both = mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool mapped = both != MAP_FAILED;
  for (std::size_t half = 0; mapped && half < 2; ++half) {
    void* const wanted = static_cast<std::uint8_t*>(both) + half * size;
    mapped = mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0) == wanted;
  }
  if (!mapped) throw std::system_error(errno, std::generic_category(), "ring");
  memory_ = static_cast<std::uint8_t*>(both);
}

}  // namespace n2nq::bench
