// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/presets_command.h"

#include <algorithm>

#include "app/cli/terminal.h"

namespace n2nq::app {

QString presets_page(const Presets& presets) {
  const auto all = presets.list();
  std::size_t name_chars = 0;
  for (const Preset& preset : all) name_chars = std::max(name_chars, preset.name.size());
  const int width = static_cast<int>(name_chars) + 2;
  QString page;
  for (const Preset& preset : all) {
    page += left_aligned(QString::fromStdString(preset.name), width) + QString::fromStdString(preset.title) + '\n';
    if (!preset.description.empty()) page += left_aligned("", width) + QString::fromStdString(preset.description) + '\n';
  }
  return page;
}

}  // namespace n2nq::app
