// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report_command.h"

#include <QDir>

#include "app/cli/out_folder.h"
#include "app/cli/run_command.h"
#include "app/report/report_files.h"
#include "app/report/result_report.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

int write_reports(const Arguments& arguments, Terminal& terminal) {
  const std::vector<std::string>& folders = arguments.folders;
  QStringList paths;
  for (const std::string& folder : folders) paths += qt_text(folder);
  QString error;
  QString out = qt_text(arguments.out);
  const auto which = out.isEmpty() && folders.size() == 1 ? ReportFolder::of_a_result : ReportFolder::of_its_own;
  if (out.isEmpty()) out = folders.size() == 1 ? qt_text(folders.front()) : QString("report");
  out = absolute_out(out, error);
  if (!error.isEmpty()) {
    terminal.say("n2nq-bench: " + error);
    return exit_bad_input;
  }
  const auto report = report_of_results(paths, error, [&](const QString& what) { terminal.progress(what); });
  if (!report) {
    terminal.say("n2nq-bench: " + error);
    return exit_bad_input;
  }
  error = write_report(out, report->report, [&](const QString& what) { terminal.progress("writing " + what); }, nullptr, which);
  if (!error.isEmpty()) {
    terminal.say("n2nq-bench: " + error);
    return exit_failed;
  }
  return terminal.print(QDir(out).filePath("report.html") + '\n') ? exit_good : exit_failed;
}

}  // namespace n2nq::app
