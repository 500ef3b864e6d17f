// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/result.h"

#include <QFileInfo>
#include <QHash>
#include <QRegularExpression>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "app/control/clocks.h"
#include "app/control/disturbance.h"
#include "app/control/hgrm.h"
#include "app/control/live_accumulator.h"
#include "app/control/recovery.h"
#include "app/control/summary.h"
#include "app/settings/host_name.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

/// 0 where there is no whole number: the ledger's troubles tell of that.
std::int64_t whole_or_0(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number_integer() ? 0 : found->get<std::int64_t>();
}

/// The histogram of a bye's `totals`; empty when it is not there or cannot be read (the ledger's troubles tell of that bye).
measure::Histogram total_of(const std::shared_ptr<const Json>& bye, const char* name) {
  if (!bye) return measure::Histogram();
  try {
    return measure::Histogram::from_json(bye->at("totals").at(name));
  } catch (const std::exception&) {
    return measure::Histogram();
  }
}

/// Reads one account; what does not fit is a sentence, not a crash.
template <class Read>
auto account_of(const RunRecord& record, Role role, Read read, QStringList& troubles) -> std::optional<decltype(read(Json()))> {
  const auto& bye = record.of(role).bye;
  if (!bye) return {};
  try {
    return read(*bye);
  } catch (const std::exception& error) {
    troubles += QString("%1: the final figures cannot be read: %2").arg(role_name(role), QString::fromUtf8(error.what()));
    return {};
  }
}

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

/// Logs that were written whole and are not here all the same: somebody removed the folder that they were written into.
void find_missing_logs(const RunRecord& record, QStringList& reasons) {
  if (!record.folder || !record.traffic_started) return;
  const QString why = "somebody or something removed what was written";
  for (const Role role : {Role::senders, Role::receivers}) {
    const ProcessRecord& process = record.of(role);
    if (record.settings.log == LogMode::off || !process.bye || !process.files_left.isEmpty()) continue;
    const Json services = process.bye->value("services", Json::array());
    int missing = 0;
    QString first;
    for (const Json& service : services) {
      const QString path = record.folder->log_path(role, static_cast<int>(whole_or_0(service, "number")));
      if (QFileInfo::exists(path)) continue;
      if (missing++ == 0) first = QFileInfo(path).fileName();
    }
    if (missing == 0) continue;
    reasons += QString("log incomplete: %1 of %2 logs of the %3 are missing, the first is %4: %5")
                   .arg(missing)
                   .arg(services.size())
                   .arg(role_key(role), first, why);
  }
  const ProcessRecord& broker = record.of(Role::broker);
  if (broker.bye && broker.files_left.isEmpty() && !QFileInfo::exists(record.folder->broker_log()))
    reasons += "log incomplete: broker.log is missing: " + why;
}

/// Those below zero are told of by each receiver's account.
void find_impossible_latencies(const RunRecord& record, QStringList& reasons) {
  const measure::Histogram latencies = total_of(record.of(Role::receivers).bye, "latency");
  if (latencies.clamped() == 0 || latencies.max_ns() <= measure::HistogramLayout::value_max_ns) return;
  constexpr double s_per_h = 3600, ns_per_s = 1e9;
  const double longest_s = static_cast<double>(latencies.max_ns()) / ns_per_s;
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
      reasons += QString("the clock of the %1' host, or N2NQ's, jumped %2 times; what was measured meanwhile is wrong, and the first %3 are named")
                     .arg(role_key(role))
                     .arg(report.jumps)
                     .arg(report.spans.size());
    else if (report.jumps > 0 && report.spans.empty())
      reasons += QString("the clock of the %1' host, or N2NQ's, jumped, and their process was gone before it was known when: latencies near its "
                         "end may be wrong")
                     .arg(role_key(role));
    for (const measure::ClockSpan& span : report.spans) {
      if (span.to_broker_ns < record.start_at_broker_ns) continue;
      reasons +=
          QString("the clock of the %1' host, or N2NQ's, jumped by about %2 ms: latencies of what was under way from %3 s to %4 s are wrong")
              .arg(role_key(role))
              .arg(static_cast<double>(span.jump_ns) / 1e6, 0, 'f', std::abs(span.jump_ns) < ns_in_10_ms ? 1 : 0)  // it is of one probe
              .arg(at_s(span.from_broker_ns), 0, 'f', 2)
              .arg(at_s(span.to_broker_ns), 0, 'f', 2);
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
    reasons += QString("%1 were held back for %2 by %3").arg(who, time, by);
  };
  const QString budget = QString("the memory budget (%1 MiB)").arg(record.settings.limits.memory_mib);
  tell("held_back_by_memory_ns", "senders", budget);
  tell("waited_for_places_ns", "senders of large messages", budget + ", half of which is for those that have not come whole");
  tell("held_back_by_receivers_ns", "senders", "receivers most of which were behind");
}

QString in_reason(double us) {
  return QString::number(us, 'f', us < 100 ? 1 : 0);
}

/// No defect of the run, as nobody waited for this bench; but live figures and charts have a gap there.
void tell_standstills(const RunRecord& record, QStringList& reasons) {
  for (const RunEvent& event : record.events) {
    if (event.kind != RunEvent::Kind::standstill) continue;
    reasons += QString("this %1, or the machine that it runs on did, at %2 s: the live figures have a gap there").arg(event.what).arg(event.at_s, 0, 'f', 1);
  }
}

/// Whoever reads a latency, or a part of one, has to know when clocks say more about it than messages do.
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
                   .arg(in_reason(clocks.latency.total_us()), in_reason(figures.latency.p50_us));
    return;  // nor do their parts
  }
  QStringList hidden;
  const auto look_at = [&](const char* stage, const ClockBound& bound, double mean_us) {
    if (hides(bound, mean_us)) hidden += QString::fromUtf8("%1 (%2 ± %3 µs)").arg(stage, in_reason(mean_us), in_reason(bound.total_us()));
  };
  look_at("to N2NQ", clocks.to_broker, figures.stages.to_broker_us);
  look_at("to receiver", clocks.to_receiver, figures.stages.to_receiver_us);
  if (hidden.isEmpty()) return;
  reasons += QString("the clocks of the hosts are known less well than what messages take %1: as stages these tell nothing finer than that")
                 .arg(hidden.join(" and "));
}

/// The lead of the common start is not enough where a machine is far from the bench: what it measured is right, but not from the start on.
/// Who was started later by the person is late on purpose.
void tell_late_start(const RunRecord& record, QStringList& reasons) {
  if (record.settings.start_when != StartWhen::all_connected) return;
  for (const Role role : {Role::senders, Role::receivers}) {
    const double late_ms = static_cast<double>(record.of(role).started_late_ns) / 1e6;
    if (late_ms < worth_telling_late_ms) continue;
    reasons += QString("%1 started %2 ms behind the common start").arg(role_name(role)).arg(late_ms, 0, 'f', 0);
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

/// Then it is no fault that the plan was not finished.
bool was_stopped(const RunRecord& record) {
  return record.stopped_by_user || !record.traffic_started;
}

void set_final_senders(LiveFigures& figures, const Json& bye) {
  figures.attempted = whole_or_0(bye, "attempted");
  figures.accepted = whole_or_0(bye, "accepted");
  for (const Json& service : bye.value("services", Json::array())) {
    SenderRow row{static_cast<int>(whole_or_0(service, "number")), whole_or_0(service, "attempted")};
    const Json mean = service.value("/figures/delay/mean_ns"_json_pointer, Json());
    if (mean.is_number()) row.delay_mean_ms = mean.get<double>() / 1e6;
    figures.senders.push_back(row);
  }
}

void set_final_receivers(LiveFigures& figures, const Json& bye) {
  figures.received = whole_or_0(bye, "received");
  for (const Json& service : bye.value("services", Json::array())) {
    ReceiverRow row{static_cast<int>(whole_or_0(service, "number")), whole_or_0(service, "received")};
    const Json mean = service.value("/figures/latency/mean_ns"_json_pointer, Json());
    const Json p99 = service.value("/figures/latency/p99_ns"_json_pointer, Json());
    if (mean.is_number()) row.latency_mean_us = mean.get<double>() / 1e3;
    if (p99.is_number()) row.latency_p99_us = p99.get<double>() / 1e3;
    row.confirmed = whole_or_0(service, "confirmed");
    figures.receivers.push_back(row);
  }
}

/// What the ledger knows of each receiver, and of the run.
void set_ledger_rows(LiveFigures& figures, const measure::Ledger& ledger) {
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const measure::CopyLedger& total = ledger.total;
  figures.accepted = count(ledger.accepted);
  figures.settled = LiveFigures::Settled{.refused = count(ledger.refused),
                                         .lost_before_queue = count(ledger.lost_before_queue),
                                         .expected = count(ledger.expected),
                                         .accepted = count(total.accepted),
                                         .delivered = count(total.delivered),
                                         .still_queued = count(total.skipped.still_queued),
                                         .unexplained = total.unexplained,
                                         .balanced = ledger.balanced};
  if (const auto& warm_up = ledger.warm_up) {
    const measure::SkippedCounts& skipped = warm_up->total.skipped;
    figures.warm_up = {.planned = count(warm_up->planned),
                       .sent = count(warm_up->attempted),
                       .received = count(warm_up->total.tags.received),
                       .skipped = count(skipped.expired + skipped.unrequested + skipped.parked + skipped.cut_off),
                       .lost = count(warm_up->total.lost)};
  }
  for (ReceiverRow& row : figures.receivers) {
    if (row.number < 1 || row.number > static_cast<int>(ledger.receivers.size())) continue;
    const measure::CopyLedger& copies = ledger.receivers[static_cast<std::size_t>(row.number - 1)].copies;
    row.redelivered = count(copies.tags.redelivered);
    row.expired = count(copies.skipped.expired);
    row.skipped = row.expired + count(copies.skipped.unrequested + copies.skipped.parked + copies.skipped.cut_off);
  }
}

/// The run's means, of each service as well, so that they can be compared with those of all.
void set_mean_rates(LiveFigures& figures, const RunRecord& record) {
  const nlohmann::ordered_json rates = run_rates(record);
  const auto rate = [&rates](const char* key) { return rates.at(key).is_number() ? rates.at(key).get<double>() : unknown; };
  figures.sent_per_s = rate("sent_per_s");
  figures.sent_bytes_per_s = rate("sent_bytes_per_s");
  figures.sent_copies_per_s = figures.sent_per_s * record.settings.copies();
  figures.received_per_s = rate("received_per_s");
  figures.received_bytes_per_s = rate("received_bytes_per_s");
  const double over_s = rate("over_s");
  for (SenderRow& row : figures.senders) row.rate_per_s = static_cast<double>(row.attempted) / over_s;
  const double received_over_s = rate("received_over_s");
  for (ReceiverRow& row : figures.receivers) row.rate_per_s = static_cast<double>(row.received) / received_over_s;
}

LiveFigures final_figures(const RunRecord& record, const measure::Ledger& ledger) {
  const auto& senders = record.of(Role::senders).bye;
  const auto& receivers = record.of(Role::receivers).bye;
  LiveFigures out;
  out.planned = record.settings.planned_messages().value_or(-1);
  out.lost = static_cast<std::int64_t>(ledger.total.lost);
  if (senders) set_final_senders(out, *senders);
  if (receivers) set_final_receivers(out, *receivers);
  set_ledger_rows(out, ledger);
  out.settled->stopped = was_stopped(record);
  out.settled->senders_told = senders || !record.traffic_started;
  out.settled->receivers_told = receivers || !record.traffic_started;
  set_mean_rates(out, record);
  out.delay = percentiles_us(total_of(senders, "delay"));
  out.lag = percentiles_us(total_of(senders, "lag"));
  out.latency = percentiles_us(total_of(receivers, "latency"));
  out.latency_from_plan = percentiles_us(total_of(receivers, "latency_from_plan"));
  if (record.traffic_started) out.clocks = clock_bounds(record);
  out.floor_us = floor_us(record);
  out.stages = {mean_us(total_of(receivers, "lag")), mean_us(total_of(receivers, "to_broker")), mean_us(total_of(receivers, "in_queue")),
                mean_us(total_of(receivers, "to_receiver"))};
  out.stage_tails = {percentiles_us(total_of(receivers, "lag")), percentiles_us(total_of(receivers, "to_broker")),
                     percentiles_us(total_of(receivers, "in_queue")), percentiles_us(total_of(receivers, "to_receiver"))};
  const measure::CopyLedger& total = ledger.total;
  out.expired = static_cast<std::int64_t>(total.skipped.expired);
  out.unrequested = static_cast<std::int64_t>(total.skipped.unrequested);
  out.parked = static_cast<std::int64_t>(total.skipped.parked);
  out.parked_delivered = static_cast<std::int64_t>(total.parked_delivered);
  out.cut_off = static_cast<std::int64_t>(total.skipped.cut_off);
  out.redelivered = static_cast<std::int64_t>(total.tags.redelivered);
  if (receivers) {
    out.confirmed = receivers->value("confirmed", std::int64_t{0});
    out.answered_negatively = receivers->value("answered_negatively", std::int64_t{0});
  }
  out.skipped = static_cast<std::int64_t>(total.skipped.expired + total.skipped.unrequested + total.skipped.parked + total.skipped.cut_off);
  out.duplicated = static_cast<std::int64_t>(total.tags.duplicated);
  out.duplicated_unflagged = static_cast<std::int64_t>(total.tags.duplicated_unflagged);
  out.out_of_order = static_cast<std::int64_t>(total.tags.out_of_order);
  out.unexpected = static_cast<std::int64_t>(total.tags.unexpected);
  out.negative = static_cast<std::int64_t>(total.tags.negative);
  out.bad_checksum = static_cast<std::int64_t>(total.tags.bad_checksum);
  out.unasked = static_cast<std::int64_t>(total.tags.unasked);
  for (const Role role : {Role::senders, Role::receivers}) {
    if (const Json log = record.of(role).log(); log.is_object()) out.log_lines_dropped += whole_or_0(log, "dropped");
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

measure::Ledger ledger_of(const RunRecord& record, QStringList& troubles) {
  const Settings& settings = record.settings;
  measure::LedgerInput input;
  input.mode = settings.queue.mode == QueueMode::broadcaster ? wire::QueueMode::broadcaster : wire::QueueMode::load_balancer;
  input.senders_total = static_cast<std::uint32_t>(settings.senders.amount);
  input.receivers_total = static_cast<std::uint32_t>(settings.receivers.amount);
  if (const auto planned = settings.planned_messages()) input.planned_messages = static_cast<std::uint64_t>(*planned);
  input.planned_rate_per_s = settings.planned_rate_per_s();
  input.warmup_messages = static_cast<std::uint64_t>(settings.senders.warmup_messages);
  if (settings.queue.responses) input.attempts_max = static_cast<std::uint64_t>(settings.responses.attempts_max);
  input.broker_restarted = record.broker_restarted;
  input.stopped_by_user = was_stopped(record);
  if (auto account = account_of(record, Role::senders, measure::senders_account_from, troubles))
    input.senders.push_back(std::move(*account));
  if (auto account = account_of(record, Role::receivers, measure::receivers_account_from, troubles))
    input.receivers.push_back(std::move(*account));
  input.broker = account_of(record, Role::broker, measure::broker_account_from, troubles);
  return measure::make_ledger(input);
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
    const QString stop = record.killed_by_user ? "killed by the user: what was not told by then is missing"
                         : record.hurried_by_user
                             ? "stopped by the user, who did not wait: what was on its way then, or not read yet, is missing"
                         : record.traffic_started ? "stopped by the user"
                                                  : "stopped by the user before traffic started";
    // What made the verdict stands first.
    outcome.verdict == Verdict::stopped ? outcome.reasons.prepend(stop) : outcome.reasons.append(stop);
  }
  return outcome;
}

namespace {

/// A file of the result that could not be written.
void degrade(RunOutcome& outcome, const QString& error) {
  if (error.isEmpty()) return;
  outcome.reasons += error;
  if (outcome.verdict != Verdict::broken) outcome.verdict = Verdict::degraded;
}

RunResult finish_readable_run(const RunRecord& record, const std::atomic<bool>& cancelled) {
  QStringList troubles;
  const measure::Ledger ledger = ledger_of(record, troubles);
  RunResult result{judge(record, ledger, troubles), final_figures(record, ledger)};
  tell_clock_bound(result.figures, result.outcome.reasons);
  tell_late_start(record, result.outcome.reasons);
  const RunFolder& folder = *record.folder;

  MasterFile master;
  if (record.settings.messages_tsv_max_mib > 0) {
    const auto bytes_max = static_cast<std::uint64_t>(record.settings.messages_tsv_max_mib * limits::bytes_per_mib);
    master = write_master_file(folder.part(Role::receivers), folder.file("messages.tsv"), bytes_max, cancelled);
    degrade(result.outcome, master.error);
  }
  if (cancelled) return result;
  const QString hgrm_error = write_whole(folder.file("latency.hgrm"), hgrm_text(total_of(record.of(Role::receivers).bye, "latency")));
  degrade(result.outcome, hgrm_error);

  const auto summary_text = [&] {
    return summary_json(record, ledger, result.outcome, master).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  result.outcome.summary = summary_text();
  const QString error = write_whole(folder.file("summary.json"), QByteArray::fromStdString(result.outcome.summary));
  if (!error.isEmpty()) {
    result.outcome.reasons += error;
    result.outcome.verdict = Verdict::broken;  // a result that cannot be kept is none
    result.outcome.summary = summary_text();
  }
  return result;
}

}  // namespace

RunResult finish_run(const RunRecord& record, const std::atomic<bool>& cancelled) {
  try {
    return finish_readable_run(record, cancelled);
  } catch (const std::exception& error) {
    // A final object that is JSON but not what the protocol says: the run is kept without any of them.
    RunRecord bare = record;
    for (ProcessRecord& process : bare.processes) process.bye.reset();
    bare.troubles += QString("the final figures cannot be read: %1").arg(QString::fromUtf8(error.what()));
    return finish_readable_run(bare, cancelled);
  }
}

}  // namespace n2nq::app
