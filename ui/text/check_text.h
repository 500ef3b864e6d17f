// SPDX-License-Identifier: GPL-3.0-or-later
// How a cell of a check is written, always a sign or a word beside the colour, and how machines are called.
#pragma once

#include <QColor>
#include <QString>

#include "app/host/host_report.h"
#include "ui/theme/tokens.h"

namespace n2nq::ui {

/// "✓ 8", "✕ refused", "▲ 12.3", "unknown", "…", "–".
QString cell_text(const app::CheckCell& cell);
/// What was found, with the text for which a cell may have no room, and what to do.
QString cell_tooltip(const app::CheckCell& cell, const QString& meaning);
QColor state_color(app::CheckState state, const Tokens& tokens);
/// "✓", "▲", "✕", "?", or empty.
QString state_sign(app::CheckState state);
/// "this machine" for local, else the name.
QString host_words(const std::string& name);
/// Words of more than 24 characters with places at which a label may begin a new line (zero-width spaces): a long name must neither be cut
/// nor make the window wider.
QString breakable(const QString& text);

}  // namespace n2nq::ui
