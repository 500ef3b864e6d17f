// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/style_sheet.h"

#include <QHash>
#include <QRegularExpression>

// Not possible inside of a namespace.
static void init_icons() {
  Q_INIT_RESOURCE(icons);
}

namespace n2nq::ui {

namespace {

// Names between @ are filled in by style_sheet(). Widgets say what they are by a property: card, role, main, segment, refused, locked.
// Qt draws the text of a table's cell 3 px inside of its padding, that of a heading at it: 3 and 6 px stand above each other.
// What has the focus and is filled has two lines of the colour of its text around it, with its own between them: one alone would be lost on
// a ground of that colour. Padding and height are less by as much, so that nothing moves.
constexpr const char* sheet = R"(
QMainWindow, QDialog { background: @background@; }
QToolTip { background: @surface@; color: @text@; border: 1px solid @border@; padding: 4px 8px; }
QLabel { background: transparent; color: @text@; }
QLabel[role="title"] { font-size: @title_px@px; font-weight: 600; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[verdict="clean"] { color: @good@; }
QLabel[verdict="degraded"] { color: @warning@; }
QLabel[verdict="broken"] { color: @bad@; }
QLabel[role="secondary"] { color: @secondary@; }
QLabel[role="caption"] { color: @secondary@; font-size: @caption_px@px; }
QLabel[tone="warning"] { color: @warning@; }
QLabel[role="problem"] { color: @bad@; font-size: @caption_px@px; }

QFrame[card="true"] { background: @surface@; border: 1px solid @border@; border-radius: @radius@px; }
QFrame[band="true"] { background: @surface@; border: none; border-bottom: 1px solid @border@; }
QFrame[band="bottom"] { background: @surface@; border: none; border-top: 1px solid @border@; }
QFrame[well="true"] { background: @background@; border: none; border-radius: @radius@px; }
QFrame[notice="bad"] { background: @bad_tint@; border: 1px solid @bad_line@; border-radius: @radius@px; }
QFrame[notice] QLabel[long="true"] { font-size: @caption_px@px; }
QFrame[notice="remark"] { background: @primary_tint@; border: 1px solid @primary_line@; border-radius: @radius@px; }

QPushButton {
  background: @surface@; color: @text@; border: 1px solid @border@; border-radius: @radius@px;
  padding: 0 12px; min-height: @control@px; max-height: @control@px;
  outline: none;
}
QPushButton:hover { background: @hover@; }
QPushButton:pressed { background: @pressed@; }
QPushButton:focus { border-color: @primary@; }
QPushButton:disabled { color: @faint@; background: @surface@; border-color: @border@; }
QPushButton[main="true"] { background: @primary@; color: @on_primary@; border-color: @primary@; }
QPushButton[main="true"]:hover { background: @primary_hover@; }
QPushButton[main="true"]:pressed { background: @primary_pressed@; }
QPushButton[main="true"]:focus {
  border: 3px double @on_primary@; padding: 0 10px; min-height: @control_in_ring@px; max-height: @control_in_ring@px;
}
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[small="true"] {
  border: 1px solid transparent; border-radius: 4px; padding: 0 3px; min-height: 20px; max-height: 20px;
  color: @secondary@; background: transparent; font-size: @caption_px@px;
}
QPushButton[small="true"]:hover { background: @hover@; color: @text@; }
QPushButton[small="true"]:focus { border-color: @primary@; }
QPushButton[small="true"]:checked { background: @primary_tint@; color: @primary@; }
QPushButton[small="true"]:disabled { color: @faint@; }

QPushButton[segment="first"], QPushButton[segment="middle"], QPushButton[segment="last"] { border-radius: 0; }
QPushButton[segment="middle"] { border-right: none; }
QPushButton[segment="first"] { border-top-left-radius: @radius@px; border-bottom-left-radius: @radius@px; border-right: none; }
QPushButton[segment="last"] { border-top-right-radius: @radius@px; border-bottom-right-radius: @radius@px; }
QPushButton[segment="first"]:checked, QPushButton[segment="middle"]:checked, QPushButton[segment="last"]:checked {
  background: @primary@; color: @on_primary@; border-color: @primary@; font-weight: 600;
}
QPushButton[segment="first"]:checked:focus, QPushButton[segment="middle"]:checked:focus, QPushButton[segment="last"]:checked:focus {
  border: 3px double @on_primary@; padding: 0 10px; min-height: @control_in_ring@px; max-height: @control_in_ring@px;
}
QPushButton[segment="first"]:checked:focus, QPushButton[segment="middle"]:checked:focus { padding-right: 9px; }
QPushButton[segment="first"]:checked:disabled, QPushButton[segment="middle"]:checked:disabled, QPushButton[segment="last"]:checked:disabled {
  background: @primary_muted@; color: @on_primary@; border-color: @primary_muted@;
}

QLineEdit, QComboBox {
  background: @surface@; color: @text@; border: 1px solid @border@; border-radius: @radius@px; padding: 0 8px;
  min-height: @control@px; max-height: @control@px;
  selection-background-color: @primary@; selection-color: @on_primary@;
}
QLineEdit:hover, QComboBox:hover { border-color: @secondary@; }
QLineEdit:focus, QComboBox:focus { border-color: @primary@; }
QLineEdit[refused="true"], QComboBox[refused="true"] { border-color: @bad@; }
QLineEdit[refused="true"]:focus, QComboBox[refused="true"]:focus {
  border: 2px solid @bad@; padding: 0 7px; min-height: @control_in_line@px; max-height: @control_in_line@px;
}
QLineEdit[locked="true"], QComboBox[locked="true"], QLineEdit:disabled { background: @background@; color: @secondary@; border-color: @background@; }
QLineEdit[locked="true"]:focus, QComboBox[locked="true"]:focus { border-color: @primary@; }
QComboBox { padding-right: 20px; }
QComboBox[refused="true"]:focus { padding-right: 19px; }
QComboBox[plain="true"] { border-color: transparent; color: @secondary@; padding-left: 4px; }
QComboBox[plain="label"] {
  border: none; border-bottom: 1px solid transparent; border-radius: 0; color: @secondary@; padding-left: 0; background: transparent;
}
QComboBox[plain="label"]:hover { color: @text@; }
QComboBox[plain="label"]:focus { border-bottom: 1px solid @primary@; }
QComboBox[plain="true"]:hover { border-color: @border@; }
QComboBox[plain="true"]:focus { border-color: @primary@; }
QComboBox[plain][locked="true"] { background: transparent; border-color: transparent; }
QComboBox[plain][locked="true"]:focus { border-color: @primary@; }
QComboBox::drop-down { border: none; width: 0; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView {
  background: @surface@; color: @text@; border: 1px solid @border@; padding: 4px; outline: 0;
  selection-background-color: @primary_tint@; selection-color: @text@;
}

QMenu { background: @surface@; color: @text@; border: 1px solid @border@; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: @primary_tint@; }
QMenu::item:disabled { color: @faint@; }
QMenu::separator { height: 1px; background: @border@; margin: 4px 8px; }
QMenu::icon { padding-left: 8px; }

QTabBar { background: transparent; outline: 0; }
QTabBar::tab {
  background: transparent; color: @secondary@; padding: 0 16px; min-height: 33px; border: none; border-bottom: 2px solid transparent;
}
QTabBar::tab:hover { color: @text@; }
QTabBar::tab:selected { color: @primary@; border-bottom: 2px solid @primary@; }
QTabBar::tab:focus { color: @primary@; border: 2px solid @primary@; border-radius: 4px; padding: 0 14px 2px 14px; min-height: 29px; }

QTableView {
  background: @surface@; color: @text@; border: none; outline: 0; gridline-color: transparent;
  selection-background-color: @primary_tint@; selection-color: @text@;
}
QTableView::item { border-bottom: 1px solid @line@; padding: 0 3px; }
QTableView::item:selected { background: @primary_tint@; }
QTableWidget { border: 1px solid transparent; }
QListWidget { background: @surface@; color: @text@; border: 1px solid transparent; border-right-color: @border@; outline: 0; }
QDialog QListWidget { border: 1px solid @border@; border-radius: 4px; }
QListWidget::item { padding: 5px 8px; border-radius: 4px; margin-right: 8px; }
QListWidget::item:disabled { color: @faint@; }
QListWidget::item:hover { background: @background@; }
QListWidget::item:selected { background: @primary_tint@; color: @text@; }
QHeaderView { background: @surface@; border: none; }
QHeaderView::section {
  background: @surface@; color: @secondary@; border: none; border-bottom: 1px solid @border@; padding: 0 6px; font-weight: 400;
}
QHeaderView::section:vertical { border-bottom: 1px solid @line@; }
QTableCornerButton::section { background: @surface@; border: none; }

QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @handle@; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @secondary@; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: @primary_line@; }
QPlainTextEdit, QTextBrowser {
  background: @surface@; color: @text@; border: 1px solid @border@; border-radius: @radius@px; padding: 4px;
  selection-background-color: @primary@; selection-color: @on_primary@;
}
QTextBrowser[plain="true"] { border-color: transparent; padding: 3px 0; }
QTableWidget:focus, QListWidget:focus, QPlainTextEdit:focus, QTextBrowser:focus { border: 1px solid @primary@; }
QTextBrowser[plain="true"]:focus { border-color: @primary@; }
QCheckBox { color: @text@; spacing: 8px; background: transparent; }
QCheckBox:disabled { color: @faint@; }
QCheckBox::indicator, QAbstractItemView::indicator { width: 14px; height: 14px; border: 1px solid @secondary@; border-radius: 3px; background: @surface@; }
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked { background: @primary@; border-color: @primary@; image: url(:/icons/check.png); }
QCheckBox::indicator:focus { border-color: @primary@; }
QCheckBox::indicator:disabled, QAbstractItemView::indicator:disabled { border-color: @border@; background: @background@; }
QAbstractItemView::indicator:checked:disabled { border-color: @primary_muted@; background: @primary_muted@; }
)";

QHash<QString, QString> values(const Tokens& t) {
  const auto hex = [](const QColor& color) { return color.name(); };
  const auto px = [](int value) { return QString::number(value); };
  return {
      {QStringLiteral("background"), hex(t.background)},
      {QStringLiteral("surface"), hex(t.surface)},
      {QStringLiteral("border"), hex(t.border)},
      {QStringLiteral("text"), hex(t.text)},
      {QStringLiteral("secondary"), hex(t.secondary)},
      {QStringLiteral("primary"), hex(t.primary)},
      {QStringLiteral("on_primary"), hex(t.on_primary)},
      {QStringLiteral("good"), hex(t.good)},
      {QStringLiteral("warning"), hex(t.warning)},
      {QStringLiteral("bad"), hex(t.bad)},
      {QStringLiteral("line"), hex(mixed(t.border, t.surface, 0.55))},
      {QStringLiteral("hover"), hex(mixed(t.text, t.surface, 0.05))},
      {QStringLiteral("pressed"), hex(mixed(t.text, t.surface, 0.1))},
      {QStringLiteral("faint"), hex(mixed(t.secondary, t.surface, 0.6))},
      {QStringLiteral("handle"), hex(mixed(t.secondary, t.surface, 0.35))},
      {QStringLiteral("primary_hover"), hex(mixed(t.on_primary, t.primary, 0.12))},
      {QStringLiteral("primary_pressed"), hex(mixed(t.text, t.primary, 0.25))},
      {QStringLiteral("primary_muted"), hex(mixed(t.primary, t.surface, 0.55))},
      {QStringLiteral("primary_tint"), hex(mixed(t.primary, t.surface, 0.12))},
      {QStringLiteral("primary_line"), hex(mixed(t.primary, t.surface, 0.4))},
      {QStringLiteral("bad_tint"), hex(mixed(t.bad, t.surface, 0.1))},
      {QStringLiteral("bad_line"), hex(mixed(t.bad, t.surface, 0.45))},
      {QStringLiteral("radius"), px(radius_px)},
      {QStringLiteral("control"), px(control_height_px - 2)},          // without the border
      {QStringLiteral("control_in_line"), px(control_height_px - 4)},  // likewise of 2 px
      {QStringLiteral("control_in_ring"), px(control_height_px - 6)},  // and of 3 px
      {QStringLiteral("title_px"), px(text_px::title)},
      {QStringLiteral("caption_px"), px(text_px::caption)},
  };
}

}  // namespace

void link_icons() {
  init_icons();
}

QString style_sheet(const Tokens& tokens) {
  link_icons();
  const QHash<QString, QString> value = values(tokens);
  const QString source = QString::fromUtf8(sheet);
  static const QRegularExpression name(QStringLiteral("@([a-z_]+)@"));
  QString out;
  qsizetype done = 0;
  for (auto matches = name.globalMatch(source); matches.hasNext();) {
    const auto match = matches.next();
    out += QStringView(source).mid(done, match.capturedStart() - done);
    out += value.value(match.captured(1));
    done = match.capturedEnd();
  }
  return out + source.mid(done);
}

}  // namespace n2nq::ui
