// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/service.h"

#include <algorithm>
#include <system_error>

#include "broker/net/clock.h"
#include "workers/measure/log_line.h"

namespace n2nq::worker {

namespace {

constexpr std::int64_t reconnect_pause_first_ns = 50'000'000;
constexpr std::int64_t reconnect_pause_max_ns = 1'000'000'000;

}  // namespace

const char* name_of(ServiceState state) {
  switch (state) {
    case ServiceState::waiting:
      return "waiting";
    case ServiceState::connected:
      return "connected";
    case ServiceState::running:
      return "running";
    case ServiceState::ending:
      return "ending";
    case ServiceState::ended:
      return "ended";
    case ServiceState::failed:
      return "failed";
  }
  return "?";
}

Service::Service(const Tools& tools, wire::Role role, std::uint32_t number)
    : tools_(tools),
      role_(role),
      number_(number),
      name_(measure::service_name(role == wire::Role::sender ? 'S' : 'R', number)),
      retry_(tools.loop, [this] { try_to_open(); }),
      jitter_(static_cast<std::minstd_rand::result_type>(tools.seed * 2 + number + 1)) {}

void Service::connect(const net::SocketAddress& address) {
  client_ = make_queue_client(tools_.system, tools_.loop, address, {role_, number_, tools_.token, tools_.first_session, tools_.services}, *this);
  try_to_open();
}

void Service::try_to_open() {
  try {
    client_->open(next_index(), rules_to_come_back_with());
  } catch (const std::system_error& error) {  // no route, no free port, …: the attempt failed at once
    on_closed(error.what(), Closed::for_now);
  }
}

void Service::run() {
  if (state() == ServiceState::connected) set_state(ServiceState::running);
}

void Service::tick(std::int64_t now_ns) {
  if (client_) client_->tick(now_ns);
}

void Service::close() {
  retry_.disarm();
  open_ = false;
  if (client_) client_->close();
}

void Service::break_connection() {
  if (!open_) return;
  client_->close();
  on_closed("disconnected by a planned fault", Closed::for_now);
}

void Service::set_state(ServiceState to) {
  const ServiceState from = state();
  if (from == to) return;
  state_.store(to, std::memory_order_relaxed);
  tools_.observer.service_changed(from, to);
}

void Service::fault(const std::string& what) {
  tools_.observer.service_fault(name_ + ": " + what);
}

void Service::fault_left(const std::string& what) {
  tools_.observer.service_left(name_ + ": " + what);
}

void Service::fail(const std::string& why) {
  close();
  if (is_over()) return;
  fault(why);
  set_state(ServiceState::failed);
}

void Service::on_open(const OpenFacts& facts) {
  open_ = true;
  source_port_ = facts.source_port;
  ++connections_;
  const bool restarted = incarnation_ && *incarnation_ != facts.incarnation;
  if (lost_at_ns_ != 0) {
    fault("connection lost for " + std::to_string((net::now_ns() - lost_at_ns_) / net::ns_per_ms) + " ms: " + last_reason_ +
          (restarted ? "; N2NQ was restarted" : ""));
  }
  lost_at_ns_ = pause_ns_ = 0;
  incarnation_ = facts.incarnation;
  tools_.recorder.begin_log(number_, source_port_, facts.offset_ns);
  tools_.observer.service_opened(facts);
  if (state() == ServiceState::waiting) set_state(ServiceState::connected);
  opened(facts, restarted);
}

void Service::on_end(const wire::EndTotals& totals) {
  open_ = false;
  ended(totals);
  set_state(ServiceState::ended);
}

void Service::on_closed(const std::string& reason, Closed closed) {
  open_ = false;
  if (is_over()) return;
  last_reason_ = reason;
  if (closed == Closed::ending && !incarnation_) {  // as happens when a run is stopped that soon: it took part in nothing
    close();
    return set_state(ServiceState::ended);
  }
  if (closed == Closed::cut_off) {  // what it was too slow for is told by N2NQ; the others go on
    close();
    fault(reason);
    return set_state(ServiceState::ended);
  }
  if (closed != Closed::for_now) return fail(reason);
  const std::int64_t now = net::now_ns();
  if (!incarnation_) return retry_.arm(now + first_retry_ns);
  if (lost_at_ns_ == 0) lost_at_ns_ = now;
  if (now - lost_at_ns_ >= tools_.reconnect_deadline_ns) {
    return fail("connection lost: " + reason + "; not back within " + std::to_string(tools_.reconnect_deadline_ns / net::ns_per_ms) + " ms");
  }
  pause_ns_ = std::clamp(pause_ns_ * 2, reconnect_pause_first_ns, reconnect_pause_max_ns);
  // Between half of the pause and all of it, so that a thousand services do not come back in one instant.
  retry_.arm(now + pause_ns_ / 2 + static_cast<std::int64_t>(jitter_() % static_cast<std::uint64_t>(pause_ns_ / 2)));
}

}  // namespace n2nq::worker
