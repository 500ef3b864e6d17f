// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/axis_steps.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace n2nq::ui {

namespace {

constexpr double head_room = 1.05;
constexpr double shrink_below = 0.4;  // of the present top
constexpr std::array<double, 8> steps = {1, 1.2, 1.6, 2, 3, 4, 6, 8};

double step_above(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  for (const double step : steps) {
    if (step * decade >= value * (1 - 1e-9)) return step * decade;
  }
  return 10 * decade;
}

}  // namespace

double axis_top(double largest, double present_top, double least) {
  if (std::isnan(largest) || largest <= 0) return present_top > 0 ? present_top : least;
  const double wanted = std::max(step_above(largest * head_room), least);
  if (present_top <= 0 || wanted > present_top) return wanted;
  return largest < present_top * shrink_below ? wanted : present_top;
}

int axis_intervals(double top) {
  const double decade = std::pow(10, std::floor(std::log10(top)));
  const double lead = std::round(top / decade * 10) / 10;
  return lead == 1 || lead == 10 ? 5 : lead == 3 || lead == 6 ? 3 : 4;
}

LinearRange linear_range(double smallest, double largest, const LinearRange& present, double least_top) {
  // Where nothing is above 0, as little as there can be: what is drawn lies below.
  const double above = axis_top(largest < 0 ? least_top / 2 : largest, present.top, least_top);
  const double below = smallest < 0 ? axis_top(-smallest, -present.bottom, 0) : 0;
  const double longer = step_above(std::max(above, below));  // the shorter one was made whole in the other's steps, and may stay
  const double step = longer / axis_intervals(longer);
  const auto whole = [step](double reach) { return std::ceil(reach / step - 1e-9) * step; };
  return {0 - whole(below), whole(above), step};
}

LogRange log_range(double smallest, double largest, const LogRange& present) {
  if (std::isnan(smallest) || std::isnan(largest) || smallest <= 0) return present;
  LogRange wanted{std::pow(10, std::floor(std::log10(smallest))), std::pow(10, std::ceil(std::log10(largest * head_room)))};
  if (wanted.max < wanted.min * 100) wanted.max = wanted.min * 100;
  // A range that only could be a decade smaller stays.
  const bool fits = wanted.min >= present.min && wanted.max <= present.max;
  const bool spare = wanted.min >= present.min * 100 || wanted.max * 100 <= present.max;
  return fits && !spare ? present : wanted;
}

double time_step(double span_s) {
  for (const double step : {0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0}) {
    if (span_s / step <= 5) return step;
  }
  return 150;
}

}  // namespace n2nq::ui
