// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of the page of test cases begin with: the bench's window at 1280 x 720 with that page in front, and in its list, behind the
// seven, a small case of one's own, which is chosen.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/ui/support/bench_window.h"
#include "ui/model/cases_desk.h"

class QTableView;
class QTableWidget;

namespace n2nq::ui_test {

class CasesPageTest : public QObject {
  Q_OBJECT

 protected:
  static constexpr int own = 7;  // the row behind the seven

  ui::CasesDesk& desk();
  /// The own case's.
  const ui::CasesDesk::Row& row() { return desk().rows()[own]; }
  QTableView* table();
  QString cell(int at, int column);
  QAbstractButton* button(const char* name);
  /// Of the figure.
  QTableWidget* values();
  /// Of a label, also what is cut off.
  QString words(const char* name);
  /// Of the line that shows how far cases are.
  double share();
  /// The page has read all that it is to show; false when the deadline passed.
  bool settled();
  /// No case runs any more; false when the deadline passed.
  bool wait_off();
  /// Goes to the page and chooses the own case.
  void show_cases();
  /// As from the next session on that case, begun with this instead, in its folder.
  static void begin_with(const char* key, const nlohmann::json& value, const QString& folder);
  /// Clicks that button once the question about another build is there, behind `before`; gives what `answers` is then.
  int answer_about_build(const QString& text, const std::function<void()>& before = {});
  int answers = 0;

  std::unique_ptr<BenchWindow> bench;

 private slots:
  void initTestCase();
  void cleanupTestCase() { bench.reset(); }
};

}  // namespace n2nq::ui_test
