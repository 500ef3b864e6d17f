// SPDX-License-Identifier: GPL-3.0-or-later
// From what a person wants to processes that are launched with it: the run that the first start begins, and each process of it.
#include <QRandomGenerator>
#include <algorithm>
#include <utility>

#include "app/control/configure.h"
#include "app/control/run_life.h"
#include "app/settings/host_name.h"

namespace n2nq::app {

namespace {

/// A run that is wholly on this machine is nobody else's business.
QString listen_address(const Settings& settings, const Launcher& broker_launcher) {
  return is_all_local(settings) ? QStringLiteral("127.0.0.1") : broker_launcher.data_address();
}

std::string random_token() {
  quint32 words[8];
  QRandomGenerator::system()->fillRange(words);
  return QByteArray(reinterpret_cast<const char*>(words), sizeof words).toHex().toStdString();
}

}  // namespace

/// False when there is nothing to start a process with; why was told.
bool RunControl::Private::start(Role role) {
  const bool new_run = state == RunState::idle || state == RunState::finished;
  if (!(new_run ? begin_run() : take_settings())) return false;
  launch(role);
  return true;
}

/// Who was killed in the run goes on with what it had. False: nothing was started.
bool RunControl::Private::start_or_go_on(Role role) {
  if (state != RunState::running || !of(role).awaits_restart()) return start(role);
  q->make_fault({FaultKind::restart, role});
  return true;
}

bool RunControl::Private::begin_run() {
  launchers->look_again();
  if (const QString refused = q->refusal(); !refused.isEmpty()) {
    emit q->message(refused);
    return false;
  }
  // What cannot begin leaves what is known of the last run.
  const QDateTime started = QDateTime::currentDateTime();
  QString error;
  std::optional<RunFolder> folder = RunFolder::make(options.runs_folder, options.exact_folder, wanted, started, error);
  if (!folder) {
    emit q->message(error);
    return false;
  }
  run = RunRecord();
  run.settings = wanted;
  run.started = started;
  run.folder = std::move(folder);
  if (auto lock = FolderLock::take(run.folder->file("run.lock"))) folder_lock = std::make_unique<FolderLock>(std::move(*lock));
  since_begun.start();
  stood_still_ns = 0;
  hurried = false;
  misbehaving.clear();
  followed_logs.clear();
  token = random_token();
  broker_port = 0;
  broker_address.clear();
  for (Member& member : members) member.renew();
  rules = run.settings.queue.requests ? rules_of(*run.settings.queue.requests, run.settings.receivers.amount) : std::vector<RequestRules>{};
  steps_to_come = planned_steps;
  recovery = Recovery();
  plan_is_over = false;
  since_broker_now.invalidate();
  since_start.invalidate();
  since_drain.invalidate();
  since_in_vain.invalidate();
  broker_is_new = false;
  since_stop.invalidate();
  stood_ms_since_stop = 0;
  accumulator.reset();
  figures = LiveFigures();
  figures.planned = wanted.planned_messages().value_or(-1);
  figures.warm_up.planned = wanted.planned_warmup();
  step = Step::none;
  outcome = RunOutcome();
  sleep_watch.start();
  set_state(RunState::preparing);
  for (const auto& remark : remarks(run.settings)) emit q->message(QString::fromStdString(remark));
  for (const Role role : all_roles) emit q->process_changed(role);
  return true;
}

/// What no process of this run was started with yet is taken over from the wanted settings.
bool RunControl::Private::take_settings() {
  Settings next = run.settings;
  for (const KeyInfo& info : keys()) {
    const std::string text = value_text(wanted, info.key);
    if (text == value_text(next, info.key)) continue;
    const QString reason = q->lock_reason(info.key);
    if (reason.isEmpty()) {
      set_value(next, info.key, text);
    } else {
      emit q->message(QString("%1 stays %2 in this run: %3")
                          .arg(QString::fromUtf8(info.key.data(), static_cast<qsizetype>(info.key.size())),
                               QString::fromStdString(value_text(next, info.key)), reason));
    }
  }
  for (const auto& error : validate(next)) {
    emit q->message(QString::fromStdString(error.key + " " + error.message));
    return false;
  }
  if (const QString problem = launchers->problem(next, settled_hosts(next)); !problem.isEmpty()) {
    emit q->message(problem);
    return false;
  }
  if (of(Role::broker).alive() && broker_is_for_all_local && !is_all_local(next)) {
    emit q->message("N2NQ was started for this machine alone, and nobody else reaches it: stop it first");
    return false;
  }
  if (next == run.settings) return true;
  // What was asked for meanwhile is in force.
  const bool asks_anew = next.queue.requests != run.settings.queue.requests || next.receivers.amount != run.settings.receivers.amount;
  run.settings = next;
  if (asks_anew) {
    rules = next.queue.requests ? rules_of(*next.queue.requests, next.receivers.amount) : std::vector<RequestRules>{};
    emit q->rules_changed();
  }
  const QString error = run.folder->write_settings(next);
  if (!error.isEmpty()) emit q->message(error);
  return true;
}

/// The keys of hosts that a role keeps as they were: it runs there, or goes on there.
std::set<std::string> RunControl::Private::settled_hosts(const Settings& next) const {
  std::set<std::string> out;
  for (const Role role : all_roles) {
    const Member& member = of(role);
    if (member.alive() || member.awaits_restart() || member.has_left_files_on(host_of(role, next)))
      out.insert(std::string(role_key(role)) + ".host");
  }
  return out;
}

/// The logs that are open are the next process's, which has the same files.
void RunControl::Private::renew(Role role) {
  follow_logs(role, false);
  of(role).renew();
}

void RunControl::Private::follow_log(Role role, int number, bool follow) {
  if (!of(role).watch) return;
  const QString path = run.folder->log_path(role, number);
  Launcher& launcher = of(role).watch->launcher();
  follow ? launcher.follow(path) : launcher.unfollow(path);
}

void RunControl::Private::follow_logs(Role role, bool follow) {
  for (const auto& [whose, number] : followed_logs) {
    if (whose == role) follow_log(role, number, follow);
  }
}

void RunControl::Private::launch(Role role) {
  if (role == Role::broker) broker_is_for_all_local = is_all_local(run.settings);
  Member& member = of(role);
  const std::string host = host_of(role, run.settings);
  const bool ran_before = member.ran(), stays = member.has_left_files_on(host);
  renew(role);
  member.ran_before = ran_before;
  if (!stays) {
    member.make_launcher = launchers->launchers_of(QString::fromStdString(host));
    member.launched_on = host;
  }
  member.watch = make_watch(role, options.deadlines.process);
  watch_signals(role, *member.watch);
  set_status(role, ProcessState::starting);
  ProcessWatch* const watch = member.watch.get();
  if (role != Role::broker && run.settings.log == LogMode::off) watch->launcher().set_needs_no_room();
  watch->launcher().set_is_start();
  member.since_launched.start();
  watch->start(program_of(role), [this, role, watch] { return configure_of(role, watch->launcher()); });
  follow_logs(role, true);
  update_waiting();
  emit q->process_changed(role);  // from now on it can be stopped
}

std::unique_ptr<ProcessWatch> RunControl::Private::make_watch(Role role, const ProcessDeadlines& deadlines) {
  return std::make_unique<ProcessWatch>(role_name(role), of(role).make_launcher(), reader_thread, deadlines, sleep_watch);
}

/// What a process of this role is told first.
nlohmann::json RunControl::Private::configure_of(Role role, Launcher& launcher) const {
  const LaunchFacts facts{run.folder->name().toStdString(), token, listen_address(run.settings, launcher).toStdString(),
                          launcher.folder_there(run.folder->part(role)).toStdString()};
  switch (role) {
    case Role::broker:
      return configure_broker(run.settings, facts);
    case Role::senders:
      return configure_senders(run.settings, facts);
    case Role::receivers:
      break;
  }
  nlohmann::json configure = configure_receivers(run.settings, facts);
  if (!rules.empty()) configure["requests"] = request_orders(rules);  // they may have been asked for something else before they came
  return configure;
}

void RunControl::Private::watch_signals(Role role, ProcessWatch& watch) {
  QObject::connect(&watch.launcher(), &Launcher::putting, q, [this, role](qint64 done_bytes, qint64 all_bytes) {
    ProcessStatus& status = of(role).status;
    const int percent = static_cast<int>(100 * done_bytes / std::max<qint64>(all_bytes, 1));
    if (status.state != ProcessState::starting || std::exchange(status.copied_percent, percent) == percent) return;
    emit q->process_changed(role);
  });
  QObject::connect(&watch, &ProcessWatch::said_hello, q, [this, role] { on_hello(role); });
  QObject::connect(&watch, &ProcessWatch::said_state, q, [this, role](const StateMessage& said) { on_state(role, said); });
  QObject::connect(&watch, &ProcessWatch::said_clock, q, [this, role](const ClockMessage& said) { on_clock(role, said); });
  QObject::connect(&watch, &ProcessWatch::said_senders_stats, q, [this](const SendersStats& stats) {
    if (accumulator) accumulator->add(stats, t_s());
  });
  QObject::connect(&watch, &ProcessWatch::said_receivers_stats, q, [this](const ReceiversStats& stats) {
    if (accumulator) accumulator->add(stats, t_s());
  });
  QObject::connect(&watch, &ProcessWatch::said_fault, q, [this, role](const FaultMessage& said) { of(role).take_fault(said.message); });
  QObject::connect(&watch, &ProcessWatch::said_error, q, [this, role](const ErrorMessage& error) { on_error(role, error); });
  QObject::connect(&watch, &ProcessWatch::not_paused, q, [this, role](const QString& why) { on_not_paused(role, why); });
  QObject::connect(&watch, &ProcessWatch::went_on, q, [this, role](const QString& why) { on_went_on(role, why); });
  QObject::connect(&watch, &ProcessWatch::not_killed, q, [this, role](const QString& why) { on_not_killed(role, why); });
  QObject::connect(&watch, &ProcessWatch::gone, q, [this, role](const QString& trouble) { on_gone(role, trouble); });
}

}  // namespace n2nq::app
