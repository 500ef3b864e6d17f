// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of the page of hosts begin with, each anew: the bench's window with that page in front and without machines; and words for its
// file and its dialogs.
#pragma once

#include <QObject>
#include <functional>
#include <memory>

#include "tests/ui/support/bench_window.h"

class QTableView;

namespace n2nq::ui_test {

class HostsPageTest : public QObject {
  Q_OBJECT

 protected:
  /// What is done in a dialog, once it is open.
  static void in_dialog(const std::function<void(QWidget& dialog)>& act);
  /// Into a field of the dialog, as a person does: all selected, overwritten.
  static void type_into(QWidget& dialog, const char* name, const QString& text);
  static app::Host named(const char* name);
  /// The file of the machines, in place of what was in it; false: it cannot be written.
  bool write_by_hand(const QByteArray& text) { return write_text(bench->hosts().path(), text); }
  QTableView* table();

  std::unique_ptr<BenchWindow> bench;

 private slots:
  void init();
  void cleanup() { bench.reset(); }
};

}  // namespace n2nq::ui_test
