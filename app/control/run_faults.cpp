// SPDX-License-Identifier: GPL-3.0-or-later
// What is done to a run on purpose while it runs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/control/clocks.h"
#include "app/control/configure.h"
#include "app/control/run_life.h"

namespace n2nq::app {

namespace {

bool is_mend(FaultKind kind) {
  return kind == FaultKind::resume || kind == FaultKind::restart || kind == FaultKind::normal;
}

/// What N2NQ had sent before it ended lies in their sockets.
bool frees_receivers(const Fault& fault) {
  return fault.role == Role::receivers && (fault.kind == FaultKind::resume || fault.kind == FaultKind::normal);
}

/// Until something else is done; the rest is over at once, and what follows from it is what the recovery time is about.
bool lasts(FaultKind kind) {
  return !is_mend(kind) && kind != FaultKind::disconnect;
}

}  // namespace

QString RunControl::fault_problem(const Fault& fault) const {
  if (const auto problem = check_fault(fault, d->run.settings)) return QString::fromStdString(*problem);
  if (d->state != RunState::running) return "faults are made while messages flow";
  if (d->drains() && d->of(Role::broker).said_ended && !frees_receivers(fault)) return "N2NQ has ended";
  const Member& member = d->of(fault.role);
  const QString name = role_name(fault.role);
  const QString is = fault.role == Role::broker ? "is" : "are";
  if (fault.kind == FaultKind::restart && member.awaits_restart()) return {};
  if (!member.alive() || member.end_asked || member.said_ended)
    return name + (fault.role == Role::broker ? " does not run" : " do not run");
  const bool has_begun = fault.kind == FaultKind::pause ? member.watch->answered() : member.watch->ran();
  if (!is_of_service(fault.kind) && !has_begun) return QString("%1 %2 being started").arg(name, is);
  // Its end is a matter of a moment; a restart may still be asked for.
  if (member.killed_on_purpose && (fault.kind != FaultKind::restart || member.restart_wanted))
    return QString("%1 %2 being killed").arg(name, is);
  if (fault.kind == FaultKind::pause && member.status.paused) return QString("%1 %2 paused already").arg(name, is);
  if (fault.kind == FaultKind::resume && !member.status.paused) return QString("%1 %2 not paused").arg(name, is);
  if (fault.number > 0 && member.status.paused) return QString("%1 %2 paused: resume first").arg(name, is);
  if (fault.kind == FaultKind::normal && !d->misbehaving.contains({fault.role, fault.number})) return "it is normal already";
  return {};
}

void RunControl::make_fault(const Fault& fault) {
  const QString problem = fault_problem(fault);
  if (problem.isEmpty()) {
    d->make_fault(fault);
  } else {
    emit message(QString("%1: %2").arg(QString::fromUtf8(fault_word(fault.kind).data()), problem));
  }
}

void RunControl::plan(std::vector<PlannedStep> steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const PlannedStep& a, const PlannedStep& b) { return a.at_s < b.at_s; });
  d->planned_steps = std::move(steps);
}

void RunControl::request(const NumberRanges& receivers, const RequestRules& rules) {
  d->request(receivers, rules);
}

const std::vector<RequestRules>& RunControl::rules_in_force() const {
  return d->rules;
}

const std::vector<RunEvent>& RunControl::events() const {
  return d->run.events;
}

/// Makes those that are due, and waits for the next.
void RunControl::Private::make_planned_steps() {
  while (!steps_to_come.empty() && steps_to_come.front().at_s <= t_s()) {
    const PlannedStep due = steps_to_come.front();
    steps_to_come.erase(steps_to_come.begin());
    if (const auto* asked = std::get_if<ReceiverRequest>(&due.what)) {
      request(asked->receivers.value_or(NumberRanges{{1, run.settings.receivers.amount}}), rules_of(*asked));
      continue;
    }
    const Fault& fault = std::get<Fault>(due.what);
    const QString problem = q->fault_problem(fault);
    if (problem.isEmpty()) {
      make_fault(fault);
    } else {
      run.steps_not_made += QString("%1 (%2)").arg(fault_sentence(fault), problem);
    }
  }
  if (drains()) wait_for_drain();
  constexpr double timer_s_max = 1e6;  // it looks again then
  if (!steps_to_come.empty()) {
    const double wait_s = std::clamp(steps_to_come.front().at_s - t_s(), 0.0, timer_s_max);
    plan_timer.start(static_cast<int>(wait_s * 1000) + 1);
  }
}

void RunControl::Private::make_fault(const Fault& fault) {
  Member& member = of(fault.role);
  QString what = fault_sentence(fault);
  if (fault.kind == FaultKind::restart && member.alive() && !member.killed_on_purpose)
    what = role_name(fault.role) + " killed and started again";
  note_event(RunEvent::Kind::fault, what);
  recovery.fault(run.events.size() - 1, t_s(), {fault.role, fault.number}, lasts(fault.kind));
  if (!is_of_service(fault.kind) && fault.kind != FaultKind::resume) member.harm_event = run.events.size() - 1;
  switch (fault.kind) {
    case FaultKind::pause:
      member.watch->pause();
      member.status.paused = true;
      break;
    case FaultKind::resume:
      member.watch->resume();
      member.status.paused = false;
      break;
    case FaultKind::kill:
    case FaultKind::restart:
      if (member.awaits_restart()) {
        relaunch(fault.role);
      } else {
        member.killed_on_purpose = true;
        member.restart_wanted = fault.kind == FaultKind::restart;
        member.watch->try_to_kill();
      }
      break;
    default:
      member.watch->send(fault_message(fault));
      if (fault.kind == FaultKind::disconnect && accumulator) accumulator->may_have_lost(fault.role);
      // A new connection ends what was done to the service before.
      if (misbehaving.erase({fault.role, fault.number}) > 0 && fault.kind == FaultKind::disconnect)
        recovery.mend({fault.role, fault.number});
      if (lasts(fault.kind)) misbehaving[{fault.role, fault.number}] = fault.kind;
  }
  if (fault.kind == FaultKind::restart) {
    recovery.renew(fault.role);
  } else if (is_mend(fault.kind)) {
    recovery.mend({fault.role, fault.number});
  }
  if (drains()) wait_for_drain();
  emit q->process_changed(fault.role);
}

void RunControl::Private::on_not_paused(Role role, const QString& why) {
  if (!std::exchange(of(role).status.paused, false)) return;
  correct_harm(role, QString("%1 to be paused: not done, %2").arg(role_name(role), why), false);
}

void RunControl::Private::on_went_on(Role role, const QString& why) {
  if (!std::exchange(of(role).status.paused, false)) return;
  correct_harm(role, QString("%1 paused; %2").arg(role_name(role), why), true);
}

void RunControl::Private::on_not_killed(Role role, const QString& why) {
  Member& member = of(role);
  if (!std::exchange(member.killed_on_purpose, false)) return;
  const bool again = std::exchange(member.restart_wanted, false);
  member.status.paused = false;
  correct_harm(role, QString("%1 to be killed%2: not done, %3").arg(role_name(role), again ? " and started again" : "", why), false);
}

/// What was written down was not done, or not for as long as it should have been.
void RunControl::Private::correct_harm(Role role, const QString& told, bool done) {
  RunEvent& event = run.events[of(role).harm_event];
  event.what = told;
  event.done = done;
  if (!done) event.recovered_after_s.reset();
  recovery.mend({role, 0});
  emit q->events_changed();
  emit q->message(told);
  emit q->process_changed(role);
}

void RunControl::Private::note_event(RunEvent::Kind kind, const QString& what) {
  run.events.push_back({kind, t_s(), what, {}});
  emit q->events_changed();
}

/// The same role again, where the killed process was.
void RunControl::Private::relaunch(Role role) {
  Member& member = of(role);
  // Stays until the new process has said its own: what is killed before that has noted nothing, and has perhaps not read everything back.
  const std::optional<HelloMessage> before = member.record.hello;
  ProcessRecord kept;
  kept.hello = before;
  kept.gone_on = true;
  // Who goes on does not say again how late the first one had started, and measures its floor under load.
  kept.floor = member.record.floor;
  kept.told_start = member.record.told_start;
  kept.started_late_ns = member.record.started_late_ns;
  kept.started_late_bound_us = member.record.started_late_bound_us;
  kept.faults = member.record.faults;
  // With what the one before it had seen: the new one goes on with the deliveries of all.
  const ClockRelation clock = relation(member.record, of(Role::broker).record);
  if (clock.kind == ClockRelation::Kind::probed) kept.clock_before_restart = clock.report;
  kept.spans_before = member.record.spans_before;
  // A service with a new connection behaves as usual again; who does not read does not see that its old one is gone.
  std::erase_if(misbehaving, [this, role](const auto& told) {
    const auto [whose, number] = told.first;
    if (whose != role && (role != Role::broker || told.second == FaultKind::stop_reading)) return false;
    recovery.mend({whose, number});
    return true;
  });
  renew(role);
  member.record = std::move(kept);
  ProcessDeadlines deadlines = options.deadlines.process;
  if (before && !before->staging_file.empty()) deadlines.hello = options.deadlines.salvage;  // it reads back before it says that
  member.watch = make_watch(role, deadlines);
  if (role == Role::broker) run.broker_restarted = true;
  if (role == Role::broker && drains()) broker_is_new = true;
  if (accumulator) accumulator->restarted(role);
  watch_signals(role, *member.watch);
  set_status(role, ProcessState::starting);
  member.watch->launcher().set_needs_no_room();  // what it goes on for has to be gone on with
  member.watch->start(program_of(role), [this, role, before, watch = member.watch.get()] {
    nlohmann::json configure = configure_of(role, watch->launcher());
    if (role == Role::broker) {
      configure["listen"]["port"] = broker_port;  // where its services look for it
      configure["takes_over"] = true;
    } else if (before && !before->staging_file.empty()) {
      configure["continue"] = before->staging_file;
    }
    return configure;
  });
  follow_logs(role, true);
  emit q->process_changed(role);  // from now on it can be stopped
}

bool RunControl::Private::any_paused() const {
  return std::any_of(members.begin(), members.end(), [](const Member& member) { return member.status.paused; });
}

/// Whether what is planned resumes or restarts it; while the run drains, in time. A dead process cannot be resumed.
bool RunControl::Private::is_mended_later(Role role) const {
  const bool dead = of(role).awaits_restart();
  const double until_s = steps_made_until_s();
  const bool too_late = drains() && of(Role::broker).said_ended;  // there is nothing to come back to
  return std::any_of(steps_to_come.begin(), steps_to_come.end(), [=](const PlannedStep& planned) {
    const auto* fault = std::get_if<Fault>(&planned.what);
    if (!fault || fault->role != role || planned.at_s > until_s) return false;
    return (fault->kind == FaultKind::restart && !too_late) || (fault->kind == FaultKind::resume && !dead);
  });
}

/// Nothing if it is not paused.
void RunControl::Private::resume_by_itself(Role role) {
  Member& member = of(role);
  if (!std::exchange(member.status.paused, false) || !member.alive()) return;
  note_event(RunEvent::Kind::fault,
             QString("%1 resumed at the end, because nobody had resumed %2").arg(role_name(role), role == Role::broker ? "it" : "them"));
  recovery.fault(run.events.size() - 1, t_s(), {role, 0}, false);
  member.watch->resume();
  recovery.mend({role, 0});
  emit q->process_changed(role);
}

/// What still stands when the last message is due; what is paused after that was paused by somebody who saw it.
void RunControl::Private::resume_at_planned_end() {
  const auto duration_s = run.settings.planned_duration_s();
  if (state != RunState::running || plan_is_over || !duration_s || measured_s() < *duration_s) return;
  plan_is_over = true;
  for (const Role role : all_roles) {
    if (!is_mended_later(role)) resume_by_itself(role);
  }
}

void RunControl::Private::look_for_recovery() {
  const bool silent = figures.senders_silent || figures.receivers_silent;
  if (!silent && figures.round == recovery_round) return;
  recovery_round = figures.round;
  recovery.look(figures);
  const auto recovered = recovery.take();
  for (const auto& [event, after_s] : recovered) {
    if (run.events[event].done) run.events[event].recovered_after_s = after_s;
  }
  if (!recovered.empty()) emit q->events_changed();
}

void RunControl::Private::request(const NumberRanges& receivers, const RequestRules& asked) {
  if (rules.empty()) return;
  for (const auto& [first, last] : receivers) {
    for (int number = std::max(first, 1); number <= std::min(last, static_cast<int>(rules.size())); ++number) {
      rules[static_cast<std::size_t>(number - 1)] = asked;
    }
    if (of(Role::receivers).alive()) of(Role::receivers).watch->send(request_message(first, last, asked));
  }
  if (state == RunState::running) {
    note_event(RunEvent::Kind::setting, request_sentence(receivers, asked));
  }
  emit q->rules_changed();
}

}  // namespace n2nq::app
