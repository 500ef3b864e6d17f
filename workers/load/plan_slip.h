// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the messages of a plan leave later and later: by the least late one of its first half, of what follows, and of its last tenth.
//
// Whoever is held up once is late, and then less and less until it is as early as before. Whose plan slips is later in each part than in the
// one before; the least late message of a part is its first one, then: at the beginning, at half and at nine tenths of the plan.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace n2nq::worker {

class PlanSlip {
 public:
  /// The last tenth has so many messages, or nothing is said: few of them may all be late by chance.
  static constexpr std::uint64_t last_messages_min = 10;

  /// Of a plan of so many messages.
  explicit PlanSlip(std::uint64_t messages) {
    if (messages < 10 * last_messages_min || messages > INT64_MAX) return;
    second_half_from_ = static_cast<std::int64_t>(messages / 2);
    last_tenth_from_ = static_cast<std::int64_t>(messages - messages / 10);
  }

  void note(std::int64_t index, std::int64_t lag_ns) {
    std::int64_t& least_ns = least_ns_[index < second_half_from_ ? 0 : index < last_tenth_from_ ? 1 : 2];
    least_ns = std::min(least_ns, lag_ns);
  }
  /// By how much the plan slipped from its beginning to its end, as far as even the least late messages show; not above 0: it did not. None:
  /// not known, because it has too few messages or was not sent to its end.
  std::optional<std::int64_t> ns() const {
    const auto [first, second, last] = least_ns_;
    if (std::max({first, second, last}) == INT64_MAX) return std::nullopt;
    return std::min({(last - first) / 9 * 10, (second - first) * 2, (last - second) / 2 * 5});
  }

 private:
  std::int64_t second_half_from_ = INT64_MAX, last_tenth_from_ = INT64_MAX;  // messages
  std::array<std::int64_t, 3> least_ns_{INT64_MAX, INT64_MAX, INT64_MAX};
};

}  // namespace n2nq::worker
