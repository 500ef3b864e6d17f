// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-bench: the window without arguments, commands with them. The only file of app that may know ui.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QGuiApplication>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/case_command.h"
#include "app/cli/compare_command.h"
#include "app/cli/hosts_command.h"
#include "app/cli/presets_command.h"
#include "app/cli/run_command.h"
#include "app/cli/settings_command.h"
#include "app/cli/terminal.h"
#include "app/cli/terminal_questions.h"
#include "app/cli/verify_command.h"
#include "app/host/host_check.h"
#include "app/host/host_pool.h"
#include "app/host/keyring.h"
#include "app/host/ssh_threads.h"
#include "app/report/report_command.h"
#include "app/results/is_denied.h"
#include "app/settings/one_language.h"
#include "broker/net/file_limit.h"

#ifdef N2NQ_HAVE_UI
#include "ui/run_window.h"
#endif

namespace {

using namespace n2nq::app;

/// Where there are none, what is opened next would be taken for them: the progress would be written into a lock file.
void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // It becomes this one, the lowest that is free. Results that nobody gets have to fail: nothing can be written where they go.
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int open_window(const Arguments& arguments, int argc, char** argv, Terminal& terminal) {
  if (!arguments.hosts.empty() && !book_of(arguments, terminal)) return exit_bad_input;
#ifdef N2NQ_HAVE_UI
  const bool has_options = argc > 1 && arguments.hosts.empty();  // Qt's
  const bool has_platform = has_options || ::getenv("DISPLAY") || ::getenv("WAYLAND_DISPLAY") || ::getenv("QT_QPA_PLATFORM") ||
                            std::find(argv, argv + argc, std::string_view("-platform")) != argv + argc;
  if (has_platform) return n2nq::ui::run_window(argc, argv, QString::fromStdString(arguments.hosts));
  terminal.say("n2nq-bench: there is no display for the window. Without one: n2nq-bench run quick (n2nq-bench --help says more)");
#else
  static_cast<void>(argc), static_cast<void>(argv);
  terminal.say("n2nq-bench: this program was built without the window. Without one: n2nq-bench run quick (n2nq-bench --help says more)");
#endif
  return exit_bad_input;
}

QString page_of(Command command) {
  switch (command) {
    case Command::presets:
      return presets_page(Presets());
    case Command::cases:
      return cases_page(CaseLibrary());
    case Command::settings:
      return QString::fromStdString(settings_page());
    case Command::version:
      return "n2nq-bench " N2NQ_VERSION "\n";
    default:
      return QString::fromStdString(help_text());
  }
}

int check(const Arguments& arguments, Terminal& terminal) {
  const auto book = book_of(arguments, terminal);
  if (!book) return exit_bad_input;
  TerminalQuestions questions(terminal);
  Keyring keyring;
  KeyringQuestions known(keyring, questions);
  HostPool pool(known);
  HostCheck checker(pool);
  return check_hosts(arguments, checker, questions, *book, terminal);
}

int execute(const Arguments& arguments, Terminal& terminal) {
  if (arguments.command == Command::run) return RunCommand(arguments, terminal).execute();
  if (arguments.command == Command::test_case) return CaseCommand(arguments, terminal).execute();
  if (arguments.command == Command::verify) return verify_runs(arguments, terminal);
  if (arguments.command == Command::compare) return compare_results(arguments, terminal);
  if (arguments.command == Command::hosts_list) return list_hosts(arguments, terminal);
  if (arguments.command == Command::hosts_check) return check(arguments, terminal);
  if (const QString own = CaseLibrary::default_folder(); arguments.command == Command::cases && is_denied_folder(own)) {
    terminal.say("n2nq-bench: " + denied_words(own));
  }
  return terminal.print(page_of(arguments.command)) ? exit_good : exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  n2nq::net::raise_file_limit();  // each lab machine takes a dozen of them
  signal(SIGXFSZ, SIG_IGN);  // what is larger than `ulimit -f` fails like what a full disk does not take
  Terminal terminal;
  const auto parsed = parse_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    terminal.say("n2nq-bench: " + QString::fromStdString(*problem));
    return exit_bad_input;
  }
  const auto& arguments = std::get<Arguments>(parsed);
  if (arguments.command == Command::window) return open_window(arguments, argc, argv, terminal);

  if (arguments.command == Command::report) {
    qputenv("QT_QPA_PLATFORM", "offscreen");  // draws into files, also where there is no display
    QGuiApplication drawing(argc, argv);
    n2nq::app::speak_one_language();
    return write_reports(arguments, terminal);
  }
  QCoreApplication application(argc, argv);
  n2nq::app::speak_one_language();
  const int code = execute(arguments, terminal);
  SshThreads::exit_if_any_is_left(code);
  return code;
}
