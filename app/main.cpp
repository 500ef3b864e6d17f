// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-bench: the window without arguments, commands with them. The only file of app that may know ui.
#include <stdlib.h>

#include <QCoreApplication>
#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/presets_command.h"
#include "app/cli/run_command.h"
#include "app/cli/settings_command.h"
#include "app/cli/terminal.h"

#ifdef N2NQ_HAVE_UI
#include "ui/run_window.h"
#endif

namespace {

using namespace n2nq::app;

int open_window(int argc, char** argv, Terminal& terminal) {
#ifdef N2NQ_HAVE_UI
  const bool has_platform = ::getenv("DISPLAY") || ::getenv("WAYLAND_DISPLAY") || ::getenv("QT_QPA_PLATFORM") || argc > 1;
  if (has_platform) return n2nq::ui::run_window(argc, argv);
  terminal.say("n2nq-bench: there is no display for the window. Without one: n2nq-bench run quick (n2nq-bench --help says more)");
#else
  static_cast<void>(argc), static_cast<void>(argv);
  terminal.say("n2nq-bench: this program was built without the window. Without one: n2nq-bench run quick (n2nq-bench --help says more)");
#endif
  return exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  Terminal terminal;
  const auto parsed = parse_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    terminal.say("n2nq-bench: " + QString::fromStdString(*problem));
    return exit_bad_input;
  }
  const auto& arguments = std::get<Arguments>(parsed);
  if (arguments.command == Command::window) return open_window(argc, argv, terminal);

  QCoreApplication application(argc, argv);
  switch (arguments.command) {
    case Command::run:
      return RunCommand(arguments, terminal).execute();
    case Command::presets:
      list_presets(Presets(), terminal);
      break;
    case Command::settings:
      terminal.print(QString::fromStdString(settings_page()));
      break;
    case Command::version:
      terminal.print("n2nq-bench " N2NQ_VERSION "\n");
      break;
    case Command::help:
    case Command::window:
      terminal.print(QString::fromStdString(help_text()));
      break;
  }
  return exit_good;
}
