// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/tokens.h"

namespace n2nq::ui {

const Tokens& light_tokens() {
  static const Tokens tokens{
      .background = "#F4F5F7",
      .surface = "#FFFFFF",
      .border = "#D9DCE1",
      .text = "#1D2129",
      .secondary = "#5B6270",
      .primary = "#124191",
      .on_primary = "#FFFFFF",
      .good = "#197742",
      .warning = "#975A00",
      .bad = "#C62828",
      .series = {"#124191", "#E08A00", "#C62828", "#2E9E5B", "#8A5CC2", "#00838F", "#6D4C41", "#5B6270"},
  };
  return tokens;
}

const Tokens& dark_tokens() {
  static const Tokens tokens{
      .background = "#16181D",
      .surface = "#1F2229",
      .border = "#343943",
      .text = "#E8EAED",
      .secondary = "#9AA3B2",
      .primary = "#6EA0F5",
      .on_primary = "#10141C",
      .good = "#4CC38A",
      .warning = "#F0A83C",
      .bad = "#FF6B6B",
      .series = {"#6EA0F5", "#F2B44E", "#FF6B6B", "#63CF92", "#B894E6", "#4FC0CB", "#B5947F", "#9AA3B2"},
  };
  return tokens;
}

QColor mixed(const QColor& over, const QColor& under, double share) {
  const auto channel = [share](int a, int b) { return static_cast<int>(a * share + b * (1 - share) + 0.5); };
  return QColor(channel(over.red(), under.red()), channel(over.green(), under.green()), channel(over.blue(), under.blue()));
}

}  // namespace n2nq::ui
