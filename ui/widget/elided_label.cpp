// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/elided_label.h"

namespace n2nq::ui {

ElidedLabel::ElidedLabel(const char* role, QWidget* parent) : QLabel(parent) {
  setProperty("role", QString::fromLatin1(role));
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  setTextFormat(Qt::PlainText);
}

void ElidedLabel::set_text(const QString& text) {
  full_ = text;
  setToolTip(text);
  setAccessibleDescription(text);
  elide();
}

QSize ElidedLabel::minimumSizeHint() const {
  return {0, QLabel::minimumSizeHint().height()};
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  elide();
}

void ElidedLabel::elide() {
  const QString shown = fontMetrics().elidedText(full_.section(u'\n', 0, 0), Qt::ElideRight, contentsRect().width());
  if (shown != text()) setText(shown);
}

}  // namespace n2nq::ui
