// SPDX-License-Identifier: GPL-3.0-or-later
// A delegate for cells whose text is cut in its middle where room ends: names that begin alike differ at their ends.
#pragma once

#include "ui/widget/cell_delegate.h"

namespace n2nq::ui {

template <class Delegate = CellDelegate>
class MiddleElided : public Delegate {
 public:
  using Delegate::Delegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    Delegate::initStyleOption(option, index);
    option->textElideMode = Qt::ElideMiddle;
  }
};

}  // namespace n2nq::ui
