// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/run_control.h"

#include <utility>

#include "app/control/run_life.h"
#include "app/settings/host_name.h"

namespace n2nq::app {

namespace {

constexpr int pull_ms = 100;

/// A process of it is, or was, in this run: who did not come as far writes no log.
bool has_log(const Member& member) {
  return member.alive() || member.ran();
}

}  // namespace

RunControl::Private::Private(RunControl* control, Options given, std::unique_ptr<LauncherFactory> factory)
    : q(control),
      options(std::move(given)),
      launchers(std::move(factory)),
      sleep_watch(options.deadlines.own_standstill, [this](double stood_s, double began_ago_s) { on_stood_still(stood_s, began_ago_s); }) {
  if (options.runs_folder.isEmpty()) options.runs_folder = RunFolder::default_parent();
  reader_thread.start();
  pull_timer.setInterval(pull_ms);
  pull_timer.setTimerType(Qt::PreciseTimer);
  step_timer.setSingleShot(true);
  rates_timer.setSingleShot(true);
  plan_timer.setSingleShot(true);
  QObject::connect(&plan_timer, &QTimer::timeout, q, [this] { make_planned_steps(); });
  touch_timer.setInterval(options.deadlines.touch);
  QObject::connect(&touch_timer, &QTimer::timeout, q, [this] { touch_left(); });
  QObject::connect(&pull_timer, &QTimer::timeout, q, [this] { pull(); });
  QObject::connect(&rates_timer, &QTimer::timeout, q, [this] {
    for (const Role role : {Role::senders, Role::receivers}) forget_rates(figures, role);
    emit q->figures_changed();
  });
  QObject::connect(&step_timer, &QTimer::timeout, q, [this] {
    const int as_long_ms = step_timer.interval();
    if (sleep_watch.look()) {  // others may have answered in time
      if (!step_timer.isActive()) step_timer.start(as_long_ms);
      return;
    }
    if (hurried) return hurry_over();
    if (drains()) return give_up_drain();
    if (step != Step::none && step < Step::terminate) enter(static_cast<Step>(static_cast<int>(step) + 1));
  });
}

RunControl::Private::~Private() {
  for (Member& member : members) {
    for (auto* watch : {&member.watch, &member.salvager}) {
      if (*watch) (*watch)->disconnect(q);
      watch->reset();
    }
  }
  finisher_cancelled = true;
  if (finisher) finisher->wait();
  reader_thread.quit();
  reader_thread.wait();
}

RunControl::RunControl(Options options, std::unique_ptr<LauncherFactory> launchers, QObject* parent)
    : QObject(parent), d(std::make_unique<Private>(this, std::move(options), std::move(launchers))) {}

RunControl::~RunControl() = default;

void RunControl::set_settings(const Settings& settings) {
  d->wanted = settings;
}

const Settings& RunControl::settings() const {
  return d->wanted;
}

const Settings& RunControl::run_settings() const {
  return d->run.settings;
}

QString RunControl::refusal() const {
  for (const auto& error : validate(d->wanted)) return QString::fromStdString(error.key + " " + error.message);
  return d->launchers->problem(d->wanted);
}

void RunControl::start_all() {
  for (const Role role : all_roles) {
    if (can_start(role) && !d->start_or_go_on(role)) return;
  }
}

void RunControl::start(Role role) {
  if (can_start(role)) d->start_or_go_on(role);
}

void RunControl::stop(Role role) {
  if (!can_stop(role)) return;
  if (d->state == RunState::preparing) {
    d->stop_one(role);
  } else {
    d->stop_by_user();
  }
}

void RunControl::stop_all() {
  if (d->any_bringing_back()) return d->leave_files();
  if (d->any_left()) d->stop_by_user();
}

QString RunControl::lock_reason(std::string_view key) const {
  if (d->state == RunState::idle || d->state == RunState::finished) return {};
  for (const Role role : all_roles) {
    if (!is_used_by(role, key)) continue;
    if (d->of(role).alive()) return role_name(role) + (role == Role::broker ? " runs with it" : " run with it");
    if (d->of(role).awaits_restart()) return role_name(role) + (role == Role::broker ? " goes on with it" : " go on with it") + " when started again";
  }
  for (const Role role : all_roles) {
    if (key == std::string(role_key(role)) + ".host" && host_of(role, d->run.settings) != local_host && d->of(role).ran())
      return role_name(role) + " ran there in this run, and left files, which are brought when the run is over";
  }
  if (is_used_by_run(key)) return "the run goes by it";
  return {};
}

RunState RunControl::state() const {
  return d->state;
}

ProcessStatus RunControl::process(Role role) const {
  return d->of(role).status;
}

bool RunControl::can_start(Role role) const {
  if (d->state == RunState::idle || d->state == RunState::finished) return true;
  if (d->of(role).alive()) return false;
  if (d->of(role).awaits_restart()) return d->state == RunState::running;
  const bool joins_late = role == Role::receivers && !d->of(role).start_sent && d->state == RunState::running;
  return d->state == RunState::preparing || joins_late;
}

bool RunControl::can_stop(Role role) const {
  const Member& member = d->of(role);
  return member.alive() && !member.end_asked && !member.said_ended && (d->state == RunState::preparing || d->state == RunState::running);
}

QString RunControl::log_path(Role role, int number) const {
  return d->run.folder && has_log(d->of(role)) ? d->run.folder->log_path(role, number) : QString();
}

QString RunControl::broker_log_path() const {
  return log_path(Role::broker, 0);
}

QString RunControl::folder() const {
  return d->run.folder ? d->run.folder->path() : QString();
}

double RunControl::Private::measured_s() const {
  if (run.settings.senders.warmup_messages == 0 || run.settings.interval().num_ns > 0) return std::max(t_s(), -warmup_s());
  return run.warmed_up_s ? t_s() - *run.warmed_up_s : 0;
}

bool RunControl::draining() const {
  return d->state == RunState::running && d->drains();
}

bool RunControl::traffic_started() const {
  return d->run.traffic_started;
}

bool RunControl::warming_up() const {
  const Settings& settings = d->run.settings;
  if (d->state != RunState::running || settings.senders.warmup_messages == 0) return false;
  return settings.interval().num_ns > 0 ? d->t_s() < 0 : !d->run.warmed_up_s;
}

double RunControl::progress() const {
  if (d->state == RunState::finished) return 1;
  const LiveFigures& figures = d->figures;
  const auto duration = d->run.settings.planned_duration_s();
  const double warmup_s = d->warmup_s();
  // Behind a stop nothing more comes of the plan.
  const double stopped_s = d->since_stop.isValid() ? static_cast<double>(d->since_stop.elapsed()) / 1e3 : 0;
  if (duration && *duration + warmup_s > 0) return std::clamp((d->measured_s() + warmup_s - stopped_s) / (*duration + warmup_s), 0.0, 1.0);
  if (figures.planned <= 0) return -1;
  const auto sent = static_cast<double>(figures.attempted + figures.warm_up.sent);
  return std::clamp(sent / static_cast<double>(figures.planned + figures.warm_up.planned), 0.0, 1.0);
}

double RunControl::brought_back() const {
  if (!d->any_bringing_back()) return -1;
  qint64 done_bytes = 0, all_bytes = 0;
  for (const Member& member : d->members) {
    if (member.bringing_back && member.to_bring_bytes == 0) return d->brought_share;  // how much that is
    done_bytes += member.brought_bytes;
    all_bytes += member.to_bring_bytes;
  }
  // What was begun anew behind a cut does not go back.
  if (all_bytes > 0) d->brought_share = std::max(d->brought_share, static_cast<double>(done_bytes) / static_cast<double>(all_bytes));
  return d->brought_share;
}

void RunControl::follow_log(Role role, int number, bool follow) {
  if (!d->run.folder) return;
  if (follow) {
    d->followed_logs.insert({role, number});
  } else {
    d->followed_logs.erase({role, number});
  }
  d->follow_log(role, number, follow);
}

double RunControl::seconds_left() const {
  if (d->state == RunState::finished) return 0;
  if (draining()) return std::max(0, d->step_timer.remainingTime()) / 1000.0;
  if (d->since_stop.isValid()) return -1;
  const LiveFigures& figures = d->figures;
  const auto duration = d->run.settings.planned_duration_s();
  if (duration) return std::max(0.0, *duration - d->measured_s());
  if (figures.planned > 0 && figures.sent_per_s > 0) return static_cast<double>(figures.planned - figures.attempted) / figures.sent_per_s;
  return -1;
}

void RunControl::set_visible_rows(Role role, int first, int last) {
  d->of(role).first_row = first;
  d->of(role).last_row = last;
}

const LiveFigures& RunControl::figures() const {
  return d->figures;
}

const RunOutcome& RunControl::outcome() const {
  return d->outcome;
}

}  // namespace n2nq::app
