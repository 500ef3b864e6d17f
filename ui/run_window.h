// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace n2nq::ui {

/// Opens the window and returns the program's exit code when it is closed. Makes the QApplication itself.
/// `hosts_file`: of the lab machines; empty: the user's own.
/// With N2NQ_UI_STATS=1 in the environment it prints at the end, on stderr, the longest stall of the window and the processor time used.
int run_window(int argc, char** argv, const QString& hosts_file);

}  // namespace n2nq::ui
