// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/message_bar.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QTime>

#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/small_button.h"
#include "ui/widget/text_popup.h"

namespace n2nq::ui {

MessageBar::MessageBar(const Theme& theme, QWidget* parent) : QFrame(parent), theme_(theme) {
  setObjectName(QStringLiteral("message_bar"));
  setAccessibleName(QStringLiteral("Messages"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(space::between, 1, space::in_row, 1);
  row->setSpacing(space::in_row);
  text_ = described(new ElidedLabel, "message_text", QStringLiteral("Latest message"), QString());
  row->addWidget(text_, 1);
  more_ = small_button("message_more", QStringLiteral("Details"), QStringLiteral("Shows all messages, in full, to be copied"));
  close_ = small_button("message_close", QStringLiteral("Dismiss"), QStringLiteral("Hides the messages and forgets them"));
  for (QPushButton* button : {more_, close_}) row->addWidget(button);
  connect(more_, &QPushButton::clicked, this, &MessageBar::show_all);
  connect(close_, &QPushButton::clicked, this, &MessageBar::clear);
  connect(&theme, &Theme::changed, this, &MessageBar::restyle);
  restyle();
  hide();
}

void MessageBar::restyle() {
  more_->setIcon(theme_.icon(Glyph::list, theme_.tokens().secondary));
  close_->setIcon(theme_.icon(Glyph::close, theme_.tokens().secondary));
}

void MessageBar::add(Kind kind, const QString& text, const QString& topic) {
  if (all_.size() >= messages_max) all_.removeFirst();
  all_ << Message{kind, QTime::currentTime().toString(QStringLiteral("HH:mm:ss")), text, topic};
  refresh();
}

void MessageBar::replace(Kind kind, const QString& text, const QString& topic) {
  withdraw(topic);
  if (!text.isEmpty()) add(kind, text, topic);
}

void MessageBar::withdraw(const QString& topic) {
  if (all_.removeIf([&topic](const Message& message) { return message.topic == topic; }) > 0) refresh();
}

void MessageBar::clear() {
  all_.clear();
  refresh();
}

QStringList MessageBar::messages() const {
  QStringList lines;
  for (const Message& message : all_) lines << QStringLiteral("%1  %2").arg(message.time, message.text);
  return lines;
}

void MessageBar::show_all() {
  auto* popup = new TextPopup(QStringLiteral("messages"), QStringLiteral("All messages"), messages(), this);
  popup->open_below(more_);
}

void MessageBar::refresh() {
  setVisible(!all_.isEmpty());
  if (all_.isEmpty()) return;
  const bool bad = all_.last().kind == Kind::bad;
  set_style_property(this, "notice", bad ? QStringLiteral("bad") : QStringLiteral("remark"));
  text_->set_text((bad ? QStringLiteral("✕ ") : QStringLiteral("ℹ ")) + all_.last().text);
  more_->setText(all_.size() > 1 ? QStringLiteral("All %1").arg(all_.size()) : QStringLiteral("Details"));
}

}  // namespace n2nq::ui
