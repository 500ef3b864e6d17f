// SPDX-License-Identifier: GPL-3.0-or-later
// From the last message that is sent to N2NQ's own end, when nothing ends the run before its time.
//
// Messages still flow, so faults, requests and mends are made as before. It waits as long as something can still be taken: by then
// (queue.retention_s) every message has left the queue. Answers that are due for longer (responses.deadline_s) are not waited for. Where
// nobody is left who could take anything it gives up sooner.
#include <algorithm>
#include <cmath>

#include "app/control/run_life.h"

namespace n2nq::app {

namespace {

QString seconds_text(double s) {
  return QString("%1 s").arg(s, 0, 'g', 6);
}

}  // namespace

bool RunControl::Private::drains() const {
  return step == Step::drain && !since_stop.isValid();
}

/// Since the last message was sent.
int RunControl::Private::drain_ms_max() const {
  const Settings& settings = run.settings;
  return static_cast<int>(std::max(settings.limits.drain_s, settings.queue.retention_s) * 1000) + options.deadlines.drain_margin;
}

/// What is planned for later is not made any more.
double RunControl::Private::steps_made_until_s() const {
  return drains() ? t_s() + (drain_ms_max() - static_cast<double>(since_drain.elapsed() - stood_ms_since_drain)) / 1000 : HUGE_VAL;
}

void RunControl::Private::begin_drain() {
  since_drain.start();
  stood_ms_since_drain = 0;
  plan_is_over = true;
  for (const Role role : all_roles) {
    if (!is_mended_later(role)) resume_by_itself(role);
  }
  wait_for_drain();
  emit q->state_changed();
}

/// Again whenever it may have changed who can come back.
void RunControl::Private::wait_for_drain() {
  if (nothing_mends_who_does_not_read()) read_again("because N2NQ had ended, and nobody had told it to");
  int left_ms = drain_ms_max() - static_cast<int>(since_drain.elapsed() - stood_ms_since_drain);
  const int drain_ms = static_cast<int>(run.settings.limits.drain_s * 1000);
  if (nobody_can_take() || nobody_gives_any_more()) left_ms = std::min(left_ms, drain_ms);
  // Only that the receivers are back, so that it can end them.
  if (broker_is_new) left_ms = std::min(left_ms, drain_ms + options.deadlines.stop_margin);
  step_timer.start(std::max(0, left_ms));
}

/// A killed one. With a window a person may start it at any time.
bool RunControl::Private::may_come_back(Role role) const {
  return of(role).awaits_restart() && (!options.unattended || is_mended_later(role));
}

bool RunControl::Private::nobody_can_take() const {
  return of(Role::receivers).awaits_restart() && !may_come_back(Role::receivers) && !is_mended_later(Role::broker);
}

/// While messages flow also where all receivers have ended, or were cut off, and nothing planned starts them again.
bool RunControl::Private::nobody_will_take() const {
  const Member& receivers = of(Role::receivers);
  const bool are_over = receivers.said_ended && !of(Role::broker).said_ended && !is_mended_later(Role::receivers);
  return nobody_can_take() || (are_over && !is_mended_later(Role::broker));
}

/// Senders that a full queue holds back go on for as long as each retention makes a little room: far beyond any plan. Where there is none
/// (as fast as it goes), as soon as nobody takes anything.
void RunControl::Private::look_for_sending_in_vain() {
  const auto duration = run.settings.planned_duration_s();
  const bool plan_goes_on = duration && measured_s() < *duration;
  if (!options.unattended || state != RunState::running || step != Step::none || plan_goes_on || !nobody_will_take()) {
    since_in_vain.invalidate();
    return;
  }
  if (!since_in_vain.isValid()) since_in_vain.start();
  if (static_cast<double>(since_in_vain.elapsed()) < run.settings.limits.drain_s * 1000) return;
  run.gave_up = QString("the senders had more to send, and %1: given up after %2 (limits.drain_s)")
                    .arg(nobody_can_take() ? "the receivers were dead, and nothing planned started them again"
                                           : "no receiver was left who could take anything",
                         seconds_text(run.settings.limits.drain_s));
  emit q->message(run.gave_up);
  since_stop.start();
  enter(Step::senders);
}

/// Its receivers wait for it. Something may be planned for them, too: what it had sent lies in their sockets.
bool RunControl::Private::nobody_gives_any_more() const {
  const auto concerns_receivers = [until_s = steps_made_until_s()](const PlannedStep& planned) {
    const auto* fault = std::get_if<Fault>(&planned.what);
    return fault && fault->role == Role::receivers && planned.at_s <= until_s;
  };
  return of(Role::broker).awaits_restart() && !may_come_back(Role::broker) &&
         std::none_of(steps_to_come.begin(), steps_to_come.end(), concerns_receivers);
}

/// N2NQ has ended: what it sent lies in the sockets of those who do not read, and there is nothing else to see of them any more.
bool RunControl::Private::nothing_mends_who_does_not_read() const {
  const auto mends = [until_s = steps_made_until_s()](const PlannedStep& planned) {
    const auto* fault = std::get_if<Fault>(&planned.what);
    return fault && fault->role == Role::receivers && fault->kind == FaultKind::normal && planned.at_s <= until_s;
  };
  return of(Role::broker).said_ended && !of(Role::receivers).status.paused &&
         std::none_of(steps_to_come.begin(), steps_to_come.end(), mends);
}

bool RunControl::Private::anybody_was_made_not_to_read() const {
  return std::any_of(misbehaving.begin(), misbehaving.end(), [](const auto& told) { return told.second == FaultKind::stop_reading; });
}

/// N2NQ waits for answers to what it handed over, also behind the retention.
bool RunControl::Private::answers_may_be_due() const {
  const Settings& settings = run.settings;
  return settings.queue.responses && !of(Role::broker).said_ended &&
         (settings.queue.retention_s + settings.responses.deadline_s) * 1000 > drain_ms_max();
}

void RunControl::Private::give_up_drain() {
  if (broker_is_new && of(Role::broker).alive()) {  // told to end, it ends the receivers
    since_stop.start();
    return enter(Step::drain);
  }
  const Settings& settings = run.settings;
  if (nobody_can_take()) {
    run.gave_up = QString("the receivers were dead, and nothing planned started them again: given up after %1 (limits.drain_s)")
                      .arg(seconds_text(settings.limits.drain_s));
  } else if (nobody_gives_any_more()) {
    run.gave_up = QString("N2NQ was dead, and nothing planned started it again: given up after %1 (limits.drain_s)")
                      .arg(seconds_text(settings.limits.drain_s));
  } else {
    const bool by_retention = settings.queue.retention_s >= settings.limits.drain_s;
    run.gave_up = QString("%1 %2 after the last message: given up; a larger %3 lets the run wait longer")
                      .arg(of(Role::broker).said_ended ? "the receivers had not read all that N2NQ had sent them" : "N2NQ was not drained",
                           seconds_text(drain_ms_max() / 1000.0), by_retention ? "queue.retention_s" : "limits.drain_s");
    if (answers_may_be_due()) run.gave_up += ", and a shorter responses.deadline_s lets N2NQ wait less for answers";
  }
  emit q->message(run.gave_up);
  if (!nobody_can_take() && (of(Role::receivers).status.paused || anybody_was_made_not_to_read())) {
    since_stop.start();  // they go on, and get what N2NQ is in the middle of sending them
    return enter(Step::drain);
  }
  enter(Step::byes);
}

}  // namespace n2nq::app
