// SPDX-License-Identifier: GPL-3.0-or-later
// A delegate for cells whose colour says something: what is red, or grey because it tells little, is so in a selected row, too.
#pragma once

#include <QStyledItemDelegate>

namespace n2nq::ui {

class CellDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    option->palette.setBrush(QPalette::HighlightedText, option->palette.brush(QPalette::Text));
  }
};

}  // namespace n2nq::ui
