// SPDX-License-Identifier: GPL-3.0-or-later
// What N2NQ's settings are without being given, and what they may be: here for the broker, which is told them over the control protocol,
// and for the bench, where a person gives them (in MiB and seconds; docs/settings.md says why each of them is there).
#pragma once

#include <cstdint>

namespace n2nq::limits {

/// In the unit that its name ends with; both ends inclusive.
struct Limit {
  int64_t standard;
  int64_t min;
  int64_t max;
};

inline constexpr int64_t bytes_per_mib = 1024 * 1024;
inline constexpr int64_t ms_per_s = 1000;
inline constexpr int64_t ms_per_hour = 3600 * ms_per_s;

inline constexpr Limit memory_bytes{256 * bytes_per_mib, 1, 65'536 * bytes_per_mib};
inline constexpr Limit books_bytes{1024 * bytes_per_mib, 1, 65'536 * bytes_per_mib};
inline constexpr Limit pending_bytes{64 * bytes_per_mib, 1, 65'536 * bytes_per_mib};
inline constexpr Limit write_deadline_ms{10'000, 10, ms_per_hour};
inline constexpr Limit message_bytes_max{bytes_per_mib, 1, 16 * bytes_per_mib};
inline constexpr Limit handshake_deadline_ms{2'000, 100, 60'000};
inline constexpr Limit heartbeat_ms{10'000, 0, ms_per_hour};
inline constexpr Limit sessions_max{4096, 4, 65'536};
inline constexpr Limit reconnect_deadline_ms{10'000, 10, ms_per_hour};
inline constexpr Limit drain_ms{5'000, 0, 60'000};

/// Beside the largest messages, of which two have to fit in: room for what is under way, the open chunk and a batch being written.
inline constexpr int64_t memory_bytes_beside_messages = bytes_per_mib;
constexpr int64_t memory_bytes_min_for(int64_t largest_message_bytes) {
  return 2 * largest_message_bytes + memory_bytes_beside_messages;
}

inline constexpr Limit retention_ms{5'000, 1, 24 * ms_per_hour};
inline constexpr Limit responses_window{256, 1, 65'536};
inline constexpr Limit responses_deadline_ms{2'000, 1, 24 * ms_per_hour};
inline constexpr Limit responses_attempts_max{5, 1, 65'535};
inline constexpr Limit spin_us{0, 0, 1'000'000};

}  // namespace n2nq::limits
