// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/message_bar.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTime>

#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {
constexpr int details_height_px = 120;
}

MessageBar::MessageBar(const Theme& theme, QWidget* parent) : QFrame(parent), theme_(theme) {
  setObjectName(QStringLiteral("message_bar"));
  setAccessibleName(QStringLiteral("Messages"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::in_row, space::between, space::in_row);
  all->setSpacing(space::in_row);
  auto* row = new QHBoxLayout;
  row->setSpacing(space::in_row);
  text_ = described(new ElidedLabel, "message_text", QStringLiteral("Latest message"), QString());
  row->addWidget(text_, 1);
  more_ = small_button("message_more", QStringLiteral("Details"), QStringLiteral("Shows or hides all messages, in full"));
  more_->setCheckable(true);
  copy_ = small_button("message_copy", QStringLiteral("Copy"), QStringLiteral("Copies all messages"));
  close_ = small_button("message_close", QStringLiteral("Dismiss"), QStringLiteral("Hides the messages and forgets them"));
  for (QPushButton* button : {more_, copy_, close_}) row->addWidget(button);
  all->addLayout(row);
  details_ = described(new QPlainTextEdit, "message_details", QStringLiteral("All messages"), QString());
  details_->setReadOnly(true);
  details_->setFixedHeight(details_height_px);
  details_->hide();
  all->addWidget(details_);

  connect(more_, &QPushButton::toggled, details_, &QWidget::setVisible);
  connect(copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(messages_.join(u'\n')); });
  connect(close_, &QPushButton::clicked, this, &MessageBar::clear);
  connect(&theme, &Theme::changed, this, &MessageBar::restyle);
  restyle();
  hide();
}

void MessageBar::restyle() {
  more_->setIcon(theme_.icon(Glyph::list, theme_.tokens().secondary));
  copy_->setIcon(theme_.icon(Glyph::copy, theme_.tokens().secondary));
  close_->setIcon(theme_.icon(Glyph::close, theme_.tokens().secondary));
}

void MessageBar::add(Kind kind, const QString& text) {
  if (messages_.size() >= messages_max) messages_.removeFirst();
  messages_ << QStringLiteral("%1  %2").arg(QTime::currentTime().toString(QStringLiteral("HH:mm:ss")), text);
  kind_ = kind;
  text_->set_text((kind == Kind::bad ? QStringLiteral("✕ ") : QStringLiteral("ℹ ")) + text);
  refresh();
}

void MessageBar::clear() {
  messages_.clear();
  more_->setChecked(false);
  refresh();
}

void MessageBar::refresh() {
  set_style_property(this, "notice", kind_ == Kind::bad ? QStringLiteral("bad") : QStringLiteral("remark"));
  more_->setText(messages_.size() > 1 ? QStringLiteral("All %1").arg(messages_.size()) : QStringLiteral("Details"));
  details_->setPlainText(messages_.join(u'\n'));
  setVisible(!messages_.isEmpty());
}

}  // namespace n2nq::ui
