// SPDX-License-Identifier: GPL-3.0-or-later
// Icons drawn from lines, so that they are crisp at any scale, follow the theme's colours and need no icon font.
#pragma once

#include <QColor>
#include <QIcon>

#include "ui/theme/theme.h"

class QPainter;

namespace n2nq::ui {

/// Draws the glyph into `box` with the given colour.
void draw_glyph(QPainter& painter, Glyph glyph, const QRectF& box, const QColor& color);

/// An icon of 16 px with a version for disabled controls.
QIcon glyph_icon(Glyph glyph, const QColor& color, const QColor& disabled);

}  // namespace n2nq::ui
