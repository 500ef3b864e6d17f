// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of selected cells: in the colours that they have otherwise.
#include "ui/widget/cell_delegate.h"

#include <QStandardItemModel>
#include <QTableView>
#include <QTest>

#include "tests/ui/support/bench_window.h"
#include "ui/theme/theme.h"
#include "ui/widget/focus_table.h"
#include "ui/widget/middle_elided.h"
#include "ui/widget/whole_numbers.h"

namespace n2nq::ui {

class TestCellDelegate : public QObject {
  Q_OBJECT

 private slots:
  void a_selected_row_keeps_its_colours_in_every_kind_of_table() {
    Theme theme;
    theme.choose(ThemeChoice::light);
    QStandardItemModel model(1, 2);
    for (int column = 0; column < model.columnCount(); ++column) model.setItem(0, column, new QStandardItem(QStringLiteral("degraded")));
    FocusTable lists(theme);
    lists.setItemDelegateForColumn(1, new MiddleElided<>(&lists));
    QTableView figures;
    show_whole_numbers(&figures);
    for (QTableView* table : std::initializer_list<QTableView*>{&lists, &figures}) {
      table->setModel(&model);
      table->setSelectionBehavior(QAbstractItemView::SelectRows);
      table->show();
      QVERIFY(QTest::qWaitForWindowExposed(table, n2nq::ui_test::deadline_ms));
      table->selectRow(0);
      for (int column = 0; column < model.columnCount(); ++column) {
        const auto picture = [&](const QColor& color) {
          model.item(0, column)->setForeground(color);
          return table->viewport()->grab(table->visualRect(model.index(0, column))).toImage();
        };
        const QImage red = picture(theme.tokens().bad), grey = picture(theme.tokens().secondary);
        QVERIFY2(red != grey, qPrintable(QStringLiteral("%1, column %2").arg(QLatin1String(table->metaObject()->className())).arg(column)));
      }
    }
  }
};

}  // namespace n2nq::ui

QTEST_MAIN(n2nq::ui::TestCellDelegate)
#include "test_cell_delegate.moc"
