// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/options.h"

#include <algorithm>

#include "broker/net/clock.h"
#include "broker/net/section.h"
#include "broker/net/send_ring.h"
#include "broker/net/test_clock.h"

namespace n2nq {

namespace {

using net::Section;
using net::SectionError;
using Json = nlohmann::json;

template <typename Int>
void read_limit(Section& section, const char* name, Int& value, const limits::Limit& limit) {
  section.whole_number(name, value, limit.min, limit.max);
}

void read_queue(Section section, QueueOptions& queue) {
  queue.mode = section.choice("mode", queue.mode,
                              {{"broadcaster", wire::QueueMode::broadcaster}, {"load-balancer", wire::QueueMode::load_balancer}});
  queue.removal = section.choice("remove", queue.removal,
                                 {{"when-all-have-it", RemovalRule::when_all_have_it}, {"after-time", RemovalRule::after_time}});
  queue.dispatch = section.choice(
      "dispatch", queue.dispatch,
      {{"random", DispatchRule::random}, {"round-robin", DispatchRule::round_robin}, {"next-free", DispatchRule::next_free}});
  int64_t retention_ms = queue.retention_ns / net::ns_per_ms;
  read_limit(section, "retention_ms", retention_ms, limits::retention_ms);
  queue.retention_ns = retention_ms * net::ns_per_ms;
  queue.responses = section.flag("responses");
  queue.requests = section.flag("requests");
  read_limit(section, "responses_window", queue.responses_window, limits::responses_window);
  read_limit(section, "responses_attempts_max", queue.responses_attempts_max, limits::responses_attempts_max);
  int64_t deadline_ms = queue.responses_deadline_ns / net::ns_per_ms;
  read_limit(section, "responses_deadline_ms", deadline_ms, limits::responses_deadline_ms);
  queue.responses_deadline_ns = deadline_ms * net::ns_per_ms;
  section.refuse_unknown();
}

void read_limits(Section section, Limits& limits) {
  read_limit(section, "memory_bytes", limits.memory_bytes, limits::memory_bytes);
  read_limit(section, "books_bytes", limits.books_bytes, limits::books_bytes);
  read_limit(section, "pending_bytes", limits.pending_bytes, limits::pending_bytes);
  read_limit(section, "write_deadline_ms", limits.write_deadline_ms, limits::write_deadline_ms);
  read_limit(section, "message_bytes_max", limits.message_bytes_max, limits::message_bytes_max);
  read_limit(section, "handshake_deadline_ms", limits.handshake_deadline_ms, limits::handshake_deadline_ms);
  read_limit(section, "heartbeat_ms", limits.heartbeat_ms, limits::heartbeat_ms);
  read_limit(section, "sessions_max", limits.sessions_max, limits::sessions_max);
  read_limit(section, "reconnect_deadline_ms", limits.reconnect_deadline_ms, limits::reconnect_deadline_ms);
  read_limit(section, "drain_ms", limits.drain_ms, limits::drain_ms);
  const auto memory_bytes_min = static_cast<size_t>(limits::memory_bytes_min_for(limits.message_bytes_max));
  if (limits.memory_bytes < memory_bytes_min) {
    throw SectionError(section.key("memory_bytes"), section.key("memory_bytes") + " is " + std::to_string(limits.memory_bytes) +
                                                        ", messages of " + std::to_string(limits.message_bytes_max) +
                                                        " bytes need at least " + std::to_string(memory_bytes_min));
  }
  section.refuse_unknown();
}

net::SocketAddress read_listen(Section section, bool& listen_unix) {
  const std::string address = section.get("address").is_string() ? section.text("address") : std::string();
  uint16_t port = 0;
  section.whole_number("port", port, 0, 65535);
  listen_unix = section.flag("unix");
  section.refuse_unknown();
  const auto parsed = net::SocketAddress::parse(address, port);
  if (!parsed) throw SectionError(section.key("address"), "listen.address is no numeric IPv4 or IPv6 address, such as 127.0.0.1");
  return *parsed;
}

void read_expect(Section section, QueueOptions& queue) {
  constexpr int64_t services_max = 100'000;
  section.required_number("senders", queue.senders, 1, services_max);
  section.required_number("receivers", queue.receivers, 1, services_max);
  section.refuse_unknown();
}

}  // namespace

Options parse_options(const Json& configure) {
  Section top(configure, "");
  top.find("type");
  int control = 0;
  top.whole_number("control", control, INT32_MIN, INT32_MAX);
  if (control != 1) {
    throw SectionError("control", "the bench speaks version " + (top.find("control") ? net::shown(top.get("control")) : std::string("none")) +
                                      " of the control protocol, this n2nq-broker (" N2NQ_VERSION ") speaks version 1");
  }
  if (const std::string role = top.text("role"); role != "broker")
    throw SectionError("role", "role is " + net::shown(Json(role)) + ", this process is a \"broker\"");

  Options options;
  options.run = top.text("run");
  const std::string token = top.text("token");
  const auto token_bytes = wire::token_from_hex(token);
  if (!token_bytes) throw SectionError("token", "the token has to be 64 hex digits, or empty for none");
  options.token = *token_bytes;
  options.token_required = !token.empty();
  // What a client without a token sends would open this one.
  if (options.token_required && options.token == wire::Token{}) {
    throw SectionError("token", "the token is 64 zeros, which on the wire stands for none: give 64 random hex digits");
  }
  options.listen = read_listen(top.section("listen"), options.listen_unix);
  if (!options.token_required && !options.listen.is_loopback()) {
    throw SectionError("token", "the token is empty, and " + options.listen.address() +
                                    " can be reached from other hosts: give 64 hex digits, or listen on 127.0.0.1");
  }
  options.takes_over = top.flag("takes_over");
  read_expect(top.section("expect"), options.queue);
  if (top.find("queue")) read_queue(top.section("queue"), options.queue);
  if (top.find("limits")) read_limits(top.section("limits"), options.limits);
  options.queue.pending_bytes_max = options.limits.pending_bytes;
  options.queue.notes_bytes_max = options.limits.memory_bytes / 2;
  options.queue.deliveries_bytes_max = options.limits.memory_bytes / 4;
  options.io = top.choice("io", options.io, {{"epoll", Io::epoll}, {"io_uring", Io::io_uring}});
  if (options.io == Io::io_uring) {
    if (const std::string problem = net::SendRing::problem(); !problem.empty()) {
      throw SectionError("io", "io is io_uring, but " + problem + "; epoll is there on every kernel");
    }
  }
  read_limit(top, "spin_us", options.spin_us, limits::spin_us);
  options.keep_core = top.flag("keep_core", options.keep_core);
  top.whole_number("seed", options.queue.seed, 0, INT64_MAX);
  options.log_file = top.text("log_file");
  net::take_test_clock(top);
  top.refuse_unknown();
  return options;
}

}  // namespace n2nq
