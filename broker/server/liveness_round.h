// SPDX-License-Identifier: GPL-3.0-or-later
// Who is there still: a round looks at each session once. Who is silent is refused, who was sent nothing for a while gets a heartbeat
// (docs/decisions/0004-who-counts-as-gone.md). Thousands may be due together, some 10 us each: so a round is spread over wake-ups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/server/session.h"

namespace n2nq {

class LivenessRound {
 public:
  using Sessions = std::unordered_map<Session*, std::unique_ptr<Session>>;

  /// A round begins every `every_ns`. `heartbeat_ms` of 0: it looks at nobody. `in_frame`: whether a frame to that session is unfinished.
  LivenessRound(int64_t every_ns, uint32_t heartbeat_ms, std::function<bool(const Session&)> in_frame);

  /// To be asked at each wake-up for a round: whether a new one is to begin. It is not while one is under way, unless this process stood
  /// still: then nobody could be heard, which is not the clients' silence, and all are looked at anew, as heard now.
  bool is_due(int64_t now_ns);
  void begin(const Sessions& sessions, int64_t now_ns);
  /// Refuses, or sends a heartbeat to, a few of those that were there at its beginning and still are. Returns when to ask again.
  int64_t go_on(const Sessions& sessions, int64_t now_ns);

 private:
  std::string silence(const Session& session, int64_t now_ns) const;

  struct ToLookAt {
    uint64_t arrival;  // another session may be where this one was
    Session* session;
  };
  const int64_t every_ns_;
  const int64_t heartbeat_ns_;
  const std::function<bool(const Session&)> in_frame_;
  std::vector<ToLookAt> left_;
  size_t said_at_once_max_ = 0;
  bool was_paused_ = false;  // before this round
  int64_t asked_ns_;         // when this process was seen to run
  int64_t next_ns_;          // the next round
};

}  // namespace n2nq
