// SPDX-License-Identifier: GPL-3.0-or-later
// The real window over lab machines, put together as the program does it, with folders of its own.
#pragma once

#include <QDialog>
#include <QTemporaryDir>
#include <memory>
#include <vector>

#include "app/host/host_check.h"
#include "app/host/host_pool.h"
#include "app/host/keyring.h"
#include "ui/dialog/ssh_asker.h"
#include "ui/log/log_window.h"
#include "ui/main_window.h"

namespace n2nq::ui_test {

class LabWindow {
 public:
  explicit LabWindow(const std::vector<app::Host>& hosts);
  ~LabWindow();

  ui::MainWindow& window() { return *window_; }
  app::RunControl& run() { return window_->run(); }
  app::HostBook& book() { return book_; }
  app::HostCheck& checker() { return checker_; }
  ui::SshAsker& asker() { return asker_; }
  /// The page says so.
  bool is_checked() const;
  bool is_over() { return run().state() == app::RunState::finished; }
  /// Clicks what has this object name; false if it is not there, not in sight or not enabled.
  bool click(const char* name);
  /// Of a combo box, by keys: from the top down to that entry. False: it is not there.
  bool choose(const char* name, const char* entry);
  /// Clicks the log button in that service's row; the window that it opened. Null: the row is not in sight, or nothing was opened.
  ui::LogWindow* click_log(app::Role role, int number);

 private:
  QTemporaryDir folder_;
  app::HostBook book_;
  app::Keyring keyring_;
  ui::SshAsker asker_;
  app::KeyringQuestions questions_;
  app::HostPool pool_;
  app::HostCheck checker_;
  std::unique_ptr<ui::MainWindow> window_;
};

/// What a connection asks the person in a window; null: nothing.
QDialog* open_question();

}  // namespace n2nq::ui_test
