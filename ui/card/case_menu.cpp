// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/case_menu.h"

#include <QKeyEvent>
#include <QTableView>

#include "ui/text/tooltip.h"

namespace n2nq::ui {

CaseMenu::CaseMenu(const CasesDesk& desk, QTableView* table, QWidget* parent) : QMenu(parent), desk_(desk), table_(table) {
  setObjectName(QStringLiteral("case_menu"));
  setAccessibleName(QStringLiteral("The chosen case's file"));
  setToolTipsVisible(true);
  connect(this, &QMenu::aboutToShow, this, &CaseMenu::fill);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->installEventFilter(this);
  connect(table_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    if (table_->indexAt(at).isValid()) popup(table_->viewport()->mapToGlobal(at));
  });
}

const CaseRow* CaseMenu::own_row() const {
  const QModelIndex current = table_->currentIndex();
  if (!current.isValid() || current.row() >= static_cast<int>(desk_.rows().size())) return nullptr;
  const CaseRow& row = desk_.rows()[static_cast<std::size_t>(current.row())];
  return row.file.built_in ? nullptr : &row;
}

QAction* CaseMenu::add(const char* object_name, const QString& text, const QString& tooltip) {
  QAction* action = addAction(text);
  action->setObjectName(QString::fromLatin1(object_name));
  action->setToolTip(tooltip_of(tooltip));
  return action;
}

// The keys are shown only: the table has one, the page the other. By paths: the list may be made anew while the menu is open.
void CaseMenu::fill() {
  clear();
  if (const CaseRow* row = own_row()) {
    const QString path = row->file.path, why_not = desk_.why_not_changed(*row);
    connect(add("case_edit", QStringLiteral("Edit"), QStringLiteral("Opens its file, %1").arg(path)), &QAction::triggered, this,
            [this, path] { emit edit_requested(path); });
    QAction* remove = add("case_delete", QStringLiteral("Delete\tDel"),
                          why_not.isEmpty() ? QStringLiteral("Deletes its file, %1; results of its runs stay. "
                                                             "Undo brings it back until the window is closed")
                                                  .arg(path)
                                            : why_not);
    remove->setEnabled(why_not.isEmpty());
    connect(remove, &QAction::triggered, this, [this, path] { emit remove_requested(path); });
  } else {
    const QString what = QStringLiteral("Comes with the program: Copy makes a file of your own");
    add("case_built_in", what, what)->setEnabled(false);
  }
  QAction* undo = add("case_undo", QStringLiteral("Undo\tCtrl+Z"),
                      removed_.isEmpty() ? QStringLiteral("Brings back the file that was deleted last; none was")
                                         : QStringLiteral("Brings back %1").arg(removed_));
  undo->setEnabled(!removed_.isEmpty());
  connect(undo, &QAction::triggered, this, &CaseMenu::undo_requested);
}

bool CaseMenu::eventFilter(QObject* watched, QEvent* event) {
  if (watched != table_ || event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Delete)
    return QMenu::eventFilter(watched, event);
  const CaseRow* row = own_row();
  const bool is_held = static_cast<QKeyEvent*>(event)->isAutoRepeat();  // Undo brings back one
  if (row != nullptr && !is_held) emit remove_requested(row->file.path);
  return true;
}

}  // namespace n2nq::ui
