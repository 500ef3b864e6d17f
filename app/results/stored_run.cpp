// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/stored_run.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "app/control/live_figures.h"
#include "app/control/summary.h"
#include "app/figure/figure_doubts.h"
#include "app/results/is_denied.h"
#include "app/settings/host_name.h"
#include "app/settings/whole_file.h"
#include "broker/net/parsed_json.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr qint64 summary_bytes_max = 256 << 20;  // a thousand services take 4 MB

const char* const needed[] = {"format",      "run",      "verdict",      "reasons",  "started", "settings",
                              "environment", "ledger",   "latency_us",   "stages",   "rates",   "logs",
                              "events",      "services", "messages_tsv", "delay_ms", "lag_us",  "latency_from_plan_us"};

/// What everybody who goes by a summary takes for granted.
struct Part {
  const char* path;
  bool (Json::*is)() const noexcept;
  const char* what;
};
constexpr Part parts[] = {
    {"/verdict", &Json::is_string, "text"},
    {"/reasons", &Json::is_array, "a list"},
    {"/events", &Json::is_array, "a list"},
    {"/settings", &Json::is_object, "an object"},
    {"/settings/queue", &Json::is_object, "an object"},
    {"/settings/queue/mode", &Json::is_string, "text"},
    {"/settings/senders", &Json::is_object, "an object"},
    {"/settings/receivers", &Json::is_object, "an object"},
    {"/environment", &Json::is_object, "an object"},
    {"/ledger", &Json::is_object, "an object"},
    {"/ledger/total", &Json::is_object, "an object"},
    {"/latency_us", &Json::is_object, "an object"},
    {"/latency_from_plan_us", &Json::is_object, "an object"},
    {"/delay_ms", &Json::is_object, "an object"},
    {"/lag_us", &Json::is_object, "an object"},
    {"/stages", &Json::is_object, "an object"},
    {"/rates", &Json::is_object, "an object"},
    {"/logs", &Json::is_object, "an object"},
    {"/logs/mode", &Json::is_string, "text"},
    {"/messages_tsv", &Json::is_object, "an object"},
    {"/services", &Json::is_object, "an object"},
    {"/services/senders", &Json::is_array, "a list"},
    {"/services/receivers", &Json::is_array, "a list"},
};

/// `path` as a reader finds it: "services.receivers[3].number".
QString not_ours(const QString& path, const char* what) {
  return QString("is not what n2nq-bench writes: \"%1\" has to be %2").arg(path, what);
}

QString problem_of_rows(const Json& summary) {
  int place = 0;
  for (const Json& reason : summary.at("reasons")) {
    if (!reason.is_string()) return not_ours(QString("reasons[%1]").arg(place), "text");
    ++place;
  }
  place = 0;
  for (const Json& event : summary.at("events")) {
    const QString path = QString("events[%1]").arg(place++);
    if (!event.is_object()) return not_ours(path, "an object");
    if (const auto what = event.find("what"); what != event.end() && !what->is_string()) return not_ours(path + ".what", "text");
  }
  for (const char* group : {"senders", "receivers"}) {
    place = 0;
    for (const Json& service : summary.at("services").at(group)) {
      const QString path = QString("services.%1[%2]").arg(group).arg(place++);
      if (!service.is_object()) return not_ours(path, "an object");
      if (const auto number = service.find("number"); number == service.end() || !number->is_number_unsigned())
        return not_ours(path + ".number", "a whole number");
    }
    const auto logs = summary.at("logs").find(group);
    if (logs == summary.at("logs").end() || !logs->is_object()) continue;  // the group left none
    if (const auto dropped = logs->find("dropped"); dropped != logs->end() && !dropped->is_number())
      return not_ours(QString("logs.%1.dropped").arg(group), "a number");
  }
  return {};
}

QString problem_of(const Json& summary) {
  if (!summary.is_object()) return "is not a JSON object";
  for (const char* key : needed) {
    if (!summary.contains(key)) return QString("has no \"%1\"").arg(key);
  }
  const Json& format = summary.at("format");
  if (!format.is_number_integer()) return "has a \"format\" that is no number";
  if (format.get<std::int64_t>() > summary_format) {
    return QString("has format %1, which is newer than this program's %2: use a newer n2nq-bench")
        .arg(format.get<std::int64_t>())
        .arg(summary_format);
  }
  for (const Part& part : parts) {
    const Json::json_pointer at(part.path);
    if (summary.contains(at) && (summary.at(at).*part.is)()) continue;
    return not_ours(QString(part.path).mid(1).replace('/', '.'), part.what);
  }
  return problem_of_rows(summary);
}

const Json* row_at(const Json& services, int number) {
  for (const Json& service : services) {
    if (!service.is_object()) continue;
    if (const auto found = service.find("number"); found != service.end() && found->is_number() && *found == number) return &service;
  }
  return nullptr;
}

/// What stands beside a figure: "latency_us.bound_us" beside "latency_us.p50".
std::string beside(std::string_view path, const char* name) {
  return std::string(path.substr(0, path.rfind('.'))) + '.' + name;
}

/// Samples above a percentile, as a share; 1: the path names none.
double share_above(std::string_view path) {
  for (const auto& [end, share] : {std::pair(".p50", 0.5), {".p90", 0.1}, {".p95", 0.05}, {".p99", 0.01}, {".p99_9", 0.001}}) {
    if (path.ends_with(end)) return share;
  }
  return 1;
}

/// Takes what stands before the first dot.
std::string_view take_name(std::string_view& path) {
  const auto dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  return name;
}

/// No figure lies deeper than that, whatever a file says.
constexpr int figure_depth_max = 8;

void collect(const Json& from, const std::string& path, std::vector<std::string>& out, int depth = figure_depth_max) {
  if (depth == 0) return;
  if (from.is_number() || from.is_null()) {
    out.push_back(path);
  } else if (from.is_object()) {
    for (const auto& [key, value] : from.items()) collect(value, path.empty() ? key : path + '.' + key, out, depth - 1);
  }
}

}  // namespace

QString StoredRun::name() const {
  return QFileInfo(folder).fileName();
}

bool StoredRun::has_plan() const {
  const Json& senders = summary.at("settings").at("senders");
  const auto delay = senders.find("delay_ms");
  return delay == senders.end() || !delay->is_number() || delay->get<double>() != 0;
}

bool StoredRun::counts_in_case() const {
  return verdict() != "stopped" && figure_at(summary, "plan.attempted_messages").value_or(0) > 0;
}

QStringList StoredRun::disturbances() const {
  QStringList out;
  const Json told = summary.value("/environment/disturbed"_json_pointer, Json::array());
  for (const Json& sentence : told) {
    if (sentence.is_string()) out += QString::fromStdString(sentence.get<std::string>());
  }
  return out;
}

QString StoredRun::mark() const {
  const QString word = QString::fromStdString(verdict());
  if (word == "clean" || word == "stopped") {
    const QStringList how = disturbances();
    return how.isEmpty() ? QString() : "disturbed: " + how.first();
  }
  const Json& reasons = summary.at("reasons");
  return reasons.empty() ? word : word + ": " + QString::fromStdString(reasons.front().get<std::string>());
}

int number_of_run(const QString& name) {
  return name.section('-', 0, 0).toInt();
}

bool is_earlier_run(const QString& name, const QString& other) {
  const int number = number_of_run(name), other_number = number_of_run(other);
  return number != other_number ? number < other_number : name < other;
}

bool StoredRun::has_every_line() const {
  return summary.at("logs").value("mode", "") == "all" && dropped_no_line();
}

bool StoredRun::dropped_no_line() const {
  const Json& logs = summary.at("logs");
  for (const char* group : {"senders", "receivers"}) {
    const auto found = logs.find(group);
    if (found == logs.end() || !found->is_object() || !found->contains("dropped") || found->at("dropped") != 0) return false;
  }
  return true;
}

std::optional<StoredRun> read_run(const QString& folder, QString& error) {
  const QString path = QDir(folder).absoluteFilePath("summary.json");
  if (is_denied(path)) return error = denied_words(folder), std::nullopt;
  if (!QFileInfo(folder).isDir()) return error = QString("%1: there is no such folder").arg(folder), std::nullopt;
  if (!QFileInfo::exists(path)) {
    const bool started = QFileInfo::exists(QDir(folder).filePath("settings.yaml"));
    error = started ? QString("%1 has no summary.json: that run did not finish").arg(folder)
                    : QString("%1 has no summary.json: it is not the folder of a run").arg(folder);
    return {};
  }
  const auto bytes = read_whole(path, summary_bytes_max, error);
  if (!bytes) return {};
  StoredRun run;
  run.folder = QDir::cleanPath(QDir(folder).absolutePath());
  run.summary = net::parsed_json(*bytes);
  const QString problem = run.summary.is_discarded() ? QString::fromStdString(net::why_no_json(*bytes)) : problem_of(run.summary);
  if (!problem.isEmpty()) return error = QString("%1 %2").arg(path, problem), std::nullopt;
  return run;
}

std::optional<ServicePath> service_path(std::string_view path) {
  if (take_name(path) != "services") return {};
  ServicePath out;
  const std::string_view group = take_name(path), name = take_name(path);
  if (group != role_key(Role::senders) && group != role_key(Role::receivers)) return {};
  out.group = group == role_key(Role::senders) ? Role::senders : Role::receivers;
  if (!name.starts_with(out.group == Role::senders ? 'S' : 'R')) return {};
  const auto [end, result] = std::from_chars(name.data() + 1, name.data() + name.size(), out.number);
  if (result != std::errc{} || end != name.data() + name.size()) return {};
  out.figure = path;
  return out;
}

std::optional<double> figure_at(const Json& summary, std::string_view path) {
  const Json* at = &summary;
  if (path.starts_with("services.")) {
    const auto service = service_path(path);
    const auto services = at->find("services");
    if (!service || services == at->end() || !services->is_object()) return {};
    const auto group = services->find(role_key(service->group));
    const Json* row = group == services->end() || !group->is_array() ? nullptr : row_at(*group, service->number);
    return row == nullptr ? std::nullopt : figure_at(*row, service->figure);
  }
  while (!path.empty()) {
    const std::string_view name = take_name(path);
    const auto found = at->is_object() ? at->find(std::string(name)) : at->end();
    if (!at->is_object() || found == at->end()) return {};
    at = &*found;
  }
  if (at->is_null()) return std::numeric_limits<double>::quiet_NaN();
  return at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

std::vector<std::string> figure_paths(const Json& summary) {
  std::vector<std::string> out;
  for (const char* part : {"latency_us", "latency_from_plan_us", "delay_ms", "lag_us", "stages", "rates", "plan", "ledger", "broker",
                           "messages_tsv", "logs"}) {
    if (const auto found = summary.find(part); found != summary.end()) collect(*found, part, out);
  }
  return out;
}

QString title_of_path(const std::string& path) {
  const auto dot = path.rfind('.');
  const std::string group = path.substr(0, dot), part = dot == std::string::npos ? std::string() : path.substr(dot + 1);
  const std::map<std::string, QString> groups = {{"latency_us", "Latency"},
                                                 {"latency_from_plan_us", "Latency from plan"},
                                                 {"lag_us", "Lag"},
                                                 {"delay_ms", "Delay"},
                                                 {"rates", "Rate"}};
  const std::map<std::string, QString> figures = {{"mean_lowest_95", "mean of the lowest 95 %"},
                                                  {"mean", "mean"},
                                                  {"p50", "median"},
                                                  {"p90", "90th percentile"},
                                                  {"p95", "95th percentile"},
                                                  {"p99", "99th percentile"},
                                                  {"p99_9", "99.9th percentile"},
                                                  {"max", "slowest"},
                                                  {"sent_per_s", "messages sent"},
                                                  {"received_per_s", "deliveries"}};
  const auto known = groups.find(group);
  const auto what = figures.find(part);
  return known == groups.end() || what == figures.end() ? QString::fromStdString(path) : known->second + ", " + what->second;
}

QString words_of_path(const std::string& path) {
  // Those of the ledger are what the panel of that name calls its counts.
  static const std::map<QString, QString> words = {{"ledger", ""},
                                                   {"total", ""},
                                                   {"rates", ""},
                                                   {"stages", "stage:"},
                                                   {"to_broker_us", "to N2NQ"},
                                                   {"mean_lowest_95", "mean of the lowest 95 %"},
                                                   {"p99_9", "p99.9"},
                                                   {"bound_us", "clocks ±"},
                                                   {"accepted_copies", "copies accepted"},
                                                   {"duplicated_unflagged", "duplicated, not marked as sent again"},
                                                   {"parked_delivered", "parked, delivered"},
                                                   {"redelivered", "sent again"},
                                                   {"bad_checksum", "wrong checksum"},
                                                   {"unasked", "not asked for"},
                                                   {"unnoted", "not noted"}};
  QStringList out;
  for (const QString& name : QString::fromStdString(path).split('.')) {
    const auto known = words.find(name);
    QString word = known == words.end() ? name : known->second;
    if (known == words.end()) {
      for (const char* unit : {"_bytes_per_s", "_per_s", "_us", "_ms", "_ns", "_mib", "_s"}) {
        if (!word.endsWith(unit)) continue;
        word.chop(static_cast<qsizetype>(std::strlen(unit)));
        break;
      }
      word.replace('_', ' ');
    }
    if (!word.isEmpty()) out += word;
  }
  return out.join(' ');
}

std::string unit_of_path(std::string_view path) {
  if (path.ends_with(".count") || path.ends_with(".left_out")) return {};
  for (std::string_view rest = path; !rest.empty();) {
    const auto dot = rest.rfind('.');
    const std::string_view name = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    for (const auto& [suffix, unit] : {std::pair<std::string_view, const char*>{"_bytes_per_s", "B/s"},
                                       {"_per_s", "/s"},
                                       {"_us", "µs"},
                                       {"_ms", "ms"},
                                       {"_ns", "ns"},
                                       {"_mib", "MiB"},
                                       {"_s", "s"},
                                       {"bytes", "B"},
                                       {"bytes_max", "B"}}) {
      if (name.ends_with(suffix)) return unit;
    }
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  }
  return {};
}

QString machine_name_at(const nlohmann::json& summary, std::string_view role) {
  // Files may say what they like: a value that is no object has nothing in it.
  const auto in = [](const Json& value, std::string_view key) { return value.is_object() ? value.value(key, Json()) : Json(); };
  const Json host = in(in(in(summary, "settings"), role), "host");
  return QString::fromStdString(host.is_string() ? host.get<std::string>() : std::string(local_host));
}

double clock_limit_at(const nlohmann::json& summary, std::string_view path) {
  if (unit_of_path(path) != "µs" || path.ends_with(".bound_us")) return std::nan("");
  const auto bound_us = figure_at(summary, beside(path, "bound_us"));
  if (!bound_us) return std::nan("");
  return std::isnan(*bound_us) ? std::numeric_limits<double>::infinity() : *bound_us;
}

bool has_few_samples(std::string_view path, double samples) {
  const double share = share_above(path);
  return share < 1 && are_few_samples_above(samples * share);
}

bool has_few_samples(const nlohmann::json& summary, std::string_view path) {
  return has_few_samples(path, figure_at(summary, beside(path, "count")).value_or(0));
}

bool is_latency(std::string_view path) {
  if (!path.starts_with("latency_us.") && !path.starts_with("latency_from_plan_us.")) return false;
  return !path.ends_with(".count") && !path.ends_with(".left_out") && !path.ends_with(".bound_us");
}

double floor_us_at(const nlohmann::json& summary, std::string_view path) {
  double floor_us = std::nan("");
  if (!is_latency(path)) return floor_us;
  for (const char* group : {"senders", "receivers"}) {
    const auto echo_ns = figure_at(summary, std::string("environment.floor.") + group + ".loopback_echo_p50_ns");
    floor_us = std::fmax(floor_us, echo_ns.value_or(std::nan("")) / 1000);
  }
  return floor_us;
}

QString near_floor_words(double floor_us, double latency_us) {
  if (!is_near_floor(floor_us, latency_us)) return {};
  return below_floor_words(QString::fromUtf8("what an echo over loopback took there, %1 µs").arg(floor_us, 0, 'f', 1));
}

}  // namespace n2nq::app
