// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/control_message.h"

#include <stdexcept>

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

/// A figure that may be absent or null.
double figure(const Json& object, const char* key, double per_unit = 1) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? unknown : found->get<double>() / per_unit;
}

std::string text_or_empty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::string() : found->get<std::string>();
}

std::optional<std::int64_t> number_or_none(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->get<std::int64_t>();
}

measure::Histogram interval(const Json& stats, const char* key) {
  const Json& intervals = stats.at("interval");
  const auto found = intervals.find(key);
  return found == intervals.end() || found->is_null() ? measure::Histogram() : measure::Histogram::from_json(*found);
}

LogCounts log_counts(const Json& stats) {
  const Json& log = stats.at("log");
  return {log.at("lines"), log.at("dropped"), text_or_empty(log, "error")};
}

HelloMessage hello(const Json& object) {
  HelloMessage out;
  out.control = object.at("control");
  out.wire = object.at("wire");
  out.role = object.at("role");
  out.version = object.at("version");
  out.now_ns = object.at("now_ns");
  out.host = object.at("host");
  out.staging_file = text_or_empty(object, "staging_file");
  out.address = text_or_empty(object, "address");
  out.port = static_cast<int>(number_or_none(object, "port").value_or(0));
  return out;
}

StateMessage state(const Json& object) {
  StateMessage out;
  out.state = object.at("state");
  out.waiting_for = text_or_empty(object, "for");
  out.message = text_or_empty(object, "message");
  out.broker_now_ns = number_or_none(object, "broker_now_ns");
  out.started_late_ns = number_or_none(object, "started_late_ns");
  out.floor = object.value("floor", Json());
  return out;
}

SendersStats senders_stats(const Json& object) {
  SendersStats out;
  out.id = object.at("id");
  out.now_ns = object.at("now_ns");
  out.bytes = object.at("bytes");
  out.attempted = object.at("attempted");
  out.accepted = object.at("accepted");
  out.refused = object.at("refused");
  if (const auto warm_up = object.find("warmup"); warm_up != object.end()) out.warmup_sent = warm_up->at("attempted");
  out.delay = interval(object, "delay");
  out.lag = interval(object, "lag");
  out.log = log_counts(object);
  for (const Json& row : object.at("services")) {
    out.rows.push_back({row.at("number"), row.at("attempted"), unknown, figure(row, "delay_mean_ns", 1e6)});
  }
  return out;
}

std::int64_t skipped_in(const Json& skipped) {
  std::int64_t copies = 0;
  for (const Json& count : skipped) copies += count.get<std::int64_t>();
  return copies;
}

ReceiversStats receivers_stats(const Json& object) {
  ReceiversStats out;
  out.id = object.at("id");
  out.now_ns = object.at("now_ns");
  out.bytes = object.at("bytes");
  out.received = object.at("received");
  out.duplicated = object.at("duplicated");
  out.out_of_order = object.at("out_of_order");
  out.unexpected = object.at("unexpected");
  out.negative = object.at("negative");
  if (const auto warm_up = object.find("warmup"); warm_up != object.end()) {
    out.warmup_received = warm_up->at("received");
    out.warmup_skipped = skipped_in(warm_up->at("skipped"));
  }
  const Json& skipped = object.at("skipped");
  out.expired = skipped.at("expired");
  out.unrequested = skipped.at("unrequested");
  out.parked = skipped.at("parked");
  out.cut_off = skipped.at("cut_off");
  out.skipped = out.expired + out.unrequested + out.parked + out.cut_off;
  out.redelivered = object.at("redelivered");
  out.confirmed = object.at("confirmed");
  out.answered_negatively = object.at("answered_negatively");
  out.latency = interval(object, "latency");
  out.latency_from_plan = interval(object, "latency_from_plan");
  out.lag = interval(object, "lag");
  out.to_broker = interval(object, "to_broker");
  out.in_queue = interval(object, "in_queue");
  out.to_receiver = interval(object, "to_receiver");
  out.log = log_counts(object);
  for (const Json& row : object.at("services")) {
    ReceiverRow& last = out.rows.emplace_back();
    last.number = row.at("number");
    last.received = row.at("received");
    last.latency_mean_us = figure(row, "latency_mean_ns", 1e3);
    last.latency_p99_us = figure(row, "latency_p99_ns", 1e3);
    last.confirmed = row.at("confirmed");
    last.redelivered = row.at("redelivered");
    last.expired = row.at("expired");
    last.skipped = row.at("skipped");
  }
  return out;
}

}  // namespace

ControlMessage decode_message(Json object) {
  const std::string type = object.at("type");
  if (type == "hello") return hello(object);
  if (type == "state") return state(object);
  if (type == "stats") {
    if (object.contains("received")) return receivers_stats(object);
    return senders_stats(object);
  }
  if (type == "bye") return ByeMessage{std::make_shared<const Json>(std::move(object))};
  if (type == "error") return ErrorMessage{text_or_empty(object, "code"), object.at("message"), text_or_empty(object, "key")};
  throw std::invalid_argument("unknown type \"" + type + "\"");
}

}  // namespace n2nq::app
