// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/number_text.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

namespace n2nq::app {

namespace {

constexpr double whole_max = 1e12;
constexpr double plain_min = 1e-5;  // below it there are more zeros than a reader counts

/// To the next whole number of steps, and to one at least: 0 would be none.
double steps_up(double steps) {
  constexpr double hardly = 1e-6;  // what arithmetic adds to a whole number of steps is none more
  return steps > 0 ? std::max(1.0, std::ceil(steps - hardly)) : steps;
}

}  // namespace

QString grouped_digits(QString digits, QChar apart) {
  const qsizetype first = digits.startsWith(u'-') ? 1 : 0;
  qsizetype end = digits.indexOf(u'.');
  if (end < 0) end = digits.size();
  for (qsizetype at = end - 3; at > first; at -= 3) digits.insert(at, apart);
  return digits;
}

QString grouped_in(QString sentence, QChar apart) {
  static const QRegularExpression number(
      R"re((?<![\w.,:/="'])(?<![^\s(]-)(?<!port )(?<!process )(?<!pid )(?<!mode )(?<!number )(?<!log-in is )(?!0\d)\d{4,}(?:\.\d+)?(?![\w:="'-]|[.,]\d|/(?!s\b)))re");
  qsizetype from = 0;
  for (auto found = number.match(sentence, from); found.hasMatch(); found = number.match(sentence, from)) {
    const QString digits = grouped_digits(found.captured(), apart);
    sentence.replace(found.capturedStart(), found.capturedLength(), digits);
    from = found.capturedStart() + digits.size();
  }
  return sentence;
}

QString dash() {
  return QStringLiteral("–");
}

QString count_text(std::int64_t count) {
  return grouped_digits(QString::number(count));
}

QString fixed_text(double value, int decimals) {
  if (std::isnan(value)) return dash();
  return grouped_digits(QString::number(value, 'f', decimals));
}

int decimals_for(double value) {
  const double size = std::abs(value);
  if (size < 9.995) return 2;
  return size < 99.95 ? 1 : 0;
}

int three_digit_decimals(double value) {
  const double size = std::abs(value);
  const bool small = size > 0 && size < 0.9995;  // two decimals would leave two digits of it, or none
  return small ? 2 - static_cast<int>(std::floor(std::log10(size))) : decimals_for(value);
}

QString three_digits(double value) {
  const double size = std::abs(value);
  if (size > 0 && size < plain_min) return QString::number(value, 'e', 2);
  return QString::number(value, 'f', three_digit_decimals(value));
}

QString short_number(double value) {
  if (value < 0) return QString::fromUtf8("−") + short_number(-value);
  if (value == std::floor(value) && std::abs(value) < whole_max) return count_text(static_cast<std::int64_t>(value));
  return std::isnan(value) ? dash() : grouped_digits(three_digits(value));
}

double rounded_up(double limit, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return steps_up(limit * scale) / scale;
}

double shown_bound(double bound, int (*decimals_of)(double), double value) {
  if (bound == 0) return 0;  // what the rounding of an exact value took is nothing that clocks leave open
  const double scale = std::pow(10.0, decimals_of(value));
  const double left_out = std::abs(value - std::round(value * scale) / scale);
  const double limit = left_out > 0 ? bound + left_out : bound;  // none of NaN
  return rounded_up(limit, decimals_of(limit));
}

BoundedText bounded_time_text(double value_us, double bound_us, QChar apart) {
  constexpr int finest_us_exponent = -1;  // a tenth of a microsecond
  const int step_exponent = bound_us > 0 ? std::max(finest_us_exponent, static_cast<int>(std::floor(std::log10(bound_us))) - 1) : 0;
  const double step_us = std::pow(10.0, step_exponent);
  const auto text = [&](double us) {
    const int unit_exponent = us >= 1e6 ? 6 : us >= 1e3 ? 3 : 0;
    const QString digits = QString::number(us / std::pow(10.0, unit_exponent), 'f', std::max(0, unit_exponent - step_exponent));
    return grouped_digits(digits, apart) + apart + (unit_exponent == 6 ? QStringLiteral("s") : unit_exponent == 3 ? QStringLiteral("ms") : QStringLiteral("µs"));
  };
  const double shown_us = std::round(std::abs(value_us) / step_us) * step_us;
  const double within_us = bound_us + std::abs(std::abs(value_us) - shown_us);
  return {text(shown_us), text(steps_up(within_us / step_us) * step_us), value_us < 0 && shown_us > 0};
}

QString offset_text(double offset_us, double bound_us, QChar apart) {
  struct Unit {
    const char* name;
    double s;
  };
  constexpr double rough_s_min = 1, enough = 2;  // of a unit
  const auto [exact, within, negative] = bounded_time_text(offset_us, bound_us, apart);
  const QString sign = QString::fromUtf8(negative ? "−" : "+");
  const double s = std::abs(offset_us) / 1e6;
  if (s < rough_s_min) return QString::fromUtf8("%1%2 ± %3").arg(sign, exact, within);
  Unit used{"s", 1};
  for (const Unit& unit : {Unit{"min", 60}, Unit{"h", 3'600}, Unit{"d", 86'400}}) {
    if (s >= enough * unit.s) used = unit;
  }
  return QString::fromUtf8("≈ %1%2%3%4, ± %5").arg(sign, grouped_digits(QString::number(s / used.s, 'f', 0), apart), apart, QString::fromUtf8(used.name), within);
}

}  // namespace n2nq::app
