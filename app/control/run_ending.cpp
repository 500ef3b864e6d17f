// SPDX-License-Identifier: GPL-3.0-or-later
#include <QRegularExpression>

#include "app/control/configure.h"
#include "app/control/run_life.h"

namespace n2nq::app {

/// Before traffic: this process alone, unless others hang on it.
void RunControl::Private::stop_one(Role role) {
  const auto was_connected = [](const Member& other) { return other.alive() && other.connect_sent; };
  if (role == Role::broker && std::any_of(members.begin(), members.end(), was_connected)) return stop_by_user();
  ProcessWatch* const watch = of(role).watch.get();
  if (watch->placing()) {  // it is not to be waited for, and its machine is no reason for the others to end
    of(role).end_asked = true;
    return watch->kill();
  }
  say_bye(role);
  QTimer::singleShot(options.deadlines.single_stop, watch, [watch] { watch->terminate(); });
}

void RunControl::Private::stop_by_user() {
  if (run.stopped_by_user) return hurry();
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

/// Whoever stops again does not want to wait: what everybody knows by now is asked for, and who does not say it at once is killed.
void RunControl::Private::hurry() {
  if (hurried) return kill_all();
  hurried = true;
  run.hurried_by_user = step < Step::byes;
  if (step != Step::byes) enter(Step::byes);
  if (step == Step::byes) step_timer.start(options.deadlines.hurry);
}

/// Who does not answer keeps nobody else from being asked: N2NQ, which comes last, has as long once they are gone.
void RunControl::Private::hurry_over() {
  run.killed_by_user = true;
  bool any_killed = false;
  for (const Role role : {Role::senders, Role::receivers}) {
    Member& member = of(role);
    if (member.salvaging()) member.salvager->kill();
    if (!member.alive()) continue;
    member.watch->kill();
    any_killed = true;
  }
  if (any_killed && of(Role::broker).alive()) return step_timer.start(options.deadlines.hurry);
  step = Step::terminate;
  of(Role::broker).end_asked = true;
  if (of(Role::broker).alive()) of(Role::broker).watch->kill();
}

void RunControl::Private::kill_all() {
  run.killed_by_user = true;
  step_timer.stop();
  step = Step::terminate;
  for (Member& member : members) {
    member.end_asked = true;
    if (member.alive()) member.watch->kill();
    if (member.salvaging()) member.salvager->kill();
  }
}

void RunControl::Private::end_because(const QString& trouble) {
  // Others are blamed for a silence then in which it was this bench that did not listen.
  const QString slept = state == RunState::preparing && run.troubles.isEmpty() ? sleep_watch.sentence() : QString();
  QStringList told(trouble);
  if (!slept.isEmpty() && !trouble.contains(slept)) told.prepend(slept);
  run.troubles += told;
  for (const QString& sentence : told) emit q->message(sentence);
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

/// For one that is being placed, when another one cannot be started.
int RunControl::Private::other_start_left_ms(const Member& member) const {
  const RunDeadlines& times = options.deadlines;
  if (!member.since_launched.isValid()) return times.other_starts_min;
  qint64 taken_ms = member.since_launched.elapsed();
  if (const auto answered_ms = member.watch->launcher().since_answer_ms()) taken_ms = std::min(taken_ms, *answered_ms);
  return std::max(times.other_starts - static_cast<int>(taken_ms), times.other_starts_min);
}

int RunControl::Private::step_deadline(Step next) const {
  const RunDeadlines& times = options.deadlines;
  const int drain_ms = static_cast<int>(run.settings.limits.drain_s * 1000);
  if (next == Step::senders) return times.senders_stop;
  if (!since_stop.isValid()) return times.bye;
  int placing_ms = 0;
  for (const Member& each : members) {
    if (each.alive() && each.watch->placing()) placing_ms = std::max(placing_ms, other_start_left_ms(each));
  }
  if (next == Step::byes && placing_ms > 0 && !run.stopped_by_user) return placing_ms + times.other_starts_min;
  const int until_term = drain_ms + times.stop_margin - static_cast<int>(since_stop.elapsed() - stood_ms_since_stop);
  // Some of what is left is kept for the byes.
  return std::max(0, next == Step::drain ? until_term - times.stop_margin / 3 : until_term);
}

void RunControl::Private::enter(Step next) {
  step = next;
  if (drains()) {
    begin_drain();
    return advance();
  }
  give_up_faults();
  if (since_stop.isValid()) read_again(run.stopped_by_user ? "because the run was stopped" : "because the run was over");
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
      if (of(Role::broker).alive()) of(Role::broker).watch->send({{"type", "stop"}});
      if (!of(Role::broker).alive() && of(Role::receivers).alive()) of(Role::receivers).watch->send({{"type", "stop"}});
      break;
    case Step::byes:
      ++stats_id;
      // The broker last, in advance(): it must not turn away who has not heard of the end yet.
      for (const Role role : {Role::senders, Role::receivers}) {
        say_bye(role);
        if (of(role).awaits_restart() && !of(role).salvager) start_salvage(role);
      }
      // One that is not there yet turns nobody away, and asks for nothing any more.
      if (of(Role::broker).alive() && of(Role::broker).watch->placing()) say_bye(Role::broker);
      break;
    case Step::terminate:
      step_timer.stop();
      for (Member& member : members) {
        member.end_asked = true;
        if (member.alive()) member.watch->terminate();
      }
      break;
    case Step::bring_back:  // begins in bring_back(), when nothing is alive any more
      break;
  }
  advance();
}

void RunControl::Private::say_bye(Role role) {
  Member& member = of(role);
  if (!member.alive() || member.end_asked) return;
  member.end_asked = true;
  if (!member.said_ended) set_status(role, ProcessState::ending);
  if (member.watch->placing()) {
    ProcessWatch* const watch = member.watch.get();
    if (run.stopped_by_user) return watch->kill();
    // Whoever has to mend one host wants to know what is wrong with the others, too.
    watch->only_place();
    // One that comes back in the middle of a run is not what a start failed by.
    const auto give_up = run.traffic_started ? &ProcessWatch::kill : &ProcessWatch::give_up_placing;
    QTimer::singleShot(other_start_left_ms(member), watch, give_up);
    return;
  }
  if (role != Role::broker && accumulator && member.start_sent) ask_last_stats(role);
  member.watch->send({{"type", "bye"}});
}

/// So that what the charts add up to is what the result says; with the rows of all, whoever looks at which while logs are fetched. The
/// answer comes before the bye, whose deadline holds for both.
void RunControl::Private::ask_last_stats(Role role) {
  Member& member = of(role);
  member.watch->send(stats_message(stats_id));
  role == Role::senders ? accumulator->asked_senders(t_s()) : accumulator->asked_receivers(t_s());
}

/// Leaves a step as soon as what it waits for has come.
void RunControl::Private::advance() {
  const auto through = [this](Role role) { return !of(role).alive() || of(role).said_ended; };
  // Who was killed on purpose may come back, as long as there is something to come back to: N2NQ ends when senders are gone for too long.
  const Member& broker = of(Role::broker);
  const bool goes_on = broker.awaits_restart() || (broker.alive() && !broker.said_ended);
  if (state == RunState::running && of(Role::senders).awaits_restart() && goes_on) return;
  if (state == RunState::running && step == Step::none && through(Role::senders)) return enter(Step::drain);
  if (step == Step::senders && through(Role::senders)) return enter(Step::drain);
  if (drains() && may_come_back(Role::broker)) return;
  if (step == Step::drain && through(Role::broker) && through(Role::receivers)) return enter(Step::byes);
  // Behind a stop N2NQ drains, and nobody is there who could take anything. Senders still hear what of theirs it has.
  if (step == Step::drain && !drains() && through(Role::senders) && !of(Role::receivers).alive()) return enter(Step::byes);
  if (step == Step::byes && !of(Role::senders).alive() && !of(Role::receivers).alive()) {
    const bool is_first = of(Role::broker).alive() && !of(Role::broker).end_asked;
    say_bye(Role::broker);
    if (is_first && !since_stop.isValid() && !hurried) step_timer.start(step_deadline(step));  // it has as long as the groups had
    // Behind a stop it answers the first bye when it has drained.
    if (of(Role::broker).alive() && !of(Role::broker).said_ended) of(Role::broker).watch->send({{"type", "bye"}});
  }
  if ((step == Step::byes || step == Step::terminate) && !any_left()) bring_back();
}

void RunControl::Private::on_gone(Role role, const QString& trouble) {
  Member& member = of(role);
  member.record.bye = member.watch->bye();
  if (!member.record.bye) member.keep_faults();
  member.record.gone_at_s = t_s();
  if (const auto last_heard = member.watch->last_heard()) {
    const std::chrono::duration<double> silent = std::chrono::steady_clock::now() - *last_heard;
    member.record.last_heard_at_s = *member.record.gone_at_s - silent.count();
  }
  member.gone_ns = since_begun.nsecsElapsed();
  note_clock_ages();
  member.record.last_lines = member.watch->last_lines();
  const bool told_to_end = member.watch->not_ended_because().isEmpty();
  if (member.killed_on_purpose && told_to_end && state == RunState::running) return on_killed(role);
  if (std::exchange(member.restart_wanted, false)) {
    run.events[member.harm_event].what =
        QString("%1 killed; the run was over before %2 started again").arg(role_name(role), role == Role::broker ? "it was" : "they were");
    emit q->events_changed();
  }
  QString what = trouble;
  if (what.isEmpty() && !member.end_asked) what = role_name(role) + " ended although nobody asked for it";
  if ((run.killed_by_user || member.killed_on_purpose) && told_to_end) what.clear();
  const bool signalled = step == Step::terminate && told_to_end && member.watch->was_signalled();
  if (!what.isEmpty() && signalled) what = role_name(role) + " did not end in time and was killed";
  member.record.trouble = what;
  const bool killed_unheard = !member.record.bye && start_salvage(role);
  if (what.isEmpty()) {
    set_status(role, member.ran() ? ProcessState::ended : ProcessState::not_started);
    if (killed_unheard && step != Step::byes) return;  // on_salvaged() goes on
    if (state == RunState::preparing && !any_alive()) {
      run.stopped_by_user = true;
      return enter(Step::byes);
    }
    update_waiting();
    return advance();
  }
  // Where, in particular of a start that failed.
  const QRegularExpression host("\\b" + QRegularExpression::escape(QString::fromStdString(host_of(role, run.settings))) + "\\b");
  if (what.startsWith(role_name(role) + ' ') && !what.contains(host)) {
    what.insert(role_name(role).size(), on_host(role));
  }
  if (!member.listen_error.isEmpty()) what += ". " + advice_to_listen();
  member.status.error = what;
  member.status.last_lines = member.record.last_lines;
  member.status.never_ran = !member.ran();
  member.status.lost = member.record.last_heard_at_s.has_value();
  member.status.paused = false;
  set_status(role, ProcessState::died);
  end_because(what);
}

/// The run goes on without it, until it is started again or everything else is over.
void RunControl::Private::on_killed(Role role) {
  Member& member = of(role);
  if (accumulator) accumulator->may_have_lost(role);
  stand_by(role);
  if (member.restart_wanted) {
    relaunch(role);
    if (drains()) wait_for_drain();
    return;
  }
  member.status.error = role_name(role) + (role == Role::broker ? " was killed on purpose" : " were killed on purpose");
  member.status.may_be_back = true;
  member.status.paused = false;
  set_status(role, ProcessState::died);
  touch_left();
  touch_timer.start();
  if (drains()) wait_for_drain();
  advance();  // N2NQ may have ended by now, if the deadline for those that are gone is short
}

/// What a dead group has in memory stays there until it is read back, or the run is over; then it goes to its logs.
void RunControl::Private::stand_by(Role role) {
  Member& member = of(role);
  if (member.stand_by || !member.record.hello || member.record.hello->staging_file.empty()) return;
  member.stand_by = member.watch->launcher().stand_by(QString::fromStdString(member.record.hello->staging_file), run.folder->part(role));
}

/// Another group's start, or another bench that connects, takes away what nobody has touched for long.
void RunControl::Private::touch_left() {
  bool any = false;
  for (const Role role : all_roles) {
    const Member& member = of(role);
    if (!member.awaits_restart() || !member.watch) continue;
    any = true;
    Launcher& launcher = member.watch->launcher();
    launcher.touch(launcher.folder_there(run.folder->part(role)));
    if (member.record.hello && !member.record.hello->staging_file.empty())
      launcher.touch(QString::fromStdString(member.record.hello->staging_file));
  }
  if (!any) touch_timer.stop();
}

/// When a run ends, what stands still goes on, and what was planned for later is not done any more.
void RunControl::Private::give_up_faults() {
  plan_timer.stop();
  for (const PlannedStep& planned : std::exchange(steps_to_come, {})) {
    run.steps_not_made += QString("%1 at %2 s (the run was over)").arg(step_sentence(planned)).arg(planned.at_s);
  }
  for (const Role role : all_roles) {
    resume_by_itself(role);
    if (std::exchange(of(role).status.may_be_back, false)) emit q->process_changed(role);
  }
}

/// What lies unread where a service was made to stop reading is not to be lost by the end.
void RunControl::Private::read_again(const QString& why) {
  std::erase_if(misbehaving, [&](const auto& told) {
    if (told.second != FaultKind::stop_reading) return false;
    const auto [role, number] = told.first;
    Member& member = of(role);
    if (!member.alive() || member.said_ended || member.killed_on_purpose) return true;
    const Fault mend{FaultKind::normal, role, number};
    note_event(RunEvent::Kind::fault, fault_sentence(mend) + ", " + why);
    member.watch->send(fault_message(mend));
    recovery.mend({role, number});
    return true;
  });
}

void RunControl::Private::finish() {
  if (finisher) return;
  run.ended = QDateTime::currentDateTime();
  note_records();
  finisher.reset(QThread::create([this, record = run] { result = finish_run(record, finisher_cancelled); }));
  QObject::connect(finisher.get(), &QThread::finished, q, [this] { take_result(); });
  finisher->start();
}

void RunControl::Private::take_result() {
  rates_timer.stop();
  sleep_watch.stop();
  touch_timer.stop();
  for (const Role role : all_roles) {
    of(role).stand_by.reset();
    of(role).drop_salvager();  // it is what a host may be patient for
  }
  finisher->wait();  // finished() is the last thing it says, not the last it does
  finisher.reset();
  outcome = result.outcome;
  const double t = figures.t_s;
  figures = result.figures;
  figures.t_s = t;
  result = RunResult();
  emit q->figures_changed();
  folder_lock.reset();
  set_state(RunState::finished);
  emit q->finished();
}

}  // namespace n2nq::app
