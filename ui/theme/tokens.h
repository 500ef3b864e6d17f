// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of colours, sizes and distances. Nothing else in ui/ names a colour, a size or a font.
#pragma once

#include <QColor>
#include <array>

namespace n2nq::ui {

struct Tokens {
  QColor background, surface, border;
  QColor text, secondary;
  QColor primary, on_primary;  // on_primary: text on the primary colour
  QColor good, warning, bad;
  std::array<QColor, 8> series;
};

const Tokens& light_tokens();
const Tokens& dark_tokens();

/// `share` of `over` laid on `under`; 0 gives `under`. How hovered, pressed and tinted surfaces are made from the tokens.
QColor mixed(const QColor& over, const QColor& under, double share);

/// Distances in px, in steps of 4.
namespace space {
inline constexpr int in_row = 4;
inline constexpr int between = 8;
inline constexpr int card = 12;
}  // namespace space

inline constexpr int radius_px = 6;
inline constexpr int control_height_px = 28;
inline constexpr int table_row_px = 24;
inline constexpr double series_line_px = 1.6;

/// Text sizes in px.
namespace text_px {
inline constexpr int body = 13;
inline constexpr int title = 15;
inline constexpr int aggregate = 18;
inline constexpr int caption = 11;
}  // namespace text_px

}  // namespace n2nq::ui
