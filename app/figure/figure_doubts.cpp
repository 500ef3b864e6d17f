// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/figure_doubts.h"

#include <algorithm>
#include <cmath>

namespace n2nq::app {

namespace {

QString floor_doubt(const char* whose, double least_us, double most_us) {
  const QString least = QString::number(least_us, 'f', 1), most = QString::number(most_us, 'f', 1);
  return QString::fromUtf8("below twice %1, an echo over loopback (%2 µs): it says more about the machine than about the queue")
      .arg(whose, least == most ? least : least + " to " + most);
}

template <class Is>
bool any_point(const Figure& figure, Is is) {
  return std::ranges::any_of(figure.series, [&](const FigureSeries& series) { return std::ranges::any_of(series.points, is); });
}

}  // namespace

QStringList doubts_of(const FigurePoint& point) {
  QStringList out;
  if (point.few_samples) out += "fewer than 10 samples above it";
  if (point.near_floor_us > 0) out += floor_doubt("its floor", point.near_floor_us, point.near_floor_us);
  return out;
}

QStringList doubts_of(const Figure& figure) {
  bool few = false;
  double least_us = INFINITY, most_us = 0;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) {
      few = few || point.few_samples;
      if (point.near_floor_us <= 0) continue;
      least_us = std::min(least_us, point.near_floor_us);
      most_us = std::max(most_us, point.near_floor_us);
    }
  }
  QStringList out;
  if (few) out += "fewer than 10 samples above that percentile";
  if (most_us > 0) out += floor_doubt("the floor of its runs", least_us, most_us);
  return out;
}

void tell_unknown_clocks(Figure& figure) {
  if (any_point(figure, [](const FigurePoint& point) { return point.clock_bound_unknown; }))
    figure.remarks += "Some runs are between the clocks of two hosts of which it is not known how far they are apart.";
}

void tell_values_below_clock_bounds(Figure& figure) {
  if (any_point(figure, [](const FigurePoint& point) { return point.clock_bound > std::abs(point.y); }))
    figure.remarks += QString::fromUtf8("Where a value is smaller than what the clocks of its hosts are known to (±), it tells nothing finer.");
}

QString grey_words(const Figure& figure) {
  const QStringList doubts = doubts_of(figure);
  return doubts.isEmpty() ? QString() : "Grey: " + doubts.join("; ") + '.';
}

}  // namespace n2nq::app
