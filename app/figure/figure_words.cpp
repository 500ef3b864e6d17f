// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/figure_words.h"

#include <algorithm>
#include <cmath>

#include "app/figure/figure_doubts.h"
#include "app/figure/figure_scale.h"
#include "app/figure/number_text.h"

namespace n2nq::app {

namespace {

constexpr int places_told_max = 4;

QString mark_place(const Figure& figure, const FigureSeries& series, const FigurePoint& point) {
  const QString name = series.name.isEmpty() ? QString() : series_title(figure, series);
  if (figure.x.percentiles) return name.isEmpty() ? QString("the run") : name;  // a curve is one run
  const auto index = static_cast<qsizetype>(std::llround(point.x));
  const bool named = index >= 0 && index < figure.x.names.size();
  const QString place = named ? figure.x.names[index] : axis_number(point.x) + (figure.x.unit.isEmpty() ? QString() : ' ' + figure.x.unit);
  const QString of_x = named ? place : figure.x.title.toLower() + ' ' + place;
  return name.isEmpty() ? of_x : name + ", " + of_x;
}

using Reasons = QList<std::pair<QString, QStringList>>;  // why, and where; the same reason is told once
void add(Reasons& to, const QString& why, const QString& where) {
  auto found = std::find_if(to.begin(), to.end(), [&why](const auto& entry) { return entry.first == why; });
  if (found == to.end()) found = to.insert(to.end(), {why, {}});
  found->second += where;
}

/// With all digits that mean anything: behind ten they are of the arithmetic.
QString full_number(double value) {
  constexpr int digits_max = 10;
  constexpr double whole_max = 1e15;
  if (!std::isfinite(value)) return dash();
  if (value == std::floor(value) && std::abs(value) < whole_max) return count_text(static_cast<std::int64_t>(value));
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  QString text = QString::number(value, 'f', std::max(0, digits_max - before_point));
  while (text.contains('.') && (text.endsWith('0') || text.endsWith('.'))) text.chop(1);
  return grouped_digits(text);
}

/// A ± in about three digits is no less than it is.
QString limit_text(double limit) {
  const int decimals = decimals_for(limit);
  return fixed_text(rounded_up(limit, decimals), decimals);
}

}  // namespace

QStringList not_run_notes(const Figure& figure) {
  QStringList out;
  Reasons left_out;
  for (const FigureSeries& series : figure.series) {
    if (!series.not_run.isEmpty()) add(left_out, series.not_run, series.name);
  }
  for (const auto& [why, names] : left_out) {
    const QString whose = figure.legend.isEmpty() ? QString() : figure.legend + ' ';
    out += whose + names.join(", ") + (names.size() == 1 ? " was not run: " : " were not run: ") + why;
  }
  return out;
}

QStringList marked_notes(const Figure& figure, qsizetype told_max) {
  Reasons marked;
  qsizetype all = 0;  // of places that could be marked: a curve of percentiles is one
  for (const FigureSeries& series : figure.series) {
    all += figure.x.percentiles ? !series.points.empty() : static_cast<qsizetype>(series.points.size());
    for (const FigurePoint& point : series.points) {
      if (!point.why.isEmpty()) add(marked, point.why, mark_place(figure, series, point));
    }
  }
  QStringList out;
  for (qsizetype i = 0; i < std::min<qsizetype>(marked.size(), told_max); ++i) {
    const auto& [why, places] = marked[i];
    const QString where = places.size() > 1 && places.size() == all ? QString(figure.x.percentiles ? "all curves" : "all points")
                          : places.size() <= places_told_max        ? places.join("; ")
                                                                    : QString("%1 and %2 more").arg(places.first(), QString::number(places.size() - 1));
    out += QString::fromUtf8("◯ ") + where + ": " + grouped_in(why);
  }
  if (const qsizetype more = marked.size() - told_max; more > 0) out += QString::fromUtf8("◯ … and %1 more reason%2").arg(more).arg(more == 1 ? "" : "s");
  return out;
}

QStringList point_lines(const Figure& figure, const FigureHit& hit, Digits digits) {
  const auto number_text = digits == Digits::all ? full_number : short_number;
  const FigureSeries& series = figure.series.at(static_cast<std::size_t>(hit.series));
  const FigurePoint& point = series.points.at(static_cast<std::size_t>(hit.point));
  const QString unit = figure.y.unit.isEmpty() ? QString() : ' ' + figure.y.unit;
  QStringList out;
  FigurePoint of = point;
  if (figure.x.percentiles) {
    out += (series.name.isEmpty() ? QString() : series_title(figure, series) + ", ") +
           QString::fromUtf8("%1 % of all").arg(QString::number(figure.x.told(point.x), 'g', 8));
  } else {
    out += mark_place(figure, series, of);
  }
  QString value = std::isnan(point.y) ? QString("no value") : figure.y.title + ' ' + number_text(point.y) + unit;
  const auto limit = digits == Digits::all ? full_number : limit_text;
  if (point.clock_bound_unknown) {
    value += QString::fromUtf8(" ± ? (clocks)");
  } else if (point.clock_bound > 0) {
    value += QString::fromUtf8(" ± %1%2 (clocks)").arg(limit(point.clock_bound), unit);
  }
  if (point.clock_bound > std::abs(point.y)) value += ", more than the value itself";
  out += value;
  if (point.low && point.high)
    out += QString::fromUtf8("95 % interval %1 to %2%3").arg(number_text(*point.low), number_text(*point.high), unit);
  if (point.box) {
    out += QString::fromUtf8("half of all between %1 and %2%3")
               .arg(number_text(point.box->quarter), number_text(point.box->three_quarters), unit);
    out += QString::fromUtf8("whiskers at %1 and %2%3").arg(number_text(point.box->low), number_text(point.box->high), unit);
  }
  if (point.repeats > 1) out += QString("%1 repeats").arg(point.repeats);
  out += doubts_of(point);
  if (!point.why.isEmpty()) out += grouped_in(point.why);
  return out;
}

}  // namespace n2nq::app
