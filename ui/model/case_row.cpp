// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/case_row.h"

#include <QCoreApplication>
#include <QFile>
#include <QStringList>
#include <algorithm>

#include "app/results/folder_lock.h"
#include "app/settings/qt_text.h"

namespace n2nq::ui {

CaseRow CaseRow::read(app::LibraryCase file, const app::CaseChoice& choice, const QString& runs_folder,
                      const BackgroundJob::Cancelled& cancelled) {
  CaseRow row;
  row.file = std::move(file);
  if (!row.file.read.file) {
    row.state = State::unreadable;
    return row;
  }
  for (const app::Scale scale : app::all_scales) {
    app::CaseChoice at_scale = choice;
    at_scale.scale = scale;
    QStringList errors;
    Estimate& estimate = row.estimates[static_cast<std::size_t>(scale)];
    if (const auto plan = app::CasePlan::make(*row.file.read.file, at_scale, errors)) {
      estimate = {plan->runs_expected(), plan->seconds_expected(), {}};
    } else {
      estimate.problem = errors.value(0);
    }
  }
  row.runs_all = row.estimates[static_cast<std::size_t>(choice.scale)].runs;
  row.folder = app::CaseFolder::newest(runs_folder, row.file.name, choice.scale);
  if (row.folder.isEmpty()) return row;
  row.runs_done = app::CaseFolder::runs_that_count(row.folder, &cancelled);
  // It was planned as was chosen then.
  QString unreadable;
  QStringList errors;
  if (const auto begun = app::CaseFolder::open(row.folder, unreadable)) {
    if (const auto plan = app::CasePlan::make(begun->file(), begun->choice(), errors)) {
      row.runs_all = plan->runs_expected();
      // Nobody knows how many before the last of them.
      if (plan->decides_by_what_it_measures()) row.runs_all = begun->runs_planned().value_or(std::max(row.runs_all, row.runs_done + 1));
    }
  }
  const qint64 at_work = app::FolderLock::holder(row.folder + QStringLiteral("/case.lock"));
  row.is_elsewhere = at_work != 0 && at_work != QCoreApplication::applicationPid();
  row.state = row.at_rest();
  return row;
}

CaseRow::State CaseRow::at_rest() const {
  if (folder.isEmpty()) return State::not_begun;
  return runs_done >= runs_all ? State::done : State::stopped;
}

QString CaseRow::tick_name() const {
  return (file.built_in ? QString() : QStringLiteral("own/")) + qt_text(file.name);
}

bool CaseRow::has_all_its_runs() const {
  if (!runner) return false;
  const auto all = runner->results().all();
  return std::all_of(all.begin(), all.end(),
                     [](const app::CaseRunResult* run) { return QFile::exists(run->folder + QStringLiteral("/summary.json")); });
}

void CaseRow::forget_begun(app::Scale scale) {
  planned.reset(), runner.reset();
  folder.clear();
  runs_done = marked = 0;
  runs_all = estimates[static_cast<std::size_t>(scale)].runs;
  is_elsewhere = false;
  if (state == State::done || state == State::queued || can_go_on()) state = State::not_begun;
}

}  // namespace n2nq::ui
