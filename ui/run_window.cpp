// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run_window.h"

#include <QApplication>
#include <QIcon>
#include <QStandardPaths>
#include <chrono>
#include <cstdio>

#include "app/cases/case_library.h"
#include "app/host/host_check.h"
#include "app/host/host_launchers.h"
#include "app/host/host_pool.h"
#include "app/host/keyring.h"
#include "app/host/ssh_config.h"
#include "app/host/ssh_threads.h"
#include "app/settings/one_language.h"
#include "broker/net/turns.h"
#include "ui/dialog/ssh_asker.h"
#include "ui/main_window.h"
#include "ui/theme/style_sheet.h"

namespace n2nq::ui {

namespace {

QIcon program_icon() {
  link_icons();
  QIcon icon;
  for (const int size : {16, 32, 48, 64, 128, 256}) icon.addFile(QStringLiteral(":/icons/n2nq-bench-%1.png").arg(size));
  return icon;
}

void print_stats(const StallMeter& meter) {
  const StallMeter::Figures f = meter.figures();
  std::fprintf(stderr, "window: %.1f s, longest stall %.1f ms (own computing at most %.1f ms), bench CPU %.1f %% of a core\n", f.seconds,
               f.stall_max_ms, f.busy_max_ms, f.cpu_percent);
}

/// Of the window's thread, for what the system says of users: it must not stand for 50 ms.
constexpr std::chrono::milliseconds system_patience(30);

/// Until it is closed; then all that it was made of is gone.
int show_window(const QString& hosts_file) {
  app::SshConfig::ask_ahead(system_patience);
  app::HostBook hosts(hosts_file.isEmpty() ? app::default_hosts_path() : hosts_file);
  app::Keyring keyring;
  SshAsker asker(&keyring);
  app::KeyringQuestions questions(keyring, asker);
  app::HostPool pool(questions);
  app::HostCheck checker(pool);
  MainWindow::Parts parts;
  parts.hosts = &hosts;
  parts.checker = &checker;
  parts.ssh_offer = [] {
    const app::SshConfig config = app::SshConfig::of_user();
    return ImportOffer{config.names(), config.problems()};
  };
  parts.launchers = std::make_unique<app::HostLaunchers>(hosts, [&pool](const app::Host& host) { return pool.launcher(host); });
  parts.case_launchers = [&hosts, &pool] {
    return std::make_unique<app::HostLaunchers>(hosts, [&pool](const app::Host& host) { return pool.launcher(host); });
  };
  parts.cases_folder = app::CaseLibrary::default_folder();
  parts.programs_folder = app::LocalLauncherFactory::folder_or_own({});
  parts.runs_folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/n2nq/runs");
  parts.presets_folder = app::Presets::default_folder();
  parts.memory = std::make_unique<QSettings>(QStringLiteral("n2nq"), QStringLiteral("bench"));
  MainWindow window(std::move(parts));
  asker.set_window(&window, window.theme());
  window.show();
  const int code = QApplication::exec();
  if (qEnvironmentVariableIntValue("N2NQ_UI_STATS") == 1) print_stats(window.stalls());
  return code;
}

}  // namespace

int run_window(int argc, char** argv, const QString& hosts_file) {
  // Who is measured on this machine goes before who draws. Before 6.12 Linux knows no such order: nothing is lost.
  net::ask_for_long_turns();
  QApplication application(argc, argv);
  app::speak_one_language();
  QApplication::setApplicationName(QStringLiteral("n2nq-bench"));
  QApplication::setApplicationDisplayName(QStringLiteral("N2NQ Test Bench"));
  QApplication::setDesktopFileName(QStringLiteral("n2nq-bench"));
  QApplication::setWindowIcon(program_icon());
  const int code = show_window(hosts_file);
  app::SshThreads::exit_if_any_is_left(code);
  return code;
}

}  // namespace n2nq::ui
