// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/broker/support/count_allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace n2nq::support {

namespace {
std::atomic<uint64_t> count{0};
std::atomic<size_t> bytes_now{0};
}  // namespace

uint64_t allocations() {
  return count;
}

size_t allocated_bytes() {
  return bytes_now;
}

/// With the allocator's own word before it.
static size_t bytes_of(void* memory) {
  return memory ? malloc_usable_size(memory) + sizeof(size_t) : 0;
}

static void* count_and_allocate(size_t bytes) {
  ++count;
  void* memory = std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  bytes_now += bytes_of(memory);
  return memory;
}

static void count_and_free(void* memory) {
  bytes_now -= bytes_of(memory);
  std::free(memory);
}

}  // namespace n2nq::support

void* operator new(size_t bytes) {
  return n2nq::support::count_and_allocate(bytes);
}
void* operator new[](size_t bytes) {
  return n2nq::support::count_and_allocate(bytes);
}
void operator delete(void* memory) noexcept {
  n2nq::support::count_and_free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  n2nq::support::count_and_free(memory);
}
void operator delete[](void* memory) noexcept {
  n2nq::support::count_and_free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  n2nq::support::count_and_free(memory);
}
