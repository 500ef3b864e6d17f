// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/session_places.h"

#include <algorithm>

#include "broker/net/clock.h"

namespace n2nq {

namespace {

/// For a connection beside the places. A service says HELLO as soon as it is connected.
constexpr int64_t hello_beside_ns = 500 * net::ns_per_ms;

}  // namespace

std::string SessionPlaces::limit_text() const {
  return "the limit of " + std::to_string(most_) + " sessions (limits.sessions_max) is reached";
}

int64_t SessionPlaces::time_for_hello_ns(int64_t handshake_deadline_ns) const {
  return is_full() ? std::min(handshake_deadline_ns, hello_beside_ns) : handshake_deadline_ns;
}

/// Whoever connects and says nothing, or the wrong thing, over and over, keeps nobody out.
void SessionPlaces::make_room() {
  while (strangers_.size() >= strangers_max()) {
    const auto [arrival, longest] = *strangers_.begin();
    longest->connection().read_waiting();  // HELLO may lie there
    if (!strangers_.contains(arrival)) continue;
    longest->refuse(wire::ErrorCode::too_many, limit_text() + ", and who has not introduced itself makes room for the next one");
    longest->close("");
  }
}

void SessionPlaces::add(std::unique_ptr<Session> session) {
  strangers_.emplace(session->arrival(), session.get());
  all_.emplace(session.get(), std::move(session));
}

/// Closing the connection before would throw away what it sent, and with that, at its host, why it ends.
void SessionPlaces::give_place(const Session& session, wire::Role role, uint32_t number) {
  if (role == wire::Role::probe) ++probes_;
  strangers_.erase(session.arrival());
  const auto former = lingering_.find({role, number});
  if (former == lingering_.end()) return;
  strangers_.emplace(former->second->arrival(), former->second);
  lingering_.erase(former);
}

void SessionPlaces::on_left(Session& session) {
  if (!session.welcomed()) return;
  if (session.role() == wire::Role::probe) {
    --probes_;
    strangers_.emplace(session.arrival(), &session);  // until it is gone it makes room for others
  } else if (session.state() == Session::State::lingering) {
    lingering_[{session.role(), session.number()}] = &session;  // there is none: see give_place()
  }
}

void SessionPlaces::on_gone(Session& session) {
  strangers_.erase(session.arrival());
  const auto latest = lingering_.find({session.role(), session.number()});
  if (latest != lingering_.end() && latest->second == &session) lingering_.erase(latest);
  gone_.push_back(&session);
}

void SessionPlaces::remove_gone() {
  for (Session* session : gone_) all_.erase(session);
  gone_.clear();
}

}  // namespace n2nq
