// SPDX-License-Identifier: GPL-3.0-or-later
// A line of text that is cut with … where room ends, the whole of it in the tooltip. Never asks for more room than it has.
#pragma once

#include <QLabel>

namespace n2nq::ui {

class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  /// `role` as in make_label(); empty: plain text.
  explicit ElidedLabel(const char* role = "", QWidget* parent = nullptr);
  void set_text(const QString& text);
  const QString& full_text() const { return full_; }
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void elide();
  QString full_;
};

}  // namespace n2nq::ui
