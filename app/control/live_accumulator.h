// SPDX-License-Identifier: GPL-3.0-or-later
// Answers to `stats` added up to one picture of the run. Counts are the groups' own totals; histograms are merged, percentiles never
// averaged; rates are worked out from the stamps in the answers, so that one that comes late bends nothing.
//
// What stands side by side is of one instant: answers are shown when both groups have answered the same question. A group that keeps the
// other one waiting for too long is passed over, and nobody knows then how far off is what is in flight; one that does not answer at all is
// said to be silent.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "app/control/control_message.h"
#include "app/control/count_rate.h"
#include "app/control/live_figures.h"
#include "app/control/role.h"
#include "app/settings/settings.h"
#include "workers/measure/histogram.h"

namespace n2nq::app {

class LiveAccumulator {
 public:
  explicit LiveAccumulator(const Settings& settings);

  /// A question went out to the group at `t_s`. All times are seconds since the common start, and rise.
  void asked_senders(double t_s) { senders_.asked(t_s); }
  void asked_receivers(double t_s) { receivers_.asked(t_s); }
  /// As they are known from now on.
  void set_clocks(const ClockBounds& clocks) { clocks_ = clocks; }
  /// The group stands still or is gone, so that nobody can be asked: it is silent at once.
  void set_absent(Role role, bool absent) { (role == Role::senders ? senders_.absent : receivers_.absent) = absent; }
  /// The group has ended and is asked no more: its counts stay, its rates are not known.
  void set_over(Role role) { (role == Role::senders ? senders_.over : receivers_.over) = true; }
  /// The process is a new one, and a group's tells everything from the start of the run once more.
  void restarted(Role role);
  /// Connections of this role broke, which may have taken along what was on them, or N2NQ with all that it held. Nobody tells of that
  /// before the end, so that from now on what is in flight is an upper bound.
  void may_have_lost(Role role);
  void add(const SendersStats& stats, double t_s);
  void add(const ReceiversStats& stats, double t_s);
  /// The picture at `t_s`. latency_now covers what came since the round before; it is empty when there was no new round.
  LiveFigures snapshot(double t_s) { return show_due(due(t_s), t_s); }
  /// The picture when nobody will answer any more: of all that was answered.
  LiveFigures last(double t_s) { return show_due({senders_.waiting.size(), receivers_.waiting.size()}, t_s); }

 private:
  /// What is known of one group's answers.
  template <class Stats>
  struct Group {
    struct Answer {
      Stats stats;
      double t_s;
      double per_s, bytes_per_s;
    };
    std::deque<Answer> waiting;  // not shown yet, oldest first
    double asked_s = unknown;    // the open question; NaN: there is none
    bool absent = false;         // it stands still or is gone, and there is nobody to ask
    bool over = false;           // it has ended in order, and nobody asks it any more
    CountRate rate;
    std::map<int, CountRate> row_rates;  // by number, of the rows that were ever in sight

    void asked(double t_s) {
      if (!is_open()) asked_s = t_s;
    }
    void take(const Stats& stats, std::int64_t count, double t_s);
    bool is_open() const { return asked_s == asked_s; }
    bool is_silent(double t_s) const;
    bool is_kept_waiting_for(double t_s) const;
  };

  /// How many of the waiting answers are shown now.
  struct Due {
    std::size_t senders = 0, receivers = 0;
  };
  Due due(double t_s) const;
  LiveFigures show_due(Due now, double t_s);
  void show(const Group<SendersStats>::Answer& answer);
  void show(const Group<ReceiversStats>::Answer& answer);
  void settle_counts(bool whole_round);
  bool counts_are_apart() const;
  void bring_to_one_instant(std::int64_t arrived, std::int64_t attempted, std::int64_t accepted);
  void forget_what_is_over(LiveFigures& figures) const;

  int copies_;
  bool responses_;
  LiveFigures figures_;
  ClockBounds clocks_;
  std::int64_t senders_at_ns_ = 0, receivers_at_ns_ = 0;          // by their own clocks, of the answers that are shown
  std::int64_t senders_shown_id_ = -1, receivers_shown_id_ = -2;  // what those answered
  Group<SendersStats> senders_;
  Group<ReceiversStats> receivers_;
  measure::Histogram delay_, lag_;                                     // at the senders, per message
  measure::Histogram latency_, latency_from_plan_, latency_now_;       // at the receivers, per delivery
  measure::Histogram lag_stage_, to_broker_, in_queue_, to_receiver_;  // at the receivers, per delivery
  std::optional<measure::Histogram> latency_told_;                     // the receivers' next answer holds this once more
  std::uint64_t senders_lines_dropped_ = 0, receivers_lines_dropped_ = 0;
};

/// In µs; all unknown while the histogram is empty.
Percentiles percentiles_us(const measure::Histogram& histogram);
/// What the group did over the last second, when that is over: unknown.
void forget_rates(LiveFigures& figures, Role role);
double mean_us(const measure::Histogram& histogram);

}  // namespace n2nq::app
