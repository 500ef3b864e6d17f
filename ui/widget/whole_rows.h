// SPDX-License-Identifier: GPL-3.0-or-later
// Gives a table as much of its room as whole rows take. A view that is scrolled to its end shows the last row at its lower edge, and would
// cut the first one there.
#pragma once

#include <QTableView>

namespace n2nq::ui {

class WholeRows : public QWidget {
  Q_OBJECT
 public:
  /// `table` becomes a child; all its rows are as high as its vertical header says.
  explicit WholeRows(QTableView* table, QWidget* parent = nullptr);

  QSize sizeHint() const override { return table_->sizeHint(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void place();

  QTableView* table_;
};

}  // namespace n2nq::ui
