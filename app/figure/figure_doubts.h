// SPDX-License-Identifier: GPL-3.0-or-later
// Why points of a figure tell less than they seem to, in words: the same for notes, tables and the terminal. Any thread.
#pragma once

#include <QString>
#include <QStringList>

#include "app/figure/figure.h"

namespace n2nq::app {

/// What a point without a value says in its `why`, where nothing else is wrong with it.
inline constexpr const char* no_such_figure = "no run gave such a figure";

/// A percentile with fewer samples above it says little, and is told in grey.
inline constexpr int samples_above_min = 10;
/// Whether so many samples above a percentile are fewer than that. NaN, where nobody counted: they are.
bool are_few_samples_above(double samples);
/// "fewer than 10 samples above it"; `percentile`: another word for "it".
QString few_samples_words(const char* percentile = "it");
/// "below twice its floor: it says more …" of a latency (is_near_floor); `floor`: what it is below twice of, "its floor".
QString below_floor_words(const QString& floor);

/// Of one point, without its name: few_samples_words() and the like. Empty: it is not grey.
QStringList doubts_of(const FigurePoint& point);
/// Of all that the figure has, one for each kind of doubt. Empty: nothing in it is grey.
QStringList doubts_of(const Figure& figure);
/// A sentence below the figure: why something in it is grey. Empty: nothing is.
QString grey_words(const Figure& figure);

/// Adds the sentence that points need of whose clocks nobody knows how far they are apart, where there are such.
void tell_unknown_clocks(Figure& figure);
/// Adds the sentence that bounds of clocks larger than their values need, where there are such.
void tell_values_below_clock_bounds(Figure& figure);

}  // namespace n2nq::app
