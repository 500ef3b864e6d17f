// SPDX-License-Identifier: GPL-3.0-or-later
// Gives a table as much of its room as whole rows take. A view that is scrolled to its end shows the last row at its lower edge, and would
// cut the first one there; one that is scrolled to its begin would cut the last one.
#pragma once

#include <QTableView>

namespace n2nq::ui {

class WholeRows : public QWidget {
  Q_OBJECT
 public:
  /// `table` becomes a child; all its rows are as high as its vertical header says. Who hides it hides this in its place.
  explicit WholeRows(QTableView* table, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();

  QTableView* table_;
};

}  // namespace n2nq::ui
