// SPDX-License-Identifier: GPL-3.0-or-later
// Errors and remarks of the window: the latest in a line, or in smaller letters in two, whose room is there whether there is one or not, and
// all of them folded behind it, to be read and copied. No dialog. Once they are gone the focus is back where it was before somebody came
// here by keys.
#pragma once

#include <QFrame>
#include <QList>
#include <QPointer>
#include <QStringList>

#include "ui/theme/theme.h"

class QPushButton;

namespace n2nq::ui {

class ElidedLabel;

class MessageBar : public QFrame {
  Q_OBJECT
 public:
  enum class Kind { remark, bad };
  /// Older messages are dropped beyond this many.
  static constexpr int messages_max = 200;

  explicit MessageBar(const Theme& theme, QWidget* parent = nullptr);
  /// `topic`: what withdraw() knows it by; empty for what stays true.
  void add(Kind kind, const QString& text, const QString& topic = {});
  /// The one message of that topic, in place of what it said before; an empty text only takes that back.
  void replace(Kind kind, const QString& text, const QString& topic);
  /// Takes back what is not so any more.
  void withdraw(const QString& topic);
  void clear();
  /// With the time of day before each.
  QStringList messages() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Message {
    Kind kind;
    QString time, text, topic;
  };
  void refresh();
  void give_focus_back();
  void show_text();
  void restyle();
  void show_all();

  const Theme& theme_;
  QList<Message> all_;
  ElidedLabel* text_;
  QPushButton *more_, *close_;
  QPointer<QWidget> before_;  // had the focus before it came in here
};

}  // namespace n2nq::ui
