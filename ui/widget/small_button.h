// SPDX-License-Identifier: GPL-3.0-or-later
// A flat button of caption size, for things beside the matter: copy, fold, pause.
#pragma once

#include <QString>

class QPushButton;

namespace n2nq::ui {

QPushButton* small_button(const char* object_name, const QString& text, const QString& tooltip);

}  // namespace n2nq::ui
