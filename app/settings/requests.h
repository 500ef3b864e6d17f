// SPDX-License-Identifier: GPL-3.0-or-later
// What receivers ask for (design section 4), as values: the entries of `queue.requests`, and what they come to for one receiver.
//
//   [{receivers: R1-R25, senders: S1-S10, sizes: 20-100, prefetch: 1}]
//
// Entries that name the same receiver are united: it gets what any of them matches. A receiver that none names gets anything.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/settings/text_value.h"

namespace n2nq::app {

/// Numbers of services, rising: "S1-S10, S15" is {{1, 10}, {15, 15}}.
using NumberRanges = std::vector<std::pair<int, int>>;

inline constexpr int prefetch_max = 1'000'000;

/// One entry.
struct ReceiverRequest {
  std::optional<NumberRanges> receivers;                       // none: all
  std::optional<NumberRanges> senders;                         // none: any; empty: nobody, so nothing comes
  std::optional<std::pair<std::int64_t, std::int64_t>> sizes;  // payload letters, both inclusive; none: any
  int prefetch = 1;                                            // deliveries under way or unanswered, at most
  bool operator==(const ReceiverRequest&) const = default;
};
using Requests = std::vector<ReceiverRequest>;

/// "any", "none", or ranges with or without the letter: "S1-S10, 15". `letter` is 'S' or 'R'.
Problem parse_numbers(std::string_view text, char letter, std::optional<NumberRanges>& out);
std::string numbers_text(const std::optional<NumberRanges>& ranges, char letter);
/// The same as a person reads it: "R001–R025, R030".
std::string services_text(const NumberRanges& ranges, char letter);
/// "any", "50" or "20-100".
Problem parse_sizes(std::string_view text, std::optional<std::pair<std::int64_t, std::int64_t>>& out);
std::string sizes_text(const std::optional<std::pair<std::int64_t, std::int64_t>>& sizes);

/// "false" (requests are off), "true" (on, anything for everybody) or a list as above (YAML).
Problem parse_requests(std::string_view text, std::optional<Requests>& out);
/// What parse_requests() takes back.
std::string requests_text(const std::optional<Requests>& requests);
nlohmann::ordered_json requests_json(const std::optional<Requests>& requests);

/// What one receiver asks for, all entries that name it together.
struct RequestRules {
  struct Rule {
    std::optional<std::pair<int, int>> senders;                  // none: any
    std::optional<std::pair<std::int64_t, std::int64_t>> sizes;  // none: any
    bool operator==(const Rule&) const = default;
  };
  std::vector<Rule> rules = {Rule{}};
  int prefetch = 1;
  bool operator==(const RequestRules&) const = default;

  bool is_any() const { return rules.size() == 1 && rules.front() == Rule{}; }
  /// "any", "nothing", "S001–S010, 20–100 B".
  std::string text() const;
};
/// By receiver, from 1 (place 0).
std::vector<RequestRules> rules_of(const Requests& requests, int receivers);
/// The rules of one entry alone.
RequestRules rules_of(const ReceiverRequest& request);

}  // namespace n2nq::app
