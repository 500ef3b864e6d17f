// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/whole_rows.h"

#include <QEvent>
#include <QHeaderView>
#include <algorithm>

namespace n2nq::ui {

WholeRows::WholeRows(QTableView* table, QWidget* parent) : QWidget(parent), table_(table) {
  table_->setParent(this);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void WholeRows::place() {
  const int row_px = table_->verticalHeader()->defaultSectionSize();
  const int around_px = table_->horizontalHeader()->sizeHint().height() + 2 * table_->frameWidth();
  const int rows = std::max(1, (height() - around_px) / row_px);
  table_->setGeometry(0, 0, width(), around_px + rows * row_px);
}

void WholeRows::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  place();
}

// Another style or font makes a header of another height.
bool WholeRows::event(QEvent* event) {
  const bool done = QWidget::event(event);
  const QEvent::Type type = event->type();
  if (type == QEvent::LayoutRequest || type == QEvent::Show || type == QEvent::StyleChange || type == QEvent::FontChange) place();
  return done;
}

}  // namespace n2nq::ui
