// SPDX-License-Identifier: GPL-3.0-or-later
// The names of a log's columns, above the view and out of its scrolling: each over its column, wherever the view is.
#pragma once

#include <QWidget>

#include "ui/theme/theme.h"

class QPlainTextEdit;

namespace n2nq::ui {

class LogHeading : public QWidget {
  Q_OBJECT
 public:
  LogHeading(const QPlainTextEdit& view, const Theme& theme, QWidget* parent = nullptr);

  /// Tab-separated; empty hides the line, as for files that have no columns.
  void set_columns(const QString& columns);
  const QString& columns() const { return columns_; }
  /// Where each column behind the first begins, in px from the first one's beginning: for the view's tabs.
  QList<double> stops() const;

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const QPlainTextEdit& view_;
  const Theme& theme_;
  QString columns_;
};

}  // namespace n2nq::ui
