// SPDX-License-Identifier: GPL-3.0-or-later
// A button with a menu that looks like a choice box: text left, chevron right.
#pragma once

#include <QPushButton>

#include "ui/theme/theme.h"

namespace n2nq::ui {

class MenuButton : public QPushButton {
  Q_OBJECT
 public:
  explicit MenuButton(const Theme& theme, QWidget* parent = nullptr);
  /// Cut in the middle where it does not fit.
  void set_text(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  QString full_;
};

}  // namespace n2nq::ui
