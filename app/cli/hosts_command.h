// SPDX-License-Identifier: GPL-3.0-or-later
// `n2nq-bench hosts`: the lab machines that are known, and whether they can be used.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"
#include "app/cli/terminal_questions.h"
#include "app/host/host_book.h"
#include "app/host/host_report.h"

namespace n2nq::app {

/// A line per machine, with what is set and nothing else.
QString hosts_page(const HostBook& book);
nlohmann::ordered_json hosts_json(const HostBook& book);

/// A row per machine, the ways between them, and below what is to be done about everything that is not good.
/// `names`: in which order.
QString check_page(const std::vector<std::string>& names, const HostReports& hosts, const PathReports& paths);

/// Where a check is: which machines it still waits for before it looks at the ways between them.
QString check_progress(const std::vector<std::string>& names, const HostReports& hosts);

/// Runs the application's event loop where it checks; returns the exit code. `questions`: what `checker` asks.
int list_hosts(const Arguments& arguments, Terminal& terminal);
int check_hosts(const Arguments& arguments, HostChecker& checker, const TerminalQuestions& questions, const HostBook& book,
                Terminal& terminal);

/// The book that the arguments name; empty: said why on the terminal. Not `needed`: mistakes in a file that nobody named matter only to
/// a run that uses one of its hosts; its start says so then.
std::unique_ptr<HostBook> book_of(const Arguments& arguments, Terminal& terminal, bool needed = true);

}  // namespace n2nq::app
