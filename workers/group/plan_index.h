// SPDX-License-Identifier: GPL-3.0-or-later
// Indexes on the wire count a sender's messages from 0, those of the warm-up first. The plan, the logs and whatever a person reads count
// from message 0, the first one that is measured: warm-up has the indexes below 0.
#pragma once

#include <cstdint>

namespace n2nq::worker {

constexpr std::int64_t plan_index(std::uint64_t wire_index, std::uint64_t warmup_messages) {
  return static_cast<std::int64_t>(wire_index - warmup_messages);
}

constexpr std::uint64_t wire_index(std::int64_t plan_index, std::uint64_t warmup_messages) {
  return static_cast<std::uint64_t>(plan_index) + warmup_messages;
}

}  // namespace n2nq::worker
