// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of the page of results begin with: the bench's window at 1280 x 720 with that page in front, and in its list, which was empty
// before, two runs: one of the load balancer above one of the broadcaster.
#pragma once

#include <QObject>
#include <memory>

#include "tests/ui/support/bench_window.h"

class QTableView;

namespace n2nq::ui_test {

class ResultsPageTest : public QObject {
  Q_OBJECT

 protected:
  ui::ResultsPage& page() { return *bench->window().results_page(); }
  QTableView* table();
  int rows();
  QString cell(int row, int column);
  /// The page does nothing any more; false when the deadline passed.
  bool settled();
  /// Goes to the page; false when the deadline passed before it had read its list.
  bool show_list();

  std::unique_ptr<BenchWindow> bench;

 private slots:
  void initTestCase();
  void cleanupTestCase() { bench.reset(); }

 private:
  /// A small run, to its end.
  bool run(const char* mode);
};

}  // namespace n2nq::ui_test
