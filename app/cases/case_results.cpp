// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_results.h"

#include <QDateTime>
#include <algorithm>
#include <cmath>

#include "app/cases/knee.h"
#include "app/results/run_digest.h"
#include "app/results/stored_run.h"
#include "app/settings/host_name.h"
#include "app/settings/qt_text.h"
#include "workers/measure/json_keys.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr double busy_load_per_core = 2;
constexpr double floor_moved = 2;
constexpr std::size_t floors_min = 3;
constexpr std::size_t trend_bins = 10;
const char* const roles[] = {"broker", "senders", "receivers"};

double number_at(const Json& summary, const std::string& pointer) {
  const Json value = summary.value(Json::json_pointer(pointer), Json());
  return value.is_number() ? value.get<double>() : std::nan("");
}

double figure_or_nan(const Json& summary, const std::string& path) {
  return figure_at(summary, path).value_or(std::nan(""));
}

/// A host that was busy before the run began.
QString busy_host(const Json& summary) {
  for (const char* role : roles) {
    const std::string host = std::string("/environment/hosts/") + role;
    const double load = number_at(summary, host + "/load_1min"), cores = number_at(summary, host + "/cores");
    if (load > busy_load_per_core * cores)
      return QString("host busy before the run: a load above %1 for each core").arg(busy_load_per_core);
  }
  return {};
}

/// Hosts of different names, one boot: pretend hosts, which share their cores.
bool is_one_machine(const Json& summary) {
  QStringList names, boots;
  for (const char* role : roles) {
    names += machine_name_at(summary, role);
    const Json boot = summary.value(Json::json_pointer(std::string("/environment/hosts/") + role + "/boot_id"), Json());
    boots += boot.is_string() ? qt_text(boot.get<std::string>()) : "unknown " + names.last();
  }
  names.removeDuplicates();
  return names.size() > 1 && boots.removeDuplicates() > 0 && boots.size() < names.size();
}

/// Of groups that share a host the longer one.
std::map<QString, double> echoes_of(const Json& summary) {
  std::map<QString, double> out;
  for (const char* group : {"senders", "receivers"}) {
    const double echo_ns = number_at(summary, std::string("/environment/floor/") + group + "/loopback_echo_p50_ns");
    if (!(echo_ns > 0)) continue;
    double& of_host = out[machine_name_at(summary, group)];
    of_host = std::max(of_host, echo_ns);
  }
  return out;
}

QString machine_of(const Json& summary, const char* role) {
  const Json host = summary.value(Json::json_pointer(std::string("/environment/hosts/") + role), Json());
  if (!host.is_object()) return {};
  return QString("%1 cores, %2, kernel %3")
      .arg(qt_text(host.value("cores", Json()).dump()), qt_text(measure::text_or_none(host, "cpu")),
           qt_text(measure::text_or_none(host, "kernel")));
}

/// The slices of a run in as many bins as a trend is looked for in: medians of the latency, the last count of what is in flight. What
/// came behind the last message that was due is left out: there a backlog only shrinks. Where lines are missing nobody
/// knows what is in flight: what came and was not written would be under way for ever.
void add_trends(LoadSigns& signs, const StoredRun& run, const RunDigest& digest) {
  const double planned_s = figure_or_nan(run.summary, "rates.over_s");
  for (std::size_t bin = 0; bin < trend_bins; ++bin) {
    const double from_s = planned_s * static_cast<double>(bin) / trend_bins, to_s = planned_s * static_cast<double>(bin + 1) / trend_bins;
    std::vector<double> latencies;
    double in_flight = std::nan("");
    for (const TimeSlice& slice : digest.slices) {
      if (slice.from_s < from_s || slice.from_s >= to_s) continue;
      if (!std::isnan(slice.from_plan_p50_us)) latencies.push_back(slice.from_plan_p50_us);
      if (digest.in_flight_known) in_flight = static_cast<double>(slice.in_flight);
    }
    std::sort(latencies.begin(), latencies.end());
    signs.from_plan_us.push_back(latencies.empty() ? std::nan("") : latencies[latencies.size() / 2]);
    signs.in_flight.push_back(in_flight);
  }
}

/// Where it is null nothing was asked, or somebody stopped the run, and the other signs have to do; or senders that died gave no account,
/// without which there is no over_s: then nobody knows that they kept it.
bool is_plan_kept(const Json& summary) {
  const Json kept = summary.value(Json::json_pointer("/plan/kept"), Json());
  return kept.is_boolean() ? kept.get<bool>() : !std::isnan(figure_or_nan(summary, "rates.over_s"));
}

/// Of logs that cannot be gone through there is no digest: what the summary says is left.
LoadSigns signs_of(const StoredRun& run, const std::optional<RunDigest>& digest) {
  LoadSigns signs;
  if (digest) add_trends(signs, run, *digest);
  signs.from_plan_p99_us = figure_or_nan(run.summary, "latency_from_plan_us.p99");
  signs.plan_kept = is_plan_kept(run.summary);
  for (const char* given_up : {"expired", "parked", "cut_off"}) {
    signs.copies_given_up = signs.copies_given_up || figure_or_nan(run.summary, std::string("ledger.total.") + given_up) > 0;
  }
  return signs;
}

void judge(const StoredRun& run, const CasePlan& plan, CaseRunResult& out, const std::atomic<bool>* cancelled) {
  QString problem;
  const auto digest = digest_of(run, problem, cancelled);
  const LoadVerdict verdict = judge_load(signs_of(run, digest), plan.file().knee->p99_max_us);
  out.keeps_up = verdict.keeps_up;
  out.load_why = verdict.why;
  if (!digest) out.load_remark = "told by its summary alone: " + problem;
}

}  // namespace

bool CaseRunResult::has_few_samples(std::string_view path) const {
  return few_samples.contains(path);
}

double CaseRunResult::clock_limit_us_of(const std::string& path) const {
  const auto limit = clock_limits_us.find(path);
  return limit == clock_limits_us.end() ? std::nan("") : limit->second;
}

double CaseRunResult::floor_us_of(std::string_view path) const {
  return is_latency(path) ? floor_us : std::nan("");
}

std::vector<std::string> paths_of(const CasePlan& plan) {
  std::vector<std::string> out = {"latency_us.mean_lowest_95", "latency_us.left_out"};
  for (const CaseFigure& figure : plan.file().figures) {
    if (!figure.y.empty() && std::find(out.begin(), out.end(), figure.y) == out.end()) out.push_back(figure.y);
  }
  return out;
}

std::optional<CaseRunResult> read_case_run(const QString& folder, const CasePlan& plan, QString& problem, const std::atomic<bool>* cancelled) {
  const auto run = read_run(folder, problem);
  if (!run) return {};
  const ReadSettings settings = read_settings_file((folder + "/settings.yaml").toStdString());
  if (!settings.settings) return problem = qt_text(settings.errors.front().text()), std::nullopt;
  const Json& summary = run->summary;
  CaseRunResult out;
  out.sha256 = settings_sha256(*settings.settings);
  out.folder = run->folder;
  out.verdict = qt_text(run->verdict());
  for (const Json& reason : summary.at("reasons")) out.reasons += qt_text(reason.get<std::string>());
  for (const std::string& path : paths_of(plan)) out.values[path] = figure_or_nan(summary, path);
  for (const auto& [path, value] : out.values) {
    if (const double limit_us = clock_limit_at(summary, path); !std::isnan(limit_us)) out.clock_limits_us[path] = limit_us;
    if (has_few_samples(summary, path)) out.few_samples.insert(path);
  }
  const auto instant = [&](const char* key) {
    return QDateTime::fromString(qt_text(measure::text_or_none(summary, key)), Qt::ISODateWithMs);
  };
  out.duration_s = static_cast<double>(instant("started").msecsTo(instant("ended"))) / 1e3;
  out.planned_s = CasePlan::seconds_of(*settings.settings, 0);
  out.echoes_ns = echoes_of(summary);
  out.floor_us = floor_us_at(summary, "latency_us.p50");
  out.one_machine = is_one_machine(summary);
  out.machine = machine_of(summary, "broker");
  for (const char* role : roles) {
    QString& machine = out.machines[machine_name_at(summary, role)];
    if (machine.isEmpty()) machine = machine_of(summary, role);
  }
  out.is_disturbed = !run->disturbances().isEmpty();
  out.marked = run->mark();
  if (out.marked.isEmpty()) out.marked = busy_host(summary);
  out.counts = run->counts_in_case();
  if (plan.seeks_knee() && out.counts) judge(*run, plan, out, cancelled);
  return out;
}

void CaseResults::add(CaseRunResult result) {
  if (!result.counts) return;
  if (const auto before = latest_.find(result.sha256); before != latest_.end()) {
    for (const auto& [host, echo_ns] : before->second.echoes_ns) {
      auto& of_host = echoes_ns_[host];
      of_host.erase(std::lower_bound(of_host.begin(), of_host.end(), echo_ns));
    }
  }
  for (const auto& [host, echo_ns] : result.echoes_ns) {
    auto& of_host = echoes_ns_[host];
    of_host.insert(std::upper_bound(of_host.begin(), of_host.end(), echo_ns), echo_ns);
  }
  latest_.insert_or_assign(result.sha256, std::move(result));
}

const CaseRunResult* CaseResults::find(const std::string& sha256) const {
  const auto found = latest_.find(sha256);
  return found == latest_.end() ? nullptr : &found->second;
}

QString CaseResults::why(const CaseRunResult& result) const {
  if (!result.marked.isEmpty()) return result.marked;
  for (const auto& [host, echo_ns] : result.echoes_ns) {
    const auto of_host = echoes_ns_.find(host);
    if (of_host == echoes_ns_.end() || of_host->second.size() < floors_min) continue;
    const double usual_ns = of_host->second[of_host->second.size() / 2];
    if (echo_ns < floor_moved * usual_ns) continue;
    const bool is_here = host == qt_text(local_host);
    return QString::fromUtf8("floor moved: an echo over loopback%1 took %2 µs before this run, %3 µs before the others")
        .arg(is_here ? QString() : " of " + host, QString::number(echo_ns / 1e3, 'f', 1), QString::number(usual_ns / 1e3, 'f', 1));
  }
  return {};
}

double CaseResults::overhead_s(double otherwise) const {
  if (latest_.empty()) return otherwise;
  double sum_s = 0;
  for (const auto& [sha256, each] : latest_) sum_s += std::max(0.0, each.duration_s - each.planned_s);
  return sum_s / static_cast<double>(latest_.size());
}

std::vector<const CaseRunResult*> CaseResults::all() const {
  std::vector<const CaseRunResult*> out;
  for (const auto& [sha256, each] : latest_) out.push_back(&each);
  return out;
}

int CaseResults::marked() const {
  return static_cast<int>(std::count_if(latest_.begin(), latest_.end(), [this](const auto& each) { return !why(each.second).isEmpty(); }));
}

}  // namespace n2nq::app
