// SPDX-License-Identifier: GPL-3.0-or-later
// Who is connected, and who of them has one of the limited places (limits.sessions_max): sessions that were welcomed, until they are gone;
// probes until they leave. All others are strangers: who has not said HELLO yet, who was refused, probes that have left, and connections
// whose service is welcomed on another one. There are as many of them as places are left, and where these are fewer, strangers_beside_max:
// services whose connections before are half dead can say that they are back. Belongs to the loop's thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/server/liveness_round.h"
#include "broker/server/session.h"
#include "broker/wire/messages.h"

namespace n2nq {

class SessionPlaces {
 public:
  /// Where few places are left, or none: so many connections may say who they are, or are told that they are too many.
  static constexpr size_t strangers_beside_max = 256;

  explicit SessionPlaces(size_t most) : most_(most) {}

  const LivenessRound::Sessions& all() const { return all_; }
  bool is_full() const { return taken() >= most_; }
  /// "the limit of … sessions (limits.sessions_max) is reached", as a refusal says.
  std::string limit_text() const;
  /// Welcomed, until they leave.
  size_t probes() const { return probes_; }
  /// Whether the last frame to this service is still on its way, on a connection that has its place.
  bool lingers(wire::Role role, uint32_t number) const { return lingering_.contains({role, number}); }

  /// How long who connects now has for HELLO: no longer than hello_beside_ns where it is beside the places.
  int64_t time_for_hello_ns(int64_t handshake_deadline_ns) const;
  /// For one more: refuses those strangers who have been there longest.
  void make_room();
  void add(std::unique_ptr<Session> session);
  /// It is about to be welcomed, as this; one that it replaces has been refused. The connection before, where it lingers, is a stranger
  /// from now on, so that no more are taken: whoever says HELLO and END over and over takes no places from others.
  void give_place(const Session& session, wire::Role role, uint32_t number);
  /// It is refused, or has its last frame; a stranger until it is gone, or lingering.
  void on_left(Session& session);
  void on_gone(Session& session);
  /// Not before: who is gone may be in the middle of a call.
  void remove_gone();

 private:
  size_t taken() const { return all_.size() - gone_.size() - strangers_.size(); }
  size_t strangers_max() const { return std::max(strangers_beside_max, most_ - std::min(most_, taken())); }

  const size_t most_;
  LivenessRound::Sessions all_;
  std::map<uint64_t, Session*> strangers_;  // by arrival
  /// The connection of a service whose last frame is on its way, until the service is welcomed on another one.
  std::map<std::pair<wire::Role, uint32_t>, Session*> lingering_;
  size_t probes_ = 0;
  std::vector<Session*> gone_;
};

}  // namespace n2nq
