// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/assertion.h"

#include <charconv>
#include <cmath>

#include "app/control/summary.h"
#include "app/results/stored_run.h"
#include "app/settings/all_digits.h"
#include "app/settings/text_value.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;
using Relation = Assertion::Relation;

struct Sign {
  std::string_view text;
  Relation relation;
};
// The longer ones first: "<=" begins with "<".
constexpr Sign signs[] = {{"<=", Relation::at_most},   {">=", Relation::at_least}, {"==", Relation::equal},
                          {"!=", Relation::different}, {"<", Relation::less},      {">", Relation::greater}};

bool holds(double value, Relation relation, double bound) {
  switch (relation) {
    case Relation::less:
      return value < bound;
    case Relation::at_most:
      return value <= bound;
    case Relation::greater:
      return value > bound;
    case Relation::at_least:
      return value >= bound;
    case Relation::equal:
      return value == bound;
    case Relation::different:
      return value != bound;
  }
  return false;
}

/// What a summary can have, whatever the run: figures as nulls, the warm-up, and what only its processes know.
const std::vector<std::string>& known_paths() {
  static const std::vector<std::string> paths = [] {
    RunRecord nothing;
    const auto say = [&nothing](Role role, Json bye) { nothing.processes[index_of(role)].bye = std::make_shared<const Json>(std::move(bye)); };
    for (const Role group : {Role::senders, Role::receivers}) say(group, Json{{"log", {{"lines", 0}, {"dropped", 0}}}});
    Json account;
    for (const char* count : broker_counts()) account[count] = 0;
    say(Role::broker, std::move(account));
    measure::Ledger ledger;
    ledger.warm_up.emplace();
    std::vector<std::string> out = figure_paths(Json::parse(summary_json(nothing, ledger, RunOutcome(), MasterFile()).dump()));
    std::erase(out, "plan.kept");  // null here; it is yes or no
    return out;
  }();
  return paths;
}

/// What a service's row can have, figures and counts.
std::vector<std::string> known_of_service(Role group) {
  RunRecord nothing;
  nothing.processes[index_of(group)].bye = std::make_shared<const Json>(Json{{"services", {{{"number", 1}}}}});
  const Json summary = Json::parse(summary_json(nothing, measure::Ledger(), RunOutcome(), MasterFile()).dump());
  std::vector<std::string> out = figure_paths(summary.at("services").at(role_key(group)).at(0));
  for (const char* count : service_counts(group)) out.emplace_back(count);
  return out;
}

/// The ± of one of these figures, which it has between two clocks: whether a run has it is known when it has ended.
bool is_bound(std::string_view path, const std::vector<std::string>& known) {
  for (const char* figure : {"latency_us", "latency_from_plan_us", "stages.to_broker_us", "stages.to_receiver_us"}) {
    if (path == std::string(figure) + ".bound_us")
      return std::find(known.begin(), known.end(), figure + std::string(".p50")) != known.end();
  }
  return false;
}

std::string nearest(std::string_view to, const std::vector<std::string>& known) {
  const std::vector<std::string_view> words(known.begin(), known.end());
  return std::string(nearest_word(to, words));
}

std::optional<std::string> check_service_path(const std::string& path) {
  const auto service = service_path(path);
  if (!service) return in_quotes(path) + " names no service; they are called services.senders.S001 and services.receivers.R001";
  const std::vector<std::string> known = known_of_service(service->group);
  const std::string& figure = service->figure;
  if (is_bound(figure, known) || std::find(known.begin(), known.end(), figure) != known.end()) return {};
  const std::string before = path.substr(0, path.size() - figure.size());
  return in_quotes(path) + " is no figure of a service (nearest: " + before + (before.ends_with('.') ? "" : ".") + nearest(figure, known) +
         ")";
}

/// No digit of a count is lost, and none told that subtracting left behind.
QString number(double value) {
  if (std::isinf(value)) return "?";
  return all_digits(value == std::floor(value) ? value : std::round(value * 1e6) / 1e6);
}

QString percent_text(double percent) {
  return percent < 999.5 ? QString::number(percent, 'g', 3) : QString::number(percent, 'f', 0);
}

}  // namespace

std::optional<std::string> parse_assertion(const std::string& text, Assertion& out) {
  constexpr const char* example = R"( must be a figure, one of < <= > >= == != and a number, such as "latency_us.p99 < 500")";
  std::size_t at = std::string::npos;
  const Sign* found = nullptr;
  for (const Sign& sign : signs) {
    if (const auto place = text.find(sign.text); place != std::string::npos && place < at) at = place, found = &sign;
  }
  if (found == nullptr) return in_quotes(text) + example;
  out.text = std::string(trimmed(text));
  out.path = std::string(trimmed(std::string_view(text).substr(0, at)));
  out.relation = found->relation;
  const std::string_view bound = trimmed(std::string_view(text).substr(at + found->text.size()));
  const auto [end, result] = std::from_chars(bound.data(), bound.data() + bound.size(), out.bound);
  const bool is_number = !bound.empty() && result == std::errc{} && end == bound.data() + bound.size() && std::isfinite(out.bound);
  if (out.path.empty() || out.path.find(' ') != std::string::npos || !is_number) return in_quotes(text) + example;
  return {};
}

std::optional<std::string> check_path(const Assertion& assertion) {
  const std::string& path = assertion.path;
  const auto& known = known_paths();
  if (path.starts_with("services.")) return check_service_path(path);
  if (is_bound(path, known) || std::find(known.begin(), known.end(), path) != known.end()) return {};
  if (path == "plan.kept") return in_quotes(path) + R"( is yes or no, and no number; "plan.achieved_per_s" is one)";
  // What only a run with a warm-up has may not be what is wanted.
  std::vector<std::string> usual = known;
  if (!path.starts_with("ledger.warmup")) std::erase_if(usual, [](const std::string& each) { return each.starts_with("ledger.warmup."); });
  return in_quotes(path) + " is no figure of a run (nearest: " + nearest(path, usual) + ")";
}

std::optional<std::string> check_path_with(const Assertion& assertion, const Settings& settings) {
  if (assertion.path.starts_with("ledger.warmup.") && settings.senders.warmup_messages == 0)
    return in_quotes(assertion.path) + " is of a warm-up, which this run does not have (senders.warmup_messages is 0)";
  const auto service = service_path(assertion.path);
  if (!service) return {};
  const bool sender = service->group == Role::senders;
  const int amount = sender ? settings.senders.amount : settings.receivers.amount;
  if (service->number >= 1 && service->number <= amount) return {};
  const auto name = [sender](int number) { return measure::service_name(sender ? 'S' : 'R', static_cast<std::uint32_t>(number)); };
  return in_quotes(assertion.path) + " is of a service that this run does not have: it has " + name(1) + " to " + name(amount);
}

QString AssertionResult::sentence() const {
  const QString text = QString::fromStdString(assertion.text);
  if (std::isnan(value)) return QString("%1: not met: the run gave no such figure").arg(text);
  const QString unit = QString::fromStdString(unit_of_path(assertion.path));
  const auto with_unit = [&unit](double of) { return unit.isEmpty() ? number(of) : number(of) + ' ' + unit; };
  const bool apart = !std::isnan(clock_bound);
  const QString found = apart ? QString::fromUtf8("%1 ± %2").arg(number(value), with_unit(clock_bound)) : with_unit(value);
  const QString doubt = apart && std::abs(value - assertion.bound) <= clock_bound ? QString(", within what the clocks may err") : QString();
  if (met) return QString("%1: met: %2%3").arg(text, found, doubt);
  const double off = std::abs(value - assertion.bound);
  QString by = with_unit(off);
  if (assertion.bound != 0) by += QString(" (%1 %)").arg(percent_text(off / std::abs(assertion.bound) * 100));
  switch (assertion.relation) {
    case Relation::equal:
    case Relation::different:
      return QString("%1: not met: %2%3").arg(text, found, doubt);
    default:
      if (off == 0) return QString("%1: not met: it is exactly that").arg(text);
      return QString("%1: not met: %2, %3 too %4%5").arg(text, found, by, value > assertion.bound ? "much" : "little", doubt);
  }
}

AssertionResult check_assertion(const Assertion& assertion, const Json& summary) {
  AssertionResult result{assertion};
  const auto value = figure_at(summary, assertion.path);
  result.known = value.has_value() || !check_path(assertion);  // the summary of a run that came that far has it
  result.value = value.value_or(std::nan(""));
  result.clock_bound = clock_limit_at(summary, assertion.path);
  result.met = !std::isnan(result.value) && holds(result.value, assertion.relation, assertion.bound);
  return result;
}

nlohmann::ordered_json assertions_json(const std::vector<AssertionResult>& results) {
  auto out = nlohmann::ordered_json::array();
  for (const AssertionResult& result : results) {
    out.push_back({{"assert", result.assertion.text},
                   {"value", std::isnan(result.value) ? nlohmann::ordered_json() : nlohmann::ordered_json(result.value)},
                   {"met", result.met},
                   {"said", result.sentence().toStdString()}});
  }
  return out;
}

}  // namespace n2nq::app
