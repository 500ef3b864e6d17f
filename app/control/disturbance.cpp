// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/disturbance.h"

#include "app/control/role.h"

namespace n2nq::app {

namespace {

/// Three busy processes that have two cores to themselves wait for a third of it.
constexpr double waited_share_max = 0.5;
/// Starting and ending alone come to less.
constexpr double waited_ns_min = 50e6;

/// "a", "a and b", "a, b and c".
QString listed(const QStringList& parts) {
  return parts.size() < 2 ? parts.join(QString()) : parts.mid(0, parts.size() - 1).join(", ") + " and " + parts.last();
}

}  // namespace

QStringList disturbances(const RunRecord& record) {
  QStringList who, shares;
  for (const Role role : all_roles) {
    const auto& bye = record.of(role).bye;
    if (!bye || !record.of(role).is_one_process()) continue;
    const auto times = bye->find("core_times");
    if (times == bye->end() || !times->is_object()) continue;
    const auto ran = times->find("ran_ns"), waited = times->find("waited_ns");
    if (ran == times->end() || waited == times->end() || !ran->is_number() || !waited->is_number()) continue;
    const double ran_ns = ran->get<double>(), waited_ns = waited->get<double>();
    const double share = waited_ns / (ran_ns + waited_ns);
    if (!(waited_ns >= waited_ns_min && share > waited_share_max)) continue;
    who += who.isEmpty() ? role_name(role) : role_name(role).toLower();
    shares += QString("%1 %").arg(100 * share, 0, 'f', 0);
  }
  if (who.isEmpty()) return {};
  const bool is_broker_alone = who == QStringList(role_name(Role::broker));
  return {QString("%1 had to wait for a core for %2 of the time in which %3 had something to do")
              .arg(listed(who), listed(shares), is_broker_alone ? "it" : "they")};
}

}  // namespace n2nq::app
