// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/presets_command.h"

#include <algorithm>

namespace n2nq::app {

void list_presets(const Presets& presets, Terminal& terminal) {
  const auto all = presets.list();
  std::size_t width = 0;
  for (const Preset& preset : all) width = std::max(width, preset.name.size());
  for (const Preset& preset : all) {
    terminal.print(left_aligned(QString::fromStdString(preset.name), static_cast<int>(width) + 2) + QString::fromStdString(preset.title) +
                   '\n');
    if (!preset.description.empty())
      terminal.print(left_aligned("", static_cast<int>(width) + 2) + QString::fromStdString(preset.description) + '\n');
  }
}

}  // namespace n2nq::app
