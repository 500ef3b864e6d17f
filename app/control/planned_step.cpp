// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/planned_step.h"

#include "app/settings/settings.h"

namespace n2nq::app {

namespace {

constexpr double at_s_max = 604'800;

/// Splits "WHAT@SECONDS".
Problem parse_time(std::string_view text, const char* form, std::string_view& what, double& at_s) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos) return std::string(form);
  what = text.substr(0, at);
  if (auto problem = parse_decimal(text.substr(at + 1), 0, at_s_max, 3, at_s)) return "the seconds behind @ " + *problem;
  return {};
}

}  // namespace

Problem parse_planned_fault(std::string_view text, PlannedStep& out) {
  constexpr auto form = "must be WHAT:WHOM@SECONDS, such as kill:receivers@5 or stop-reading:R001@2.5";
  std::string_view what;
  if (auto problem = parse_time(text, form, what, out.at_s)) return problem;
  if (what.find(':') == std::string_view::npos) return std::string(form);
  Fault fault;
  if (auto problem = parse_fault(what, fault)) return problem;
  out.what = fault;
  return {};
}

Problem parse_planned_request(std::string_view text, PlannedStep& out) {
  constexpr auto form = "must be REQUEST@SECONDS, such as {receivers: R1-R25, senders: S1-S10, sizes: 20-100}@5";
  std::string_view what;
  if (auto problem = parse_time(text, form, what, out.at_s)) return problem;
  std::optional<Requests> requests;
  if (auto problem = parse_requests("[" + std::string(what) + "]", requests)) {
    // "sizes must be …" says itself what is meant.
    const bool of_all = problem->starts_with("must ") || problem->starts_with("has ");
    return form + (of_all ? "; read as a list it " + *problem : "; " + *problem);
  }
  if (!requests || requests->size() != 1) return std::string(form) + "; more than one request needs --request more than once";
  out.what = requests->front();
  return {};
}

Problem check_step(const PlannedStep& step, const Settings& settings) {
  if (const Fault* fault = std::get_if<Fault>(&step.what)) return check_fault(*fault, settings);
  if (!settings.queue.requests) return "needs queue.requests: true (or a list)";
  Settings then = settings;
  then.queue.requests = Requests{std::get<ReceiverRequest>(step.what)};
  for (const SettingsError& error : validate(then)) {
    if (error.key == "queue.requests") return error.message;
  }
  return {};
}

QString step_sentence(const PlannedStep& step) {
  if (const Fault* fault = std::get_if<Fault>(&step.what)) return fault_sentence(*fault);
  const ReceiverRequest& request = std::get<ReceiverRequest>(step.what);
  return request_sentence(request.receivers, rules_of(request));
}

QString request_sentence(const std::optional<NumberRanges>& receivers, const RequestRules& rules) {
  const QString whom = receivers ? QString::fromStdString(services_text(*receivers, 'R')) : "all receivers";
  const bool one = receivers && receivers->size() == 1 && receivers->front().first == receivers->front().second;
  return QString(one ? "%1 asks for %2" : "%1 ask for %2").arg(whom, QString::fromStdString(rules.text()));
}

}  // namespace n2nq::app
