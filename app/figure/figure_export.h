// SPDX-License-Identifier: GPL-3.0-or-later
// A figure as a file for print or the web. Needs a QGuiApplication, not a display.
#pragma once

#include <QByteArray>
#include <QString>

#include "app/figure/figure.h"

namespace n2nq::app {

/// 170 mm wide (a text column of A4), as high as the figure and its notes take. Text stays text.
QByteArray figure_svg(const Figure& figure);
/// As above at 300 dpi.
QByteArray figure_png(const Figure& figure);
/// One page of the figure's size; vectors.
QByteArray figure_pdf(const Figure& figure);

}  // namespace n2nq::app
