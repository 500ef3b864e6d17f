// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/small_button.h"

#include <QPushButton>

#include "ui/widget/card.h"

namespace n2nq::ui {

QPushButton* small_button(const char* object_name, const QString& text, const QString& tooltip) {
  auto* button = described(new QPushButton, object_name, text, tooltip);
  button->setText(text);
  button->setProperty("small", true);
  return button;
}

}  // namespace n2nq::ui
