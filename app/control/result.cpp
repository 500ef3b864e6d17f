// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/result.h"

#include "app/control/clocks.h"
#include "app/control/final_account.h"
#include "app/control/hgrm.h"
#include "app/control/live_accumulator.h"
#include "app/control/summary.h"
#include "app/control/verdict.h"
#include "app/settings/whole_file.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

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

/// Then it is no fault that the plan was not finished.
bool was_stopped(const RunRecord& record) {
  return record.stopped_by_user || !record.traffic_started;
}

void set_final_senders(LiveFigures& figures, const Json& bye) {
  for (const Json& service : bye.value("services", Json::array())) {
    SenderRow row{static_cast<int>(whole_or_0(service, "number"))};
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

/// What the ledger knows of each service, and of the run.
void set_ledger_rows(LiveFigures& figures, const measure::Ledger& ledger) {
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const measure::CopyLedger& total = ledger.total;
  figures.attempted = count(ledger.attempted);  // more than the senders know of, where some were killed
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
  for (SenderRow& row : figures.senders) {
    if (row.number < 1 || row.number > static_cast<int>(ledger.senders.size())) continue;
    row.attempted = count(ledger.senders[static_cast<std::size_t>(row.number - 1)].attempted);
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
void set_mean_rates(LiveFigures& figures, const RunRecord& record, const measure::Ledger& ledger) {
  const nlohmann::ordered_json rates = run_rates(record, ledger);
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
  set_mean_rates(out, record, ledger);
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
  const auto take = [&record](Role role, auto account, auto& groups) {
    if (!account) return;
    const std::vector<std::string>& before = record.of(role).faults;
    account->faults.insert(account->faults.begin(), before.begin(), before.end());
    groups.push_back(std::move(*account));
  };
  take(Role::senders, account_of(record, Role::senders, measure::senders_account_from, troubles), input.senders);
  take(Role::receivers, account_of(record, Role::receivers, measure::receivers_account_from, troubles), input.receivers);
  input.broker = account_of(record, Role::broker, measure::broker_account_from, troubles);
  return measure::make_ledger(input);
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
