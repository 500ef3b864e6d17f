// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench presets`: what can be named behind `run`.
#pragma once

#include "app/cli/terminal.h"
#include "app/settings/presets.h"

namespace n2nq::app {

void list_presets(const Presets& presets, Terminal& terminal);

}  // namespace n2nq::app
