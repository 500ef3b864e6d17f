// SPDX-License-Identifier: GPL-3.0-or-later
// What a figure says in words beside what is drawn: below it, and of a point under the mouse. Draws nothing.
#pragma once

#include "app/figure/figure.h"

namespace n2nq::app {

/// What was not run, and why, a line for each reason: "Services 50, 60 were not run: …".
QStringList not_run_notes(const Figure& figure);

/// What is marked in it, and why, a line for each reason: "◯ 50 services, message size 16 kB: disturbed: …". Beyond `told_max` of them it says
/// how many more there are.
QStringList marked_notes(const Figure& figure, qsizetype told_max);

/// What a point says of itself, in lines: series, place, value with interval and bound, repeats, why it is marked.
enum class Digits { all, few };
QStringList point_lines(const Figure& figure, const FigureHit& hit, Digits digits = Digits::all);

}  // namespace n2nq::app
