// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/clock_note.h"

namespace n2nq::worker {

ClockNote ClockNote::of(const Record& record) {
  return {.whose = static_cast<Whose>(record.index),
          .from_ns = record.intended_ns,
          .line = {.at_ns = record.sent_ns, .offset_ns = record.other_ns, .drift_ppt = record.clocks_ns},
          .bound = {.asymmetry_ns = record.to_broker_ns, .estimation_ns = record.in_queue_ns}};
}

Record ClockNote::record() const {
  Record out;
  out.index = static_cast<std::int64_t>(whose);
  out.intended_ns = from_ns;
  out.sent_ns = line.at_ns;
  out.other_ns = line.offset_ns;
  out.clocks_ns = line.drift_ppt;
  out.to_broker_ns = bound.asymmetry_ns;
  out.in_queue_ns = bound.estimation_ns;
  out.flags = Record::clock;
  return out;
}

std::string ClockNote::text() const {
  const auto number = [](const char* name, std::int64_t value) { return std::string(" ") + name + "=" + std::to_string(value); };
  std::string text = std::string("clock: ") + (whose == Whose::own ? "own" : "senders") + number("from_ns", from_ns);
  if (whose == Whose::senders_same) return text + " same as own";
  return text + number("at_ns", line.at_ns) + number("offset_ns", line.offset_ns) + number("drift_ppt", line.drift_ppt) +
         number("asymmetry_ns", bound.asymmetry_ns) + number("estimation_ns", bound.estimation_ns);
}

}  // namespace n2nq::worker
