// SPDX-License-Identifier: GPL-3.0-or-later
// The table of one group's services: a log button in each row, and word about which rows are in sight.
//
// Enter, Space or a double click opens the log of the selected row. Who comes by keyboard finds the first one selected, if none is.
#pragma once

#include <QStyledItemDelegate>

#include "ui/model/service_model.h"
#include "ui/theme/theme.h"
#include "ui/widget/focus_table.h"

namespace n2nq::ui {

/// Paints the log button and tells when it was clicked.
class LogButtonDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  LogButtonDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  static QSize button_size(const Theme& theme);

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) override;

 signals:
  void clicked(int number);

 private:
  const Theme& theme_;
};

/// Paints a figure with digits of one width, in the colour that the model gives it.
class FigureDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  FigureDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  const Theme& theme_;
};

class ServiceTable : public FocusTable {
  Q_OBJECT
 public:
  ServiceTable(const Theme& theme, ServiceModel* model, QWidget* parent = nullptr);
  /// The selected service's number; 0: none.
  int selected_number() const;
  /// All selected ones, rising.
  QList<int> selected_numbers() const;
  /// Which columns are in sight where there is no room for all of them.
  void set_view(ServiceModel::View view);
  /// Whether all columns are in sight together.
  bool shows_all() const { return shows_all_; }

 signals:
  void log_requested(int number);
  /// It has the keyboard's focus now.
  void focused();
  /// Numbers of the services in sight; first > last: none.
  void visible_rows_changed(int first, int last);
  /// shows_all() is another one.
  void room_changed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  void tell_visible_rows();
  void fit_columns();
  int width_of(int column) const;
  void choose_columns(const std::vector<int>& widths);

  ServiceModel* services_;
  int first_ = 1, last_ = 0;
  ServiceModel::View view_ = ServiceModel::View::latency;
  bool shows_all_ = true;
  QList<int> kept_;  // selected while the columns change
};

}  // namespace n2nq::ui
