// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/verdict.h"

#include <QFileInfo>
#include <QHash>
#include <QRegularExpression>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include "app/control/clocks.h"
#include "app/control/disturbance.h"
#include "app/control/final_account.h"
#include "app/control/recovery.h"
#include "app/figure/number_text.h"
#include "app/settings/host_name.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

bool goes_on_for_killed(const Json& bye) {
  const auto services = bye.find("services");
  if (services == bye.end() || !services->is_array() || services->empty() || !services->front().is_object()) return false;
  const auto continued = services->front().find("continued");
  return continued != services->front().end() && *continued == true;
}

/// With the machine, where it is not this one, and what helps, where that is known.
QString disk_trouble(const std::string& host, const QString& error) {
  QString out = host == local_host ? error : QString("%1: %2").arg(QString::fromStdString(host), error);
  for (const int full : {ENOSPC, EDQUOT}) {
    if (error.endsWith(std::strerror(full))) out += ". Make room there, choose another folder, or let fewer lines be written (log: sampled or off)";
  }
  if (error.endsWith(std::strerror(EFBIG))) out += ". Raise the limit of files there (ulimit -f), or let fewer lines be written (log: sampled or off)";
  return out;
}

/// "log incomplete": lines that were not written, or a disk that would not take them.
void find_incomplete_logs(const RunRecord& record, QStringList& reasons) {
  for (const ProcessRecord& process : record.processes) {
    if (!process.files_left.isEmpty()) reasons += "log incomplete: " + process.files_left;
  }
  for (const Role role : {Role::senders, Role::receivers}) {
    const auto& bye = record.of(role).bye;
    const Json log = record.of(role).log();
    if (!log.is_object()) continue;
    const std::int64_t dropped = whole_or_0(log, "dropped");
    const std::string error = log.value("error", std::string());
    if (dropped == 0 && error.empty()) continue;
    QString reason = QString("log incomplete: %1 lines of the %2' logs were not written").arg(dropped).arg(role_key(role));
    if (!error.empty()) reason += QString(" (%1)").arg(disk_trouble(host_of(role, record.settings), QString::fromStdString(error)));
    if (role == Role::receivers && dropped > 0 && bye && goes_on_for_killed(*bye))
      reason += "; those of before the kill are in no count: what they tell of counts as lost";
    reasons += reason;
  }
}

/// Of a group's services: as its account names them, or as the settings do where it gave none. Empty: it never came to its start, and a
/// service begins its log only when N2NQ has greeted it.
std::vector<int> numbers_of_services(Role role, const RunRecord& record) {
  const ProcessRecord& process = record.of(role);
  std::vector<int> out;
  if (!process.told_start) return out;
  if (process.bye) {
    const Json services = process.bye->value("services", Json::array());
    for (const Json& service : services) out.push_back(static_cast<int>(whole_or_0(service, "number")));
  } else {
    const int amount = role == Role::senders ? record.settings.senders.amount : record.settings.receivers.amount;
    for (int number = 1; number <= amount; ++number) out.push_back(number);
  }
  return out;
}

/// Logs that were to be here and are not: somebody removed the folder that they were written into, or nobody knows what became of them.
void find_missing_logs(const RunRecord& record, QStringList& reasons) {
  if (!record.folder || !record.traffic_started) return;
  const QString removed = "somebody or something removed what was written";
  for (const Role role : {Role::senders, Role::receivers}) {
    const ProcessRecord& process = record.of(role);
    if (record.settings.log == LogMode::off || !process.files_left.isEmpty()) continue;
    const std::vector<int> numbers = numbers_of_services(role, record);
    int missing = 0;
    QString first;
    for (const int number : numbers) {
      const QString path = record.folder->log_path(role, number);
      if (QFileInfo::exists(path)) continue;
      if (missing++ == 0) first = QFileInfo(path).fileName();
    }
    if (missing == 0) continue;
    reasons += QString("log incomplete: %1 of %2 logs of the %3 are missing, the first is %4: %5")
                   .arg(missing)
                   .arg(numbers.size())
                   .arg(role_key(role), first, process.bye ? removed : QString("no account says what became of them"));
  }
  const ProcessRecord& broker = record.of(Role::broker);
  if (broker.bye && broker.files_left.isEmpty() && !QFileInfo::exists(record.folder->broker_log()))
    reasons += "log incomplete: broker.log is missing: " + removed;
}

/// Those below zero are told of by each receiver's account.
void find_impossible_latencies(const RunRecord& record, QStringList& reasons) {
  const measure::Histogram latencies = total_of(record.of(Role::receivers).bye, "latency");
  if (latencies.clamped() == 0 || latencies.max_ns() <= measure::HistogramLayout::value_max_ns) return;
  constexpr double s_per_h = 3600, ns_in_s = 1e9;
  const double longest_s = static_cast<double>(latencies.max_ns()) / ns_in_s;
  // What waits for receivers that come late may have waited for nearly all of the run.
  const bool may_be = longest_s <= static_cast<double>(record.started.msecsTo(record.ended)) / 1e3;
  reasons += QString("latencies beyond 2.4 hours, of up to %1 h: %2")
                 .arg(longest_s / s_per_h, 0, 'f', 1)
                 .arg(may_be ? "more than the histograms hold, so percentiles above that are not known" : "a clock or a stamp is wrong");
}

/// What was measured while a clock jumped is wrong by as much, and cannot be taken out of the histograms again.
void find_jumps(const RunRecord& record, QStringList& reasons) {
  constexpr std::int64_t ns_in_10_ms = 10'000'000;
  const auto at_s = [&](std::int64_t broker_ns) { return static_cast<double>(broker_ns - record.start_at_broker_ns) / 1e9; };
  for (const Role role : {Role::senders, Role::receivers}) {
    const measure::ClockReport report = relation(record.of(role), record.of(Role::broker)).report;
    if (report.spans.size() >= measure::ClockReport::spans_max)
      reasons += QString(
                     "the clock of the %1' host, or N2NQ's, jumped %2 times; what was measured meanwhile is wrong, and the first %3 stand in "
                     "wrong_spans")
                     .arg(role_key(role))
                     .arg(report.jumps)
                     .arg(report.spans.size());
    bool has_begun = false;
    std::int64_t behind_ns = 0;  // N2NQ's clock went back behind the run's beginning: then times are by what it said until then
    for (std::size_t at = 0; at < report.spans.size(); ++at) {
      const measure::ClockSpan& span = report.spans[at];
      const bool is_behind = span.to_broker_ns < record.start_at_broker_ns && at >= record.of(role).spans_before;
      behind_ns = is_behind ? std::max<std::int64_t>(0, behind_ns - span.jump_ns) : 0;
      has_begun = has_begun || span.to_broker_ns + behind_ns >= record.start_at_broker_ns;
      if (!has_begun) {
        behind_ns = 0;
        continue;
      }
      reasons +=
          QString("the clock of the %1' host, or N2NQ's, jumped by about %2 ms: latencies of what was under way from %3 s to %4 s are wrong")
              .arg(role_key(role))
              .arg(static_cast<double>(span.jump_ns) / 1e6, 0, 'f', std::abs(span.jump_ns) < ns_in_10_ms ? 1 : 0)  // it is of one probe
              .arg(at_s(span.from_broker_ns + behind_ns), 0, 'f', 2)
              .arg(at_s(span.to_broker_ns + behind_ns), 0, 'f', 2);
    }
  }
}

/// What N2NQ did to the plan when its limits were reached: no defect of the run, but what a reader of its figures has to know.
void tell_held_back(const RunRecord& record, QStringList& reasons) {
  const auto& bye = record.of(Role::broker).bye;
  if (!bye) return;
  const auto tell = [&](const char* key, const QString& who, const QString& by) {
    const auto held = bye->find(key);
    if (held == bye->end() || !held->is_number_integer() || held->get<std::int64_t>() <= 0) return;
    const double held_s = static_cast<double>(held->get<std::int64_t>()) / 1e9;
    const QString time = held_s < 0.1 ? QString("less than 0.1 s") : QString("%1 s").arg(held_s, 0, 'f', 1);
    reasons += QString("%1 were held back for %2 by %3%4").arg(who, time, by, record.broker_restarted ? ", since N2NQ was restarted" : "");
  };
  const QString budget = QString("the memory budget (%1 MiB)").arg(record.settings.limits.memory_mib);
  tell("held_back_by_memory_ns", "senders", budget);
  tell("waited_for_places_ns", "senders of large messages", budget + ", half of which is for those that have not come whole");
  tell("held_back_by_receivers_ns", "senders", "receivers most of which were behind");
}

/// Whether every message is where the ledger says, and none was on its way, or not read yet, when it was over.
bool has_all(const RunRecord& record, const measure::Ledger& ledger) {
  const bool has_accounts = record.of(Role::senders).bye && record.of(Role::receivers).bye;
  return has_accounts && ledger.balanced && ledger.lost_before_queue == 0 && ledger.total.lost == 0 && ledger.total.skipped.still_queued == 0;
}

QString words_of_stop(const RunRecord& record, const measure::Ledger& ledger) {
  if (record.killed_by_user) return "killed by the user: what was not told by then is missing";
  if (record.hurried_by_user) {
    const QString hurried = "stopped by the user, who did not wait";
    return has_all(record, ledger) ? hurried : hurried + ": what was on its way then, or not read yet, may be missing";
  }
  return record.traffic_started ? "stopped by the user" : "stopped by the user before traffic started";
}

int reason_decimals(double us) {
  return us < 100 ? 1 : 0;
}

QString in_reason(double us) {
  return QString::number(us, 'f', reason_decimals(us));
}

/// No defect of the run, as nobody waited for this bench; but live figures and charts have a gap there.
void tell_standstills(const RunRecord& record, QStringList& reasons) {
  for (const RunEvent& event : record.events) {
    if (event.kind != RunEvent::Kind::standstill) continue;
    reasons += QString("this %1, or the machine that it runs on did, at %2 s: the live figures have a gap there").arg(event.what).arg(event.at_s, 0, 'f', 1);
  }
}

/// Two hundred receivers that met the same fate are one reason, not two hundred: of sentences that differ in their numbers only, the first
/// few stand, and how many more there are.
QStringList grouped(const QStringList& reasons) {
  constexpr int told_max = 3;
  static const QRegularExpression number("[0-9]+");
  QStringList out;
  QHash<QString, int> count;
  const auto shape = [](QString reason) { return reason.replace(number, "#"); };
  for (const QString& reason : reasons) ++count[shape(reason)];
  QHash<QString, int> told;
  for (const QString& reason : reasons) {
    const QString key = shape(reason);
    const int place = ++told[key];
    // One too many would take the line that it saves.
    if (place <= told_max || count[key] == told_max + 1) out += reason;
    if (place == told_max && count[key] > told_max + 1) out += QString("… and %1 more of that kind").arg(count[key] - told_max);
  }
  return out;
}

}  // namespace

const char* verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::clean:
      return "clean";
    case Verdict::stopped:
      return "stopped";
    case Verdict::degraded:
      return "degraded";
    case Verdict::broken:
      break;
  }
  return "broken";
}

RunOutcome judge(const RunRecord& record, const measure::Ledger& ledger, const QStringList& troubles) {
  RunOutcome outcome;
  if (record.folder) outcome.folder = record.folder->path();
  outcome.stopped_by_user = record.stopped_by_user;
  if (record.traffic_started) outcome.disturbances = disturbances(record);
  outcome.reasons = record.troubles + troubles;
  bool broken = !outcome.reasons.isEmpty();
  bool degraded = false;
  const auto tell_findings = [&](bool breaks) {
    for (const measure::Finding& finding : ledger.findings) {
      if (finding.breaks != breaks) continue;
      outcome.reasons += QString::fromStdString(finding.reason);
      (breaks ? broken : degraded) = true;
    }
  };
  tell_findings(true);
  for (const Role role : {Role::senders, Role::receivers}) {
    if (!record.traffic_started || record.of(role).bye) continue;
    if (!record.of(role).ran) {
      outcome.reasons += role_name(role) + " were not started in this run";
      degraded = true;
      continue;
    }
    outcome.reasons += QString("%1 gave no final account: what only they knew %2")
                           .arg(role_name(role), role == Role::senders ? "counts as not sent" : "is unexplained");
    for (const std::string& fault : record.of(role).faults) outcome.reasons += QString::fromStdString(fault);
    broken = true;
  }
  for (const RunEvent& event : record.events) {
    if (event.kind != RunEvent::Kind::fault) continue;
    outcome.reasons += QString("%1 at %2 s: %3").arg(event.done ? "done on purpose" : "tried").arg(event.at_s, 0, 'f', 1).arg(event.what);
    if (event.recovered_after_s) outcome.reasons.back() += "; " + recovery_text(*event.recovered_after_s);
    degraded = true;
  }
  for (const QString& fault : record.steps_not_made) outcome.reasons += "planned, but not done: " + fault;
  degraded = degraded || !record.steps_not_made.isEmpty();
  if (!record.gave_up.isEmpty()) {
    outcome.reasons += record.gave_up;
    degraded = true;
  }
  // Behind the harm that was done on purpose: most of them follow from it.
  tell_findings(false);
  const auto before = outcome.reasons.size();
  find_impossible_latencies(record, outcome.reasons);
  find_jumps(record, outcome.reasons);
  find_incomplete_logs(record, outcome.reasons);
  find_missing_logs(record, outcome.reasons);
  degraded = degraded || outcome.reasons.size() > before;
  tell_held_back(record, outcome.reasons);
  for (const ProcessRecord& process : record.processes) {
    if (!process.folder_left.isEmpty()) outcome.reasons += process.folder_left;
  }
  tell_standstills(record, outcome.reasons);
  if (broken) {
    outcome.verdict = Verdict::broken;
  } else if (degraded) {
    outcome.verdict = Verdict::degraded;
  } else {
    outcome.verdict = record.stopped_by_user ? Verdict::stopped : Verdict::clean;
  }
  outcome.reasons.removeDuplicates();  // what N2NQ said when it came to a limit stands in its account, too
  outcome.reasons = grouped(outcome.reasons);
  if (record.stopped_by_user) {
    const QString stop = words_of_stop(record, ledger);
    // What made the verdict stands first.
    outcome.verdict == Verdict::stopped ? outcome.reasons.prepend(stop) : outcome.reasons.append(stop);
  }
  return outcome;
}

void tell_clock_bound(const LiveFigures& figures, QStringList& reasons) {
  if (figures.latency.count == 0) return;
  const auto hides = [](const ClockBound& bound, double value_us) {
    return bound.apart && !std::isnan(bound.total_us()) && bound.total_us() >= std::abs(value_us);
  };
  const ClockBounds& clocks = figures.clocks;
  if (hides(clocks.latency, figures.latency.p50_us)) {
    reasons += QString::fromUtf8(
                   "the clocks of the hosts are known to ± %1 µs, which is more than the median latency (%2 µs): "
                   "the latencies between these hosts tell nothing finer")
                   .arg(in_reason(shown_bound(clocks.latency.total_us(), reason_decimals)), in_reason(figures.latency.p50_us));
    return;  // nor do their parts
  }
  QStringList hidden;
  const auto look_at = [&](const char* stage, const ClockBound& bound, double mean_us) {
    if (!hides(bound, mean_us)) return;
    const double shown_us = shown_bound(bound.total_us(), reason_decimals, mean_us);
    hidden += QString::fromUtf8("%1 (%2 ± %3 µs)").arg(stage, in_reason(mean_us), in_reason(shown_us));
  };
  look_at("to N2NQ", clocks.to_broker, figures.stages.to_broker_us);
  look_at("to receiver", clocks.to_receiver, figures.stages.to_receiver_us);
  if (hidden.isEmpty()) return;
  reasons += QString("the clocks of the hosts are known less well than what messages take %1: as stages these tell nothing finer than that")
                 .arg(hidden.join(" and "));
}

QString late_start(Role role, const ProcessRecord& process) {
  const double late_ms = static_cast<double>(process.started_late_ns) / 1e6, bound_us = process.started_late_bound_us;
  if (late_ms < worth_telling_late_ms + bound_us / 1e3) return {};
  const BoundedText bounded = bounded_time_text(late_ms * 1e3, bound_us, u' ');
  const QString late = bound_us > 0 ? QString::fromUtf8("%1 ± %2").arg(bounded.value, bounded.bound) : QString("%1 ms").arg(late_ms, 0, 'f', 0);
  return QString("%1 started %2 behind the common start").arg(role_name(role), late);
}

void tell_late_start(const RunRecord& record, QStringList& reasons) {
  if (record.settings.start_when != StartWhen::all_connected) return;
  for (const Role role : {Role::senders, Role::receivers}) {
    if (const QString late = late_start(role, record.of(role)); !late.isEmpty()) reasons += late;
  }
}

}  // namespace n2nq::app
