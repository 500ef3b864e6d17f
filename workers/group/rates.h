// SPDX-License-Identifier: GPL-3.0-or-later
// Rates over the last second, from counts that are looked at now and then: the data thread takes no part in it. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace n2nq::worker {

class Rates {
 public:
  /// `amount` counts, all of which were 0 at `now_ns`.
  Rates(std::size_t amount, std::int64_t now_ns);
  /// Before the first look(): what the counts begin with, when it is not 0.
  void begin_with(const std::vector<std::uint64_t>& counts) { kept_.front().counts = counts; }

  /// A look at all counts. Looks that follow each other faster than ten a second are not kept, so that the memory covers a second.
  void look(std::int64_t now_ns, const std::vector<std::uint64_t>& counts);
  /// Of one count: what came between the newest kept look that is at least a second old (the oldest there is, else) and the last look.
  double per_s(std::size_t place) const;

 private:
  struct Look {
    std::int64_t at_ns = 0;
    std::vector<std::uint64_t> counts;
  };
  static constexpr std::size_t looks_max = 12;

  std::vector<Look> kept_;  // a ring once it is full
  std::size_t oldest_ = 0;
  Look last_;
  const Look* base_ = nullptr;
};

}  // namespace n2nq::worker
