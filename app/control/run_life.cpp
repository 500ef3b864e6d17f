// SPDX-License-Identifier: GPL-3.0-or-later
// What processes say of themselves, the common start, and the look at them ten times a second.
#include "app/control/run_life.h"

#include <cmath>

#include "app/control/clocks.h"
#include "app/control/configure.h"
#include "app/control/verdict.h"

namespace n2nq::app {

namespace {

Role other_group(Role role) {
  return role == Role::senders ? Role::receivers : Role::senders;
}

/// Ends what still runs. It is not destroyed at once: it may be the very one whose signal led here.
void drop(std::unique_ptr<ProcessWatch>& watch) {
  if (!watch) return;
  watch->disconnect();
  watch->kill();  // without effect where it is gone
  watch.release()->deleteLater();
}

}  // namespace

void Member::renew() {
  drop(watch);
  drop_salvager();
  Member fresh;
  fresh.make_launcher = std::move(make_launcher);
  fresh.launched_on = std::move(launched_on);
  fresh.stand_by = std::move(stand_by);
  fresh.first_row = first_row;
  fresh.last_row = last_row;
  *this = std::move(fresh);
}

void Member::drop_salvager() {
  drop(salvager);
}

void Member::take_fault(const std::string& fault) {
  constexpr std::size_t faults_max = 100;  // as many as a process says of itself
  if (faults.size() < faults_max) {
    faults.push_back(fault);
  } else {
    ++faults_left_out;
  }
}

void Member::keep_faults() {
  record.faults.insert(record.faults.end(), faults.begin(), faults.end());
  if (faults_left_out > 0) record.faults.push_back("and " + std::to_string(faults_left_out) + " more faults");
}

void RunControl::Private::on_hello(Role role) {
  Member& member = of(role);
  member.record.hello = member.watch->hello();
  member.stand_by.reset();  // it has read back what the one before it had left
  // And has cut off the half lines of that, which may be here already.
  follow_logs(role, false);
  follow_logs(role, true);
  if (role == Role::broker) {
    broker_address = member.watch->hello().address;
    broker_port = member.watch->hello().port;
    broker_now_ns = member.watch->hello().now_ns;
    since_broker_now.start();
  }
  set_status(role, ProcessState::waiting, role == Role::broker ? "senders and receivers" : "N2NQ");
  // Answered before it says that it is connected: so the start knows how far away it is.
  if (role != Role::broker && state == RunState::preparing)
    member.watch->ask_stats(stats_message(++stats_id, member.first_row, member.last_row));
  connect_workers();
}

void RunControl::Private::on_error(Role role, const ErrorMessage& error) {
  Member& member = of(role);
  const QString said = QString::fromStdString(error.message);
  if (error.order.empty()) {
    if (error.key == "listen") member.listen_error = said;
    const QString key = QString::fromStdString(error.key.empty() ? "" : error.key + ": ");
    return emit q->message(QString("%1%2: %3%4").arg(role_name(role), on_host(role), key, said));
  }
  // What it was told and does not do makes this another run than the one that is written down: latencies without the senders' clock would
  // be wrong, and nothing would say so. The first one says it all: what follows may be of that.
  if (std::exchange(member.refused_order, true)) return;
  const QString order = QString("the order \"%1\"").arg(QString::fromStdString(error.order));
  const QString what = error.order == "clock" ? QString("what they were told of the senders' clock") : order;
  end_because(QString("%1%2 refused %3: %4").arg(role_name(role), on_host(role), what, said));
}

/// What was said is never newer than now, but may be older, where this bench is late to read it.
void RunControl::Private::note_broker_now(std::int64_t said_ns) {
  constexpr qint64 counts_ms = 60'000;  // the clocks drift apart
  const bool counts = since_broker_now.isValid() && since_broker_now.elapsed() < counts_ms;
  const std::int64_t known_ns = counts ? broker_now_ns + since_broker_now.nsecsElapsed() : said_ns;
  broker_now_ns = std::max(said_ns, known_ns);
  since_broker_now.start();
}

void RunControl::Private::on_state(Role role, const StateMessage& said) {
  Member& member = of(role);
  const bool reaches_broker = said.broker_now_ns && *said.broker_now_ns > 0;
  // A group that waits may have its own clock in mind yet.
  if (reaches_broker && said.state != "waiting") note_broker_now(*said.broker_now_ns);
  if (said.started_late_ns) {
    member.record.started_late_ns = *said.started_late_ns;
    note_records();
    const ClockBounds clocks = clock_bounds(run);
    const double bound_us = (role == Role::senders ? clocks.senders_offset : clocks.receivers_offset).total_us();
    member.record.started_late_bound_us = std::isnan(bound_us) ? 0 : bound_us;
    if (const QString late = late_start(role, member.record); !late.isEmpty()) emit q->message(late);
  }
  if (said.floor.is_object() && member.record.floor.is_null()) member.record.floor = said.floor;
  const bool was_connected = std::exchange(member.connected, said.state != "waiting");
  const bool is_watched = member.connecting != nullptr;
  if (member.connected || (reaches_broker && !options.unattended)) {
    member.connecting.reset();
  } else if (member.connect_sent && (options.unattended ? was_connected && state == RunState::preparing : was_connected || is_watched)) {
    // Who gets on, however slowly, needs no advice yet; who meets something else in the way each time does.
    if (was_connected || member.status.waiting_for != QString::fromStdString(said.waiting_for)) watch_connecting(role);
  }
  if (said.state == "waiting") {
    set_status(role, ProcessState::waiting, QString::fromStdString(said.waiting_for));
    if (const QString in_the_way = QString::fromStdString(said.in_the_way); member.status.in_the_way != in_the_way) {
      member.status.in_the_way = in_the_way;
      emit q->process_changed(role);
    }
  } else if (said.state == "connected") {
    set_status(role, ProcessState::waiting);
  } else if (said.state == "running") {
    set_status(role, ProcessState::running);
  } else if (said.state == "ending") {
    set_status(role, ProcessState::ending);
    // It ends by itself, at a limit: senders need not offer it more.
    if (!said.message.empty() && !since_stop.isValid()) end_because(QString::fromStdString(said.message));
  } else if (said.state == "ended") {
    member.said_ended = true;
    set_status(role, ProcessState::ended);
    if (drains()) wait_for_drain();
  } else if (said.state == "failed") {
    member.said_ended = true;  // it waits for nothing any more but the bye
    // Who was on its way when N2NQ ended for a person's stop has not failed, nor who was on its way back to one that was started again.
    if (!run.stopped_by_user || (was_connected && !run.broker_restarted))
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
    if (!member.alive() || !member.connected || member.end_asked) continue;
    const Role other = other_group(role);
    const bool other_started = of(other).alive();
    set_status(role, ProcessState::waiting, role_name(other).toLower() + (other_started ? "" : " to be started"));
  }
}

void RunControl::Private::try_start() {
  const auto is_ready = [this](const Member& member) { return member.alive() && member.connected && !member.end_asked; };
  const bool senders_ready = is_ready(of(Role::senders)), receivers_ready = is_ready(of(Role::receivers));
  if (state == RunState::running || step == Step::drain) {
    // A group that joins late, or again, is told the same instant.
    if (receivers_ready && !of(Role::receivers).start_sent) send_start(Role::receivers);
    if (senders_ready && !of(Role::senders).start_sent) send_start(Role::senders);
    return;
  }
  if (state != RunState::preparing || !of(Role::broker).alive() || of(Role::broker).end_asked || !senders_ready) return;
  if (!receivers_ready && run.settings.start_when == StartWhen::all_connected) return;
  start_lead_ns = lead_ns();
  run.start_at_broker_ns = broker_now_ns + since_broker_now.nsecsElapsed() + start_lead_ns + run.settings.warmup_ns();
  since_start.start();
  run.traffic_started = true;
  accumulator.emplace(run.settings);
  since_moved.start();
  set_state(RunState::running);
  of(Role::broker).watch->send({{"type", "start"}});
  make_planned_steps();
  send_start(Role::senders);
  if (receivers_ready) send_start(Role::receivers);
  pull_timer.start();
}

/// What is known of N2NQ's clock is older by the way of who said it, and the word reaches a group later by its own.
std::int64_t RunControl::Private::lead_ns() const {
  constexpr std::int64_t ns_per_ms = 1'000'000;
  std::int64_t ways_ns = 0;
  for (const Role role : {Role::senders, Role::receivers}) {
    if (of(role).alive()) ways_ns = std::max(ways_ns, of(role).watch->round_trip_ns());
  }
  return options.deadlines.start_lead * ns_per_ms + std::min(ways_ns, options.deadlines.start_ways_max * ns_per_ms);
}

void RunControl::Private::send_start(Role role) {
  of(role).start_sent = true;
  ProcessRecord& record = of(role).record;
  const auto late_ns = std::exchange(record.told_start, true) ? std::optional(record.started_late_ns) : std::nullopt;
  of(role).watch->send(start_message(run.start_at_broker_ns, run.settings.warmup_ns(), late_ns));
}

void RunControl::Private::note_records() {
  note_clock_ages();
  for (const Role role : all_roles) {
    run.processes[index_of(role)] = of(role).record;
    run.processes[index_of(role)].ran = of(role).ran();
  }
}

void RunControl::Private::pull() {
  note_records();
  const ClockBounds clocks = clock_bounds(run);
  accumulator->set_clocks(clocks);
  figures = accumulator->snapshot(t_s());
  figures.clocks = clocks;
  figures.floor_us = floor_us(run);
  if (!run.warmed_up_s && figures.warm_up.sent >= figures.warm_up.planned) run.warmed_up_s = figures.t_s;
  look_for_recovery();
  emit q->figures_changed();
  ++stats_id;
  for (const Role role : {Role::senders, Role::receivers}) {
    Member& member = of(role);
    const bool over = member.end_asked || member.said_ended;
    if (!over && (member.status.paused || (member.start_sent && !member.alive()) || member.awaits_restart())) {
      accumulator->set_absent(role, true);
    } else if (over || member.start_sent) {
      accumulator->set_absent(role, false);
    }
    if (over && (member.end_asked || !member.alive())) accumulator->set_over(role);
    if (!member.alive() || !member.start_sent || member.end_asked) continue;
    // One that was asked before traffic began may not have answered yet.
    if (!member.watch->ask_stats(stats_message(stats_id, member.first_row, member.last_row)) && member.status.paused) continue;
    role == Role::senders ? accumulator->asked_senders(t_s()) : accumulator->asked_receivers(t_s());
  }
  resume_at_planned_end();
  look_for_standstill();
  look_for_sending_in_vain();
}

/// A process that hangs without dying must not keep a run open for ever.
void RunControl::Private::look_for_standstill() {
  const LiveFigures& f = figures;
  const std::int64_t now_moved = f.attempted + f.accepted + f.received + f.skipped + f.warm_up.sent + f.warm_up.received;
  if (now_moved != moved || state != RunState::running) {
    moved = now_moved;
    since_moved.start();
    return;
  }
  const Interval period = run.settings.interval();
  const auto limit_ms = std::max<std::int64_t>(options.deadlines.standstill, 2 * period.num_ns / period.den / 1'000'000);
  if (since_moved.elapsed() <= limit_ms) return;
  if (any_paused()) {
    // Nothing is wrong: it moves again at the end of the plan, or when somebody resumes or stops it.
    // (As fast as it goes, the end of a warm-up that stands still does not come by itself.)
    const bool has_end = run.settings.senders.messages || run.settings.senders.duration_s;
    const bool plan_waits = period.num_ns == 0 && q->warming_up();
    const bool end_to_come = run.settings.planned_duration_s() && !plan_is_over && !plan_waits;
    if (end_to_come || (!has_end && !drains())) return;
    for (const Role role : all_roles) {
      if (!is_mended_later(role)) resume_by_itself(role);
    }
    since_moved.start();
  } else if (!drains()) {  // which has a deadline of its own
    // Senders that a full queue holds back wait for its retention, at the end of which it has room; services try to get back to N2NQ.
    const auto reconnect_ms = static_cast<std::int64_t>(1000 * run.settings.limits.reconnect_deadline_s);
    const auto give_up_ms = std::max({limit_ms, reconnect_ms, of(Role::broker).alive() ? std::int64_t{drain_ms_max()} : 0});
    if (since_moved.elapsed() > give_up_ms)
      end_because(QString("nothing was sent or received for %1 s").arg(static_cast<double>(give_up_ms) / 1000));
  }
}

/// Others may have answered in time, and are heard as soon as this bench goes on. While the machine sleeps no deadline comes nearer.
void RunControl::Private::wait_longer(qint64 stood_ms) {
  const auto note = [stood_ms](const QElapsedTimer& since, qint64& stood_since_ms) {
    if (since.isValid()) stood_since_ms = std::min(stood_since_ms + stood_ms, since.elapsed());
  };
  note(since_drain, stood_ms_since_drain);
  note(since_stop, stood_ms_since_stop);
  if (drains()) return wait_for_drain();
  if (step_timer.isActive()) step_timer.start(static_cast<int>(std::min<qint64>(step_timer.remainingTime() + stood_ms, step_timer.interval())));
}

/// What was measured was measured elsewhere; what was to be seen of it meanwhile was not seen. While a run is begun it is told with what
/// goes wrong because of it.
void RunControl::Private::on_stood_still(double stood_s, double began_ago_s) {
  stood_still_ns += std::llround(stood_s * 1e9);
  wait_longer(std::lround(std::min(stood_s, began_ago_s) * 1000));
  if (!run.traffic_started) return;
  const QString what = QString("bench stood still for %1 s").arg(stood_s, 0, 'f', 1);  // the charts cut what is long
  run.events.push_back({RunEvent::Kind::standstill, t_s() - began_ago_s, what, {}});
  emit q->events_changed();
  emit q->message("This " + what + ", or the machine that it runs on did");
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
  status.copied_percent = -1;
  status.waiting_for = waiting_for;
  status.in_the_way.clear();
  status.advice.clear();
  emit q->process_changed(role);
}

}  // namespace n2nq::app
