// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_runner.h"

#include <QFileInfo>
#include <algorithm>
#include <utility>

namespace n2nq::app {

CaseRunner::CaseRunner(std::shared_ptr<const PlannedCase> planned, CaseFolder folder, MakeLaunchers launchers, Options options,
                       QObject* parent)
    : QObject(parent), planned_(std::move(planned)), folder_(std::move(folder)), launchers_(std::move(launchers)), options_(options) {
  reader_.setMaxThreadCount(1);
  read();
}

CaseRunner::CaseRunner(std::shared_ptr<const PlannedCase> planned, CaseFolder folder, MakeLaunchers launchers, QObject* parent)
    : CaseRunner(std::move(planned), std::move(folder), std::move(launchers), Options(), parent) {}

CaseRunner::~CaseRunner() {
  ended_ = true;
  reader_.waitForDone();
}

void CaseRunner::read() {
  reader_.start([this, planned = planned_, folder = folder_.path()] {
    QStringList unreadable;
    auto results = std::make_shared<CaseResults>(CaseFolder::read_results(folder, planned->plan, &unreadable, &ended_));
    QMetaObject::invokeMethod(
        this,
        [this, results, unreadable] {
          results_ = std::move(*results);
          for (const QString& problem : unreadable) emit message(problem);
          count();
          come_to_rest();
          if (start_wanted_ && state_ == State::idle) {
            start();
          } else {
            emit stood_still();
          }
        },
        Qt::QueuedConnection);
  });
}

void CaseRunner::start() {
  start_wanted_ = true;
  if (state_ == State::pausing) return set_state(State::running);
  if (state_ != State::idle || !lock()) return;
  failed_starts_ = 0;
  set_state(State::running);
  next();
}

void CaseRunner::pause() {
  start_wanted_ = false;
  if (state_ == State::running) set_state(State::pausing);
}

void CaseRunner::stop_now() {
  start_wanted_ = false;
  if (state_ != State::running && state_ != State::pausing && state_ != State::stopping) return;
  set_state(State::stopping);
  if (run_) run_->stop_all();
}

void CaseRunner::run_again(const QString& folder) {
  if (state_ != State::idle && state_ != State::done) return;
  const ReadSettings read = read_settings_file((folder + "/settings.yaml").toStdString());
  if (!read.settings) {
    problem_ = QString::fromStdString(read.errors.front().text());
    emit message(problem_);
    emit stood_still();
    return;
  }
  ScheduledRun again{QString::fromStdString(read.settings->title).section(": ", 1), 1, *read.settings, settings_sha256(*read.settings)};
  for (const MeasuredPoint& point : schedule().points(results_)) {
    for (std::size_t i = 0; i < point.repeats.size(); ++i) {
      if (point.repeats[i]->sha256 == again.sha256) again.label = point.point.label, again.repeat = point.numbers[i];
    }
  }
  if (!lock()) return;
  again_s_ = CasePlan::seconds_of(again.settings, results_.overhead_s(CasePlan::overhead_first_s));
  once_ = true;
  failed_starts_ = 0;
  set_state(State::running);
  begin(again);
}

void CaseRunner::next() {
  const auto run = schedule().next(results_);
  if (!run || state_ != State::running || std::exchange(once_, false)) return rest();
  begin(*run);
}

void CaseRunner::begin(const ScheduledRun& run) {
  scheduled_ = run;
  since_begin_.start();
  RunControl::Options options;
  options.exact_folder = folder_.next_run_folder(run);
  options.unattended = true;
  options.deadlines = options_.deadlines;
  run_ = std::make_unique<RunControl>(options, launchers_());
  connect(run_.get(), &RunControl::message, this, [this](const QString& text) {
    problem_ = text;
    emit message(text);
  });
  connect(run_.get(), &RunControl::fetching_waits, this, [this](Role, const QString& why) {
    if (!why.isEmpty()) emit message(why);
  });
  connect(run_.get(), &RunControl::figures_changed, this, &CaseRunner::progressed);
  // Behind the signal: its sender ends with this.
  connect(run_.get(), &RunControl::finished, this, &CaseRunner::on_run_finished, Qt::QueuedConnection);
  problem_.clear();
  run_->set_settings(run.settings);
  emit run_started();
  run_->start_all();
  if (run_->state() != RunState::idle) return;
  // It has said why it cannot be started at all.
  run_.reset();
  scheduled_.reset();
  rest();
}

void CaseRunner::on_run_finished() {
  const RunOutcome& outcome = run_->outcome();
  const QString folder = outcome.folder;
  // Where its summary could not be written, the last says why.
  const QString broken = outcome.verdict == Verdict::broken && !outcome.reasons.isEmpty() ? outcome.reasons.last() : QString();
  problem_.clear();
  run_.reset();
  reader_.start([this, folder, broken, planned = planned_] {
    QString problem;
    auto result = std::make_shared<std::optional<CaseRunResult>>(read_case_run(folder, planned->plan, problem, &ended_));
    if (!broken.isEmpty()) problem = broken;
    QMetaObject::invokeMethod(
        this, [this, folder, result, problem] { take(folder, std::move(*result), problem); }, Qt::QueuedConnection);
  });
}

void CaseRunner::take(const QString& folder, std::optional<CaseRunResult> result, const QString& problem) {
  const bool has_result = result.has_value(), counts = result && result->counts;
  const bool stopped = state_ == State::stopping;
  failed_starts_ = counts ? 0 : failed_starts_ + 1;
  const bool is_another = result && scheduled_ && result->sha256 != scheduled_->sha256;
  const QString reason = !result ? problem : result->reasons.isEmpty() ? result->verdict : result->reasons.first();
  if (result) results_.add(std::move(*result));
  const std::optional<ScheduledRun> was = std::exchange(scheduled_, std::nullopt);
  count();
  emit run_finished(folder);
  if (!counts && !stopped && failed_starts_ >= options_.failed_starts_max) {
    problem_ = QString("%1 runs in a row %2: %3").arg(failed_starts_).arg(has_result ? "sent nothing" : "left no result", reason);
    emit message(problem_);
    return rest();
  }
  if (is_another) {
    // It would be planned again, for ever.
    problem_ = QString("%1/settings.yaml reads back as other settings than were planned, so it does not count as the run that it was")
                   .arg(folder);
    emit message(problem_);
    return rest();
  }
  if (once_ && !counts && state_ == State::running) return begin(*was);  // the schedule knows nothing of it
  next();
}

void CaseRunner::count() {
  runs_done_ = schedule().done(results_);
  runs_total_ = schedule().total(results_);
  left_s_ = schedule().seconds_left(results_);
}

/// On the run in progress.
double CaseRunner::spent_s() const {
  return scheduled_ ? static_cast<double>(since_begin_.elapsed()) / 1e3 : 0;
}

double CaseRunner::seconds_left() const {
  return std::max(0.0, left_s_ + (once_ ? again_s_ : 0) - spent_s());
}

double CaseRunner::again_seconds_left() const {
  return once_ ? std::max(0.0, again_s_ - spent_s()) : 0;
}

bool CaseRunner::lock() {
  problem_ = folder_.lock();
  if (problem_.isEmpty()) return true;
  start_wanted_ = false;
  emit message(problem_);
  emit stood_still();
  return false;
}

/// Where another bench works in it, that one notes how many runs it took.
void CaseRunner::come_to_rest() {
  const bool whole = !schedule().next(results_);
  if (whole && folder_.runs_planned() != runs_total_ && folder_.lock().isEmpty()) {
    if (const QString error = folder_.note_runs(runs_total_); !error.isEmpty()) emit message(error);
  }
  folder_.unlock();
  set_state(whole ? State::done : State::idle);
}

void CaseRunner::rest() {
  once_ = false;
  start_wanted_ = false;
  come_to_rest();
  emit stood_still();
}

void CaseRunner::set_state(State state) {
  if (state_ == state) return;
  state_ = state;
  emit state_changed();
}

}  // namespace n2nq::app
