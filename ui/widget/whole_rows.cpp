// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/whole_rows.h"

#include <QEvent>
#include <QHeaderView>
#include <QLayout>
#include <algorithm>
#include <memory>

namespace n2nq::ui {

namespace {

/// How high the table is for as many whole rows as there is room for. Until it is shown nobody knows how high all but its rows is: its
/// head, its frame and a scroll bar below them.
int height_of_rows(const QTableView& table, int room_px) {
  if (!table.isVisible()) return room_px;
  const int row_px = table.verticalHeader()->defaultSectionSize();
  const int around_px = table.height() - table.viewport()->height();
  return around_px + std::max(1, (room_px - around_px) / row_px) * row_px;
}

/// A layout, so that what the table needs at least is known to those around it.
class RowsLayout : public QLayout {
 public:
  explicit RowsLayout(QTableView* table) : table_(table) {}

  void addItem(QLayoutItem* item) override { item_.reset(item); }
  QLayoutItem* itemAt(int index) const override { return index == 0 ? item_.get() : nullptr; }
  QLayoutItem* takeAt(int index) override { return index == 0 ? item_.release() : nullptr; }
  int count() const override { return item_ ? 1 : 0; }
  QSize sizeHint() const override { return item_->sizeHint(); }
  QSize minimumSize() const override { return item_->minimumSize(); }
  void setGeometry(const QRect& room) override {
    QLayout::setGeometry(room);
    item_->setGeometry({room.left(), room.top(), room.width(), height_of_rows(*table_, room.height())});
  }

 private:
  QTableView* table_;
  std::unique_ptr<QLayoutItem> item_;
};

}  // namespace

WholeRows::WholeRows(QTableView* table, QWidget* parent) : QWidget(parent), table_(table) {
  setLayout(new RowsLayout(table_));
  layout()->addWidget(table_);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  table_->viewport()->installEventFilter(this);
}

void WholeRows::place() {
  layout()->setGeometry(rect());
}

void WholeRows::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  place();
}

// A head of another height, or a scroll bar that comes, takes from the rows.
bool WholeRows::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport() && event->type() == QEvent::Resize) place();
  return QWidget::eventFilter(watched, event);
}

}  // namespace n2nq::ui
