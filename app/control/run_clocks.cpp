// SPDX-License-Identifier: GPL-3.0-or-later
// What the groups say of their clocks while a run is on: kept with how old it is, and passed on to the receivers. What is reckoned of it is
// in clocks.h.
#include <algorithm>
#include <utility>

#include "app/control/clocks.h"
#include "app/control/configure.h"
#include "app/control/run_life.h"

namespace n2nq::app {

namespace {

/// From when nothing comes to a process any more until it has ended by itself (docs/lab.md).
constexpr std::int64_t runs_on_ns_max = 15'000'000'000;

}  // namespace

void RunControl::Private::on_clock(Role role, const ClockMessage& said) {
  Member& member = of(role);
  const std::uint64_t jumps_before = member.record.clock ? member.record.clock->jumps : 0;
  if (said.report.jumps > jumps_before && state == RunState::running) {
    emit q->message(QString("the clock of the %1' host, or N2NQ's, has jumped: latencies were wrong for a moment").arg(role_key(role)));
  }
  member.record.clock = said.report;
  if (state == RunState::preparing || t_s() < 0) {
    const auto& before = member.record.clock_before_restart;
    member.record.spans_before = said.report.spans.size() + (before ? before->spans.size() : 0);
  }
  member.stood_still_before_ns = stood_still_ns;
  member.clock_said_ns = since_begun.nsecsElapsed() - member.watch->ns_since_answered_question();
  // The next one is no older than this question, however long the others take until traffic begins.
  if (state == RunState::preparing) member.watch->ask_stats(stats_message(++stats_id, member.first_row, member.last_row));
  if (!member.record.clock_first) member.record.clock_first = said.report;
  run.contradiction.look(of(Role::senders).record, of(Role::receivers).record);
  tell_clocks();
}

/// How long ago each said something of its clock. Of those that are gone: until when figures may hold what was measured by the line that they
/// said last. Who only cannot be heard any more goes on until it misses the lease, or there is nobody left to measure with.
void RunControl::Private::note_clock_ages() {
  const auto end_ns = [](const Member& member) { return member.gone_ns + (member.watch->may_run_on() ? runs_on_ns_max : 0); };
  for (Member& member : members) {
    member.record.clock_age_ns = 0;
    if (!member.record.clock) continue;
    if (member.gone_ns == 0) {
      member.record.clock_age_ns = since_begun.nsecsElapsed() - member.clock_said_ns + stood_still_ns - member.stood_still_before_ns;
      continue;
    }
    std::int64_t others_ns = any_alive() ? since_begun.nsecsElapsed() : 0;
    for (const Member& other : members) {
      if (&other != &member && other.gone_ns > 0) others_ns = std::max(others_ns, end_ns(other));
    }
    const std::int64_t until_ns = std::max(member.gone_ns, std::min(end_ns(member), others_ns));
    member.record.unheard_ns = std::max<std::int64_t>(0, until_ns + stood_still_ns - member.clock_said_ns);
  }
}

/// The receivers work out the latencies: they need the senders' clock.
void RunControl::Private::tell_clocks() {
  Member& receivers = of(Role::receivers);
  if (!receivers.alive() || !receivers.connect_sent || receivers.end_asked || receivers.refused_order) return;
  note_records();
  nlohmann::json told = senders_clock_message(run);
  if (told.is_null() && receivers.clocks_first && all_share_a_clock()) told = {{"type", "clock"}, {"senders", "same"}};
  if (told.is_null() || told == receivers.clock_told) return;
  receivers.watch->send(told);
  if (!options.unattended && receivers.clocks_first && receivers.clock_told.is_null() && !receivers.connected) {
    watch_connecting(Role::receivers);
  }
  receivers.clock_told = std::move(told);
}

}  // namespace n2nq::app
