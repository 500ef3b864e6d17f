// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/request_desk.h"

#include <algorithm>

#include "ui/text/figures.h"

namespace n2nq::ui {

namespace {

const QString requests_key = QStringLiteral("queue.requests");

app::NumberRanges without(const app::NumberRanges& from, const app::NumberRanges& taken) {
  app::NumberRanges out;
  for (const auto& [first, last] : from) {
    int at = first;
    for (const auto& [taken_first, taken_last] : taken) {
      if (taken_last < at || taken_first > last) continue;
      if (taken_first > at) out.emplace_back(at, taken_first - 1);
      at = taken_last + 1;
    }
    if (at <= last) out.emplace_back(at, last);
  }
  return out;
}

}  // namespace

QString receivers_text(const std::optional<app::NumberRanges>& receivers) {
  if (!receivers) return QStringLiteral("all receivers");
  return QString::fromStdString(app::services_text(*receivers, 'R'));
}

RequestDesk::RequestDesk(SettingsForm& form, RunActions& actions, QObject* parent) : QObject(parent), form_(form), actions_(actions) {
  connect(&form_, &SettingsForm::changed, this, &RequestDesk::changed);
  connect(&form_, &SettingsForm::lock_changed, this, &RequestDesk::changed);
  connect(&actions_.run(), &app::RunControl::rules_changed, this, &RequestDesk::changed);
  connect(&actions_.run(), &app::RunControl::state_changed, this, &RequestDesk::changed);
}

bool RequestDesk::is_on() const {
  return form_.settings().queue.requests.has_value();
}

bool RequestDesk::is_live() const {
  return actions_.run().state() == app::RunState::running && !actions_.run().rules_in_force().empty();
}

bool RequestDesk::is_for_this_run() const {
  return actions_.run().state() == app::RunState::preparing;
}

// While a run is being prepared, who is not started yet is started with what the form says by then.
bool RequestDesk::is_of_form() const {
  return !actions_.is_on() || is_for_this_run();
}

QString RequestDesk::problem() const {
  if (!is_on()) return QStringLiteral("Receiver requests are off");
  if (is_live() || form_.locked(requests_key).isEmpty()) return {};
  return QStringLiteral("Requests are made before a run or while it runs");
}

const app::Settings& RequestDesk::settings() const {
  return is_of_form() ? form_.settings() : actions_.run().run_settings();
}

int RequestDesk::receivers() const {
  return settings().receivers.amount;
}

int RequestDesk::senders() const {
  return settings().senders.amount;
}

QString RequestDesk::verdict() const {
  return actions_.run().state() == app::RunState::finished ? verdict_word(actions_.run().outcome().verdict) : QString();
}

QString RequestDesk::reason() const {
  return actions_.run().state() == app::RunState::finished ? app::grouped_in(actions_.run().outcome().reasons.value(0)) : QString();
}

void RequestDesk::make(const app::ReceiverRequest& request) {
  if (!problem().isEmpty()) return;
  is_live() ? make_live(request) : make_setting(request);
}

void RequestDesk::put_back(const std::optional<app::NumberRanges>& receivers) {
  app::ReceiverRequest anything;
  anything.receivers = receivers;
  make(anything);
}

void RequestDesk::make_live(const app::ReceiverRequest& request) {
  const app::NumberRanges all{{1, receivers()}};
  actions_.run().request(request.receivers.value_or(all), app::rules_of(request));
}

// As it would be while it runs: what these receivers asked for before is replaced, others keep theirs.
void RequestDesk::make_setting(const app::ReceiverRequest& request) {
  app::Requests requests;
  for (app::ReceiverRequest entry : *form_.settings().queue.requests) {
    if (!request.receivers) break;
    const app::NumberRanges left = without(entry.receivers.value_or(app::NumberRanges{{1, receivers()}}), *request.receivers);
    if (left.empty()) continue;
    entry.receivers = left;
    requests.push_back(entry);
  }
  const bool anything = app::rules_of(request) == app::RequestRules();
  if (!anything) requests.push_back(request);
  form_.set(requests_key, QString::fromStdString(app::requests_text(requests)));
}

std::vector<RequestDesk::Entry> RequestDesk::entries() const {
  if (!is_of_form()) return live_entries();
  std::vector<Entry> out;
  if (!is_on()) return out;
  for (const app::ReceiverRequest& request : *form_.settings().queue.requests) out.push_back({request.receivers, app::rules_of(request)});
  return out;
}

std::vector<RequestDesk::Entry> RequestDesk::live_entries() const {
  std::vector<Entry> out;
  const std::vector<app::RequestRules>& rules = actions_.run().rules_in_force();
  for (std::size_t place = 0; place < rules.size(); ++place) {
    if (rules[place] == app::RequestRules()) continue;
    const int number = static_cast<int>(place) + 1;
    auto same = std::find_if(out.begin(), out.end(), [&](const Entry& entry) { return entry.rules == rules[place]; });
    if (same == out.end()) {
      out.push_back({app::NumberRanges{{number, number}}, rules[place]});
    } else if (same->receivers->back().second == number - 1) {
      same->receivers->back().second = number;
    } else {
      same->receivers->emplace_back(number, number);
    }
  }
  return out;
}

// A run that is over still has its receivers in the table, and these asked for what was in force in it.
std::vector<app::RequestRules> RequestDesk::shown_rules() const {
  if (!is_of_form() || actions_.run().state() == app::RunState::finished) return actions_.run().rules_in_force();
  if (!is_on()) return {};
  return app::rules_of(*form_.settings().queue.requests, form_.settings().receivers.amount);
}

}  // namespace n2nq::ui
