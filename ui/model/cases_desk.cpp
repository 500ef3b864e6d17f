// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/cases_desk.h"

#include <QDateTime>
#include <algorithm>
#include <iterator>
#include <utility>

#include "app/cases/case_figures.h"
#include "app/settings/qt_text.h"
#include "ui/text/figures.h"

namespace n2nq::ui {

namespace {

constexpr qsizetype said_max = 200;
const char* const another_works_on_it = "Another bench works on it";

}  // namespace

CasesDesk::CasesDesk(Parts parts, QObject* parent) : QObject(parent), parts_(std::move(parts)) {}

// What a run that is killed with this says on its way is heard by nobody who asks here then.
CasesDesk::~CasesDesk() {
  active_ = -1;
}

void CasesDesk::reload() {
  if (is_on()) return;
  listing_.start(
      [choice = choice_, cases = parts_.cases_folder, runs = parts_.runs_folder, programs = parts_.programs_folder,
       build = build_](const BackgroundJob::Cancelled& cancelled) {
        Listed out{{}, build.isEmpty() ? app::build_of_programs(programs) : build, {}};
        for (app::LibraryCase& each : app::CaseLibrary(cases).list(&out.remark)) {
          if (cancelled) break;
          out.rows.push_back(Row::read(std::move(each), choice, runs, cancelled));
        }
        return out;
      },
      [this](Listed listed) {
        build_ = listed.build;
        if (std::exchange(remark_, listed.remark) != listed.remark) emit not_all_listed(listed.remark);
        take_rows(std::move(listed.rows));
      });
}

void CasesDesk::take_rows(std::vector<Row> rows) {
  if (is_on()) return;  // begun meanwhile: its row stays where it is
  scale_is_read_ = true;
  for (Row& row : rows) {
    row.ticked = !loaded_ && restored_ && restored_->contains(row.tick_name());
    const auto before = std::find_if(rows_.begin(), rows_.end(), [&](const Row& old) {
      return old.file.name == row.file.name && old.file.built_in == row.file.built_in;
    });
    if (before == rows_.end()) continue;
    row.ticked = before->ticked;  // also with mistakes, as half way through an edit
    if (before->state == State::queued && !row.is_elsewhere) row.state = State::queued, row.how = before->how;
    if (before->state == State::paused && row.state == State::stopped && before->folder == row.folder) row.state = State::paused;
    if (before->folder != row.folder || row.folder.isEmpty() || !before->has_all_its_runs()) continue;
    // Who else worked on it has left runs that were not read here; while it does, reading them would load its machine.
    if (before->is_elsewhere && !row.is_elsewhere) continue;
    row.planned = before->planned;
    row.runner = before->runner;
    if (row.is_elsewhere) continue;
    if (row.state != State::queued) row.state = before->state;
    row.runs_done = before->runs_done, row.runs_all = before->runs_all, row.marked = before->marked;
  }
  rows_ = std::move(rows);
  // What knows a row by its number, as it may have another now; who looks at a row opens it again.
  opening_.cancel();
  queue_.clear();
  for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
    const std::shared_ptr<app::CaseRunner>& runner = rows_[static_cast<std::size_t>(row)].runner;
    if (!runner) continue;
    disconnect(runner.get(), nullptr, this, nullptr);
    watch(row);
  }
  loaded_ = true;
  emit rows_changed();
}

void CasesDesk::set_ticked(int row, bool ticked) {
  Row& at = rows_[static_cast<std::size_t>(row)];
  if (at.ticked == ticked) return;
  at.ticked = ticked;
  emit row_changed(row);
  emit ticks_changed();
}

QStringList CasesDesk::ticked_names() const {
  QStringList out;
  for (const Row& row : rows_) {
    if (row.ticked) out += row.tick_name();
  }
  return out;
}

void CasesDesk::restore(const QStringList& ticked_names, std::optional<app::Scale> scale) {
  restored_ = ticked_names;
  if (scale) choice_.scale = *scale;
  emit choice_changed();
}

std::vector<int> CasesDesk::ticked_rows() const {
  std::vector<int> out;
  for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
    const Row& at = rows_[static_cast<std::size_t>(row)];
    if (at.ticked && at.file.read.file) out.push_back(row);
  }
  return out;
}

void CasesDesk::choose(const app::CaseChoice& choice) {
  if (is_on() || choice == choice_) return;
  const bool other_scale = choice.scale != choice_.scale;
  choice_ = choice;
  // What waits was asked for with the choice before, and is not what a person would get now.
  for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
    const Row& at = rows_[static_cast<std::size_t>(row)];
    if (at.waits_to_begin()) set_state(row, at.at_rest());
  }
  if (other_scale) {
    opening_.cancel();
    together_.clear();
    for (Row& row : rows_) row.forget_begun(choice.scale);
    scale_is_read_ = false;
  }
  emit choice_changed();
  reload();
}

CasesDesk::Wanted CasesDesk::wanted(int row, Begin how, bool only_show) const {
  const Row& at = rows_[static_cast<std::size_t>(row)];
  return {*at.file.read.file, at.file.name, at.file.path, at.folder, parts_.runs_folder, build_, choice_, how, only_show};
}

CasesDesk::Prepared CasesDesk::prepare(const Wanted& wanted) {
  Prepared out;
  if (wanted.how == Begin::go_on && !wanted.folder.isEmpty()) {
    out.folder = app::CaseFolder::open(wanted.folder, out.problem);
    if (!out.folder) return out;
    out.other_build = out.folder->build() != wanted.build;
  }
  app::CaseFile file = out.folder ? out.folder->file() : wanted.file;
  if (!out.folder && !wanted.only_show && !wanted.own_path.isEmpty()) {
    // A person may have edited it since the list was read.
    app::ReadCase read = app::CaseLibrary().load(wanted.own_path.toStdString()).read;
    if (!read.file) {
      out.problem = qt_text(read.errors.front().text());
      return out;
    }
    file = std::move(*read.file);
  }
  QStringList errors;
  auto plan = app::CasePlan::make(file, out.folder ? out.folder->choice() : wanted.choice, errors);
  if (!plan) {
    out.problem = errors.value(0);
    return out;
  }
  if (!out.folder && !wanted.only_show) {
    out.folder = app::CaseFolder::make(wanted.runs_folder, {}, wanted.name, *plan, wanted.build, QDateTime::currentDateTime(), out.problem);
    if (!out.folder) return out;
  }
  out.planned = std::make_shared<app::PlannedCase>(std::move(*plan));
  return out;
}

void CasesDesk::open(int row) {
  const Row& at = rows_[static_cast<std::size_t>(row)];
  if (at.planned || !at.file.read.file || is_on() || !hold_.isEmpty() || asked_row_ >= 0) return;
  // That stands in the figure's place, and is not told each time the list is read.
  if (at.folder.isEmpty() && !at.estimates[static_cast<std::size_t>(choice_.scale)].problem.isEmpty()) return;
  opening_.start([asked = wanted(row, Begin::go_on, true)](const BackgroundJob::Cancelled&) { return prepare(asked); },
                 [this, row](Prepared prepared) {
                   if (!prepared.planned) {
                     if (!prepared.problem.isEmpty()) emit told(prepared.problem, true);
                     return;
                   }
                   use(row, std::move(prepared));
                   emit opened(row);
                 });
}

void CasesDesk::prepare_and_start(int row, Begin how) {
  opening_.start([asked = wanted(row, how, false)](const BackgroundJob::Cancelled&) { return prepare(asked); },
                 [this, row](Prepared prepared) { take_prepared(row, std::move(prepared)); });
}

/// Where what is finished was read already, it is not read again.
bool CasesDesk::go_on_with_runner(int row) {
  const std::shared_ptr<app::CaseRunner> runner = rows_[static_cast<std::size_t>(row)].runner;
  if (!runner || runner->state() == app::CaseRunner::State::reading || runner->folder().build() != build_) return false;
  set_state(row, State::running);
  emit opened(row);
  if (again_.any_to_come()) {
    runner->run_again(again_.next());
  } else if (runner->state() == app::CaseRunner::State::idle) {
    runner->start();
  } else {
    on_stood_still(row);
  }
  return true;
}

/// A runner is made where there is a folder; it reads what is finished.
void CasesDesk::use(int row, Prepared prepared) {
  Row& at = rows_[static_cast<std::size_t>(row)];
  at.planned = std::move(prepared.planned);
  at.runner.reset();
  if (!prepared.folder) return;
  const bool begun_anew = at.folder != prepared.folder->path();
  at.folder = prepared.folder->path();
  at.runner = std::make_shared<app::CaseRunner>(at.planned, std::move(*prepared.folder), parts_.launchers);
  watch(row);
  if (!begun_anew) return;
  at.file.read.file = at.planned->plan.file();
  // Nothing of what was counted in the folder before.
  at.runs_done = at.marked = 0;
  at.runs_all = at.planned->plan.runs_expected();
}

void CasesDesk::watch(int row) {
  app::CaseRunner* runner = rows_[static_cast<std::size_t>(row)].runner.get();
  connect(runner, &app::CaseRunner::progressed, this, &CasesDesk::progressed);
  connect(runner, &app::CaseRunner::run_started, this, [this, runner] { watch_run(*runner); });
  connect(runner, &app::CaseRunner::state_changed, this, &CasesDesk::on_changed);
  connect(runner, &app::CaseRunner::run_finished, this, [this, row] {
    refresh_counts(row);
    emit figures_changed(row);
  });
  connect(runner, &app::CaseRunner::stood_still, this, [this, row] { on_stood_still(row); });
  // Behind what the runner does with it: what a case ends by is told as that alone.
  connect(runner, &app::CaseRunner::message, this, &CasesDesk::remark, Qt::QueuedConnection);
}

/// Also before there are figures, and when there are no more: while processes start and end.
void CasesDesk::watch_run(const app::CaseRunner& runner) {
  connect(runner.run(), &app::RunControl::process_changed, this, &CasesDesk::progressed);
  connect(runner.run(), &app::RunControl::state_changed, this, &CasesDesk::progressed);
  emit progressed();
}

void CasesDesk::refresh_counts(int row) {
  Row& at = rows_[static_cast<std::size_t>(row)];
  at.runs_done = at.runner->runs_done();
  at.runs_all = at.runner->runs_total();
  at.marked = at.runner->results().marked();
  emit row_changed(row);
}

void CasesDesk::set_state(int row, State state) {
  rows_[static_cast<std::size_t>(row)].state = state;
  emit row_changed(row);
}

/// A machine that these cases are to use and nobody knows; empty: none. Found out before the first is begun, not hours later.
QString CasesDesk::unknown_host(const std::vector<int>& rows) const {
  const bool used = std::any_of(rows.begin(), rows.end(), [this](int row) {
    const auto& file = rows_[static_cast<std::size_t>(row)].file.read.file;
    return file && file->has_places();
  });
  if (!used || !choice_.hosts) return {};
  for (const std::string& name : {choice_.hosts->broker, choice_.hosts->senders, choice_.hosts->receivers}) {
    if (name != app::local_host && !parts_.hosts->hosts().find(name)) return qt_text(name);
  }
  return {};
}

void CasesDesk::refresh_hold() {
  const QString hold = parts_.busy();
  if (hold == hold_) return;
  hold_ = hold;
  emit hold_changed();
}

QString CasesDesk::why_not_changed(const Row& row) const {
  if (is_on()) return QStringLiteral("A test case runs: pause or stop it first");
  if (row.is_elsewhere) return QString::fromLatin1(another_works_on_it);
  return hold_;  // the list is read anew then, which takes a core
}

QString CasesDesk::why_not_now() {
  if (is_on() || asked_row_ >= 0) return QStringLiteral("A test case runs already");
  refresh_hold();
  return hold_;
}

void CasesDesk::run(std::vector<int> rows, Begin how) {
  if (const QString why = why_not_now(); !why.isEmpty()) return emit refused(why);
  const bool any = !rows.empty();
  std::erase_if(rows, [this](int row) { return rows_[static_cast<std::size_t>(row)].is_elsewhere; });
  if (any && rows.empty()) return emit refused(QString::fromLatin1(another_works_on_it));
  std::vector<int> begun_anew;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(begun_anew),
               [&](int row) { return how == Begin::anew || rows_[static_cast<std::size_t>(row)].waits_to_begin(); });
  if (const QString unknown = unknown_host(begun_anew); !unknown.isEmpty()) {
    const QString why = parts_.hosts->problems().isEmpty() ? QStringLiteral("there is no such machine on the page Hosts any more")
                                                           : QStringLiteral("the hosts file cannot be read (page Hosts)");
    return emit told(QStringLiteral("External sets are to run on %1, but %2: choose others, or mend it there.").arg(unknown, why), true);
  }
  for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
    const Row& at = rows_[static_cast<std::size_t>(row)];
    const bool left_out = std::find(rows.begin(), rows.end(), row) == rows.end();
    if (left_out && at.state == State::queued) set_state(row, at.at_rest());
  }
  forget_said();
  queue_ = std::move(rows);
  together_.clear();
  halting_ = Halt::none;
  again_ = {};
  for (const int row : queue_) {
    Row& at = rows_[static_cast<std::size_t>(row)];
    together_ += at.tick_name();
    // What waits since a pause begins as it was asked to then.
    if (how == Begin::anew || at.state != State::queued) at.how = how;
    set_state(row, State::queued);
  }
  begin_next();
}

void CasesDesk::begin_next() {
  if (queue_.empty() || halting_ != Halt::none) {
    active_ = -1;
    emit on_changed();
    return;
  }
  const int row = queue_.front();
  queue_.erase(queue_.begin());
  active_ = row;
  emit on_changed();
  const Begin how = rows_[static_cast<std::size_t>(row)].how;
  if (how == Begin::anew || !go_on_with_runner(row)) prepare_and_start(row, how);
}

void CasesDesk::take_prepared(int row, Prepared prepared) {
  if (!prepared.problem.isEmpty() || halting_ != Halt::none) {
    if (!prepared.problem.isEmpty()) emit told(prepared.problem, true);
    set_state(row, state_when_left(rows_[static_cast<std::size_t>(row)]));
    return halt();
  }
  if (!prepared.other_build) return start(row, std::move(prepared));
  asked_row_ = row;
  const QString text = QStringLiteral("%1 was begun with another build of the programs. Results of two builds in one figure can mislead.")
                           .arg(qt_text(rows_[static_cast<std::size_t>(row)].file.read.file->title));
  asked_ = std::move(prepared);
  emit build_asked(text);
}

void CasesDesk::answer(Answer answer) {
  if (asked_row_ < 0) return;
  const int row = std::exchange(asked_row_, -1);
  Prepared prepared = std::move(*std::exchange(asked_, std::nullopt));
  if (answer == Answer::anew) {
    // All its runs are to come, also where some were to be made again.
    again_ = {};
    rows_[static_cast<std::size_t>(row)].how = Begin::anew;
    set_state(row, State::queued);
    prepare_and_start(row, Begin::anew);
    return;
  }
  const QString error = answer == Answer::go_on ? prepared.folder->accept_build(build_) : QString();
  if (!error.isEmpty()) emit told(error, true);
  if (answer == Answer::go_on && error.isEmpty()) return start(row, std::move(prepared));
  set_state(row, rows_[static_cast<std::size_t>(row)].at_rest());
  halt();
}

void CasesDesk::start(int row, Prepared prepared) {
  use(row, std::move(prepared));
  set_state(row, State::running);
  emit opened(row);
  if (!again_.any_to_come()) rows_[static_cast<std::size_t>(row)].runner->start();
}

void CasesDesk::run_again(int row, const QStringList& folders) {
  if (const QString why = why_not_now(); !why.isEmpty()) return emit refused(why);
  const Row& at = rows_[static_cast<std::size_t>(row)];
  if (at.is_elsewhere) return emit refused(QString::fromLatin1(another_works_on_it));
  if (!at.runner) return;
  again_ = app::RunsAgain(at.runner->results(), folders);
  if (!again_.any_to_come()) return;
  forget_said();
  queue_.clear();
  together_ = {at.tick_name()};
  halting_ = Halt::none;
  active_ = row;
  emit on_changed();
  if (!go_on_with_runner(row)) prepare_and_start(row, Begin::go_on);
}

void CasesDesk::on_stood_still(int row) {
  Row& at = rows_[static_cast<std::size_t>(row)];
  const std::shared_ptr<app::CaseRunner> keep = at.runner;
  const bool done = keep->state() == app::CaseRunner::State::done;
  refresh_counts(row);
  emit figures_changed(row);
  if (row != active_) {
    if (at.state == State::queued) return;  // behind a pause: it is looked at meanwhile, and begins as it was asked to
    return set_state(row, done ? State::done : State::stopped);
  }
  if (!keep->problem().isEmpty()) {
    said_ += keep->problem();
    emit told(keep->problem(), true);
  }
  const bool goes_on = halting_ == Halt::none && keep->problem().isEmpty();
  if (goes_on && again_.any_to_come()) return keep->run_again(again_.next());
  const bool paused = halting_ == Halt::pause && keep->problem().isEmpty();
  set_state(row, done ? State::done : paused ? State::paused : State::stopped);
  if (!goes_on || !done) return halt();
  begin_next();
}

// Many runs have the same remark.
void CasesDesk::remark(const QString& text) {
  if (said_.contains(text)) return;
  if (said_.size() >= said_max) said_.removeFirst();
  said_ += text;
  emit remarked(text);
}

void CasesDesk::forget_said() {
  said_.clear();
  emit asked_anew();
}

/// Nothing runs any more; what is queued stays so, for resume.
void CasesDesk::halt() {
  active_ = -1;
  again_.call_off();
  emit on_changed();
}

void CasesDesk::pause() {
  if (!is_on()) return;
  halting_ = Halt::pause;
  again_.call_off();
  if (const auto& runner = rows_[static_cast<std::size_t>(active_)].runner) runner->pause();
  emit on_changed();
}

void CasesDesk::stop_now() {
  if (!is_on()) return;
  halting_ = Halt::stop;
  again_.call_off();
  if (const auto& runner = rows_[static_cast<std::size_t>(active_)].runner) runner->stop_now();
  emit on_changed();
}

bool CasesDesk::is_pausing() const {
  return is_on() && halting_ != Halt::none;
}

std::vector<int> CasesDesk::resumable() const {
  std::vector<int> out;
  if (!scale_is_read_) return out;  // what waits may have been begun at this one
  for (const int row : ticked_rows()) {
    const Row& at = rows_[static_cast<std::size_t>(row)];
    if (at.can_go_on() || at.state == State::queued) out.push_back(row);
  }
  return out;
}

CasesDesk::State CasesDesk::state_when_left(const Row& row) const {
  const State state = row.at_rest();
  return state == State::stopped && halting_ == Halt::pause ? State::paused : state;
}

bool CasesDesk::is_in_progress(const Row& row) const {
  if (is_on()) return together_.contains(row.tick_name());
  if (!scale_is_read_ || !row.ticked || !row.file.read.file) return false;
  return row.can_go_on() || row.state == State::queued || row.state == State::done;
}

double CasesDesk::seconds_left(const Row& row) const {
  if (row.state == State::done) return 0;
  const Estimate& estimate = row.estimates[static_cast<std::size_t>(choice_.scale)];
  if (row.waits_to_begin()) return estimate.seconds;
  if (row.runner && row.runner->state() != app::CaseRunner::State::reading) return row.runner->seconds_left();
  // It may have been begun with another number of repeats than is chosen now.
  return estimate.seconds / std::max(1, estimate.runs) * std::max(0, row.runs_all - row.runs_done);
}

CasesDesk::Progress CasesDesk::progress() const {
  Progress out;
  for (const Row& row : rows_) {
    if (!is_in_progress(row)) continue;
    const bool is_anew = row.waits_to_begin();
    out.runs_done += is_anew ? 0 : std::min(row.runs_done, row.runs_all);
    out.runs_all += is_anew ? row.estimates[static_cast<std::size_t>(choice_.scale)].runs : row.runs_all;
    out.seconds_left += seconds_left(row);
  }
  return out;
}

double CasesDesk::share() const {
  const double run_share = run() != nullptr ? std::max(0.0, run()->progress()) : 0;
  if (is_on() && again_.all() > 0) return std::max(0.0, again_.begun() - 1 + run_share) / again_.all();
  const Progress so_far = progress();
  return std::min(1.0, (so_far.runs_done + run_share) / std::max(1, so_far.runs_all));
}

QString CasesDesk::progress_text() const {
  if (!is_on()) return {};
  const Row& at = rows_[static_cast<std::size_t>(active_)];
  if (!at.runner || !at.runner->scheduled()) return QStringLiteral("%1: preparing").arg(qt_text(at.file.read.file->title));
  const app::ScheduledRun& scheduled = *at.runner->scheduled();
  QString text = QStringLiteral("%1: %2").arg(run_text(), scheduled.label);
  if (scheduled.repeat > 1) text += QStringLiteral(", repeat %1").arg(scheduled.repeat);
  return text + QStringLiteral(" · ") + qt_text(at.file.read.file->title);
}

QString CasesDesk::run_text() const {
  if (!is_on()) return {};
  const Row& at = rows_[static_cast<std::size_t>(active_)];
  if (!at.runner || !at.runner->scheduled()) return QStringLiteral("preparing");
  if (at.runner->makes_again()) return QStringLiteral("once more");
  return QStringLiteral("run %1 of %2").arg(std::min(at.runs_done + 1, at.runs_all)).arg(at.runs_all);
}

const app::RunControl* CasesDesk::run() const {
  if (!is_on()) return nullptr;
  const Row& at = rows_[static_cast<std::size_t>(active_)];
  return at.runner ? at.runner->run() : nullptr;
}

QString CasesDesk::time_text() const {
  if (!is_on()) return {};
  const Row& at = rows_[static_cast<std::size_t>(active_)];
  if (is_pausing()) {
    const bool stops = at.runner && at.runner->state() == app::CaseRunner::State::stopping;
    return stops ? QStringLiteral("stopping this run") : QStringLiteral("pauses after this run");
  }
  const QString safe = QStringLiteral("%1 left · safe to stop: finished runs are kept");
  if (again_.all() > 0) {
    // What else is missing in the case is not run behind them.
    return safe.arg(span_text((at.runner ? at.runner->again_seconds_left() : 0) + again_.seconds_to_come()));
  }
  double seconds = seconds_left(at);
  for (const int row : queue_) seconds += seconds_left(rows_[static_cast<std::size_t>(row)]);
  return safe.arg(span_text(seconds)) + QStringLiteral(", Resume goes on");
}

app::Figure CasesDesk::figure(int row, std::size_t which) const {
  const Row& at = rows_[static_cast<std::size_t>(row)];
  if (!at.planned || which >= at.planned->plan.file().figures.size()) return {};
  static const app::CaseResults none;
  return app::case_figure(at.planned->plan, at.planned->schedule, at.runner ? at.runner->results() : none, which);
}

}  // namespace n2nq::ui
