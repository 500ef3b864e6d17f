// SPDX-License-Identifier: GPL-3.0-or-later
// The real window over real processes, with folders of its own; and words to drive it by.
#pragma once

#include <QTemporaryDir>
#include <functional>
#include <memory>

#include "tests/ui/support/canned_checker.h"
#include "ui/main_window.h"

class QAbstractButton;

namespace n2nq::ui_test {

/// Deadline for anything a run does; generous, because a loaded machine is slow and a test must not be.
inline constexpr int deadline_ms = 60'000;

class BenchWindow {
 public:
  /// `programs`: the folder where they are. `may_be_maximized`: as a person sees it first on a screen as small as that of the tests, where
  /// it has a size of its own else, which can be changed.
  explicit BenchWindow(QString programs = QStringLiteral(N2NQ_PROGRAMS), bool may_be_maximized = false);
  ~BenchWindow();

  ui::MainWindow& window() { return *window_; }
  app::RunControl& run() { return window_->run(); }
  ui::SettingsForm& form() { return window_->form(); }
  QString folder() const { return folder_.path(); }
  QString memory_file() const { return folder_.filePath(QStringLiteral("memory.ini")); }

  app::HostBook& hosts() { return *hosts_; }
  CannedChecker& checker() { return checker_; }
  /// All that the message bar holds.
  QString messages();
  ui::ImportOffer ssh_offer;  // what ~/.ssh/config has
  /// Closes the window and opens a new one with the same folders, as a next session does.
  void reopen();
  template <class Widget>
  Widget* find(const QString& object_name) {
    return window_->findChild<Widget*>(object_name);
  }
  /// Clicks what has this object name; false if it is not there, not in sight or not enabled.
  bool click(const QString& object_name);
  /// Types into a field as a person does: all selected, overwritten.
  bool type(const QString& object_name, const QString& text);
  /// Sets keys in the form: {"senders.amount", "3"}.
  void set(std::initializer_list<std::pair<const char*, const char*>> values);
  /// Lets events happen until the condition holds; false when the deadline passed.
  static bool wait_for(const std::function<bool()>& condition, int deadline = deadline_ms);
  bool wait_for_state(app::RunState state);
  /// From another window, such as an editor's, into this one; false when the deadline passed.
  bool come_back();
  /// Ends whatever still runs.
  void end_run();

 private:
  void open();

  const QString programs_;
  const bool may_be_maximized_;
  QTemporaryDir folder_;
  std::unique_ptr<app::HostBook> hosts_;
  CannedChecker checker_;
  std::unique_ptr<ui::MainWindow> window_;
};

/// Number of this process's child that runs the program; 0: there is none.
int child_pid(const char* program);

/// The file's text; empty when it cannot be read.
QByteArray file_text(const QString& path);

/// In place of what was in the file, whose folder is made where there is none; false: it cannot be written.
bool write_text(const QString& path, const QByteArray& text);

}  // namespace n2nq::ui_test
