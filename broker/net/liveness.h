// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the other end of a connection is gone: what it says, and what its host's kernel says for it.
//
// A process that is stopped or busy says nothing, but its host goes on acknowledging what is sent to it; behind a dead link nobody does.
// So silence alone condemns nobody within one and a half heartbeat times, and a dead link is known after one.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace n2nq::net {

enum class Silence {
  none,     // alive, as far as can be told
  link,     // neither the process nor its host is heard: the link is dead, or the host is
  process,  // the host answers, the process has stood still for too long
};

/// How long the other end's kernel has acknowledged nothing and sent nothing, in steps of a few ms. None where a socket cannot tell: that
/// of another kind than TCP ends with its host.
std::optional<int64_t> host_silent_ns(int fd);

/// What was written and the other end's kernel has not acknowledged. 0 where a socket cannot tell.
uint64_t unacknowledged_bytes(int fd);

/// The other end has closed its side: nothing new comes, but what it sent before may wait to be read. False where a socket cannot tell.
bool has_closed(int fd);

/// Of the bytes of frames that have not come whole, or not gone: so many are a sign of life, for a long frame takes its time over a slow
/// link. Fewer are none, or a byte now and then could hold the memory of a long frame for good.
class Progress {
 public:
  static constexpr uint64_t bytes_min = 64 * 1024;
  /// `bytes_in`: of the connection, since its start. When the last of so many more of them came, or a look earlier; 0: they have not.
  int64_t came_ns(uint64_t bytes_in, int64_t now_ns) {
    const int64_t looked_ns = std::exchange(looked_ns_, now_ns);
    if (bytes_in - noted_ < bytes_min) return 0;
    noted_ = bytes_in;
    return looked_ns;
  }

 private:
  uint64_t noted_ = 0;
  int64_t looked_ns_ = 0;
};

/// `silent_ns`: since the last complete frame, or since reading went on; none while nobody reads: then only the host is judged.
/// Both ends say something at least every third of `heartbeat_ns`, so that the host of a live end is heard that often.
Silence judge_silence(std::optional<int64_t> silent_ns, std::optional<int64_t> host_silent_ns, int64_t heartbeat_ns);

}  // namespace n2nq::net
