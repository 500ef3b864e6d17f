// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/reasons_popup.h"

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
constexpr int width_px = 480;
constexpr int height_max_px = 240;
}  // namespace

ReasonsPopup::ReasonsPopup(const QStringList& sentences, QWidget* parent) : QFrame(parent, Qt::Popup) {
  setAttribute(Qt::WA_DeleteOnClose);
  setProperty("card", true);
  setObjectName(QStringLiteral("reasons_popup"));
  setAccessibleName(QStringLiteral("Reasons of the verdict"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::between, space::between, space::between, space::between);
  all->setSpacing(space::in_row);
  auto* text = described(new QPlainTextEdit(sentences.join(QStringLiteral("\n"))), "reasons_text", QStringLiteral("Reasons"), QString());
  text->setReadOnly(true);
  all->addWidget(text);
  auto* copy = small_button("reasons_copy", QStringLiteral("Copy"), QStringLiteral("Copies all reasons"));
  all->addWidget(copy, 0, Qt::AlignRight);
  connect(copy, &QPushButton::clicked, this, [sentences] { QGuiApplication::clipboard()->setText(sentences.join(u'\n')); });
  const int line = fontMetrics().lineSpacing();
  const int lines = static_cast<int>(sentences.size()) * 2 + 2;
  setFixedSize(width_px, qMin(height_max_px, lines * line + 2 * space::card + control_height_px + line));
}

void ReasonsPopup::open_below(QWidget* anchor) {
  QPoint at = anchor->mapToGlobal(QPoint(0, anchor->height() + space::in_row));
  const QRect room = anchor->screen()->availableGeometry();
  at.setX(qMin(at.x(), room.right() - width()));
  at.setY(qMin(at.y(), room.bottom() - height()));
  move(at);
  show();
}

}  // namespace n2nq::ui
