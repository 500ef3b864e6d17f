// SPDX-License-Identifier: GPL-3.0-or-later
// Light or dark, as the desktop says or as the person chose; hands out colours, fonts and icons made from the tokens.
#pragma once

#include <QFont>
#include <QIcon>
#include <QObject>
#include <QPalette>
#include <map>
#include <tuple>

#include "ui/theme/tokens.h"

namespace n2nq::ui {

enum class ThemeChoice { system, light, dark };
enum class TextStyle { body, strong, title, aggregate, caption };
enum class Glyph {
  play,
  stop,
  list,
  chevron_down,
  chevron_right,
  chevron_up,
  close,
  copy,
  folder,
  menu,
  pause,
  live,
  search,
  external,
  check
};

class Theme : public QObject {
  Q_OBJECT
 public:
  /// Needs a running QApplication, whose font and style it reads; sets nothing before apply().
  explicit Theme(QObject* parent = nullptr);

  /// Chooses and shows it in the whole application.
  void choose(ThemeChoice choice);
  ThemeChoice choice() const { return choice_; }
  /// Reads the desktop's palette again; called when the desktop says that its theme changed.
  void follow_desktop();

  bool is_dark() const { return dark_; }
  const Tokens& tokens() const { return dark_ ? dark_tokens() : light_tokens(); }
  QFont font(TextStyle style) const;
  QFont monospaced_font() const;
  /// Drawn once for each colour.
  QIcon icon(Glyph glyph, const QColor& color) const;
  /// In the text colour.
  QIcon icon(Glyph glyph) const { return icon(glyph, tokens().text); }

  static QPalette palette(const Tokens& tokens);

 signals:
  void changed();

 private:
  void apply();

  ThemeChoice choice_ = ThemeChoice::system;
  bool dark_ = false;
  QString family_;
  mutable std::map<std::tuple<Glyph, QRgb, bool>, QIcon> icons_;  // a start changes dozens of buttons in one go
};

}  // namespace n2nq::ui
