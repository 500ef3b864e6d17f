// SPDX-License-Identifier: GPL-3.0-or-later
// Test cases: the list with what runs, the live figure, and what is known about it.
#pragma once

#include <QWidget>
#include <optional>

#include "ui/model/background_job.h"
#include "ui/model/cases_desk.h"
#include "ui/theme/theme.h"

class QTextBrowser;

namespace n2nq::ui {

class CaseFigureCard;
class CasesCard;

class CasesPage : public QWidget {
  Q_OBJECT
 public:
  CasesPage(CasesDesk::Parts parts, Theme& theme, QWidget* parent = nullptr);

  CasesDesk& desk() { return *desk_; }
  /// Reads the files anew, as after an editor.
  void refresh();
  bool is_busy() const { return desk_->is_busy() || writing_.is_on(); }
  /// Of the case that is being exported; empty: none is.
  const QString& exported_folder() const { return exported_; }

 signals:
  /// For the window's message bar.
  void told(const QString& text, bool bad);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* make_notes();
  void show_row(int row);
  void show_figure();
  void show_notes(const app::Figure& figure, const CasesDesk::Row& row);
  void show_mistakes(const CasesDesk::Row& row);
  void ask_build(const QString& text);
  void copy_case(int row);
  void edit_case(const QString& path);
  void remove_case(const QString& path);
  /// The next one below this row whose file is there still, else the next one above; those that come with the program have none.
  int row_beside(int row) const;
  void restore_case();
  void export_case();
  void refresh_again();

  QString cases_folder_;
  Theme& theme_;
  CasesDesk* desk_ = nullptr;
  CasesCard* list_ = nullptr;
  CaseFigureCard* figure_ = nullptr;
  QTextBrowser* notes_ = nullptr;
  BackgroundJob writing_;
  QString exported_;
  struct Removed {
    app::RemovedCase file;
    bool ticked;
  };
  std::vector<Removed> removed_;  // that can be brought back, the next one last
  int row_ = -1;
  QString shown_path_;  // of the case in that row; its name where it comes with the program
  QString shown_notes_;
  bool was_on_ = false;
};

}  // namespace n2nq::ui
