// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/control/clocks.h"
#include "app/control/live_accumulator.h"
#include "app/control/verdict.h"
#include "app/figure/time_units.h"
#include "app/settings/settings_json.h"

namespace n2nq::app {

using nlohmann::literals::operator""_json_pointer;

namespace {

using OrderedJson = nlohmann::ordered_json;
using Json = nlohmann::json;

/// A figure of the control protocol, where it stands in the summary, and in which unit.
struct StoredFigure {
  const char* control_name;
  const char* summary_name;
  double unit_ns;
};
constexpr StoredFigure sender_figures[] = {{"delay", "delay_ms", ns_in_ms}, {"lag", "lag_us", ns_in_us}};
constexpr StoredFigure receiver_figures[] = {{"latency", "latency_us", ns_in_us}, {"latency_from_plan", "latency_from_plan_us", ns_in_us}};
constexpr StoredFigure stage_figures[] = {{"lag", "lag_us", ns_in_us},
                                          {"to_broker", "to_broker_us", ns_in_us},
                                          {"in_queue", "in_queue_us", ns_in_us},
                                          {"to_receiver", "to_receiver_us", ns_in_us}};

double rounded(double value, double step) {
  // By the number of steps in a whole: a multiple of 0.001 is not the nearest number to 1.003.
  return std::round(value * std::round(1 / step)) / std::round(1 / step);
}

/// Looked up in a "figures" object; all null where the process said nothing.
OrderedJson stored_figures(const Json& figures, const StoredFigure& figure) {
  const auto found = figures.is_object() ? figures.find(figure.control_name) : figures.end();
  const bool said = figures.is_object() && found != figures.end() && found->is_object();
  return figures_json(said ? found->get<measure::Figures>() : measure::Figures(), figure.unit_ns);
}

template <std::size_t Count>
void put_figures(OrderedJson& out, const Json& figures, const StoredFigure (&which)[Count]) {
  for (const StoredFigure& figure : which) out[figure.summary_name] = stored_figures(figures, figure);
}

/// Beside a figure between two clocks: how far it may be off. Beside one of one clock there is nothing to say.
void put_bound(OrderedJson& figure, const ClockBound& bound) {
  if (bound.apart) figure["bound_us"] = std::isnan(bound.total_us()) ? OrderedJson() : OrderedJson(rounded(bound.total_us(), 0.001));
}

void put_bounds(OrderedJson& latencies, OrderedJson& stages, const ClockBounds& bounds) {
  for (const StoredFigure& figure : receiver_figures) put_bound(latencies[figure.summary_name], bounds.latency);
  put_bound(stages["to_broker_us"], bounds.to_broker);
  put_bound(stages["to_receiver_us"], bounds.to_receiver);
}

constexpr const char* sender_counts[] = {"number", "port", "attempted", "accepted", "refused", "lost_before_queue", "bytes", "unnoted", "stood_still_ns"};
constexpr const char* receiver_counts[] = {
    "number",   "port",         "received",  "duplicated",          "redelivered", "out_of_order", "unexpected",
    "negative", "bad_checksum", "confirmed", "answered_negatively", "bytes",       "handed_over",  "ended_by_broker"};

const Json& bye_of(const RunRecord& record, Role role) {
  static const Json none = Json::object();
  return record.of(role).bye ? *record.of(role).bye : none;
}

OrderedJson copied(const Json& object, std::span<const char* const> keys) {
  OrderedJson out = OrderedJson::object();
  for (const char* key : keys) {
    if (const auto found = object.find(key); found != object.end()) out[key] = *found;
  }
  return out;
}

/// The ledger knows more than the process that speaks for itself: a killed one never heard what was accepted of its last messages.
template <class Lines>
const auto* line_of(const Lines& lines, const Json& service) {
  const auto found = service.find("number");
  const std::uint64_t number = found != service.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  return number >= 1 && number <= lines.size() ? &lines[number - 1] : nullptr;
}

OrderedJson sender_services(const Json& bye, const measure::Ledger& ledger) {
  OrderedJson out = OrderedJson::array();
  for (const Json& service : bye.value("services", Json::array())) {
    OrderedJson row = copied(service, sender_counts);
    if (const measure::SenderLedger* line = line_of(ledger.senders, service)) {
      row["attempted"] = line->attempted;
      if (line->unnoted > 0) row["unnoted"] = row.value("unnoted", std::uint64_t{0}) + line->unnoted;
      row["accepted"] = line->accepted;
      row["refused"] = line->refused;
      row["lost_before_queue"] = line->lost_before_queue;
    }
    put_figures(row, service.value("figures", Json()), sender_figures);
    out.push_back(std::move(row));
  }
  return out;
}

OrderedJson receiver_services(const Json& bye, const measure::Ledger& ledger, const ClockBounds& bounds) {
  OrderedJson out = OrderedJson::array();
  for (const Json& service : bye.value("services", Json::array())) {
    OrderedJson row = copied(service, receiver_counts);
    if (const measure::ReceiverLedger* line = line_of(ledger.receivers, service); line && line->handed_over) {
      row["handed_over"] = *line->handed_over;
    }
    const Json figures = service.value("figures", Json());
    put_figures(row, figures, receiver_figures);
    put_figures(row["stages"], figures, stage_figures);
    put_bounds(row, row["stages"], bounds);
    out.push_back(std::move(row));
  }
  return out;
}

OrderedJson environment_json(const RunRecord& record, const RunOutcome& outcome) {
  OrderedJson versions = {{"bench", N2NQ_VERSION}};
  OrderedJson hosts, floors, late, switches, times;
  for (const Role role : all_roles) {
    const ProcessRecord& process = record.of(role);
    versions[role_key(role)] = process.hello ? OrderedJson(process.hello->version) : OrderedJson("unknown");
    const Json own = process.is_one_process() ? bye_of(record, role) : Json::object();
    switches[role_key(role)] = own.value("involuntary_switches", Json("unknown"));
    times[role_key(role)] = own.value("core_times", Json("unknown"));
    hosts[role_key(role)] = process.hello ? OrderedJson(process.hello->host) : OrderedJson("unknown");
    if (role == Role::broker) continue;
    floors[role_key(role)] = process.floor.is_object() ? OrderedJson(process.floor) : OrderedJson("unknown");
    late[role_key(role)] = process.started_late_ns;
  }
  OrderedJson disturbances = OrderedJson::array();
  for (const QString& sentence : outcome.disturbances) disturbances.push_back(sentence.toStdString());
  return {{"versions", versions},
          {"hosts", hosts},
          {"floor", floors},
          {"started_late_ns", late},
          {"involuntary_switches", switches},
          {"core_times", times},
          {"disturbed", disturbances},
          {"offsets", offsets_json(record, record.start_at_broker_ns)}};
}

/// Of a group or a service: the gaps between two sends of one sender.
struct Gaps {
  double mean_s = 0, count = 0;
};

Gaps gaps_of(const Json& told) {
  const Json mean_ns = told.value("/figures/delay/mean_ns"_json_pointer, Json());
  const Json count = told.value("/figures/delay/count"_json_pointer, Json());
  if (!mean_ns.is_number() || !count.is_number()) return {};
  return {mean_ns.get<double>() / ns_in_s, count.get<double>()};
}

/// How long the sending took: a mean gap for every message. From the first send to the last one there is one gap fewer than there are
/// messages, and rates over that time would come out too high. Never shorter than those that sent longest took on average, and a gap each.
/// Senders that are stopped at one moment, between two sends of each, differ by a message, and so by a gap, as spread starts do: one of
/// them alone would say when it would have sent next, not when it was stopped. `attempted` is the ledger's: a killed process may not have
/// noted all. Empty when nobody sent twice.
std::optional<double> sending_s(const Json& senders_bye, double attempted, int senders) {
  constexpr double gaps_alike = 1.5;  // half of one for pacing errors; two messages fewer are another end
  const Gaps gaps = gaps_of(senders_bye);
  if (gaps.mean_s <= 0 || attempted <= 0) return {};
  struct Own {
    double gap_s, took_s;
  };
  std::vector<Own> each;
  double longest_s = 0;
  for (const Json& service : senders_bye.value("services", Json::array())) {
    if (service.value("attempted", 0.0) <= 0) continue;
    const Gaps own = gaps_of(service);
    const double gap_s = own.count > 0 ? std::min(own.mean_s, gaps.mean_s) : gaps.mean_s;
    // Gaps beside messages that a killed process had not noted are in no figure: an outage may be one.
    const double known_s = service.value("sent_over_ns", 0.0) / ns_in_s;
    // Who stood still until it was stopped took until then.
    const double still_s = service.value("stood_still_ns", 0.0) / ns_in_s;
    each.push_back({gap_s, std::max(own.count * own.mean_s, known_s) + std::max(gap_s, still_s)});
    longest_s = std::max(longest_s, each.back().took_s);
  }
  double together_s = 0, alike = 0;
  for (const Own& own : each) {
    if (longest_s - own.took_s <= gaps_alike * own.gap_s) together_s += own.took_s, ++alike;
  }
  return std::max(attempted * gaps.mean_s / senders, alike > 0 ? together_s / alike : 0);
}

/// How long the receiving took: as long as the sending, or longer when what was sent arrived only later; not until the last receiver has
/// ended, for one that does not answer, or leaves, takes a while about that. Behind a warm-up without a plan
/// there is no instant from which all is measured; then it counts from the first delivery that is.
std::optional<double> receiving_s(const Json& receivers_bye, std::optional<double> sending, const Settings& settings) {
  const bool from_first = settings.senders.warmup_messages > 0 && settings.interval().num_ns == 0;
  const auto from = receivers_bye.find(from_first ? "first_measured_ns" : "started_ns"), to = receivers_bye.find("last_measured_ns");
  const bool known = from != receivers_bye.end() && to != receivers_bye.end() && from->is_number() && to->is_number() && *from > 0;
  if (!sending || !known) return sending;
  return std::max(*sending, (to->get<double>() - from->get<double>()) / ns_in_s);
}

OrderedJson per_second(double count, std::optional<double> seconds) {
  return seconds ? OrderedJson(rounded(count / *seconds, 0.001)) : OrderedJson();
}

OrderedJson per_second(const Json& bye, const char* key, std::optional<double> seconds) {
  const auto count = bye.find(key);
  return count != bye.end() && count->is_number() ? per_second(count->get<double>(), seconds) : OrderedJson();
}

OrderedJson rates_json(const RunRecord& record, const measure::Ledger& ledger) {
  const Json& senders = bye_of(record, Role::senders);
  const Json& receivers = bye_of(record, Role::receivers);
  const auto attempted = static_cast<double>(ledger.attempted);
  const auto seconds = sending_s(senders, attempted, record.settings.senders.amount);
  const auto received_over = receiving_s(receivers, seconds, record.settings);
  // Of a killed process that was not started again its bytes are known as far as it had noted them: over the time of those.
  const auto noted_over = sending_s(senders, senders.value("attempted", 0.0), record.settings.senders.amount);
  const auto seconds_json = [](std::optional<double> value) { return value ? OrderedJson(rounded(*value, 1e-6)) : OrderedJson(); };
  return {{"over_s", seconds_json(seconds)},
          {"received_over_s", seconds_json(received_over)},
          {"sent_per_s", per_second(attempted, seconds)},
          {"sent_bytes_per_s", per_second(senders, "bytes", noted_over)},
          {"received_per_s", per_second(receivers, "received", received_over)},
          {"received_bytes_per_s", per_second(receivers, "bytes", received_over)}};
}

/// Null: nothing was asked (as fast as it goes, stopped, or over before it began), or the senders gave no account and nobody else knows that
/// anything is missing.
OrderedJson plan_kept(const RunRecord& record, const measure::Ledger& ledger) {
  if (record.settings.interval().num_ns == 0 || record.stopped_by_user || !record.traffic_started) return nullptr;
  // Of senders that died N2NQ and the receivers tell how few messages there were.
  for (const measure::Finding& finding : ledger.findings) {
    if (finding.reason.starts_with("plan not kept")) return false;
  }
  return record.of(Role::senders).bye ? OrderedJson(true) : OrderedJson();
}

/// What was asked of the senders and what became of it.
OrderedJson plan_json(const RunRecord& record, const measure::Ledger& ledger, const OrderedJson& achieved_per_s) {
  const Settings& settings = record.settings;
  const Interval interval = settings.interval();
  const auto planned = settings.planned_messages();
  const Json& bye = bye_of(record, Role::senders);
  OrderedJson out;
  out["offered_messages"] = planned ? OrderedJson(*planned) : OrderedJson();
  out["attempted_messages"] = ledger.attempted;
  out["offered_per_s"] = interval.num_ns == 0
                             ? OrderedJson()
                             : OrderedJson(rounded(static_cast<double>(settings.senders.amount) * ns_in_s *
                                                       static_cast<double>(interval.den) / static_cast<double>(interval.num_ns),
                                                   1e-6));
  out["achieved_per_s"] = achieved_per_s;
  const auto in_ms = [](const Json& ns) { return ns.is_number() ? OrderedJson(ns.get<double>() / ns_in_ms) : OrderedJson(); };
  out["last_message_late_ms"] = in_ms(bye.value("last_lag_ns", Json()));
  out["lag_growth_ms"] = in_ms(bye.value("lag_growth_ns", Json()));
  out["kept"] = plan_kept(record, ledger);
  return out;
}

const char* kind_word(RunEvent::Kind kind) {
  switch (kind) {
    case RunEvent::Kind::fault:
      return "fault";
    case RunEvent::Kind::setting:
      return "setting";
    case RunEvent::Kind::standstill:
      break;
  }
  return "standstill";
}

OrderedJson events_json(const std::vector<RunEvent>& events) {
  OrderedJson out = OrderedJson::array();
  for (const RunEvent& event : events) {
    OrderedJson entry = {{"at_s", rounded(event.at_s, 0.001)}, {"kind", kind_word(event.kind)}, {"what", event.what.toStdString()}};
    if (event.kind == RunEvent::Kind::fault)
      entry["recovered_after_s"] = event.recovered_after_s ? OrderedJson(rounded(*event.recovered_after_s, 0.001)) : OrderedJson();
    out.push_back(std::move(entry));
  }
  return out;
}

OrderedJson broker_json(const Json& bye) {
  static constexpr const char* lists[] = {"sessions_refused", "faults"};
  OrderedJson out = copied(bye, broker_counts());
  out.update(copied(bye, lists));
  return out;
}

OrderedJson processes_json(const RunRecord& record) {
  OrderedJson out;
  for (const Role role : all_roles) {
    const ProcessRecord& process = record.of(role);
    OrderedJson entry = {{"ended_in_order", process.bye != nullptr && !process.salvaged && process.trouble.isEmpty()}};
    entry["gone_at_s"] = process.gone_at_s ? OrderedJson(rounded(*process.gone_at_s, 0.001)) : OrderedJson();
    if (process.last_heard_at_s) entry["last_heard_at_s"] = rounded(*process.last_heard_at_s, 0.001);
    if (!process.trouble.isEmpty()) {
      entry["trouble"] = process.trouble.toStdString();
      entry["last_lines"] = OrderedJson::array();
      for (const QString& line : process.last_lines) entry["last_lines"].push_back(line.toStdString());
    }
    out[role_key(role)] = std::move(entry);
  }
  return out;
}

OrderedJson master_json(const MasterFile& master, const Settings& settings) {
  OrderedJson out = {{"lines", master.lines},
                     {"bytes", master.bytes},
                     {"cut", master.cut},
                     {"limit_mib", settings.messages_tsv_max_mib},
                     {"unreadable_lines", master.unreadable}};
  if (!master.error.isEmpty()) out["error"] = master.error.toStdString();
  return out;
}

}  // namespace

std::span<const char* const> broker_counts() {
  static constexpr const char* keys[] = {
      "messages_accepted", "messages_refused",       "deliveries",                "memory_bytes_max",     "books_bytes_max",
      "held_back_ns",      "held_back_by_memory_ns", "held_back_by_receivers_ns", "waited_for_places_ns"};
  return keys;
}

OrderedJson figures_json(const measure::Figures& figures, double unit_ns) {
  OrderedJson out = {{"count", figures.count}};
  const bool known = figures.count > 0;
  const auto exact = [&](std::int64_t ns) { return known ? OrderedJson(static_cast<double>(ns) / unit_ns) : OrderedJson(); };
  const auto mean = [&](double ns) { return known ? OrderedJson(rounded(ns, 0.001) / unit_ns) : OrderedJson(); };
  out["mean"] = mean(figures.mean_ns);
  out["mean_lowest_95"] = mean(figures.mean_lowest_95_ns);
  out["left_out"] = known ? OrderedJson(figures.left_out) : OrderedJson();
  out["min"] = exact(figures.min_ns);
  out["p50"] = exact(figures.p50_ns);
  out["p90"] = exact(figures.p90_ns);
  out["p95"] = exact(figures.p95_ns);
  out["p99"] = exact(figures.p99_ns);
  out["p99_9"] = exact(figures.p99_9_ns);
  out["max"] = exact(figures.max_ns);
  return out;
}

std::span<const char* const> service_counts(Role group) {
  if (group == Role::senders) return sender_counts;
  return receiver_counts;
}

nlohmann::ordered_json run_rates(const RunRecord& record, const measure::Ledger& ledger) {
  return rates_json(record, ledger);
}

OrderedJson summary_json(const RunRecord& record, const measure::Ledger& ledger, const RunOutcome& outcome, const MasterFile& master) {
  const Json& senders = bye_of(record, Role::senders);
  const Json& receivers = bye_of(record, Role::receivers);
  OrderedJson out;
  out["format"] = summary_format;
  out["run"] = record.folder ? record.folder->name().toStdString() : std::string();
  out["verdict"] = verdict_word(outcome.verdict);
  out["reasons"] = OrderedJson::array();
  for (const QString& reason : outcome.reasons) out["reasons"].push_back(reason.toStdString());
  out["started"] = record.started.toOffsetFromUtc(record.started.offsetFromUtc()).toString(Qt::ISODateWithMs).toStdString();
  out["ended"] = record.ended.toOffsetFromUtc(record.ended.offsetFromUtc()).toString(Qt::ISODateWithMs).toStdString();
  out["traffic_started"] = record.traffic_started;
  // With a plan it is over at the common start.
  if (record.settings.senders.warmup_messages > 0 && record.settings.interval().num_ns == 0)
    out["warmed_up_s"] = record.warmed_up_s ? OrderedJson(rounded(*record.warmed_up_s, 0.001)) : OrderedJson();
  out["settings"] = settings_json(record.settings);
  out["environment"] = environment_json(record, outcome);
  out["ledger"] = Json(ledger);
  const Json receiver_totals = receivers.value("figures", Json());
  put_figures(out, receiver_totals, receiver_figures);
  put_figures(out, senders.value("figures", Json()), sender_figures);
  put_figures(out["stages"], receiver_totals, stage_figures);
  const ClockBounds bounds = clock_bounds(record);
  put_bounds(out, out["stages"], bounds);
  out["rates"] = rates_json(record, ledger);
  out["plan"] = plan_json(record, ledger, out["rates"]["sent_per_s"]);
  out["logs"] = {{"mode", value_text(record.settings, "log")},
                 {"senders", record.of(Role::senders).log()},
                 {"receivers", record.of(Role::receivers).log()}};
  out["messages_tsv"] = master_json(master, record.settings);
  out["events"] = events_json(record.events);
  out["broker"] = broker_json(bye_of(record, Role::broker));
  if (record.broker_restarted) out["broker"]["since_restart"] = true;
  out["processes"] = processes_json(record);
  out["services"] = {{"senders", sender_services(senders, ledger)}, {"receivers", receiver_services(receivers, ledger, bounds)}};
  return out;
}

}  // namespace n2nq::app
