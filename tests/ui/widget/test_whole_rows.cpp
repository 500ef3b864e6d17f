// SPDX-License-Identifier: GPL-3.0-or-later
#include <QHeaderView>
#include <QScrollBar>
#include <QTableWidget>
#include <QTest>
#include <QVBoxLayout>
#include <memory>

#include "tests/ui/support/bench_window.h"
#include "ui/widget/whole_rows.h"

namespace {

using n2nq::ui::WholeRows;

class TestWholeRows : public QObject {
  Q_OBJECT
 private slots:
  void init() {
    window_ = std::make_unique<QWidget>();
    auto* all = new QVBoxLayout(window_.get());
    table_ = new QTableWidget(100, 2);
    table_->verticalHeader()->setDefaultSectionSize(row_px);
    all->addWidget(new WholeRows(table_));
    window_->resize(400, 333);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get(), n2nq::ui_test::deadline_ms));
  }

  void no_row_is_cut_at_any_height() {
    for (int height_px = 200; height_px < 200 + row_px; ++height_px) {
      window_->resize(400, height_px);
      QCoreApplication::processEvents();
      is_whole();
    }
  }

  void a_head_of_another_height_takes_whole_rows() {
    const int before_px = table_->viewport()->height();
    for (const int head_px : {70, 31}) {
      table_->horizontalHeader()->setFixedHeight(head_px);
      QCoreApplication::processEvents();
      is_whole();
    }
    table_->horizontalHeader()->setFixedHeight(70);
    QCoreApplication::processEvents();
    QVERIFY(table_->viewport()->height() < before_px);
  }

  void a_scroll_bar_below_takes_whole_rows() {
    table_->setColumnWidth(0, 2000);
    QTRY_VERIFY(table_->horizontalScrollBar()->isVisible());
    is_whole();
    table_->setColumnWidth(0, 50);
    QTRY_VERIFY(!table_->horizontalScrollBar()->isVisible());
    is_whole();
  }

  void what_the_table_needs_at_least_is_told_to_those_around_it() {
    QVERIFY(window_->minimumSizeHint().width() < 700);
    table_->setMinimumWidth(700);
    QTRY_VERIFY(window_->minimumSizeHint().width() >= 700);
    QTRY_VERIFY(table_->width() >= 700);
  }

 private:
  static constexpr int row_px = 24;

  void is_whole() const {
    for (const auto scroll : {&QTableView::scrollToTop, &QTableView::scrollToBottom}) {
      (table_->*scroll)();
      QCOMPARE(table_->viewport()->height() % row_px, 0);
      QCOMPARE(table_->rowViewportPosition(table_->rowAt(0)), 0);
    }
    QVERIFY(table_->viewport()->height() >= 2 * row_px);
    QVERIFY(table_->height() <= table_->parentWidget()->height() && table_->height() > table_->parentWidget()->height() - row_px);
  }

  std::unique_ptr<QWidget> window_;
  QTableWidget* table_ = nullptr;
};

}  // namespace

QTEST_MAIN(TestWholeRows)
#include "test_whole_rows.moc"
