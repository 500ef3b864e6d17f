// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/liveness_round.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/net/clock.h"
#include "broker/net/liveness.h"

namespace n2nq {

namespace {

/// Of one round, in one wake-up: so many, or such a part of all.
constexpr size_t said_at_once_min = 8, said_parts_max = 64;
/// Of those who are said nothing, too: each may cost a system call.
constexpr size_t looked_at_once_max = 1024;
/// Of a round's time: asked as much later, this process has stood still.
constexpr int64_t pause_rounds = 4;

/// What it had sent before it ended waits to be read, and it acknowledges nothing any more. A word to it, and its host answers that nobody is
/// there: all that waits is lost.
bool has_closed_unread(const Session& session) {
  return !session.connection().reading() && session.connection().peer_has_closed();
}

}  // namespace

LivenessRound::LivenessRound(int64_t every_ns, uint32_t heartbeat_ms, std::function<bool(const Session&)> in_frame)
    : every_ns_(every_ns),
      heartbeat_ns_(int64_t{heartbeat_ms} * net::ns_per_ms),
      in_frame_(std::move(in_frame)),
      asked_ns_(net::now_ns()),
      next_ns_(asked_ns_ + every_ns_) {}

bool LivenessRound::is_due(int64_t now_ns) {
  const bool was_paused = now_ns - asked_ns_ > pause_rounds * every_ns_;
  asked_ns_ = now_ns;
  if (!left_.empty() && !was_paused) return false;
  was_paused_ = was_paused;
  return true;
}

void LivenessRound::begin(const Sessions& sessions, int64_t now_ns) {
  next_ns_ = now_ns + every_ns_;
  left_.clear();
  if (heartbeat_ns_ == 0) return;
  for (const auto& [session, owned] : sessions) {
    if (session->serving()) left_.push_back({session->arrival(), session});
  }
  said_at_once_max_ = std::max(said_at_once_min, (left_.size() + said_parts_max - 1) / said_parts_max);
}

int64_t LivenessRound::go_on(const Sessions& sessions, int64_t now_ns) {
  for (size_t said = 0, looked = 0; !left_.empty() && said < said_at_once_max_ && looked < looked_at_once_max; ++looked) {
    const auto [arrival, session] = left_.back();
    left_.pop_back();
    if (!sessions.contains(session) || session->arrival() != arrival || !session->serving()) continue;
    if (was_paused_ || !session->connection().reading()) session->note_heard(now_ns);
    session->note_progress(now_ns);
    if (has_closed_unread(*session)) continue;
    const bool cut_short = in_frame_(*session);
    if (const std::string reason = silence(*session, now_ns); !reason.empty()) {
      session->refuse(wire::ErrorCode::silent, reason, cut_short);
      ++said;
    } else if (now_ns - session->last_sent_ns() > heartbeat_ns_ / 3 - every_ns_ && !cut_short && !session->has_unsent()) {
      session->send_heartbeat();
      ++said;
    }
  }
  return left_.empty() ? next_ns_ : now_ns;
}

/// Why this client counts as gone; empty: it does not.
std::string LivenessRound::silence(const Session& session, int64_t now_ns) const {
  const int64_t silent_ns = now_ns - session.last_heard_ns();
  const bool reading = session.connection().reading();
  if (reading && silent_ns <= heartbeat_ns_) return {};  // the usual case costs no system call
  const auto silence =
      net::judge_silence(reading ? std::optional(silent_ns) : std::nullopt, session.connection().host_silent_ns(), heartbeat_ns_);
  if (silence == net::Silence::link) {
    return "nothing was heard for " + std::to_string(heartbeat_ns_ / net::ns_per_ms) +
           " ms, and its host acknowledges nothing: the link or the host is dead";
  }
  if (silence == net::Silence::process) {
    return "nothing was heard for " + std::to_string(silent_ns / net::ns_per_ms) + " ms, though its host answers: the process stands still, or sends no HEARTBEAT; one is due " +
           std::to_string(heartbeat_ns_ / net::ns_per_ms / 3) + " ms after the last frame when there is nothing else to say";
  }
  return {};
}

}  // namespace n2nq
