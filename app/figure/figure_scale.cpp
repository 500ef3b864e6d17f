// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/figure_scale.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/figure/number_text.h"

namespace n2nq::app {

namespace {

constexpr int linear_steps = 5;
constexpr double decades_for_tens_only = 3;  // a longer axis is written at 1, 10, 100 alone

/// `whole`: of things that are counted nothing is written between two whole numbers, where there are any in sight.
double nice_step(double span, int wanted, bool whole) {
  const double rough = span / std::max(1, wanted);
  if (whole && rough < 1 && span >= 1) return 1;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double lead : {1.0, 2.0, 2.5, 5.0}) {
    if (lead * decade >= rough * (1 - 1e-9)) return whole && lead * decade == 2.5 ? 2 : lead * decade;
  }
  return 10 * decade;
}

/// The next of 1, 2, 5 × 10ⁿ at or below, at or above.
double lead_below(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value) + 1e-12));
  for (const double lead : {5.0, 2.0}) {
    if (lead * decade <= value * (1 + 1e-9)) return lead * decade;
  }
  return decade;
}

double lead_above(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value) + 1e-12));
  for (const double lead : {1.0, 2.0, 5.0}) {
    if (lead * decade >= value * (1 - 1e-9)) return lead * decade;
  }
  return 10 * decade;
}

QString percentile_text(const FigureAxis& axis, double inverse_rest) {
  // 1 / (1 - q): 10 is 90 %, 1,000 is 99.9 %.
  const int decimals = inverse_rest > 150 ? static_cast<int>(std::round(std::log10(inverse_rest))) - 2 : 0;
  return QString::number(axis.told(inverse_rest), 'f', decimals) + QString::fromUtf8(" %");
}

}  // namespace

FigureScale::FigureScale(const FigureAxis& axis, double lowest, double highest, bool whole_steps) : axis_(axis) {
  if (!axis.names.isEmpty()) {
    from_ = -0.5;
    to_ = static_cast<double>(axis.names.size()) - 0.5;
  } else if (axis.percentiles) {
    from_ = 1;
    to_ = std::clamp(std::isnan(highest) ? 100 : highest, 100.0, 10'000.0);
  } else if (axis.logarithmic) {
    const bool known = std::isfinite(lowest) && std::isfinite(highest) && lowest > 0;
    from_ = known ? lead_below(lowest) : 1;
    to_ = known ? lead_above(highest) : 100;
    if (to_ < from_ * 10) to_ = from_ * 10;
  } else {
    const bool known = std::isfinite(lowest) && std::isfinite(highest);
    from_ = known ? lowest : 0;
    to_ = known ? highest : 1;
    if (axis.from_zero) from_ = std::min(0.0, from_), to_ = std::max(to_, 0.0);
    if (to_ <= from_) from_ -= from_ == 0 || axis.from_zero ? 0 : std::abs(from_) / 10, to_ += to_ == 0 ? 1 : std::abs(to_) / 10;
    if (whole_steps) {
      const double step = nice_step(to_ - from_, linear_steps, is_count());
      from_ = std::floor(from_ / step + 1e-9) * step;
      to_ = std::ceil(to_ / step - 1e-9) * step;
    }
  }
}

double FigureScale::place(double value) const {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  if (!logarithmic()) return (value - from_) / (to_ - from_);
  if (value <= 0) return std::numeric_limits<double>::quiet_NaN();
  return std::log(value / from_) / std::log(to_ / from_);
}

std::vector<FigureScale::Tick> FigureScale::decades() const {
  std::vector<Tick> out;
  const bool tens_only = axis_.percentiles || std::log10(to_ / from_) > decades_for_tens_only;
  for (double decade = std::pow(10, std::floor(std::log10(from_) + 1e-9)); decade <= to_ * (1 + 1e-9); decade *= 10) {
    for (const double lead : {1.0, 2.0, 5.0}) {
      const double value = lead * decade;
      const bool half = axis_.percentiles && value == 2;  // 50 %
      if ((tens_only && lead != 1 && !half) || value < from_ * (1 - 1e-9) || value > to_ * (1 + 1e-9)) continue;
      out.push_back({value, axis_.percentiles ? percentile_text(axis_, value) : axis_number(value)});
    }
  }
  return out;
}

std::vector<FigureScale::Tick> FigureScale::ticks(int wanted) const {
  std::vector<Tick> out;
  if (!axis_.names.isEmpty()) {
    const qsizetype every = std::max<qsizetype>(1, (axis_.names.size() + wanted - 1) / std::max(1, wanted));
    for (qsizetype i = 0; i < axis_.names.size(); i += every) out.push_back({static_cast<double>(i), axis_.names[i]});
    return out;
  }
  if (logarithmic()) return decades();
  const double step = nice_step(to_ - from_, wanted, is_count());
  for (double at = std::ceil(from_ / step - 1e-9); at * step <= to_ + step * 1e-9; ++at) {
    const double value = at * step;
    out.push_back({value, axis_number(std::abs(value) < step * 1e-6 ? 0 : value)});
  }
  return out;
}

QString axis_number(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return QString::fromUtf8("–");
  if (size != 0 && (size >= 1e7 || size < 1e-4)) {
    const int power = static_cast<int>(std::floor(std::log10(size) + 1e-12));
    const QString lead = QString::number(value / std::pow(10, power), 'g', 3);
    QString raised;
    static const QString digits = QString::fromUtf8("⁰¹²³⁴⁵⁶⁷⁸⁹");
    for (const QChar digit : QString::number(std::abs(power))) raised += digits[digit.digitValue()];
    return (lead == "1" ? QString() : lead + QString::fromUtf8("·")) + "10" + (power < 0 ? QString::fromUtf8("⁻") : QString()) + raised;
  }
  QString text = QString::number(value, 'g', size >= 1000 ? 7 : 4);
  return grouped_digits(std::move(text));
}

QString axis_title(const FigureAxis& axis) {
  return axis.unit.isEmpty() ? axis.title : QString("%1 (%2)").arg(axis.title, axis.unit);
}

QString series_title(const Figure& figure, const FigureSeries& series) {
  if (series.name.isEmpty()) return figure.y.title;
  return figure.legend.isEmpty() ? series.name : figure.legend + ' ' + series.name;
}

}  // namespace n2nq::app
