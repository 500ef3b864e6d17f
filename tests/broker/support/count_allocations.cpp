// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/broker/support/count_allocations.h"

#include <malloc.h>

#include <algorithm>
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

/// What glibc's allocator takes: with a word of its own, in steps of 16, 32 at least. Under a sanitizer there is another in its place, which
/// says only what was asked for.
static size_t bytes_of(void* memory) {
  constexpr size_t step = 16, least = 32;
  return memory ? std::max(least, (malloc_usable_size(memory) + sizeof(size_t) + step - 1) / step * step) : 0;
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
