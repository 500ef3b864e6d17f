// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/text_popup.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QTextBlockFormat>
#include <QTextBrowser>
#include <QTextCursor>
#include <QTextDocument>
#include <QVBoxLayout>
#include <cmath>
#include <memory>

#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {
constexpr int popup_width_px = 480;
constexpr int height_max_px = 240;
constexpr int points_height_max_px = 360;
constexpr int point_indent_px = 12;

QTextBrowser* make_points(const QStringList& sentences) {
  auto* text = new QTextBrowser;
  QTextCursor at(text->document());
  QTextBlockFormat point;
  point.setLeftMargin(point_indent_px);
  point.setTextIndent(-point_indent_px);
  point.setTabPositions({QTextOption::Tab(point_indent_px, QTextOption::LeftTab)});
  for (const QString& sentence : sentences) {
    point.setTopMargin(at.atStart() ? 0 : space::between);
    if (at.atStart()) {
      at.setBlockFormat(point);
    } else {
      at.insertBlock(point);
    }
    at.insertText(QStringLiteral("•\t") + sentence);
  }
  text->moveCursor(QTextCursor::Start);
  return text;
}

}  // namespace

TextPopup::TextPopup(const QString& object_name, const QString& accessible_name, const QStringList& lines, QWidget* parent,
                     Form form)
    : QFrame(parent, Qt::Popup) {
  setAttribute(Qt::WA_DeleteOnClose);
  setProperty("card", true);
  setObjectName(object_name + QStringLiteral("_popup"));
  setAccessibleName(accessible_name);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::between, space::between, space::between, space::between);
  all->setSpacing(space::in_row);
  QTextBrowser* points = form == Form::points ? make_points(lines) : nullptr;
  QAbstractScrollArea* text = points;
  if (points == nullptr) {
    auto* plain = new QPlainTextEdit(lines.join(u'\n'));
    plain->setReadOnly(true);
    text = plain;
  }
  all->addWidget(described(text, qPrintable(object_name + QStringLiteral("_text")), accessible_name, QString()));
  auto* copy = small_button(qPrintable(object_name + QStringLiteral("_copy")), QStringLiteral("Copy"), QStringLiteral("Copies all of it"));
  all->addWidget(copy, 0, Qt::AlignRight);
  connect(copy, &QPushButton::clicked, this, [lines] { QGuiApplication::clipboard()->setText(lines.join(u'\n')); });
  const int line = fontMetrics().lineSpacing();
  if (points != nullptr) {
    ensurePolished();
    points->ensurePolished();
    // As high as they are at this width, with the frame around them and the button below. In a copy: the one that is shown takes the width
    // of a widget that was never shown.
    const int beside_px = 2 * (space::between + space::between);
    const std::unique_ptr<QTextDocument> measured(points->document()->clone());
    measured->setDefaultFont(points->font());
    measured->setTextWidth(popup_width_px - beside_px);
    const int text_px = static_cast<int>(std::ceil(measured->size().height()));
    setFixedSize(popup_width_px, qMin(points_height_max_px, text_px + beside_px + space::in_row + copy->sizeHint().height()));
    return;
  }
  const int lines_shown = static_cast<int>(lines.size()) * 2 + 2;  // most take two
  setFixedSize(popup_width_px, qMin(height_max_px, lines_shown * line + 2 * space::card + control_height_px + line));
}

void TextPopup::open_below(QWidget* anchor) {
  QPoint at = anchor->mapToGlobal(QPoint(0, anchor->height() + space::in_row));
  const QRect room = anchor->screen()->availableGeometry();
  at.setX(qMax(room.left(), qMin(at.x(), room.right() - width())));
  at.setY(qMax(room.top(), qMin(at.y(), room.bottom() - height())));
  move(at);
  show();
}

}  // namespace n2nq::ui
