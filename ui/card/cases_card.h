// SPDX-License-Identifier: GPL-3.0-or-later
// The list of test cases with what is chosen for the next ones, and how far the present one is.
#pragma once

#include <QWidget>
#include <array>
#include <set>
#include <string>

#include "ui/model/cases_desk.h"
#include "ui/theme/theme.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace n2nq::ui {

class CaseMenu;
class CasesModel;
class ElidedLabel;
class ProgressLine;
class UnitEdit;

class CasesCard : public QWidget {
  Q_OBJECT
 public:
  /// `cases_folder`: where files of one's own are.
  CasesCard(CasesDesk& desk, app::HostBook& hosts, const QString& cases_folder, Theme& theme, QWidget* parent = nullptr);

  /// The row that is shown; -1: none.
  int current_row() const;
  void select(int row);
  /// One's own of this name, once the list is read again, whatever is chosen meanwhile; of several that are waited for the last one. Each
  /// is ticked where that is asked for.
  void select_when_listed(const std::string& own_name, bool ticked);
  /// For the chosen row's file.
  CaseMenu* menu() const { return menu_; }

 signals:
  void row_selected(int row);
  /// A copy of the selected case for one's own changes.
  void copy_requested(int row);

 private:
  QWidget* make_list();
  QWidget* make_choice();
  QWidget* make_scales();
  QWidget* make_hosts();
  QWidget* make_progress();
  QPushButton* make_button(const char* name, const QString& text, const QString& tooltip);
  void choose_scale(app::Scale scale);
  void take_fields();
  void take_hosts();
  std::size_t hosts_chosen() const;
  bool some_hosts_missing() const;
  void fill_hosts();
  std::vector<int> runnable_rows() const;
  /// The ticked ones that nobody else works on.
  std::vector<int> selected_rows() const;
  /// Why it cannot be run at the chosen scale, with its title; empty: it can, or cannot be read.
  QString problem_of(const CasesDesk::Row& row) const;
  /// A line for each of these that is left out, below `meaning`; that alone where none is.
  static QString without(const QString& meaning, const QStringList& left_out);
  /// Why nothing is begun with what is chosen below the list, in a sentence; empty: nothing is wrong with it.
  QString choice_problem() const;
  void run_all();
  void refresh();
  void refresh_progress();
  /// About how long these take at that scale, by what is computed.
  double seconds_of(const std::vector<int>& rows, app::Scale scale) const;
  /// How far what is ticked has come, while nothing runs; empty: none of it was begun.
  QString rest_text() const;
  void toggle_current();
  int contents_px(int column) const;
  int runs_px() const;
  void fit_columns();
  bool eventFilter(QObject* watched, QEvent* event) override;

  CasesDesk& desk_;
  app::HostBook& hosts_;
  Theme& theme_;
  std::string current_name_;  // of the chosen row
  bool current_is_own_ = false;
  std::string awaited_own_;  // to be chosen, once it is listed; while cases run, the list is not made anew
  std::set<std::string> awaited_ticked_;  // own ones, to be ticked then
  CaseMenu* menu_ = nullptr;
  CasesModel* model_ = nullptr;
  QTableView* table_ = nullptr;
  QPushButton *copy_ = nullptr, *run_selected_ = nullptr, *run_all_ = nullptr, *pause_ = nullptr, *stop_ = nullptr, *resume_ = nullptr;
  std::array<QPushButton*, app::all_scales.size()> scales_{};
  UnitEdit *repeats_ = nullptr, *warm_up_ = nullptr;
  QString repeats_problem_, warm_up_problem_;
  std::array<QComboBox*, 3> places_{};
  std::array<QString, 3> place_meanings_;  // what each says while nothing is in its way
  QLabel* no_hosts_ = nullptr;
  ProgressLine* line_ = nullptr;
  ElidedLabel *problem_ = nullptr, *doing_ = nullptr, *left_ = nullptr;
};

}  // namespace n2nq::ui
