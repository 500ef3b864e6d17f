// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/verify_command.h"

#include <nlohmann/json.hpp>

#include "app/cli/result_table.h"
#include "app/cli/run_command.h"
#include "app/results/verify.h"

namespace n2nq::app {

namespace {

nlohmann::ordered_json as_json(const StoredRun& run, const Verification& found) {
  nlohmann::ordered_json out = {{"folder", run.folder.toStdString()}, {"compared", found.compared}, {"differing", found.differing}};
  out["not_possible"] = found.not_possible.isEmpty() ? nlohmann::ordered_json() : nlohmann::ordered_json(found.not_possible.toStdString());
  out["differences"] = nlohmann::ordered_json::array();
  for (const QString& difference : found.differences) out["differences"].push_back(difference.toStdString());
  return out;
}

QString as_text(const StoredRun& run, const Verification& found) {
  if (!found.not_possible.isEmpty() && found.compared == 0)
    return QString("%1: cannot be verified: %2\n").arg(run.folder, one_line(found.not_possible));
  QString out;
  for (const QString& difference : found.differences) out += one_line(difference) + '\n';
  if (const auto more = found.differing - found.differences.size(); more > 0) out += QString("… and %1 more\n").arg(grouped(more));
  out += QString("%1: %2 values compared, %3")
             .arg(run.folder, grouped(found.compared), found.differing == 0 ? "all agree" : grouped(found.differing) + " differ");
  return out + (found.not_possible.isEmpty() ? QString() : "; not compared: " + one_line(found.not_possible)) + '\n';
}

}  // namespace

int verify_runs(const Arguments& arguments, Terminal& terminal) {
  int code = exit_good;
  for (const std::string& folder : arguments.folders) {
    QString error;
    const auto run = read_run(QString::fromStdString(folder), error);
    if (!run) {
      terminal.say("n2nq-bench: " + error);
      return exit_bad_input;
    }
    terminal.progress("reading " + run->folder);
    const Verification found = verify_run(*run);
    const bool printed = arguments.json ? terminal.print_json(as_json(*run, found).dump()) : terminal.print(as_text(*run, found));
    if (!printed || found.differing > 0 || !found.not_possible.isEmpty()) code = exit_failed;
  }
  return code;
}

}  // namespace n2nq::app
