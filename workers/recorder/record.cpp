// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/record.h"

namespace n2nq::worker {

const char* name_of(WorkerRole role) {
  return role == WorkerRole::senders ? "senders" : "receivers";
}

std::size_t format_record(char* out, WorkerRole role, const Record& record) {
  const auto flags = static_cast<std::uint16_t>(record.flags & ~Record::without_plan);
  if (role == WorkerRole::receivers) {
    return measure::format_line(out, measure::ReceivedLine{.index = record.index,
                                                           .sender = record.sender,
                                                           .size = record.size,
                                                           .intended_ns = record.intended_ns,
                                                           .sent_ns = record.sent_ns,
                                                           .received_ns = record.other_ns,
                                                           .latency_ns = record.other_ns - record.sent_ns,
                                                           .attempt = record.attempt,
                                                           .flags = flags});
  }
  measure::SentLine line;
  line.index = record.index;
  line.size = record.size;
  line.intended_ns = record.intended_ns;
  line.sent_ns = record.sent_ns;
  if ((record.flags & Record::without_plan) == 0) line.lag_ns = record.sent_ns - record.intended_ns;
  if (record.other_ns != Record::none_ns) line.delay_ns = record.other_ns;
  line.attempt = record.attempt;
  line.flags = flags;
  return measure::format_line(out, line);
}

}  // namespace n2nq::worker
