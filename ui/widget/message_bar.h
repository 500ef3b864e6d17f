// SPDX-License-Identifier: GPL-3.0-or-later
// Errors and remarks of the page: the latest in one line, all of them folded behind it, to be read and copied. No dialog.
#pragma once

#include <QFrame>
#include <QStringList>

#include "ui/theme/theme.h"

class QPlainTextEdit;
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
  void add(Kind kind, const QString& text);
  void clear();
  QStringList messages() const { return messages_; }

 private:
  void refresh();
  void restyle();

  const Theme& theme_;
  QStringList messages_;
  Kind kind_ = Kind::remark;
  ElidedLabel* text_;
  QPushButton *more_, *copy_, *close_;
  QPlainTextEdit* details_;
};

}  // namespace n2nq::ui
