// SPDX-License-Identifier: GPL-3.0-or-later
// What tells the curves of a figure apart beside their colour: a mark and a dash each.
#pragma once

#include <QPainter>
#include <cstddef>

namespace n2nq::app {

inline constexpr int mark_shapes = 8;
inline constexpr double series_line_px = 1.6;
inline constexpr std::size_t marks_points_max = 40;  // a longer curve has no mark at each point

/// The shape of the `look`-th curve around `at`, in the painter's pen and brush.
void draw_mark(QPainter& painter, int look, QPointF at, double radius);
QPen series_pen(int look, const QColor& color, double width);

}  // namespace n2nq::app
