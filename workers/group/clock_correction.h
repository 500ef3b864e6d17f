// SPDX-License-Identifier: GPL-3.0-or-later
// What has to be added to the raw stamps of a delivery to have them all on one clock, N2NQ's. Off where all share one: then nothing is
// added. A line counts for what is received from its instant on; what was read before, and is looked at only now, gets the line before it.
// The data thread.
#pragma once

#include <cstdint>
#include <optional>

#include "workers/measure/clock_line.h"

namespace n2nq::worker {

class ClockCorrection {
 public:
  struct Offsets {
    std::int64_t sender_ns = 0;    // N2NQ's clock minus the sender's
    std::int64_t receiver_ns = 0;  // N2NQ's clock minus ours
  };

  /// From `from_ns` of our clock on; both have to be known before anything is corrected.
  void set_own(const measure::ClockLine& line, std::int64_t from_ns) { own_.set(line, from_ns); }
  void set_senders(const measure::ClockLine& line, std::int64_t from_ns) {
    senders_.set(line, from_ns);
    same_ = false;
  }
  /// The senders' clock is ours: what is added to both is the same, and latency is what it was.
  void set_senders_same() { same_ = true; }

  bool is_on() const { return own_.line && (same_ || senders_.line); }
  Offsets offsets(std::int64_t sent_ns, std::int64_t received_ns) const {
    const std::int64_t own_ns = own_.at(received_ns).offset_at(received_ns);
    return {same_ ? own_ns : senders_.at(received_ns).offset_at(sent_ns), own_ns};
  }

 private:
  struct Lines {
    void set(const measure::ClockLine& next, std::int64_t next_from_ns) {
      before = line.value_or(next);
      line = next;
      from_ns = next_from_ns;
    }
    const measure::ClockLine& at(std::int64_t received_ns) const { return received_ns >= from_ns ? *line : before; }

    std::optional<measure::ClockLine> line;
    measure::ClockLine before;
    std::int64_t from_ns = 0;
  };
  Lines own_, senders_;
  bool same_ = false;
};

}  // namespace n2nq::worker
