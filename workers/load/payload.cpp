// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/load/payload.h"

namespace n2nq::worker {

namespace {

constexpr std::uint32_t offsets = 64 * 1024;  // different slices of one size; a pool this large stays in a core's cache

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): neighbouring inputs give unrelated outputs.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Maps 32 random bits evenly onto [0, n) without a division.
std::uint32_t scale(std::uint32_t bits, std::uint32_t n) {
  return static_cast<std::uint32_t>(std::uint64_t{bits} * n >> 32);
}

}  // namespace

PayloadSource::PayloadSource(std::uint64_t seed, std::uint32_t size_min, std::uint32_t size_max)
    : seed_(mix(seed)), size_min_(size_min), sizes_(size_max - size_min + 1), pool_(std::size_t{size_max} + offsets, 'A') {
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    pool_[i] = static_cast<char>('A' + scale(static_cast<std::uint32_t>(mix(seed_ + i) >> 32), 26));
  }
}

std::uint64_t PayloadSource::draw(std::uint32_t sender, std::int64_t index) const {
  return mix(mix(seed_ ^ sender) + static_cast<std::uint64_t>(index));
}

std::uint32_t PayloadSource::size_of(std::uint32_t sender, std::int64_t index) const {
  return size_min_ + scale(static_cast<std::uint32_t>(draw(sender, index)), sizes_);
}

std::string_view PayloadSource::letters_of(std::uint32_t sender, std::int64_t index) const {
  const std::uint64_t drawn = draw(sender, index);
  const std::uint32_t size = size_min_ + scale(static_cast<std::uint32_t>(drawn), sizes_);
  return {pool_.data() + scale(static_cast<std::uint32_t>(drawn >> 32), offsets), size};
}

}  // namespace n2nq::worker
