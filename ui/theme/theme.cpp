// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QStyle>
#include <QStyleFactory>

#include "ui/theme/glyph_icon.h"
#include "ui/theme/menu_hover.h"
#include "ui/theme/style_sheet.h"

namespace n2nq::ui {

namespace {

constexpr int dark_below_lightness = 128;

QFont styled(const QString& family, TextStyle style) {
  QFont font(family);
  switch (style) {
    case TextStyle::body:
      font.setPixelSize(text_px::body);
      break;
    case TextStyle::strong:
      font.setPixelSize(text_px::body);
      font.setWeight(QFont::DemiBold);
      break;
    case TextStyle::title:
      font.setPixelSize(text_px::title);
      font.setWeight(QFont::DemiBold);
      break;
    case TextStyle::aggregate:
      font.setPixelSize(text_px::aggregate);
      font.setWeight(QFont::DemiBold);
      break;
    case TextStyle::caption:
      font.setPixelSize(text_px::caption);
      break;
  }
  return font;
}

}  // namespace

Theme::Theme(QObject* parent) : QObject(parent) {
  family_ = QFontDatabase::systemFont(QFontDatabase::GeneralFont).family();
  qApp->installEventFilter(new MenuHover(this));
}

void Theme::choose(ThemeChoice choice) {
  choice_ = choice;
  follow_desktop();
}

void Theme::follow_desktop() {
  bool dark = choice_ == ThemeChoice::dark;
  if (choice_ == ThemeChoice::system) {
    // An empty palette takes ours back, so that the desktop's own shows through for the reading.
    QApplication::setPalette(QPalette());
    dark = QApplication::palette().color(QPalette::Window).lightness() < dark_below_lightness;
  }
  dark_ = dark;
  apply();
}

void Theme::apply() {
  if (QApplication::style()->objectName().compare(QStringLiteral("fusion"), Qt::CaseInsensitive) != 0 && qApp->styleSheet().isEmpty()) {
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  }
  QApplication::setFont(font(TextStyle::body));
  QApplication::setPalette(palette(tokens()));
  qApp->setStyleSheet(style_sheet(tokens()));
  emit changed();
}

QFont Theme::font(TextStyle style) const {
  return styled(family_, style);
}

QFont Theme::monospaced_font() const {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setPixelSize(text_px::body);
  return font;
}

QIcon Theme::icon(Glyph glyph, const QColor& color) const {
  QIcon& drawn = icons_[{glyph, color.rgba(), is_dark()}];
  if (drawn.isNull()) drawn = glyph_icon(glyph, color, mixed(tokens().secondary, tokens().surface, 0.5));
  return drawn;
}

QPalette Theme::palette(const Tokens& t) {
  QPalette palette;
  palette.setColor(QPalette::Window, t.background);
  palette.setColor(QPalette::WindowText, t.text);
  palette.setColor(QPalette::Base, t.surface);
  palette.setColor(QPalette::AlternateBase, t.background);
  palette.setColor(QPalette::Text, t.text);
  palette.setColor(QPalette::Button, t.surface);
  palette.setColor(QPalette::ButtonText, t.text);
  palette.setColor(QPalette::BrightText, t.bad);
  palette.setColor(QPalette::ToolTipBase, t.surface);
  palette.setColor(QPalette::ToolTipText, t.text);
  palette.setColor(QPalette::PlaceholderText, t.secondary);
  palette.setColor(QPalette::Highlight, t.primary);
  palette.setColor(QPalette::HighlightedText, t.on_primary);
  palette.setColor(QPalette::Link, t.primary);
  palette.setColor(QPalette::LinkVisited, t.primary);
  palette.setColor(QPalette::Light, mixed(t.surface, t.background, 0.5));
  palette.setColor(QPalette::Midlight, t.background);
  palette.setColor(QPalette::Mid, t.border);
  palette.setColor(QPalette::Dark, t.border);
  palette.setColor(QPalette::Shadow, t.border);
  const QColor faint = mixed(t.secondary, t.surface, 0.6);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) palette.setColor(QPalette::Disabled, role, faint);
  return palette;
}

}  // namespace n2nq::ui
