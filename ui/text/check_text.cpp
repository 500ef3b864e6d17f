// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/check_text.h"

#include "ui/text/figures.h"

namespace n2nq::ui {

using app::CheckState;

QString cell_text(const app::CheckCell& cell) {
  switch (cell.state) {
    case CheckState::not_checked:
      return dash();
    case CheckState::checking:
      return QStringLiteral("…");
    case CheckState::good:
    case CheckState::warning:
    case CheckState::bad:
      return state_sign(cell.state) + ' ' + cell.text;
    case CheckState::not_known:
      break;
  }
  return cell.text.isEmpty() ? QStringLiteral("unknown") : cell.text;
}

QString state_sign(app::CheckState state) {
  switch (state) {
    case CheckState::good:
      return QStringLiteral("✓");
    case CheckState::warning:
      return QStringLiteral("▲");
    case CheckState::bad:
      return QStringLiteral("✕");
    case CheckState::not_known:
      return QStringLiteral("?");
    default:
      return {};
  }
}

QString cell_tooltip(const app::CheckCell& cell, const QString& meaning) {
  // A table may have no room for all of what was found.
  const bool is_found = cell.state != CheckState::not_checked && !cell.text.isEmpty();
  QString text = is_found ? cell.text + QStringLiteral("\n\n") + meaning : meaning;
  if (cell.state == CheckState::not_checked && cell.detail.isEmpty()) text += QStringLiteral("\n\nNot checked yet.");
  if (cell.state == CheckState::checking) text += QStringLiteral("\n\nIs being checked.");
  if (!cell.detail.isEmpty()) text += QStringLiteral("\n\n") + cell.detail;
  if (!cell.what_to_do.isEmpty()) text += QStringLiteral("\nWhat to do: ") + cell.what_to_do;
  return text;
}

QColor state_color(app::CheckState state, const Tokens& tokens) {
  switch (state) {
    case CheckState::good:
      return tokens.good;
    case CheckState::warning:
      return tokens.warning;
    case CheckState::bad:
      return tokens.bad;
    default:
      return tokens.secondary;
  }
}

QString host_words(const std::string& name) {
  return name == app::local_host ? QStringLiteral("this machine") : QString::fromStdString(name);
}

QString breakable(const QString& text) {
  constexpr qsizetype long_word = 24, run_max = 16;  // characters
  QStringList words = text.split(' ');
  for (QString& word : words) {
    if (word.size() <= long_word) continue;
    QString out;
    qsizetype run = 0;
    for (const QChar c : word) {
      out += c;
      const bool may_end = QStringLiteral("._-@/").contains(c) || ++run == run_max;
      if (!may_end) continue;
      out += QChar(0x200b);
      run = 0;
    }
    word = out;
  }
  return words.join(' ');
}

}  // namespace n2nq::ui
