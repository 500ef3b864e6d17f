// SPDX-License-Identifier: GPL-3.0-or-later
// A test case's figures, one in sight, with its table; points appear as runs end.
#pragma once

#include <QStringList>
#include <QWidget>
#include <optional>

#include "app/figure/figure_painter.h"
#include "ui/theme/theme.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTableWidget;

namespace n2nq::ui {

class FigureView;

class CaseFigureCard : public QWidget {
  Q_OBJECT
 public:
  explicit CaseFigureCard(Theme& theme, QWidget* parent = nullptr);

  /// Which there are to choose from; the one that was in sight stays where it is among them.
  void set_titles(const QStringList& titles);
  /// Its place among the titles; -1: there is none.
  int current() const;
  int count() const;
  /// The chosen point stays chosen where this one has it too, as it is there.
  void show_figure(const app::Figure& figure);
  /// No point is chosen any more.
  void forget_point();
  /// In place of a figure: what there is to do, or why there is none.
  void show_text(const QString& text);
  /// Whether a marked point can be run again now, and why not.
  void set_again(bool possible, const QString& reason);
  void set_export(bool possible, const QString& text);

 signals:
  void figure_chosen();
  void run_again_requested(const QStringList& folders);
  void export_requested();

 private:
  QWidget* make_table();
  void renew();
  void fill_table();
  void choose_cell(int row, int column);
  void choose_point(const app::FigureHit& hit);
  void choose_same_point();
  void refresh_again();

  Theme& theme_;
  app::Figure figure_;
  QComboBox* chooser_ = nullptr;
  QPushButton *references_ = nullptr, *again_ = nullptr, *export_ = nullptr;
  FigureView* view_ = nullptr;
  QLabel* text_ = nullptr;
  QLabel* point_ = nullptr;
  QTableWidget* table_ = nullptr;
  QWidget* rows_ = nullptr;  // the table in its room
  QString chosen_series_;
  std::optional<double> chosen_x_;  // none: no point is chosen
  QStringList chosen_;              // run folders of the chosen point
  bool chosen_marked_ = false, again_possible_ = false;
  QString again_reason_;
};

}  // namespace n2nq::ui
