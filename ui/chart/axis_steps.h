// SPDX-License-Identifier: GPL-3.0-or-later
// Where an axis ends, in steps that people read easily. An axis grows as soon as it must and shrinks only when it clearly can, so that it
// does not breathe with every sample.
#pragma once

namespace n2nq::ui {

/// The axis from 0 for values up to `largest` (NaN: nothing known), given where it ends now (0: nowhere yet). At least `least`.
double axis_top(double largest, double present_top, double least);
/// Intervals between grid lines for an axis that ends at `top`: 3 to 5, so that the lines have round values.
int axis_intervals(double top);

/// A linear axis with 0 at one of its grid lines: `bottom` is 0, or below it.
struct LinearRange {
  double bottom = 0, top = 0, step = 0;
  bool operator==(const LinearRange&) const = default;
};
/// As axis_top() on either side of 0, in whole steps; below 0 only while `smallest` lies there (NaN: nothing known).
LinearRange linear_range(double smallest, double largest, const LinearRange& present, double least_top);

struct LogRange {
  double min = 1, max = 100;
  bool operator==(const LogRange&) const = default;
};
/// Whole decades around positive values, given the present range; at least two decades.
LogRange log_range(double smallest, double largest, const LogRange& present);

/// Grid step in seconds for a time axis of this span: four or five labels.
double time_step(double span_s);

}  // namespace n2nq::ui
