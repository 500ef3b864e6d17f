// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/whole_numbers.h"

#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QStyleOption>
#include <QTableView>
#include <algorithm>

#include "ui/theme/tokens.h"
#include "ui/widget/cell_delegate.h"

namespace n2nq::ui {

namespace {

const QString out_of_sight = QStringLiteral("…");

/// As wide as it is in sight, and as high as it is, or the text of a row that is cut below would move.
QRect in_sight(QRect rect, const QWidget* viewport) {
  rect.setLeft(std::max(rect.left(), 0));
  rect.setRight(std::min(rect.right(), viewport->width() - 1));
  return rect;
}

/// Where not even that has room, it would be a lone dot.
QString sign_in(int room_px, const QFontMetrics& metrics) {
  return room_px < metrics.horizontalAdvance(out_of_sight) + 2 * space::in_row ? QString() : out_of_sight;
}

class WholeNumbers : public CellDelegate {
 public:
  explicit WholeNumbers(QTableView* table) : CellDelegate(table), table_(table) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem seen = option;
    initStyleOption(&seen, index);
    seen.rect = in_sight(option.rect, table_->viewport());
    const bool is_number = seen.displayAlignment.testFlag(Qt::AlignRight);
    if (is_number && seen.rect.width() < sizeHint(option, index).width()) seen.text = sign_in(seen.rect.width(), seen.fontMetrics);
    table_->style()->drawControl(QStyle::CE_ItemViewItem, &seen, painter, table_);
  }

 private:
  QTableView* table_;
};

class WholeHeads : public QHeaderView {
 public:
  explicit WholeHeads(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) { setSectionsClickable(true); }

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int column) const override {
    QHeaderView::paintSection(painter, in_sight(rect, viewport()), column);
  }
  void initStyleOptionForIndex(QStyleOptionHeader* option, int column) const override {
    QHeaderView::initStyleOptionForIndex(option, column);
    const int room_px = in_sight({sectionViewportPosition(column), 0, sectionSize(column), 1}, viewport()).width();
    const int text_px = option->fontMetrics.size(0, option->text).width();
    if (room_px < sectionSize(column) && room_px < text_px + 2 * space::between) option->text = sign_in(room_px, option->fontMetrics);
  }
};

}  // namespace

void show_whole_numbers(QTableView* table) {
  table->setItemDelegate(new WholeNumbers(table));
  table->setHorizontalHeader(new WholeHeads(table));
  // Scrolling moves what is painted already: there it would stay as it was cut.
  QObject::connect(table->horizontalScrollBar(), &QScrollBar::valueChanged, table, [table] {
    table->viewport()->update();
    table->horizontalHeader()->viewport()->update();
  });
}

}  // namespace n2nq::ui
