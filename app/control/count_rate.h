// SPDX-License-Identifier: GPL-3.0-or-later
// A rate from a count that is looked at now and then, by the stamps of those who counted: a look that comes late changes nothing.
#pragma once

#include <cstdint>
#include <deque>

namespace n2nq::app {

/// Over the last second; where fewer than ten came in it, over the last ten, at most the last ten seconds. Both ends are looks at which the
/// count had moved, so that two a second read as 2.0 and not as 1.8 or 2.7 in turn. Zero once nothing came for a second, for two gaps
/// between such looks, and for as long as sixteen take at this rate, which by chance hardly any gap lasts; at the latest after ten seconds.
/// What had flowed, eight moves in that time, and comes again behind such a standstill is not spread over it: ten and more at once had waited,
/// and came since the look before; with fewer the rate begins anew.
class CountRate {
 public:
  /// A look at the count and, where there is one, at a second count that moves with it. Stamps rise; one that does not is ignored.
  void look(std::int64_t now_ns, std::int64_t count, std::int64_t other = 0);
  /// NaN until there is about half a second to go by.
  double per_s() const;
  double other_per_s() const;

 private:
  struct Look {
    std::int64_t at_ns, count, other;
  };
  double span_s() const;
  std::int64_t gap_max_ns() const;
  bool has_stopped() const;

  std::deque<Look> moves_;  // looks at which the count had moved, oldest first
  std::int64_t last_ns_ = 0, last_count_ = 0, stopped_after_ns_ = 0;
  bool flowed_ = false;
};

}  // namespace n2nq::app
