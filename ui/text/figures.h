// SPDX-License-Identifier: GPL-3.0-or-later
// Figures as text: units by size, fixed decimals, thousands apart, a dash for what is not known.
#pragma once

#include <QString>
#include <cstdint>
#include <limits>

#include "app/control/run_control.h"
#include "app/figure/number_text.h"
#include "app/settings/requests.h"

namespace n2nq::ui {

using app::count_text;
using app::dash;
using app::decimals_for;
using app::fixed_text;

/// "1.25 M" from a million on, all digits below; for where room is short.
QString count_short(std::int64_t count);
/// The same, and "123 k" from counted_out on: at most six digits' width; for cells, whose tooltips have all digits.
QString count_tight(std::int64_t count);
inline constexpr std::int64_t counted_out = 100'000;

/// One unit for a whole column or axis: shown = value_us × factor.
struct TimeScale {
  const char* unit = "µs";
  double factor = 1;
  bool operator==(const TimeScale&) const = default;
};
/// The unit in which `largest_us` has one to three digits before the point (ns, µs, ms, s); µs when it is not known.
TimeScale time_scale(double largest_us);
/// The same, but stays at `present` until `largest_us` clearly asks for another unit, so that a column does not flicker.
TimeScale steady_time_scale(double largest_us, const TimeScale& present);

/// A value and its unit, apart, because tiles show them in two sizes.
struct Figure {
  QString value = dash();
  QString unit;
  QString text() const { return unit.isEmpty() ? value : value + QChar(0x202F) + unit; }
};
Figure time_figure(double value_us, int extra_decimals = 0);
/// "± 12.5 µs", rounded up; "± ?" while it is not known; empty for a figure of one clock.
QString bound_text(const app::ClockBound& bound);
/// Which ways to N2NQ a bound is of: a stage has one, a latency those of senders and receivers together, as far as they have other clocks.
enum class Ways { one, all };
/// The same for a tooltip, with its two parts; empty likewise. Also that the figure it belongs to is smaller; NaN: it belongs to several.
QString bound_explained(const app::ClockBound& bound, double value_us = std::numeric_limits<double>::quiet_NaN(), Ways ways = Ways::all);
/// The clocks tell nothing finer than it.
bool is_below(const app::ClockBound& bound, double value_us);
/// bound_text(), and in words where the figure tells nothing finer: "± 12.5 µs: no finer".
QString bound_words(const app::ClockBound& bound, double value_us);
/// " ± 34", " ± ?" where it is NaN, and nothing where it is 0.
QString count_bound_text(double bound);
/// What is behind it where it is of what is in flight. `is_below`: that is less than it.
QString in_flight_bound_explained(bool is_below);

/// Behind a latency in a tooltip: why it is grey; empty: it is not.
QString floor_words(double floor_us, double latency_us);
/// The same of its percentile `share`, between 0 and 1, of so many samples: also where few are above it. 0: it is no percentile.
QString percentile_doubt_words(double floor_us, double latency_us, double share, std::int64_t samples);
/// Of so many samples only few are above that percentile; none are, where there is none.
bool has_few_above(double share, std::int64_t samples);

Figure rate_figure(double per_s);
/// "250 kB/s"; a kB is 1,000 B.
QString bytes_rate_text(double bytes_per_s);

/// "9 s", "2 min 05 s", "1 h 12 min".
QString span_text(double seconds);

/// "S001", "R017": at least three digits.
QString service_name(app::Role role, int number);

/// Within a sentence: "N2NQ", "senders", "receivers".
QString role_word(app::Role role);
/// "1 sender", "10 receivers".
QString amount_text(app::Role role, std::int64_t amount);
/// What a receiver asks for: "S001–S010, 20–100 B", whose number and unit stay in one line.
QString rules_words(const app::RequestRules& rules);
QString state_word(app::ProcessState state);
/// Dead, because a person wanted it so.
bool is_killed_on_purpose(const app::ProcessStatus& status);
/// The state, or what stands for it: "paused", "killed on purpose"; "not started" of who could not be.
QString state_word(const app::ProcessStatus& status);
QString verdict_word(app::Verdict verdict);

}  // namespace n2nq::ui
