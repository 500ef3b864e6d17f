// SPDX-License-Identifier: GPL-3.0-or-later
//
//            first start             barrier                 senders ended, stop, death
//   idle ───────────────► preparing ─────────► running ──────────────────────────────► ending ───► finished
//     ▲                       │    stop, death, connect deadline                          ▲            │
//     │                       └───────────────────────────────────────────────────────────┘            │ first start
//     └── (a new run begins in place of the finished one) ◄────────────────────────────────────────────┘
//
//   ending:  senders (told to stop) ─► drain (broker and receivers end by themselves) ─► byes ─► terminate ─► all gone ─► result
//   Every step has a deadline after which the next one begins; steps that do not apply are passed over.
#include "app/control/run_control.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QThread>
#include <QTimer>
#include <algorithm>

#include "app/control/configure.h"
#include "app/control/live_accumulator.h"
#include "app/control/process_watch.h"
#include "app/control/result.h"
#include "app/control/run_record.h"
#include "app/host/launcher.h"

namespace n2nq::app {

namespace {

constexpr int pull_ms = 100;
constexpr double worth_telling_late_ms = 50;

QString program_of(Role role) {
  return QString("n2nq-%1").arg(role_key(role));
}

Role other_group(Role role) {
  return role == Role::senders ? Role::receivers : Role::senders;
}

std::string host_of(Role role, const Settings& settings) {
  switch (role) {
    case Role::broker:
      return settings.broker.host;
    case Role::senders:
      return settings.senders.host;
    case Role::receivers:
      break;
  }
  return settings.receivers.host;
}

/// Whether a process of this role is started with this key's value.
bool is_used_by(Role role, std::string_view key) {
  const auto one_of = [key](std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  switch (role) {
    case Role::broker:
      return key.starts_with("broker.") || key.starts_with("queue.") ||
             (key.starts_with("limits.") && key != "limits.connect_deadline_s") || one_of({"senders.amount", "receivers.amount", "seed"});
    case Role::senders:
      return key.starts_with("senders.") || one_of({"queue.mode", "seed", "log", "log_sample_every"});
    case Role::receivers:
      break;
  }
  return key.starts_with("receivers.") || one_of({"queue.mode", "senders.amount", "log", "log_sample_every"});
}

std::string random_token() {
  quint32 words[8];
  QRandomGenerator::system()->fillRange(words);
  return QByteArray(reinterpret_cast<const char*>(words), sizeof words).toHex().toStdString();
}

enum class Step { none, senders, drain, byes, terminate };

/// One role's process within a run.
struct Member {
  std::unique_ptr<ProcessWatch> watch;  // null: not started in this run
  ProcessStatus status;
  ProcessRecord record;
  bool connect_sent = false;
  bool connected = false;
  bool start_sent = false;
  bool said_ended = false;
  bool end_asked = false;  // told to say bye, or being killed by this bench
  int first_row = 1, last_row = 0;

  bool alive() const { return watch && watch->alive(); }
};

/// As before its first start. The old watch may be the very one whose signal led here.
void renew(Member& member) {
  if (member.watch) {
    member.watch->disconnect();
    member.watch.release()->deleteLater();
  }
  const int first = member.first_row, last = member.last_row;
  member = Member();
  member.first_row = first;
  member.last_row = last;
}

}  // namespace

struct RunControl::Private {
  Private(RunControl* control, Options given, std::unique_ptr<LauncherFactory> factory);
  ~Private();

  // Beginning
  bool start(Role role);
  bool begin_run();
  bool take_settings();
  void launch(Role role);
  void watch_signals(Role role, ProcessWatch& watch);
  void on_hello(Role role);
  void on_state(Role role, const StateMessage& state);
  void connect_workers();
  void update_waiting();
  void try_start();
  void send_start(Role role);

  // Running
  void pull();

  // Ending
  void stop_one(Role role);
  void stop_by_user();
  void kill_all();
  void end_because(const QString& trouble);
  void enter(Step step);
  void advance();
  int step_deadline(Step step) const;
  void on_gone(Role role, const QString& trouble);
  void finish();
  void take_result();

  void set_state(RunState state);
  void set_status(Role role, ProcessState state, const QString& waiting_for = {});
  Member& of(Role role) { return members[index_of(role)]; }
  const Member& of(Role role) const { return members[index_of(role)]; }
  bool any_alive() const {
    return std::any_of(members.begin(), members.end(), [](const Member& member) { return member.alive(); });
  }
  double t_s() const {
    return since_start.isValid() ? static_cast<double>(since_start.nsecsElapsed()) / 1e9 - options.deadlines.start_lead / 1e3 : 0;
  }

  RunControl* const q;
  Options options;
  std::unique_ptr<LauncherFactory> launchers;
  QThread reader_thread;
  Settings wanted;  // for what is started next
  RunState state = RunState::idle;

  // The present run
  RunRecord run;
  std::string token;
  std::string broker_address;
  int broker_port = 0;
  std::array<Member, 3> members;
  std::int64_t broker_now_ns = 0;  // the broker's clock when since_broker_now was started
  QElapsedTimer since_broker_now;
  std::int64_t start_at_broker_ns = 0;
  QElapsedTimer since_start;  // since the word; the common start is start_lead later
  QTimer pull_timer, connect_timer, step_timer;
  std::uint64_t stats_id = 0;
  std::optional<LiveAccumulator> accumulator;
  LiveFigures figures;
  Step step = Step::none;
  QElapsedTimer since_stop;  // valid: a person, or trouble, ends the run early
  RunOutcome outcome;

  std::unique_ptr<QThread> finisher;
  std::atomic<bool> finisher_cancelled{false};
  RunResult result;  // written by the finisher, read after it
};

RunControl::Private::Private(RunControl* control, Options given, std::unique_ptr<LauncherFactory> factory)
    : q(control), options(std::move(given)), launchers(std::move(factory)) {
  if (options.runs_folder.isEmpty()) options.runs_folder = RunFolder::default_parent();
  reader_thread.start();
  pull_timer.setInterval(pull_ms);
  pull_timer.setTimerType(Qt::PreciseTimer);
  connect_timer.setSingleShot(true);
  step_timer.setSingleShot(true);
  QObject::connect(&pull_timer, &QTimer::timeout, q, [this] { pull(); });
  QObject::connect(&step_timer, &QTimer::timeout, q, [this] {
    if (step != Step::none && step != Step::terminate) enter(static_cast<Step>(static_cast<int>(step) + 1));
  });
  QObject::connect(&connect_timer, &QTimer::timeout, q, [this] {
    if (state != RunState::preparing) return;
    QStringList waiting;
    for (const Role role : all_roles) {
      if (!of(role).status.waiting_for.isEmpty()) waiting += QString("%1 waiting for %2").arg(role_name(role), of(role).status.waiting_for);
    }
    end_because(QString("not all connected within %1 s: %2").arg(run.settings.limits.connect_deadline_s).arg(waiting.join(", ")));
  });
}

RunControl::Private::~Private() {
  for (Member& member : members) {
    if (member.watch) member.watch->disconnect(q);
    member.watch.reset();
  }
  finisher_cancelled = true;
  if (finisher) finisher->wait();
  reader_thread.quit();
  reader_thread.wait();
}

// ---- Beginning

/// False when there is nothing to start a process with; why was told.
bool RunControl::Private::start(Role role) {
  const bool new_run = state == RunState::idle || state == RunState::finished;
  if (!(new_run ? begin_run() : take_settings())) return false;
  launch(role);
  return true;
}

bool RunControl::Private::begin_run() {
  for (const auto& error : validate(wanted)) {
    emit q->message(QString::fromStdString(error.key + " " + error.message));
    return false;
  }
  run = RunRecord();
  run.settings = wanted;
  run.started = QDateTime::currentDateTime();
  QString error;
  run.folder = RunFolder::make(options.runs_folder, options.exact_folder, run.settings, run.started, error);
  if (!run.folder) {
    emit q->message(error);
    return false;
  }
  token = random_token();
  broker_port = 0;
  broker_address.clear();
  for (Member& member : members) renew(member);
  since_broker_now.invalidate();
  since_start.invalidate();
  since_stop.invalidate();
  accumulator.reset();
  figures = LiveFigures();
  figures.planned = wanted.planned_messages().value_or(-1);
  step = Step::none;
  outcome = RunOutcome();
  for (const auto& remark : remarks(run.settings)) emit q->message(QString::fromStdString(remark));
  if (options.connect_deadline) connect_timer.start(static_cast<int>(run.settings.limits.connect_deadline_s * 1000));
  set_state(RunState::preparing);
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
  if (next == run.settings) return true;
  run.settings = next;
  const QString error = run.folder->write_settings(next);
  if (!error.isEmpty()) emit q->message(error);
  return true;
}

void RunControl::Private::launch(Role role) {
  Member& member = of(role);
  renew(member);
  auto launcher = launchers->launcher(QString::fromStdString(host_of(role, run.settings)));
  LaunchFacts facts{run.folder->name().toStdString(), token, launcher->data_address().toStdString(), broker_port,
                    launcher->folder_there(run.folder->part(role)).toStdString()};
  nlohmann::json configure;
  switch (role) {
    case Role::broker:
      configure = configure_broker(run.settings, facts);
      break;
    case Role::senders:
      configure = configure_senders(run.settings, facts);
      break;
    case Role::receivers:
      configure = configure_receivers(run.settings, facts);
      break;
  }
  member.watch = std::make_unique<ProcessWatch>(role_name(role), std::move(launcher), reader_thread, options.deadlines.process);
  watch_signals(role, *member.watch);
  set_status(role, ProcessState::starting);
  member.watch->start(program_of(role), configure);
}

void RunControl::Private::watch_signals(Role role, ProcessWatch& watch) {
  QObject::connect(&watch, &ProcessWatch::said_hello, q, [this, role] { on_hello(role); });
  QObject::connect(&watch, &ProcessWatch::said_state, q, [this, role](const StateMessage& said) { on_state(role, said); });
  QObject::connect(&watch, &ProcessWatch::said_senders_stats, q, [this](const SendersStats& stats) {
    if (accumulator) accumulator->add(stats);
  });
  QObject::connect(&watch, &ProcessWatch::said_receivers_stats, q, [this](const ReceiversStats& stats) {
    if (accumulator) accumulator->add(stats);
  });
  QObject::connect(&watch, &ProcessWatch::said_error, q, [this, role](const ErrorMessage& error) {
    emit q->message(QString("%1: %2%3")
                        .arg(role_name(role), QString::fromStdString(error.key.empty() ? "" : error.key + ": "),
                             QString::fromStdString(error.message)));
  });
  QObject::connect(&watch, &ProcessWatch::gone, q, [this, role](const QString& trouble) { on_gone(role, trouble); });
}

void RunControl::Private::on_hello(Role role) {
  Member& member = of(role);
  member.record.hello = member.watch->hello();
  if (role == Role::broker) {
    broker_address = member.watch->hello().address;
    broker_port = member.watch->hello().port;
    broker_now_ns = member.watch->hello().now_ns;
    since_broker_now.start();
  }
  set_status(role, ProcessState::waiting, role == Role::broker ? "senders and receivers" : "N2NQ");
  connect_workers();
}

void RunControl::Private::connect_workers() {
  if (!of(Role::broker).alive() || !of(Role::broker).watch->answered() || broker_port == 0) return;
  for (const Role role : {Role::senders, Role::receivers}) {
    Member& member = of(role);
    if (!member.alive() || !member.watch->answered() || member.connect_sent) continue;
    // Said once: a broker that is started again binds the same port, and services try again by themselves.
    member.connect_sent = true;
    member.watch->send(connect_message(broker_address, broker_port));
  }
}

void RunControl::Private::on_state(Role role, const StateMessage& said) {
  Member& member = of(role);
  if (said.broker_now_ns && *said.broker_now_ns > 0) {
    broker_now_ns = *said.broker_now_ns;
    since_broker_now.start();
  }
  if (said.started_late_ns) {
    member.record.started_late_ns = *said.started_late_ns;
    const double late_ms = static_cast<double>(*said.started_late_ns) / 1e6;
    if (late_ms > worth_telling_late_ms)
      emit q->message(QString("%1 started %2 ms behind the common start").arg(role_name(role)).arg(late_ms, 0, 'f', 0));
  }
  if (said.floor.is_object()) member.record.floor = said.floor;
  member.connected = said.state != "waiting";
  if (said.state == "waiting") {
    set_status(role, ProcessState::waiting, QString::fromStdString(said.waiting_for));
  } else if (said.state == "connected") {
    set_status(role, ProcessState::waiting);
  } else if (said.state == "running") {
    set_status(role, ProcessState::running);
  } else if (said.state == "ending") {
    set_status(role, ProcessState::ending);
  } else if (said.state == "ended") {
    member.said_ended = true;
    set_status(role, ProcessState::ended);
  } else if (said.state == "failed") {
    end_because(QString("%1 failed: %2").arg(role_name(role), QString::fromStdString(said.message)));
  }
  try_start();
  update_waiting();
  advance();
}

/// Who is connected waits for the other group.
void RunControl::Private::update_waiting() {
  if (state != RunState::preparing) return;
  for (const Role role : {Role::senders, Role::receivers}) {
    const Member& member = of(role);
    if (!member.alive() || !member.connected) continue;
    const Role other = other_group(role);
    const bool other_started = of(other).alive();
    set_status(role, ProcessState::waiting, role_name(other).toLower() + (other_started ? "" : " to be started"));
  }
}

void RunControl::Private::try_start() {
  const bool senders_ready = of(Role::senders).alive() && of(Role::senders).connected;
  const bool receivers_ready = of(Role::receivers).alive() && of(Role::receivers).connected;
  if (state == RunState::running || step == Step::drain) {
    // A receiver group that joins late is told the same instant.
    if (receivers_ready && !of(Role::receivers).start_sent) send_start(Role::receivers);
    return;
  }
  if (state != RunState::preparing || !of(Role::broker).alive() || !senders_ready) return;
  if (!receivers_ready && run.settings.start_when == StartWhen::all_connected) return;
  connect_timer.stop();
  start_at_broker_ns = broker_now_ns + since_broker_now.nsecsElapsed() + options.deadlines.start_lead * std::int64_t{1'000'000};
  since_start.start();
  run.traffic_started = true;
  accumulator.emplace(run.settings);
  set_state(RunState::running);
  send_start(Role::senders);
  if (receivers_ready) send_start(Role::receivers);
  pull_timer.start();
}

void RunControl::Private::send_start(Role role) {
  of(role).start_sent = true;
  of(role).watch->send(start_message(start_at_broker_ns));
}

// ---- Running

void RunControl::Private::pull() {
  figures = accumulator->snapshot(t_s());
  emit q->figures_changed();
  for (const Role role : {Role::senders, Role::receivers}) {
    Member& member = of(role);
    if (member.alive() && member.start_sent && !member.end_asked) {
      member.watch->ask_stats(stats_message(++stats_id, member.first_row, member.last_row));
    }
  }
}

// ---- Ending

/// Before traffic: this process alone.
void RunControl::Private::stop_one(Role role) {
  Member& member = of(role);
  member.end_asked = true;
  set_status(role, ProcessState::ending);
  member.watch->send({{"type", "bye"}});
  QTimer::singleShot(options.deadlines.single_stop, member.watch.get(), [watch = member.watch.get()] { watch->terminate(); });
}

void RunControl::Private::stop_by_user() {
  if (run.stopped_by_user) return kill_all();
  run.stopped_by_user = true;
  if (!since_stop.isValid()) since_stop.start();
  if (state == RunState::preparing) {
    enter(Step::byes);
  } else if (step == Step::none) {
    enter(Step::senders);
  } else {
    enter(step);  // the same step again, now with a person's deadlines
  }
}

void RunControl::Private::kill_all() {
  run.killed_by_user = true;
  step_timer.stop();
  step = Step::terminate;
  for (Member& member : members) {
    member.end_asked = true;
    if (member.alive()) member.watch->kill();
  }
}

void RunControl::Private::end_because(const QString& trouble) {
  run.troubles += trouble;
  emit q->message(trouble);
  if (!since_stop.isValid()) since_stop.start();
  if (state == RunState::preparing) {
    enter(Step::byes);
  } else if (step == Step::none) {
    enter(Step::senders);
  } else if (step == Step::drain) {
    enter(Step::drain);  // those that waited for the dead one are told now
  } else {
    advance();
  }
}

int RunControl::Private::step_deadline(Step next) const {
  const RunDeadlines& times = options.deadlines;
  const int drain_ms = static_cast<int>(run.settings.limits.drain_s * 1000);
  if (next == Step::senders) return times.senders_stop;
  if (!since_stop.isValid()) return next == Step::drain ? drain_ms + times.drain_margin : times.bye;
  const int until_term = drain_ms + times.stop_margin - static_cast<int>(since_stop.elapsed());
  // Some of what is left is kept for the byes.
  return std::max(0, next == Step::drain ? until_term - times.stop_margin / 3 : until_term);
}

void RunControl::Private::enter(Step next) {
  step = next;
  connect_timer.stop();
  set_state(RunState::ending);
  step_timer.start(step_deadline(step));
  switch (step) {
    case Step::none:
      break;
    case Step::senders:
      if (of(Role::senders).alive()) of(Role::senders).watch->send({{"type", "stop"}});
      break;
    case Step::drain:
      // A broker whose senders have all said END drains by itself; after a stop or a death it is told, and so are receivers without one.
      if (since_stop.isValid() && of(Role::broker).alive()) of(Role::broker).watch->send({{"type", "stop"}});
      if (!of(Role::broker).alive() && of(Role::receivers).alive()) of(Role::receivers).watch->send({{"type", "stop"}});
      break;
    case Step::byes:
      for (const Role role : all_roles) {
        Member& member = of(role);
        if (!member.alive() || member.end_asked) continue;
        member.end_asked = true;
        if (!member.said_ended) set_status(role, ProcessState::ending);
        member.watch->send({{"type", "bye"}});
      }
      break;
    case Step::terminate:
      step_timer.stop();
      for (Member& member : members) {
        if (member.alive()) member.watch->terminate();
      }
      break;
  }
  advance();
}

/// Leaves a step as soon as what it waits for has come.
void RunControl::Private::advance() {
  const auto through = [this](Role role) { return !of(role).alive() || of(role).said_ended; };
  if (state == RunState::running && step == Step::none && through(Role::senders)) return enter(Step::drain);
  if (step == Step::senders && through(Role::senders)) return enter(Step::drain);
  if (step == Step::drain && through(Role::broker) && through(Role::receivers)) return enter(Step::byes);
  if ((step == Step::byes || step == Step::terminate) && !any_alive()) finish();
}

void RunControl::Private::on_gone(Role role, const QString& trouble) {
  Member& member = of(role);
  member.record.bye = member.watch->bye();
  member.record.last_lines = member.watch->last_lines();
  QString what = trouble;
  if (what.isEmpty() && !member.end_asked) what = role_name(role) + " ended although nobody asked for it";
  if (run.killed_by_user) what.clear();
  if (!what.isEmpty() && step == Step::terminate) what = role_name(role) + " did not end in time and was killed";
  member.record.trouble = what;
  if (what.isEmpty()) {
    set_status(role, ProcessState::ended);
    if (state == RunState::preparing && !any_alive()) {
      run.stopped_by_user = true;
      return enter(Step::byes);
    }
    return advance();
  }
  member.status.error = what;
  member.status.last_lines = member.record.last_lines;
  set_status(role, ProcessState::died);
  end_because(what);
}

void RunControl::Private::finish() {
  if (finisher) return;
  step_timer.stop();
  pull_timer.stop();
  run.ended = QDateTime::currentDateTime();
  for (const Role role : all_roles) run.processes[index_of(role)] = of(role).record;
  finisher.reset(QThread::create([this, record = run] { result = finish_run(record, finisher_cancelled); }));
  QObject::connect(finisher.get(), &QThread::finished, q, [this] { take_result(); });
  finisher->start();
}

void RunControl::Private::take_result() {
  finisher->wait();  // finished() is the last thing it says, not the last it does
  finisher.reset();
  outcome = result.outcome;
  const double t = figures.t_s;
  figures = result.figures;
  figures.t_s = t;
  result = RunResult();
  emit q->figures_changed();
  set_state(RunState::finished);
  emit q->finished();
}

void RunControl::Private::set_state(RunState next) {
  if (state == next) return;
  state = next;
  emit q->state_changed();
}

void RunControl::Private::set_status(Role role, ProcessState next, const QString& waiting_for) {
  ProcessStatus& status = of(role).status;
  if (status.state == next && status.waiting_for == waiting_for) return;
  status.state = next;
  status.waiting_for = waiting_for;
  emit q->process_changed(role);
}

// ---- The public face

RunControl::RunControl(Options options, std::unique_ptr<LauncherFactory> launchers, QObject* parent)
    : QObject(parent), d(std::make_unique<Private>(this, std::move(options), std::move(launchers))) {}

RunControl::~RunControl() = default;

void RunControl::set_settings(const Settings& settings) {
  d->wanted = settings;
}

const Settings& RunControl::settings() const {
  return d->wanted;
}

void RunControl::start_all() {
  for (const Role role : all_roles) {
    if (can_start(role) && !d->start(role)) return;
  }
}

void RunControl::start(Role role) {
  if (can_start(role)) d->start(role);
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
  if (d->any_alive()) d->stop_by_user();
}

QString RunControl::lock_reason(std::string_view key) const {
  if (d->state == RunState::idle || d->state == RunState::finished) return {};
  for (const Role role : all_roles) {
    if (d->of(role).alive() && is_used_by(role, key)) return role_name(role) + (role == Role::broker ? " runs with it" : " run with it");
  }
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
  const bool joins_late = role == Role::receivers && !d->of(role).watch && d->state == RunState::running;
  return d->state == RunState::preparing || joins_late;
}

bool RunControl::can_stop(Role role) const {
  const Member& member = d->of(role);
  return member.alive() && !member.end_asked && (d->state == RunState::preparing || d->state == RunState::running);
}

QString RunControl::log_path(Role role, int number) const {
  return d->run.folder ? d->run.folder->log_path(role, number) : QString();
}

QString RunControl::broker_log_path() const {
  return d->run.folder ? d->run.folder->broker_log() : QString();
}

QString RunControl::folder() const {
  return d->run.folder ? d->run.folder->path() : QString();
}

double RunControl::progress() const {
  if (d->state == RunState::finished) return 1;
  const auto duration = d->run.settings.planned_duration_s();
  if (duration && *duration > 0) return std::clamp(d->t_s() / *duration, 0.0, 1.0);
  if (d->figures.planned > 0)
    return std::clamp(static_cast<double>(d->figures.attempted) / static_cast<double>(d->figures.planned), 0.0, 1.0);
  return -1;
}

double RunControl::seconds_left() const {
  if (d->state == RunState::finished) return 0;
  const auto duration = d->run.settings.planned_duration_s();
  if (duration) return std::max(0.0, *duration - std::max(0.0, d->t_s()));
  const double rate = d->figures.sent_per_s;
  if (d->figures.planned > 0 && rate > 0) return static_cast<double>(d->figures.planned - d->figures.attempted) / rate;
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
