// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/disturbance.h"

#include "app/control/role.h"

namespace n2nq::app {

namespace {

/// Three busy processes that have two cores to themselves wait for a third of it.
constexpr double waited_share_max = 0.5;
/// Starting and ending alone come to less.
constexpr double waited_ns_min = 50e6;

}  // namespace

QStringList disturbances(const RunRecord& record) {
  QStringList out;
  for (const Role role : all_roles) {
    const auto& bye = record.of(role).bye;
    if (!bye) continue;
    const auto times = bye->find("core_times");
    if (times == bye->end() || !times->is_object()) continue;
    const auto ran = times->find("ran_ns"), waited = times->find("waited_ns");
    if (ran == times->end() || waited == times->end() || !ran->is_number() || !waited->is_number()) continue;
    const double ran_ns = ran->get<double>(), waited_ns = waited->get<double>();
    const double share = waited_ns / (ran_ns + waited_ns);
    if (!(waited_ns >= waited_ns_min && share > waited_share_max)) continue;
    out += QString("%1 had to wait for a core for %2 % of the time in which %3 had something to do")
               .arg(role_name(role))
               .arg(100 * share, 0, 'f', 0)
               .arg(role == Role::broker ? "it" : "they");
  }
  return out;
}

}  // namespace n2nq::app
