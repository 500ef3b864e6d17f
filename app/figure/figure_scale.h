// SPDX-License-Identifier: GPL-3.0-or-later
// One axis of a figure: where a value lies on it, and which values are written beside it. Pure.
#pragma once

#include <QString>
#include <vector>

#include "app/figure/figure.h"

namespace n2nq::app {

class FigureScale {
 public:
  /// `lowest` and `highest` are the outermost values to be shown; NaN: there are none. A logarithmic axis wants them above 0.
  /// `whole_steps`: the ends are moved out to written values.
  FigureScale(const FigureAxis& axis, double lowest, double highest, bool whole_steps);

  /// 0 at the axis' start, 1 at its end; NaN where the value cannot be shown (0 and less on a logarithmic axis).
  double place(double value) const;
  double from() const { return from_; }
  double to() const { return to_; }

  struct Tick {
    double value;
    QString text;
  };
  /// About `wanted` of them, rising.
  std::vector<Tick> ticks(int wanted) const;

 private:
  bool logarithmic() const { return axis_.logarithmic || axis_.percentiles; }
  bool is_count() const { return axis_.unit.isEmpty(); }
  std::vector<Tick> decades() const;

  FigureAxis axis_;
  double from_ = 0, to_ = 1;
};

/// As on an axis or in a legend: "0.05", "12 000", "2·10⁹"; at most four significant digits.
QString axis_number(double value);

/// "Latency (µs)".
QString axis_title(const FigureAxis& axis);
/// "Services 50", or its name alone where that says it; of a curve without a name what y is.
QString series_title(const Figure& figure, const FigureSeries& series);

}  // namespace n2nq::app
