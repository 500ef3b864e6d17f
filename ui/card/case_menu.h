// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done with the chosen test case's file, if it is one of your own. Decides nothing: it says what a person wants.
#pragma once

#include <QMenu>

#include "ui/model/cases_desk.h"

class QTableView;

namespace n2nq::ui {

class CaseMenu : public QMenu {
  Q_OBJECT
 public:
  /// Opens for the current row of the table (right button, Menu key), whose rows are the desk's. Delete has its key in the table; that
  /// of Undo is the page's.
  CaseMenu(const CasesDesk& desk, QTableView* table, QWidget* parent);
  /// The name of the file that was deleted last; empty: there is none to bring back.
  void set_removed(const QString& name) { removed_ = name; }

 signals:
  void edit_requested(const QString& path);
  void remove_requested(const QString& path);
  void undo_requested();

 private:
  void fill();
  QAction* add(const char* object_name, const QString& text, const QString& tooltip);
  /// The current row's; null: it comes with the program.
  const CaseRow* own_row() const;
  bool eventFilter(QObject* watched, QEvent* event) override;

  const CasesDesk& desk_;
  QTableView* table_;
  QString removed_;
};

}  // namespace n2nq::ui
