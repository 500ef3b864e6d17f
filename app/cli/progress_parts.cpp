// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_parts.h"

#include <algorithm>
#include <cmath>

#include "app/cli/result_table.h"
#include "app/figure/number_text.h"

namespace n2nq::app {

namespace {

QString in_flight_text(const LiveFigures& figures) {
  if (!knows_in_flight(figures)) return QString::fromUtf8("–");
  QString text = figures.in_flight_at_most && figures.in_flight > 0 ? QString("at most ") : QString();
  text += grouped(figures.in_flight);
  if (figures.in_flight_bound == 0) return text;
  const bool known = !std::isnan(figures.in_flight_bound);
  text += QString::fromUtf8(" ± ") + (known ? grouped(std::llround(figures.in_flight_bound)) : QString("?"));
  return figures.in_flight_is_below_bound() ? text + " (more than itself)" : text;
}

/// Of both percentiles, which stand before it.
QString latency_bound_text(double bound_us, const Percentiles& latency) {
  const auto beside = [bound_us](double value_us) { return shown_bound(bound_us, three_digit_decimals, value_us); };
  return std::isnan(bound_us) ? QString("?") : figure_text(std::max(beside(latency.p50_us), beside(latency.p99_us)));
}

}  // namespace

bool knows_in_flight(const LiveFigures& figures) {
  return !figures.senders_silent && !figures.receivers_silent;
}

std::vector<LinePart> live_parts(const LiveFigures& figures) {
  QString sent = "  sent " + grouped(figures.attempted);
  if (figures.planned >= 0) sent += '/' + grouped(figures.planned);
  QString latency = QString::fromUtf8("  p50 %1 p99 %2 µs").arg(figure_text(figures.latency.p50_us), figure_text(figures.latency.p99_us));
  const double bound_us = figures.clocks.latency.total_us();
  if (figures.clocks.latency.apart && !std::isnan(figures.latency.p50_us)) {
    latency += QString::fromUtf8(" ± ") + latency_bound_text(bound_us, figures.latency);
    if (std::abs(figures.latency.p50_us) < bound_us) latency += " (more than the median)";
  }
  const auto rate_text = [](double per_s) { return QString(" at %1/s").arg(figure_text(per_s)); };
  // That it goes on, how quick it is, that it arrives; a rate only beside its count.
  return {{sent, 1},
          {rate_text(figures.sent_per_s), 5},
          {"  received " + grouped(figures.received), 3},
          {rate_text(figures.received_per_s), 6},
          {"  in flight " + in_flight_text(figures), 4},
          {latency, 2}};
}

QString fitted(const std::vector<LinePart>& parts, int columns) {
  const auto up_to = [&parts](int rank) {
    QString line;
    bool whole = true;
    for (const LinePart& part : parts) {
      if (part.rank <= rank)
        line += part.text;
      else
        whole = false;
    }
    return whole ? line : line + QString::fromUtf8(" …");
  };
  int rank = 0;
  for (const LinePart& part : parts) rank = std::max(rank, part.rank);
  while (rank > 0 && up_to(rank).size() > columns) --rank;
  return up_to(rank);
}

}  // namespace n2nq::app
