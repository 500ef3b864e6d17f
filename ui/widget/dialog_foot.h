// SPDX-License-Identifier: GPL-3.0-or-later
// What stands at the foot of a dialog: Cancel, and the button that does what the dialog is for.
#pragma once

#include <QString>

class QDialog;
class QPushButton;
class QVBoxLayout;

namespace n2nq::ui {

/// Adds both, at the right: Cancel rejects the dialog, the other one, which is returned, accepts it, as Enter does.
QPushButton* add_dialog_foot(QDialog& dialog, QVBoxLayout& all, const char* cancel_name, const char* main_name, const QString& main_text);

}  // namespace n2nq::ui
