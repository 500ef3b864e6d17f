// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/settings_command.h"

#include "app/settings/settings.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

std::string accepted(const KeyInfo& info) {
  std::string text;
  for (const auto& word : info.words) text += (text.empty() ? "`" : ", `") + std::string(word) + "`";
  if (!text.empty()) return text;
  if (info.min == 0 && info.max == 0) return "text";
  // A double cannot hold the largest 64-bit number.
  return decimal_text(info.min) + " to " + (info.max > 9e18 ? std::string("2^63 - 1") : decimal_text(info.max));
}

}  // namespace

std::string settings_page() {
  std::string page =
      "# Settings\n\n"
      "Every key of a settings file and of `--set`. Printed by `n2nq-bench settings`; a test keeps this page equal to it. What is limited for\n"
      "good, and why, stands in docs/architecture.md (N2NQ's memory).\n\n"
      "| key | default | takes | unit | meaning |\n|---|---|---|---|---|\n";
  const Settings defaults;
  for (const KeyInfo& info : keys()) {
    const std::string value = value_text(defaults, info.key);
    page += "| `" + std::string(info.key) + "` | " + (value.empty() ? "–" : "`" + value + "`") + " | " + accepted(info) + " | " +
            std::string(info.unit) + " | " + std::string(info.meaning) + " |\n";
  }
  return page;
}

}  // namespace n2nq::app
