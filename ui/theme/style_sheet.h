// SPDX-License-Identifier: GPL-3.0-or-later
// The style sheet of a theme: one text, filled with that theme's tokens.
#pragma once

#include <QString>

#include "ui/theme/tokens.h"

namespace n2nq::ui {

/// A static library's resources are only linked when somebody asks for them; style_sheet() does.
void link_icons();
QString style_sheet(const Tokens& tokens);

}  // namespace n2nq::ui
