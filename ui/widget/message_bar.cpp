// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/message_bar.h"

#include <QApplication>
#include <QFontMetrics>
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
  row->setContentsMargins(space::between, 0, space::in_row, 0);
  row->setSpacing(space::in_row);
  text_ = described(new ElidedLabel, "message_text", QStringLiteral("Latest message"), QString());
  text_->set_grows();
  row->addWidget(text_, 1);
  more_ = small_button("message_more", QStringLiteral("Details"), QStringLiteral("Shows all messages, in full, to be copied"));
  close_ = small_button("message_close", QStringLiteral("Dismiss"), QStringLiteral("Hides the messages and forgets them"));
  for (QPushButton* button : {more_, close_}) {
    button->setFocusPolicy(Qt::TabFocus);  // a click leaves the keyboard where it was: the bar may hide with it
    row->addWidget(button);
  }
  connect(more_, &QPushButton::clicked, this, &MessageBar::show_all);
  connect(close_, &QPushButton::clicked, this, &MessageBar::clear);
  connect(&theme, &Theme::changed, this, &MessageBar::restyle);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget* old_place, QWidget* new_place) {
    if (old_place != nullptr && old_place->window() == window() && !isAncestorOf(old_place) && isAncestorOf(new_place)) before_ = old_place;
  });
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

// Hidden with the focus in it, Qt would hand that on to whatever comes next.
void MessageBar::give_focus_back() {
  if (before_ && before_->isVisible() && before_->isEnabled() && isAncestorOf(window()->focusWidget()))
    before_->setFocus(Qt::OtherFocusReason);
}

void MessageBar::refresh() {
  if (all_.isEmpty()) give_focus_back();
  setVisible(!all_.isEmpty());
  if (all_.isEmpty()) return;
  const bool bad = all_.last().kind == Kind::bad;
  set_style_property(this, "notice", bad ? QStringLiteral("bad") : QStringLiteral("remark"));
  more_->setText(all_.size() > 1 ? QStringLiteral("All %1").arg(all_.size()) : QStringLiteral("Details"));
  show_text();
}

/// What is too long for a line has two, which have room in the same height where letters are smaller.
void MessageBar::show_text() {
  if (all_.isEmpty()) return;
  const QString text = (all_.last().kind == Kind::bad ? QStringLiteral("✕ ") : QStringLiteral("ℹ ")) + all_.last().text;
  const bool is_long = text.contains(u'\n') || QFontMetrics(theme_.font(TextStyle::body)).horizontalAdvance(text) > text_->contentsRect().width();
  set_style_property(text_, "long", is_long);
  text_->set_text(text);
}

void MessageBar::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  show_text();
}

}  // namespace n2nq::ui
