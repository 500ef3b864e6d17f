// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/configure.h"

#include <cmath>

#include "app/control/control_message.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

const char* const system_name = "n2nq";
/// Memory, not disk: where the workers stage what their log writers have not formatted yet.
const char* const staging_folder = "/dev/shm";

std::int64_t milliseconds(double seconds) {
  return std::llround(seconds * 1000);
}

Json common(const char* role, const LaunchFacts& facts) {
  return {{"type", "configure"}, {"control", control_version}, {"run", facts.run}, {"role", role}, {"token", facts.token}};
}

/// The settings a reader of a single log wants to see at its head.
Json log_header(const Settings& settings) {
  Json out = Json::object();
  for (const std::string_view key :
       {"title", "broker.io", "broker.spin_us", "broker.keep_core", "transport", "queue.mode", "queue.remove", "queue.retention_s", "queue.dispatch",
        "queue.responses", "senders.amount", "senders.messages", "senders.duration_s", "senders.size_bytes", "senders.delay_ms",
        "senders.rate_per_s", "senders.start", "senders.warmup_messages", "receivers.amount", "seed"}) {
    const std::string text = value_text(settings, key);
    if (!text.empty()) out[std::string(key)] = text;
  }
  return out;
}

Json log(const Settings& settings, const LaunchFacts& facts) {
  return {{"mode", value_text(settings, "log")},
          {"sample_every", settings.log_sample_every},
          {"folder", facts.folder},
          {"header", log_header(settings)}};
}

Json services(int amount) {
  return {{"first", 1}, {"last", amount}, {"total", amount}};
}

Json order(int first, int last, const RequestRules& asked) {
  Json rules = Json::array();
  for (const RequestRules::Rule& rule : asked.rules) {
    Json& entry = rules.emplace_back(Json::object());
    if (rule.senders) entry["senders"] = {rule.senders->first, rule.senders->second};
    if (rule.sizes) entry["sizes"] = {rule.sizes->first, rule.sizes->second};
  }
  return {{"receivers", {{first, last}}}, {"rules", rules}, {"prefetch", asked.prefetch}};
}

template <class Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

Json configure_broker(const Settings& settings, const LaunchFacts& facts) {
  Json out = common("broker", facts);
  const auto& limits = settings.limits;
  out["listen"] = {{"address", facts.address}, {"port", settings.broker.port}, {"unix", settings.transport == Transport::unix_domain}};
  out["io"] = value_text(settings, "broker.io");
  out["spin_us"] = settings.broker.spin_us;
  out["keep_core"] = settings.broker.keep_core;
  out["queue"] = {{"mode", value_text(settings, "queue.mode")},
                  {"remove", value_text(settings, "queue.remove")},
                  {"retention_ms", milliseconds(settings.queue.retention_s)},
                  {"dispatch", value_text(settings, "queue.dispatch")},
                  {"responses", settings.queue.responses},
                  {"requests", settings.queue.requests.has_value()},
                  {"responses_window", settings.responses.window},
                  {"responses_deadline_ms", milliseconds(settings.responses.deadline_s)},
                  {"responses_attempts_max", settings.responses.attempts_max}};
  out["expect"] = {{"senders", settings.senders.amount}, {"receivers", settings.receivers.amount}};
  out["limits"] = {{"memory_bytes", limits.memory_mib * limits::bytes_per_mib},
                   {"books_bytes", limits.books_mib * limits::bytes_per_mib},
                   {"pending_bytes", settings.pending_mib() * limits::bytes_per_mib},
                   {"write_deadline_ms", milliseconds(limits.write_deadline_s)},
                   {"message_bytes_max", limits.message_max_bytes},
                   {"handshake_deadline_ms", milliseconds(limits.handshake_deadline_s)},
                   {"heartbeat_ms", milliseconds(limits.heartbeat_s)},
                   {"sessions_max", limits.sessions_max},
                   {"reconnect_deadline_ms", milliseconds(limits.reconnect_deadline_s)},
                   {"drain_ms", milliseconds(limits.drain_s)}};
  out["seed"] = settings.seed;
  out["log_file"] = facts.folder + "/broker.log";
  return out;
}

Json configure_senders(const Settings& settings, const LaunchFacts& facts) {
  Json out = common("senders", facts);
  const auto& senders = settings.senders;
  const Interval interval = settings.interval();
  out["system"] = system_name;
  out["services"] = services(senders.amount);
  out["load"] = {{"messages", value_or_null(senders.messages)},
                 {"duration_ms", senders.duration_s ? Json(milliseconds(*senders.duration_s)) : Json()},
                 {"size_bytes", {senders.size_min_bytes, senders.size_max_bytes}},
                 {"interval_ns", {{"num", interval.num_ns}, {"den", interval.den}}},
                 {"start", value_text(settings, "senders.start")},
                 {"warmup_messages", senders.warmup_messages}};
  out["seed"] = settings.seed;
  out["reconnect_deadline_ms"] = milliseconds(settings.limits.reconnect_deadline_s);
  out["log"] = log(settings, facts);
  out["staging_folder"] = staging_folder;
  return out;
}

Json configure_receivers(const Settings& settings, const LaunchFacts& facts) {
  Json out = common("receivers", facts);
  out["system"] = system_name;
  out["services"] = services(settings.receivers.amount);
  out["senders_total"] = settings.senders.amount;
  out["warmup_messages"] = settings.senders.warmup_messages;
  out["queue_mode"] = value_text(settings, "queue.mode");
  out["reconnect_deadline_ms"] = milliseconds(settings.limits.reconnect_deadline_s);
  out["requests"] = settings.queue.requests ? request_orders(rules_of(*settings.queue.requests, settings.receivers.amount)) : Json();
  out["log"] = log(settings, facts);
  out["staging_folder"] = staging_folder;
  return out;
}

/// Neighbours that ask for the same are told in one order.
Json request_orders(const std::vector<RequestRules>& by_receiver) {
  Json out = Json::array();
  for (std::size_t first = 0; first < by_receiver.size();) {
    std::size_t last = first;
    while (last + 1 < by_receiver.size() && by_receiver[last + 1] == by_receiver[first]) ++last;
    out.push_back(order(static_cast<int>(first) + 1, static_cast<int>(last) + 1, by_receiver[first]));
    first = last + 1;
  }
  return out;
}

Json request_message(int first, int last, const RequestRules& asked) {
  Json out = order(first, last, asked);
  out["type"] = "request";
  return out;
}

Json fault_message(const Fault& fault) {
  const bool normal = fault.kind == FaultKind::normal;
  return {{"type", "fault"}, {"service", fault.number}, {"kind", normal ? "none" : std::string(fault_word(fault.kind))}};
}

Json connect_message(const std::string& address, int port, Transport transport, bool clock_shared, bool clocks_first) {
  return {{"type", "connect"},
          {"address", address},
          {"port", port},
          {"transport", transport == Transport::unix_domain ? "unix" : "tcp"},
          {"clock", clock_shared ? "shared" : "probed"},
          {"clocks_first", clocks_first}};
}

Json start_message(std::int64_t at_broker_ns, std::int64_t lead_ns, std::optional<std::int64_t> late_ns) {
  Json start = {{"type", "start"}, {"at_broker_ns", at_broker_ns}, {"lead_ns", lead_ns}};
  if (late_ns) start["late_ns"] = *late_ns;
  return start;
}

Json stats_message(std::uint64_t id, int first, int last) {
  Json ranges = Json::array();
  if (first <= last) ranges.push_back({first, last});
  return {{"type", "stats"}, {"id", id}, {"services", ranges}};
}

Json stats_message(std::uint64_t id) {
  return {{"type", "stats"}, {"id", id}};
}

}  // namespace n2nq::app
