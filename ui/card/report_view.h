// SPDX-License-Identifier: GPL-3.0-or-later
// A report on screen: of one run, or of several overlaid. What there is to see at the left, figure or table at the right; for a slice of
// time below it the slowest messages.
#pragma once

#include <QWidget>
#include <map>
#include <optional>
#include <vector>

#include "app/report/report.h"
#include "ui/theme/theme.h"

class QLabel;
class QListWidget;
class QStackedWidget;
class QTableWidget;
class QTableWidgetItem;

namespace n2nq::ui {

class FigureView;

class ReportView : public QWidget {
  Q_OBJECT
 public:
  explicit ReportView(Theme& theme, QWidget* parent = nullptr);

  /// `digest`: of a single run, for the slowest messages.
  void show_report(const app::Report& report, std::optional<app::RunDigest> digest);
  const app::Report& report() const { return report_; }
  FigureView* figure_view() const { return figure_; }
  /// By its title; false: there is no such part.
  bool show_part(const QString& title);

 signals:
  /// A service's log at the line that holds this text.
  void log_requested(QChar letter, int number, const QString& text);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* make_slow();
  void show_row(int row);
  void show_table(const app::Table& table);
  void show_slice(int slice);
  void make_grey(QTableWidgetItem* item) const;
  void measure_columns(QTableWidget* table);
  bool eventFilter(QObject* watched, QEvent* event) override;
  void open_log(int row);

  Theme& theme_;
  app::Report report_;
  std::optional<app::RunDigest> digest_;
  QListWidget* parts_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  FigureView* figure_ = nullptr;
  QTableWidget *table_ = nullptr, *slow_ = nullptr;
  std::map<QTableWidget*, std::vector<int>> contents_px_;  // of their columns, with what was put in last
  QLabel *title_ = nullptr, *lead_ = nullptr, *slow_title_ = nullptr, *below_ = nullptr;
  QWidget *slow_part_ = nullptr, *slow_rows_ = nullptr;
  int slice_ = -1;
};

}  // namespace n2nq::ui
