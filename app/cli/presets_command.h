// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench presets`: what can be named behind `run`.
#pragma once

#include <QString>

#include "app/settings/presets.h"

namespace n2nq::app {

QString presets_page(const Presets& presets);

}  // namespace n2nq::app
