// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace n2nq::ui {

/// Opens the window and returns the program's exit code when it is closed. Makes the QApplication itself.
/// With N2NQ_UI_STATS=1 in the environment it prints at the end, on stderr, the longest stall of the window and the processor time used.
int run_window(int argc, char** argv);

}  // namespace n2nq::ui
