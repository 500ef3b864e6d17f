// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the keyboard's place when a control is disabled while it has the focus.
//
// Qt hands the focus on to the next control then, so that the next press of the space bar would do something nobody meant. Here it waits at
// the control's parent, from where Tab goes on as before, and comes back once the control is enabled again and nobody moved it meanwhile.
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

namespace n2nq::ui {

class FocusKeeper : public QObject {
  Q_OBJECT
 public:
  /// Belongs to the window whose controls it looks after.
  explicit FocusKeeper(QWidget& window);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void focus_changed(QWidget* old_place, QWidget* new_place);
  void forget();

  QWidget& window_;
  QPointer<QWidget> lost_, refuge_;
};

}  // namespace n2nq::ui
