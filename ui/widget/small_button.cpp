// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/small_button.h"

#include <QToolButton>

#include "ui/widget/card.h"

namespace n2nq::ui {

QToolButton* small_button(const char* object_name, const QString& text, const QString& tooltip) {
  auto* button = described(new QToolButton, object_name, text, tooltip);
  button->setText(text);
  button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  button->setProperty("small", true);
  button->setFocusPolicy(Qt::StrongFocus);
  return button;
}

}  // namespace n2nq::ui
