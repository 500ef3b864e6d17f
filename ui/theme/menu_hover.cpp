// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/menu_hover.h"

#include <QCursor>
#include <QEvent>
#include <QMenu>
#include <QPushButton>

namespace n2nq::ui {

bool MenuHover::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Hide) return false;
  const auto* menu = qobject_cast<QMenu*>(watched);
  auto* button = menu != nullptr ? qobject_cast<QPushButton*>(menu->parentWidget()) : nullptr;
  if (button == nullptr || button->menu() != menu || button->rect().contains(button->mapFromGlobal(QCursor::pos()))) return false;
  button->setAttribute(Qt::WA_UnderMouse, false);
  button->update();
  return false;
}

}  // namespace n2nq::ui
