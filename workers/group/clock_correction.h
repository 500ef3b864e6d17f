// SPDX-License-Identifier: GPL-3.0-or-later
// What has to be added to the raw stamps of a delivery to have them all on one clock, N2NQ's. Off where all share one: then nothing is
// added. A line counts for what is received from its instant on, until the next one does: what was read before, and is looked at only now
// (a frame that a slow link brings in pieces, seconds after one another), gets the one that was in force when it was read. The data thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workers/measure/clock_fit.h"
#include "workers/measure/clock_line.h"

namespace n2nq::worker {

/// What the senders say of their line: how wrong it can be at its instant, and before that.
struct SendersAccuracy {
  measure::ClockBound bound;
  measure::ClockPast past;
  std::int64_t since_ns = INT64_MIN;  // of their clock: what was sent before that is in the span of a jump, and told there
};

/// Keeps the larger of both.
inline void keep_larger(std::optional<measure::ClockBound>& kept, const std::optional<measure::ClockBound>& other) {
  if (other && (!kept || other->total_ns() > kept->total_ns())) kept = other;
}

class ClockCorrection {
 public:
  /// Of each clock: more than a quarter of an hour of them. What was read before that gets the oldest.
  static constexpr std::size_t lines_kept = 1024;

  struct Offsets {
    std::int64_t sender_ns = 0;    // N2NQ's clock minus the sender's
    std::int64_t receiver_ns = 0;  // N2NQ's clock minus ours
  };

  /// From `from_ns` of our clock on; both have to be known before anything is corrected.
  void set_own(const measure::ClockLine& line, std::int64_t from_ns) { own_.set(line, from_ns); }
  void set_senders(const measure::ClockLine& line, std::int64_t from_ns, const SendersAccuracy& accuracy = {}) {
    senders_.set({line, accuracy, line.at_ns}, from_ns);
  }
  /// From then on the senders' clock is ours: what is added to both is the same, and latency is what it was.
  void set_senders_same(std::int64_t from_ns) { senders_.set({}, from_ns); }

  /// How wrong the senders' lines were at most that were in force though `line` was made already, because it comes only now: of what was
  /// sent from the later of then and of `begun_ns` and `from_sender_ns`, which are instants of our clock and of the senders'. By `line`,
  /// whose `bound` counts in. To be asked before it is set; none: nothing was corrected since.
  std::optional<measure::ClockBound> late(const measure::ClockLine& line, const measure::ClockBound& bound, std::int64_t now_ns,
                                          std::int64_t begun_ns, std::int64_t from_sender_ns) const;

  bool is_on() const { return own_.any() && senders_.any(); }
  Offsets offsets(std::int64_t sent_ns, std::int64_t received_ns) const {
    const std::int64_t own_ns = own_.at(received_ns).offset_at(received_ns);
    const std::optional<measure::ClockLine>& senders = senders_.at(received_ns).line;
    return {senders ? senders->offset_at(sent_ns) : own_ns, own_ns};
  }

  /// A delivery with these stamps was measured. The senders answer for a line from its instant on: what was sent before that has waited,
  /// and the line may be more wrong there.
  void measured(std::int64_t sent_ns, std::int64_t received_ns) {
    if (!is_on()) return;
    SendersLine& used = senders_.at(received_ns);
    if (sent_ns < used.oldest_sent_ns) [[unlikely]]
      note_older(used, sent_ns);
  }
  /// How wrong the senders' lines can have been at most for what was measured and had been sent before they were made; none: nothing was.
  const std::optional<measure::ClockBound>& worst_before() const { return worst_before_; }

 private:
  template <class Line>
  class Lines {
   public:
    bool any() const { return set_ > 0; }
    void set(const Line& line, std::int64_t from_ns) {
      if (entries_.size() < lines_kept) {
        entries_.push_back({line, from_ns});
      } else {
        entries_[set_ % lines_kept] = {line, from_ns};
      }
      ++set_;
    }
    /// The last one that was set for then; of an instant before all of them the first one.
    const Line& at(std::int64_t received_ns) const { return entries_[place(back_at(received_ns))].line; }
    Line& at(std::int64_t received_ns) { return entries_[place(back_at(received_ns))].line; }

    struct Entry {
      Line line;
      std::int64_t from_ns;
    };
    std::size_t kept() const { return entries_.size(); }
    /// 1 is the newest, kept() the oldest.
    const Entry& last(std::size_t back) const { return entries_[place(back)]; }

   private:
    std::size_t place(std::size_t back) const { return (set_ - back) % lines_kept; }
    std::size_t back_at(std::int64_t received_ns) const {
      std::size_t back = 1;
      while (back < entries_.size() && received_ns < last(back).from_ns) ++back;
      return back;
    }

    std::vector<Entry> entries_;  // a ring once it is full
    std::size_t set_ = 0;         // so far
  };
  struct SendersLine {
    std::optional<measure::ClockLine> line;  // none: it is ours
    SendersAccuracy accuracy;
    std::int64_t oldest_sent_ns = INT64_MIN;  // of what was measured by it; its own instant where all was sent behind that
  };
  void note_older(SendersLine& used, std::int64_t sent_ns);

  Lines<measure::ClockLine> own_;
  Lines<SendersLine> senders_;
  std::optional<measure::ClockBound> worst_before_;
};

}  // namespace n2nq::worker
