// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/broker/support/count_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace n2nq::support {

namespace {
std::atomic<uint64_t> count{0};
}

uint64_t allocations() {
  return count;
}

static void* count_and_allocate(size_t bytes) {
  ++count;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace n2nq::support

void* operator new(size_t bytes) {
  return n2nq::support::count_and_allocate(bytes);
}
void* operator new[](size_t bytes) {
  return n2nq::support::count_and_allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}
