// SPDX-License-Identifier: GPL-3.0-or-later
// Where an axis ends, in steps that people read easily. An axis grows as soon as it must and shrinks only when it clearly can, so that it
// does not breathe with every sample.
#pragma once

namespace n2nq::ui {

/// The axis from 0 for values up to `largest` (NaN: nothing known), given where it ends now (0: nowhere yet). At least `least`.
double axis_top(double largest, double present_top, double least);
/// Intervals between grid lines for an axis that ends at `top`: 4 or 5, so that the lines have round values.
int axis_intervals(double top);

struct LogRange {
  double min = 1, max = 100;
  bool operator==(const LogRange&) const = default;
};
/// Whole decades around positive values, given the present range; at least two decades.
LogRange log_range(double smallest, double largest, const LogRange& present);

/// Grid step in seconds for a time axis of this span: four or five labels.
double time_step(double span_s);

}  // namespace n2nq::ui
