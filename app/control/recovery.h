// SPDX-License-Identifier: GPL-3.0-or-later
// How long a run takes to recover from a fault: until in flight and latency are back in the range that they had in the two seconds before.
// Where in flight is known as an upper bound only, also since the fault, it says nothing: then deliveries have to come again, too, instead.
// Fed with the live figures, so its grain is their period. No clock of its own.
#pragma once

#include <QString>
#include <cstddef>
#include <deque>
#include <vector>

#include "app/control/live_figures.h"
#include "app/control/role.h"

namespace n2nq::app {

/// "as before 1.2 s later".
QString recovery_text(double after_s);

class Recovery {
 public:
  /// A new round of figures.
  void look(const LiveFigures& figures);
  /// Who was harmed: a process, or one of its services (number > 0).
  struct Whom {
    Role role;
    int number;
    bool operator==(const Whom&) const = default;
  };
  /// A fault at `at_s`; `event` is the caller's name for it. `lasts`: until mend(), and nothing has recovered before that.
  void fault(std::size_t event, double at_s, Whom whom, bool lasts);
  /// What was done to them is over: to this process, or to this service. A process that goes on takes its services along as they were.
  void mend(Whom whom);
  /// A new process of this role: what was done to the old one and to its services is over.
  void renew(Role role);

  struct Recovered {
    std::size_t event;
    double after_s;  // since the fault
  };
  /// Those that have recovered since the last call.
  std::vector<Recovered> take();

 private:
  static constexpr double range_s = 2;
  /// So many rounds in a row have to be in range: one alone may be chance.
  static constexpr int rounds_in_range = 3;
  /// A range that was measured over two seconds is no bound for good: so much above it still counts as in it.
  static constexpr double latency_slack = 1.25;
  static constexpr double in_flight_slack = 1.25;
  /// The rate is over a second, and other requests may have changed it just before: it only tells a run that goes on from one that does
  /// not.
  static constexpr double rate_slack = 0.5;
  /// Where so many deliveries have not come that should have by then, in twice the longest gap before, they have stopped.
  static constexpr double missed_min = 5;

  struct Sample {
    double t_s, p50_us;
    double in_flight;       // NaN: known as an upper bound only
    double received_per_s;  // NaN: not known yet, as behind a restart
  };
  struct Open {
    std::size_t event;
    double at_s;
    double p50_us_max, in_flight_max, received_per_s_min;
    double gap_s;  // the longest time in which nothing came
    Whom whom;
    bool lasts;
    int in_range = 0;
    double first_in_range_s = 0;

    bool has(const Sample& now) const;
    bool have_stopped(double nothing_for_s) const;
  };

  static void mend(Open& open);

  double heard_at_s_ = 0;  // of the last delivery
  std::deque<Sample> before_;
  std::vector<Open> open_;
  std::vector<Recovered> recovered_;
};

}  // namespace n2nq::app
