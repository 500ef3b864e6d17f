// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/text_popup.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QVBoxLayout>

#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {
constexpr int popup_width_px = 480;
constexpr int height_max_px = 240;
}  // namespace

TextPopup::TextPopup(const QString& object_name, const QString& accessible_name, const QStringList& lines, QWidget* parent)
    : QFrame(parent, Qt::Popup) {
  setAttribute(Qt::WA_DeleteOnClose);
  setProperty("card", true);
  setObjectName(object_name + QStringLiteral("_popup"));
  setAccessibleName(accessible_name);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::between, space::between, space::between, space::between);
  all->setSpacing(space::in_row);
  auto* text =
      described(new QPlainTextEdit(lines.join(u'\n')), qPrintable(object_name + QStringLiteral("_text")), accessible_name, QString());
  text->setReadOnly(true);
  all->addWidget(text);
  auto* copy = small_button(qPrintable(object_name + QStringLiteral("_copy")), QStringLiteral("Copy"), QStringLiteral("Copies all of it"));
  all->addWidget(copy, 0, Qt::AlignRight);
  connect(copy, &QPushButton::clicked, this, [lines] { QGuiApplication::clipboard()->setText(lines.join(u'\n')); });
  const int line = fontMetrics().lineSpacing();
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
