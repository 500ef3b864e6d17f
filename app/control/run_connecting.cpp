// SPDX-License-Identifier: GPL-3.0-or-later
// From N2NQ's address to services that are connected to it, and what is said where they do not get there.
//
// Without a window the run is given up when connecting takes too long, also where a group comes, or comes back, while messages flow; a
// person is told what may be in the way, and the run goes on waiting.
#include <algorithm>
#include <utility>

#include "app/control/clocks.h"
#include "app/control/configure.h"
#include "app/control/run_life.h"
#include "app/host/listen_advice.h"
#include "app/settings/host_name.h"

namespace n2nq::app {

void RunControl::Private::connect_workers() {
  const Member& broker = of(Role::broker);
  // One that was told to end already is nobody's: the next one has another address.
  if (!broker.alive() || broker.end_asked || !broker.watch->answered() || broker_port == 0) return;
  for (const Role role : {Role::senders, Role::receivers}) {
    Member& member = of(role);
    if (!member.alive() || member.end_asked || !member.watch->answered() || member.connect_sent) continue;
    member.connect_sent = true;
    const bool clock_shared = share_a_clock(*member.record.hello, *broker.record.hello);
    member.clocks_first = role == Role::receivers && flows_without_receivers() && !all_share_a_clock();
    member.watch->send(connect_message(broker_address, broker_port, run.settings.transport, clock_shared, member.clocks_first));
    // Who waits for the clocks does not try to get on.
    if (options.unattended || !member.clocks_first) watch_connecting(role);
  }
  tell_clocks();
}

/// What receivers get from their first moment on has to be reckoned right.
bool RunControl::Private::flows_without_receivers() const {
  return state == RunState::running || run.settings.start_when != StartWhen::all_connected;
}

/// As far as it is known.
bool RunControl::Private::all_share_a_clock() const {
  const auto& broker = of(Role::broker).record.hello;
  return std::all_of(all_roles.begin(), all_roles.end(), [&](Role role) {
    const auto& hello = of(role).record.hello;
    return hello && share_a_clock(*hello, *broker);
  });
}

/// Behind a role's name; nothing of this machine.
QString RunControl::Private::on_host(Role role) const {
  const std::string host = host_of(role, run.settings);
  return host == local_host ? QString() : " on " + QString::fromStdString(host);
}

/// What a person has to look at where N2NQ cannot listen at the address that it was given.
QString RunControl::Private::advice_to_listen() const {
  const Member& broker = of(Role::broker);
  const QString address =
      is_all_local(run.settings) ? QString() : QString("%1 (%2)").arg(broker.watch->launcher().data_address(), data_address_name());
  return listen_advice(broker.listen_error, address, run.settings.broker.port);
}

/// And where others do not reach it there; nothing where there is no way in between.
QString RunControl::Private::reach_advice() const {
  if (is_all_local(run.settings) || broker_address.empty()) return {};
  return QString("Is %1 (%2) where they reach it, and does a firewall let them through (broker.port makes its port a fixed one)?")
      .arg(QString::fromStdString(broker_address), data_address_name());
}

/// As the page Hosts calls it.
QString RunControl::Private::data_address_name() const {
  const std::string host = host_of(Role::broker, run.settings);
  return "data address of " + (host == local_host ? QString("this machine") : QString::fromStdString(host));
}

/// From the word to connect, and not before: a host that asks a person, or that programs come to over a slow link, takes its time.
void RunControl::Private::watch_connecting(Role role) {
  auto& timer = of(role).connecting = std::make_unique<QTimer>();
  timer->setSingleShot(true);
  QObject::connect(timer.get(), &QTimer::timeout, q, [this, role, events_before = run.events.size()]() mutable {
    if (!options.unattended) return advise_connecting(role);
    const bool flows = state == RunState::running && step == Step::none;  // the drain has a deadline of its own
    if (state != RunState::preparing && !flows) return;
    if (may_be_held_up(std::exchange(events_before, run.events.size()))) return of(role).connecting->start();
    give_up_connecting();
  });
  timer->start(options.unattended ? static_cast<int>(run.settings.limits.connect_deadline_s * 1000) : options.deadlines.connect_advice);
}

/// By a process that is paused or dead on purpose, or by a fault that was made since then, or mended: who waits has its time anew behind
/// that. So it has where this bench stood still, which hears nobody meanwhile. What receivers are to ask for holds nobody up.
bool RunControl::Private::may_be_held_up(std::size_t events_before) const {
  const auto is_dead = [](const Member& member) { return member.killed_on_purpose; };
  const auto holds_up = [](const RunEvent& event) { return event.kind != RunEvent::Kind::setting; };
  return any_paused() || std::any_of(members.begin(), members.end(), is_dead) ||
         std::any_of(run.events.begin() + static_cast<std::ptrdiff_t>(events_before), run.events.end(), holds_up);
}

/// Who was connected, and looks for N2NQ again while messages flow, has limits.reconnect_deadline_s for it, and is not late.
void RunControl::Private::give_up_connecting() {
  QStringList late;
  for (const Role each : {Role::senders, Role::receivers}) {
    const Member& member = of(each);
    if (!member.alive() || !member.connecting) continue;
    // Who was told to connect much later is not late yet; two that were told together are.
    if (member.connecting->remainingTime() > member.connecting->interval() / 10) continue;
    const QString what = member.status.waiting_words();
    late += role_name(each) + on_host(each) + (what.isEmpty() ? QString() : ", waiting for " + what);
  }
  if (late.isEmpty()) return;
  const QString advice = reach_advice();
  end_because(QString("not connected within %1 s: %2%3")
                  .arg(run.settings.limits.connect_deadline_s)
                  .arg(late.join("; "), advice.isEmpty() ? QString() : ". " + advice));
}

/// A person may still mend it: the run goes on waiting.
void RunControl::Private::advise_connecting(Role role) {
  Member& member = of(role);
  if (state != RunState::preparing && state != RunState::running) return;
  if (!member.alive() || member.connected || !of(Role::broker).alive()) return;
  member.status.advice = reach_advice();
  if (!member.status.advice.isEmpty()) emit q->process_changed(role);
}

}  // namespace n2nq::app
