// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/record.h"

namespace n2nq::worker {

namespace {

/// a - b + c. What a killed process has left may be anything: it wraps around then, and says so by its looks.
std::int64_t wrapping(std::int64_t a, std::int64_t b, std::int64_t c = 0) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b) + static_cast<std::uint64_t>(c));
}

}  // namespace

Record Record::of_skipped(std::uint32_t service, const measure::SkippedLine& line) {
  Record record;
  record.index = line.from;
  record.sent_ns = line.to;
  record.other_ns = line.told_ns;
  record.service = service;
  record.sender = line.sender_first;
  record.attempt = static_cast<std::uint16_t>(line.sender_last - line.sender_first);
  record.size = static_cast<std::uint32_t>(line.reason);
  record.flags = skipped;
  return record;
}

measure::SkippedLine Record::skipped_line() const {
  return {.from = index,
          .to = sent_ns,
          .sender_first = sender,
          .sender_last = sender + attempt,
          .reason = static_cast<wire::SkipReason>(size),
          .told_ns = other_ns};
}

const char* name_of(WorkerRole role) {
  return role == WorkerRole::senders ? "senders" : "receivers";
}

std::size_t format_record(char* out, WorkerRole role, const Record& record) {
  if (record.is_skipped()) return measure::format_line(out, record.skipped_line());
  const auto flags = static_cast<std::uint16_t>(record.flags & ~Record::without_plan);
  if (role == WorkerRole::receivers) {
    const std::int64_t latency_ns = wrapping(record.other_ns, record.sent_ns, record.clocks_ns);
    return measure::format_line(
        out, measure::ReceivedLine{.index = record.index,
                                   .sender = record.sender,
                                   .size = record.size,
                                   .intended_ns = record.intended_ns,
                                   .sent_ns = record.sent_ns,
                                   .received_ns = record.other_ns,
                                   .latency_ns = latency_ns,
                                   .to_broker_ns = record.to_broker_ns,
                                   .in_queue_ns = record.in_queue_ns,
                                   .to_receiver_ns = wrapping(wrapping(latency_ns, record.to_broker_ns), record.in_queue_ns),
                                   .attempt = record.attempt,
                                   .flags = flags});
  }
  measure::SentLine line;
  line.index = record.index;
  line.size = record.size;
  line.intended_ns = record.intended_ns;
  line.sent_ns = record.sent_ns;
  if ((record.flags & Record::without_plan) == 0) line.lag_ns = wrapping(record.sent_ns, record.intended_ns);
  if (record.other_ns != Record::none_ns) line.delay_ns = record.other_ns;
  line.attempt = record.attempt;
  line.flags = flags;
  return measure::format_line(out, line);
}

std::optional<Record> parse_record(WorkerRole role, std::uint32_t service, std::string_view text) {
  Record record;
  record.service = service;
  const auto take_common = [&](const auto& line) {
    record.index = line.index;
    record.intended_ns = line.intended_ns;
    record.sent_ns = line.sent_ns;
    record.size = line.size;
    record.attempt = line.attempt;
    record.flags = line.flags;
  };
  if (role == WorkerRole::receivers) {
    if (const auto skipped = measure::parse_skipped_line(text)) {
      if (skipped->sender_last - skipped->sender_first >= Record::skipped_senders_max) return std::nullopt;
      return Record::of_skipped(service, *skipped);
    }
    const auto line = measure::parse_received_line(text);
    if (!line) return std::nullopt;
    take_common(*line);
    record.sender = line->sender;
    record.other_ns = line->received_ns;
    record.clocks_ns = wrapping(line->latency_ns, line->received_ns, line->sent_ns);
    record.to_broker_ns = line->to_broker_ns;
    record.in_queue_ns = line->in_queue_ns;
    return record;
  }
  const auto line = measure::parse_sent_line(text);
  if (!line) return std::nullopt;
  take_common(*line);
  record.other_ns = line->delay_ns.value_or(Record::none_ns);
  if (!line->lag_ns) record.flags |= Record::without_plan;
  return record;
}

}  // namespace n2nq::worker
