// SPDX-License-Identifier: GPL-3.0-or-later
// A push button that shows its shortcut behind its text, fainter.
#pragma once

#include <QPushButton>

namespace n2nq::ui {

class HintButton : public QPushButton {
  Q_OBJECT
 public:
  HintButton(const QString& text, const QString& hint, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString hint_;
};

}  // namespace n2nq::ui
