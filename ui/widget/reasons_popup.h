// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences that fold out below a button, to be read, selected and copied; goes away by itself.
#pragma once

#include <QFrame>
#include <QStringList>

namespace n2nq::ui {

class ReasonsPopup : public QFrame {
  Q_OBJECT
 public:
  explicit ReasonsPopup(const QStringList& sentences, QWidget* parent);
  void open_below(QWidget* anchor);
};

}  // namespace n2nq::ui
