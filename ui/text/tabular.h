// SPDX-License-Identifier: GPL-3.0-or-later
// Text whose digits all take the same width, in any font, so that a counting number does not jitter.
//
// This Qt cannot switch on a font's tabular figures; so in a font whose digits differ in width each digit is drawn in a cell of the widest.
#pragma once

#include <QFontMetricsF>
#include <QPainter>
#include <QString>

namespace n2nq::ui {

double tabular_width(const QFontMetricsF& metrics, const QString& text);

/// Draws with the painter's font and pen; `baseline` is the left end of the text's baseline.
void draw_tabular(QPainter& painter, const QPointF& baseline, const QString& text);

}  // namespace n2nq::ui
