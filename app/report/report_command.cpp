// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report_command.h"

#include <QDir>

#include "app/cli/run_command.h"
#include "app/report/report_files.h"

namespace n2nq::app {

int write_reports(const Arguments& arguments, Terminal& terminal) {
  std::vector<DrawnRun> runs;
  for (const std::string& folder : arguments.folders) {
    QString error;
    terminal.progress("reading " + QString::fromStdString(folder));
    auto run = read_run(QString::fromStdString(folder), error);
    if (!run) {
      terminal.say("n2nq-bench: " + error);
      return exit_bad_input;
    }
    runs.push_back(drawn_run(std::move(*run)));
  }
  QString out = QString::fromStdString(arguments.out);
  if (out.isEmpty()) out = runs.size() == 1 ? runs.front().run.folder : "report";
  out = QDir::current().absoluteFilePath(out);
  const QString error = write_report(out, report_of(runs), [&](const QString& what) { terminal.progress("writing " + what); });
  if (!error.isEmpty()) {
    terminal.say("n2nq-bench: " + error);
    return exit_failed;
  }
  return terminal.print(QDir(out).filePath("report.html") + '\n') ? exit_good : exit_failed;
}

}  // namespace n2nq::app
