// SPDX-License-Identifier: GPL-3.0-or-later
// How a verdict looks, by its word (verdict_word()): "clean", "stopped", "degraded", "broken", and "unfinished" of a run without one.
#pragma once

#include <QColor>
#include <QString>

#include "ui/theme/tokens.h"

namespace n2nq::ui {

/// The word behind its sign, never colour alone: "✓ clean", "▲ degraded", "✕ broken", …
QString verdict_sign(const QString& verdict);
/// What stands behind it where others used the machine meanwhile; else nothing.
QString disturbed_sign(bool disturbed);
QColor verdict_color(const QString& verdict, const Tokens& tokens);

}  // namespace n2nq::ui
