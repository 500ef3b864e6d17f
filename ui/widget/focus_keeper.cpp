// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/focus_keeper.h"

#include <QApplication>
#include <QEvent>

namespace n2nq::ui {

FocusKeeper::FocusKeeper(QWidget& window) : QObject(&window), window_(window) {
  connect(qApp, &QApplication::focusChanged, this, &FocusKeeper::focus_changed);
}

void FocusKeeper::focus_changed(QWidget* old_place, QWidget* new_place) {
  if (lost_ && new_place != nullptr && new_place != refuge_ && new_place->window() == &window_) forget();
  if (old_place == nullptr || old_place->window() != &window_ || old_place->isEnabled() || !old_place->isVisible()) return;
  QWidget* parent = old_place->parentWidget();
  if (parent == nullptr || !parent->isEnabled()) return;
  forget();
  lost_ = old_place;
  refuge_ = parent;
  lost_->installEventFilter(this);
  refuge_->setFocus(Qt::OtherFocusReason);
}

bool FocusKeeper::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::EnabledChange && watched == lost_ && lost_->isEnabled()) {
    QWidget* control = lost_;
    const bool untouched = window_.focusWidget() == refuge_;
    forget();
    if (untouched) control->setFocus(Qt::OtherFocusReason);
  }
  return QObject::eventFilter(watched, event);
}

void FocusKeeper::forget() {
  if (lost_) lost_->removeEventFilter(this);
  lost_.clear();
  refuge_.clear();
}

}  // namespace n2nq::ui
