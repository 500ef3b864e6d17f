// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_line.h"

#include <cmath>

#include "app/cli/result_table.h"

namespace n2nq::app {

namespace {

QString in_flight_text(const LiveFigures& figures) {
  if (!knows_in_flight(figures)) return QString::fromUtf8("–");
  QString text = figures.in_flight_at_most && figures.in_flight > 0 ? QString("at most ") : QString();
  text += grouped(figures.in_flight);
  if (figures.in_flight_bound == 0) return text;
  const bool known = !std::isnan(figures.in_flight_bound);
  return text + QString::fromUtf8(" ± ") + (known ? grouped(std::llround(figures.in_flight_bound)) : QString("?"));
}

}  // namespace

bool knows_in_flight(const LiveFigures& figures) {
  return !figures.senders_silent && !figures.receivers_silent;
}

QString live_text(const LiveFigures& figures) {
  QString text = "  sent " + grouped(figures.attempted);
  if (figures.planned >= 0) text += '/' + grouped(figures.planned);
  text += QString(" at %1/s  received %2 at %3/s")
              .arg(figure_text(figures.sent_per_s), grouped(figures.received), figure_text(figures.received_per_s));
  text += "  in flight " + in_flight_text(figures);
  text += QString::fromUtf8("  p50 %1 p99 %2 µs").arg(figure_text(figures.latency.p50_us), figure_text(figures.latency.p99_us));
  const double bound_us = figures.clocks.latency.total_us();
  return figures.clocks.latency.apart && !std::isnan(bound_us) ? text + QString::fromUtf8(" ± ") + figure_text(bound_us) : text;
}

}  // namespace n2nq::app
