// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/focus_table.h"

#include <QPainter>

#include "ui/widget/cell_delegate.h"

namespace n2nq::ui {

FocusTable::FocusTable(const Theme& theme, QWidget* parent) : QTableView(parent), theme_(theme) {
  setItemDelegate(new CellDelegate(this));
}

// The frame is around more than the cells that the view paints anew.
void FocusTable::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  QTableView::currentChanged(current, previous);
  viewport()->update();
}

void FocusTable::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (!hasFocus()) return;
  QPainter painter(viewport());
  painter.setPen(QPen(theme_.tokens().primary, 1));
  painter.drawRect(framed().adjusted(0, 0, -1, -1));
}

// Sideways it stays where it is, and around all of the table always, while the view moves what was painted.
void FocusTable::scrollContentsBy(int dx, int dy) {
  QTableView::scrollContentsBy(dx, dy);
  if ((dx != 0 || !currentIndex().isValid()) && hasFocus()) viewport()->update();
}

QRect FocusTable::framed() const {
  const QModelIndex current = currentIndex();
  if (!current.isValid()) return viewport()->rect();
  if (selectionBehavior() != QAbstractItemView::SelectRows) return visualRect(current);
  return {0, rowViewportPosition(current.row()), viewport()->width(), rowHeight(current.row())};
}

}  // namespace n2nq::ui
