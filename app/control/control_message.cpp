// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/control_message.h"

#include "workers/measure/json_keys.h"
#include "workers/measure/whole_number.h"

namespace n2nq::app {

namespace {

using measure::each_object;
using measure::in_object;
using measure::object_at;
using measure::read_whole;
using measure::text_at;
using Json = nlohmann::json;

bool is_there(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

/// A figure that may be absent or null.
double figure(const Json& object, const char* key, double per_unit = 1) {
  return is_there(object, key) ? measure::number_at(object, key) / per_unit : unknown;
}

std::string text_or_empty(const Json& object, const char* key) {
  return is_there(object, key) ? text_at(object, key) : std::string();
}

/// So large that no run gets there, and so small that some of them can be added.
constexpr std::int64_t count_max = std::int64_t{1} << 60;

std::int64_t count(const Json& object, const char* key) {
  return measure::whole_at(object, key, std::int64_t{0}, count_max);
}

measure::Histogram interval(const Json& stats, const char* key) {
  return in_object(stats, "interval", [key](const Json& intervals) {
    if (!is_there(intervals, key)) return measure::Histogram();
    return in_object(intervals, key, [](const Json& histogram) { return measure::Histogram::from_json(histogram); });
  });
}

LogCounts log_counts(const Json& stats) {
  return in_object(stats, "log", [](const Json& log) {
    LogCounts out;
    read_whole(log, "lines", out.lines);
    read_whole(log, "dropped", out.dropped);
    out.error = text_or_empty(log, "error");
    return out;
  });
}

HelloMessage hello(const Json& object) {
  HelloMessage out;
  read_whole(object, "control", out.control);
  read_whole(object, "wire", out.wire);
  out.role = text_at(object, "role");
  out.version = text_at(object, "version");
  read_whole(object, "now_ns", out.now_ns);
  out.host = object_at(object, "host");
  out.staging_file = text_or_empty(object, "staging_file");
  out.address = text_or_empty(object, "address");
  out.port = measure::whole_or<std::uint16_t>(object, "port", 0);
  return out;
}

StateMessage state(const Json& object) {
  StateMessage out;
  out.state = text_at(object, "state");
  out.waiting_for = text_or_empty(object, "for");
  out.in_the_way = text_or_empty(object, "last");
  out.message = text_or_empty(object, "message");
  out.broker_now_ns = measure::whole_if_any<std::int64_t>(object, "broker_now_ns");
  out.started_late_ns = measure::whole_if_any<std::int64_t>(object, "started_late_ns");
  out.floor = object.value("floor", Json());
  return out;
}

SendersStats senders_stats(const Json& object) {
  SendersStats out;
  read_whole(object, "id", out.id);
  read_whole(object, "now_ns", out.now_ns);
  out.bytes = count(object, "bytes");
  out.attempted = count(object, "attempted");
  out.accepted = count(object, "accepted");
  out.refused = count(object, "refused");
  if (object.contains("warmup")) {
    out.warmup_sent = in_object(object, "warmup", [](const Json& warm_up) { return count(warm_up, "attempted"); });
  }
  out.delay = interval(object, "delay");
  out.lag = interval(object, "lag");
  out.log = log_counts(object);
  each_object(object, "services", [&out](const Json& row) {
    out.rows.push_back({measure::whole_at<int>(row, "number"), count(row, "attempted"), unknown, figure(row, "delay_mean_ns", 1e6)});
  });
  return out;
}

std::int64_t skipped_in(const Json& skipped) {
  std::int64_t copies = 0;
  for (const char* reason : {"expired", "unrequested", "parked", "cut_off"}) copies += count(skipped, reason);
  return copies;
}

ReceiversStats receivers_stats(const Json& object) {
  ReceiversStats out;
  read_whole(object, "id", out.id);
  read_whole(object, "now_ns", out.now_ns);
  out.bytes = count(object, "bytes");
  out.received = count(object, "received");
  out.duplicated = count(object, "duplicated");
  out.duplicated_unflagged = count(object, "duplicated_unflagged");
  out.out_of_order = count(object, "out_of_order");
  out.unexpected = count(object, "unexpected");
  out.negative = count(object, "negative");
  out.bad_checksum = count(object, "bad_checksum");
  out.unasked = count(object, "unasked");
  if (object.contains("warmup")) {
    in_object(object, "warmup", [&out](const Json& warm_up) {
      out.warmup_received = count(warm_up, "received");
      out.warmup_skipped = in_object(warm_up, "skipped", skipped_in);
    });
  }
  in_object(object, "skipped", [&out](const Json& skipped) {
    out.expired = count(skipped, "expired");
    out.unrequested = count(skipped, "unrequested");
    out.parked = count(skipped, "parked");
    out.cut_off = count(skipped, "cut_off");
  });
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
  each_object(object, "services", [&out](const Json& row) {
    ReceiverRow& last = out.rows.emplace_back();
    read_whole(row, "number", last.number);
    last.received = count(row, "received");
    last.latency_mean_us = figure(row, "latency_mean_ns", 1e3);
    last.latency_p99_us = figure(row, "latency_p99_ns", 1e3);
    last.confirmed = count(row, "confirmed");
    last.redelivered = count(row, "redelivered");
    last.expired = count(row, "expired");
    last.skipped = count(row, "skipped");
  });
  return out;
}

}  // namespace

ControlMessage decode_message(Json object) {
  if (!object.is_object()) measure::refuse_value("the message", object, "an object");
  const std::string type = text_at(object, "type");
  if (type == "hello") return hello(object);
  if (type == "state") return state(object);
  if (type == "stats") {
    if (object.contains("received")) return receivers_stats(object);
    return senders_stats(object);
  }
  if (type == "clock") return ClockMessage{object.get<measure::ClockReport>()};
  if (type == "fault") return FaultMessage{text_at(object, "message")};
  if (type == "bye") return ByeMessage{std::make_shared<const Json>(std::move(object))};
  if (type == "error") {
    return ErrorMessage{text_or_empty(object, "code"), text_at(object, "message"), text_or_empty(object, "key"),
                        text_or_empty(object, "order")};
  }
  measure::refuse_value("type", object["type"], "hello, state, stats, clock, fault, bye or error");
}

}  // namespace n2nq::app
