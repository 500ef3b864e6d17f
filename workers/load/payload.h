// SPDX-License-Identifier: GPL-3.0-or-later
// What the messages consist of: letters A-Z, the same for the same seed, sender and index, on every machine. That is why a message need
// not be kept to be sent again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace n2nq::worker {

class PayloadSource {
 public:
  /// Sizes are drawn evenly from [size_min, size_max], payload letters. Keeps a pool of size_max + 64 KiB letters.
  PayloadSource(std::uint64_t seed, std::uint32_t size_min, std::uint32_t size_max);

  /// Size of a message and its letters: a slice of the pool, valid as long as the source. Any thread.
  std::uint32_t size_of(std::uint32_t sender, std::int64_t index) const;
  std::string_view letters_of(std::uint32_t sender, std::int64_t index) const;

 private:
  std::uint64_t draw(std::uint32_t sender, std::int64_t index) const;

  std::uint64_t seed_;
  std::uint32_t size_min_;
  std::uint32_t sizes_;  // how many different sizes there are
  std::string pool_;
};

}  // namespace n2nq::worker
