// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/figure_doubts.h"

#include <algorithm>
#include <cmath>

namespace n2nq::app {

namespace {

QString floor_doubt(const char* whose, double least_us, double most_us) {
  const QString least = QString::number(least_us, 'f', 1), most = QString::number(most_us, 'f', 1);
  return below_floor_words(QString::fromUtf8("%1, an echo over loopback (%2 µs)").arg(whose, least == most ? least : least + " to " + most));
}

template <class Is>
bool any_point(const Figure& figure, Is is) {
  return std::ranges::any_of(figure.series, [&](const FigureSeries& series) { return std::ranges::any_of(series.points, is); });
}

}  // namespace

bool are_few_samples_above(double samples) {
  constexpr double hair = 1e-6;  // 1 / (1 - 0.9) is a little more than 10, and percentiles in files have 12 decimals
  return !(samples >= samples_above_min - hair);
}

QString few_samples_words(const char* percentile) {
  return QString("fewer than %1 samples above %2").arg(QString::number(samples_above_min), percentile);
}

QString below_floor_words(const QString& floor) {
  return QString("below twice %1: it says more about the machine than about the queue").arg(floor);
}

QStringList doubts_of(const FigurePoint& point) {
  QStringList out;
  if (point.few_samples) out += few_samples_words();
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
  if (few) out += few_samples_words("that percentile");
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
