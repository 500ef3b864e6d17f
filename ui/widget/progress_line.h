// SPDX-License-Identifier: GPL-3.0-or-later
// How far something is: a thin bar over the whole width, painted by itself.
#pragma once

#include <QWidget>

#include "ui/theme/theme.h"

namespace n2nq::ui {

class ProgressLine : public QWidget {
  Q_OBJECT
 public:
  explicit ProgressLine(const Theme& theme, QWidget* parent = nullptr);
  /// 0…1.
  void set_share(double share);
  double share() const { return share_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  double share_ = 0;
};

}  // namespace n2nq::ui
