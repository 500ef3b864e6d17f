// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/control_message.h"

#include <stdexcept>

#include "workers/measure/whole_number.h"

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
  return measure::whole_number<std::int64_t>(*found, key);
}

/// So large that no run gets there, and so small that some of them can be added.
constexpr std::int64_t count_max = std::int64_t{1} << 60;

std::int64_t count(const Json& object, const char* key) {
  const auto value = measure::whole_number<std::int64_t>(object.at(key), key);
  if (value < 0 || value > count_max)
    throw std::invalid_argument(std::string(key) + " is " + std::to_string(value) + ", it has to be a count");
  return value;
}

measure::Histogram interval(const Json& stats, const char* key) {
  const Json& intervals = stats.at("interval");
  const auto found = intervals.find(key);
  return found == intervals.end() || found->is_null() ? measure::Histogram() : measure::Histogram::from_json(*found);
}

LogCounts log_counts(const Json& stats) {
  const Json& log = stats.at("log");
  return {measure::whole_number<std::uint64_t>(log.at("lines"), "lines"),
          measure::whole_number<std::uint64_t>(log.at("dropped"), "dropped"), text_or_empty(log, "error")};
}

HelloMessage hello(const Json& object) {
  HelloMessage out;
  measure::read_whole(object, "control", out.control);
  measure::read_whole(object, "wire", out.wire);
  out.role = object.at("role");
  out.version = object.at("version");
  measure::read_whole(object, "now_ns", out.now_ns);
  out.host = object.at("host");
  out.staging_file = text_or_empty(object, "staging_file");
  out.address = text_or_empty(object, "address");
  out.port = measure::whole_or<std::uint16_t>(object, "port", 0);
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
  measure::read_whole(object, "id", out.id);
  measure::read_whole(object, "now_ns", out.now_ns);
  out.bytes = count(object, "bytes");
  out.attempted = count(object, "attempted");
  out.accepted = count(object, "accepted");
  out.refused = count(object, "refused");
  if (const auto warm_up = object.find("warmup"); warm_up != object.end()) out.warmup_sent = count(*warm_up, "attempted");
  out.delay = interval(object, "delay");
  out.lag = interval(object, "lag");
  out.log = log_counts(object);
  for (const Json& row : object.at("services")) {
    out.rows.push_back(
        {measure::whole_number<int>(row.at("number"), "number"), count(row, "attempted"), unknown, figure(row, "delay_mean_ns", 1e6)});
  }
  return out;
}

std::int64_t skipped_in(const Json& skipped) {
  std::int64_t copies = 0;
  for (const char* reason : {"expired", "unrequested", "parked", "cut_off"}) copies += count(skipped, reason);
  return copies;
}

ReceiversStats receivers_stats(const Json& object) {
  ReceiversStats out;
  measure::read_whole(object, "id", out.id);
  measure::read_whole(object, "now_ns", out.now_ns);
  out.bytes = count(object, "bytes");
  out.received = count(object, "received");
  out.duplicated = count(object, "duplicated");
  out.duplicated_unflagged = count(object, "duplicated_unflagged");
  out.out_of_order = count(object, "out_of_order");
  out.unexpected = count(object, "unexpected");
  out.negative = count(object, "negative");
  out.bad_checksum = count(object, "bad_checksum");
  out.unasked = count(object, "unasked");
  if (const auto warm_up = object.find("warmup"); warm_up != object.end()) {
    out.warmup_received = count(*warm_up, "received");
    out.warmup_skipped = skipped_in(warm_up->at("skipped"));
  }
  const Json& skipped = object.at("skipped");
  out.expired = count(skipped, "expired");
  out.unrequested = count(skipped, "unrequested");
  out.parked = count(skipped, "parked");
  out.cut_off = count(skipped, "cut_off");
  out.skipped = out.expired + out.unrequested + out.parked + out.cut_off;
  out.parked_delivered = count(object, "parked_delivered");
  out.ended = count(object, "ended");
  out.redelivered = count(object, "redelivered");
  out.confirmed = count(object, "confirmed");
  out.answered_negatively = count(object, "answered_negatively");
  out.latency = interval(object, "latency");
  out.latency_from_plan = interval(object, "latency_from_plan");
  out.lag = interval(object, "lag");
  out.to_broker = interval(object, "to_broker");
  out.in_queue = interval(object, "in_queue");
  out.to_receiver = interval(object, "to_receiver");
  out.log = log_counts(object);
  for (const Json& row : object.at("services")) {
    ReceiverRow& last = out.rows.emplace_back();
    measure::read_whole(row, "number", last.number);
    last.received = count(row, "received");
    last.latency_mean_us = figure(row, "latency_mean_ns", 1e3);
    last.latency_p99_us = figure(row, "latency_p99_ns", 1e3);
    last.confirmed = count(row, "confirmed");
    last.redelivered = count(row, "redelivered");
    last.expired = count(row, "expired");
    last.skipped = count(row, "skipped");
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
  if (type == "clock") return ClockMessage{object.get<measure::ClockReport>()};
  if (type == "fault") return FaultMessage{object.at("message")};
  if (type == "bye") return ByeMessage{std::make_shared<const Json>(std::move(object))};
  if (type == "error") {
    return ErrorMessage{text_or_empty(object, "code"), object.at("message"), text_or_empty(object, "key"), text_or_empty(object, "order")};
  }
  throw std::invalid_argument("unknown type \"" + type + "\"");
}

}  // namespace n2nq::app
