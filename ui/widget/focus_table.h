// SPDX-License-Identifier: GPL-3.0-or-later
// A table that shows when it has the keyboard's focus: a frame around the current row, or where single cells are chosen around the current
// cell. What is selected looks the same with and without the focus, and keeps the colour of its text.
#pragma once

#include <QTableView>

#include "ui/theme/theme.h"

namespace n2nq::ui {

class FocusTable : public QTableView {
  Q_OBJECT
 public:
  explicit FocusTable(const Theme& theme, QWidget* parent = nullptr);

 protected:
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
  void paintEvent(QPaintEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

  const Theme& theme_;

 private:
  QRect framed() const;
};

}  // namespace n2nq::ui
