// SPDX-License-Identifier: GPL-3.0-or-later
// A button with a menu looks as if the pointer were on it for no longer than it is.
//
// While the menu is open nobody tells the button that the pointer has left it, and once the menu is closed neither.
#pragma once

#include <QObject>

namespace n2nq::ui {

/// To be installed as a filter of the application's events.
class MenuHover : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace n2nq::ui
