// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report_command.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <optional>

#include "app/cases/case_folder.h"
#include "app/cli/run_command.h"
#include "app/report/case_report.h"
#include "app/report/report_files.h"

namespace n2nq::app {

namespace {

QString text_of(const std::string& text) {
  return QString::fromStdString(text);
}

/// Runs one by one, drawn from their logs; empty: `error` says why.
std::optional<Report> report_of_runs(const std::vector<std::string>& folders, Terminal& terminal, QString& error) {
  std::vector<DrawnRun> runs;
  for (const std::string& folder : folders) {
    terminal.progress("reading " + text_of(folder));
    auto run = read_run(text_of(folder), error);
    if (!run) return {};
    runs.push_back(drawn_run(std::move(*run)));
  }
  return report_of(runs);
}

/// Folders that hold runs: repeats, test cases.
std::optional<Report> report_of_sides(const std::vector<std::string>& folders, Terminal& terminal, QString& error) {
  std::vector<ComparedSide> sides;
  for (const std::string& folder : folders) {
    terminal.progress("reading " + text_of(folder));
    auto side = read_side(text_of(folder), error);
    if (!side) return {};
    sides.push_back(std::move(*side));
  }
  return report_of(compare(std::move(sides)));
}

}  // namespace

int write_reports(const Arguments& arguments, Terminal& terminal) {
  const std::vector<std::string>& folders = arguments.folders;
  const auto is_run = [](const std::string& folder) { return QFileInfo::exists(text_of(folder) + "/summary.json"); };
  const auto holds_runs = [&](const std::string& folder) {
    QString ignored;
    return !is_run(folder) && read_side(text_of(folder), ignored).has_value();
  };
  const bool several = std::any_of(folders.begin(), folders.end(), holds_runs);
  QString error;
  const auto drawn = [&] {
    if (folders.size() == 1 && CaseFolder::is_one(text_of(folders.front()))) return report_of_case(text_of(folders.front()), error);
    return several ? report_of_sides(folders, terminal, error) : report_of_runs(folders, terminal, error);
  };
  const auto report = drawn();
  if (!report) {
    terminal.say("n2nq-bench: " + error);
    return exit_bad_input;
  }
  QString out = text_of(arguments.out);
  if (out.isEmpty()) out = folders.size() == 1 ? text_of(folders.front()) : QString("report");
  out = QDir::current().absoluteFilePath(out);
  error = write_report(out, *report, [&](const QString& what) { terminal.progress("writing " + what); });
  if (!error.isEmpty()) {
    terminal.say("n2nq-bench: " + error);
    return exit_failed;
  }
  return terminal.print(QDir(out).filePath("report.html") + '\n') ? exit_good : exit_failed;
}

}  // namespace n2nq::app
