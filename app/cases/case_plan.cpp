// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_plan.h"

#include <QCryptographicHash>
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "app/cases/knee.h"
#include "app/settings/qt_text.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

constexpr std::size_t errors_max = 5;
constexpr std::size_t title_chars_max = 60;

/// Receiver i asks for sender i; further senders are shared in turn.
Requests in_pairs(int senders, int receivers) {
  Requests out;
  for (int receiver = 1; receiver <= receivers; ++receiver) {
    NumberRanges own;
    for (int sender = receiver; sender <= senders; sender += receivers) {
      // Neighbours united, as they are read back: what is written and what is planned are the same settings.
      if (!own.empty() && own.back().second + 1 == sender) {
        own.back().second = sender;
      } else {
        own.push_back({sender, sender});
      }
    }
    ReceiverRequest& request = out.emplace_back();
    request.receivers = NumberRanges{{receiver, receiver}};
    request.senders = own;
  }
  return out;
}

/// Fisher and Yates, by hand: std::shuffle may differ between libraries, and a case that goes on must keep its order.
void shuffle(std::vector<std::size_t>& values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

/// As much of it as a title may have, in whole letters.
void set_title(Settings& settings, QString text) {
  settings.title.clear();
  text.truncate(title_chars_max);
  while (!text.isEmpty()) {
    if (!text.back().isHighSurrogate() && !set_value(settings, "title", text.toStdString())) return;
    text.chop(1);
  }
}

}  // namespace

std::string settings_sha256(Settings settings) {
  settings.title.clear();
  settings.description.clear();
  const std::string canonical = settings_yaml(settings);
  const QByteArrayView bytes(canonical.data(), static_cast<qsizetype>(canonical.size()));
  return QCryptographicHash::hash(bytes.toByteArray(), QCryptographicHash::Sha256).toHex().toStdString();
}

Settings settings_of_repeat(const Settings& settings, int repeat) {
  Settings out = settings;
  out.seed += static_cast<std::uint64_t>(repeat - 1);
  return out;
}

CasePlan::CasePlan(const CaseFile& file, const CaseChoice& choice) : file_(file), choice_(choice), rules_(file.at(choice.scale)) {
  if (choice.repeats && choice.scale != Scale::stress) {  // there a load runs until it is judged
    rules_.repeats = *choice.repeats;
    rules_.interval_percent = 0;  // as often as asked, neither more nor less
  }
  if (choice.warm_up_s) rules_.warm_up_s = *choice.warm_up_s;
  if (!file.has_places()) choice_.hosts.reset();  // nothing runs on them, so nobody is to read that they were used
}

std::optional<CasePlan> CasePlan::make(const CaseFile& file, const CaseChoice& choice, QStringList& errors) {
  if (choice.scale == Scale::stress && !file.knee) {
    errors += "scale stress needs a knee: in its file, such as knee: {axis: services, from: 10, to: 1000}";
    return {};
  }
  CasePlan plan(file, choice);
  std::vector<CaseValue> values;
  plan.add_points(values, errors);
  if (!errors.isEmpty()) return {};
  if (plan.points_.size() > case_points_max) {
    errors += QString("comes to %1 points, more than %2").arg(plan.points_.size()).arg(case_points_max);
    return {};
  }
  return plan;
}

void CasePlan::add_points(std::vector<CaseValue>& values, QStringList& errors) {
  if (errors.size() >= static_cast<qsizetype>(errors_max) || points_.size() > case_points_max) return;
  if (values.size() == file_.axes.size()) {
    QString problem;
    points_.push_back(point_of(values, problem));
    distinct_keys_.push_back(seeks_knee() ? key_of_curve(points_.back()) : points_.back().key);
    if (!problem.isEmpty()) errors += points_.back().label + ": " + problem;
    return;
  }
  const CaseAxis& axis = file_.axes[values.size()];
  if (seeks_knee() && axis.id == file_.knee->axis) {
    values.push_back(axis.of_keys(decimal_text(file_.knee->from)));
    add_points(values, errors);
    values.pop_back();
    return;
  }
  for (const CaseValue& value : axis.at(choice_.scale)) {
    values.push_back(value);
    add_points(values, errors);
    values.pop_back();
  }
}

bool CasePlan::place(CasePoint& point, const CaseValue& value) const {
  if (!value.senders && !value.receivers) return false;
  Settings& settings = point.settings;
  bool is_here_instead = false;
  if (choice_.hosts) settings.broker.host = choice_.hosts->broker;
  const auto put = [&](const std::optional<Place>& where, std::string& host, const std::string& other) {
    if (!where) return;
    const bool external = *where == Place::external;
    host = external && choice_.hosts ? other : settings.broker.host;
    if (!external || choice_.hosts) return;
    if (file_.needs_hosts) point.not_run = "no hosts were given for external sets";
    point.runs_here = true;
    is_here_instead = !file_.needs_hosts;
  };
  put(value.senders, settings.senders.host, choice_.hosts ? choice_.hosts->senders : std::string());
  put(value.receivers, settings.receivers.host, choice_.hosts ? choice_.hosts->receivers : std::string());
  return is_here_instead;
}

CasePoint CasePlan::point_of(const std::vector<CaseValue>& values, QString& problem) const {
  CasePoint point;
  point.values = values;
  point.settings = file_.base;
  bool pairs = file_.pairs;
  const auto set = [&](const CaseSetting& setting) {
    if (setting.key == "queue.requests") pairs = setting.text == requests_in_pairs;
    if (setting.text == requests_in_pairs) return;
    if (const auto error = set_value(point.settings, setting.key, setting.text); error && problem.isEmpty())
      problem = qt_text(error->key + ' ' + error->message);
  };
  QStringList label;
  for (const CaseSetting& setting : rules_.settings) set(setting);
  for (const CaseValue& value : values) {
    for (const CaseSetting& setting : value.settings) {
      set(setting);
      if (setting.key == "seed" && problem.isEmpty() && !file_.begun) {
        problem = "seed is what repeats differ in: points that differ in it alone would share runs";
      }
    }
    label += qt_text(value.name) + (place(point, value) ? " (here)" : "");
  }
  point.label = label.join(", ");
  if (seeks_knee()) {
    label.removeAt(static_cast<qsizetype>(axis_of_load()));
    point.curve = label.join(", ");
  }
  Settings& settings = point.settings;
  if (pairs) settings.queue.requests = in_pairs(settings.senders.amount, settings.receivers.amount);
  const Interval period = settings.interval();
  if (rules_.warm_up_s > 0 && period.num_ns > 0) {
    const double period_s = static_cast<double>(period.num_ns) / static_cast<double>(period.den) / 1e9;
    settings.senders.warmup_messages = static_cast<std::int64_t>(std::ceil(rules_.warm_up_s / period_s));
  } else if (rules_.warm_up_s > 0 && settings.senders.warmup_messages == 0 && problem.isEmpty() && !file_.begun) {
    problem = "warm_up_s needs a delay: without a plan seconds are not known; give senders.warmup_messages";
  }
  if (seeks_knee() && period.num_ns <= 0 && problem.isEmpty() && !file_.begun) {
    problem = "a knee needs a delay: without a plan there is no latency from plan to find it by";
  }
  set_title(settings, qt_text(file_.title) + ": " + point.label);
  settings.description.clear();
  for (const SettingsError& error : validate(settings)) {
    if (problem.isEmpty()) problem = qt_text(error.key + ' ' + error.message);
  }
  if (!settings.senders.messages && !settings.senders.duration_s && problem.isEmpty()) {
    problem = "runs of a test case end by themselves: give senders.messages or senders.duration_s";
  }
  if (point.not_run.isEmpty()) point.key = settings_sha256(settings);
  return point;
}

std::size_t CasePlan::axis_of_load() const {
  std::size_t place = 0;
  while (file_.axes[place].id != file_.knee->axis) ++place;
  return place;
}

CasePoint CasePlan::at_load(const CasePoint& curve, double load, QString& problem) const {
  std::vector<CaseValue> values = curve.values;
  const std::size_t axis = axis_of_load();
  values[axis] = file_.axes[axis].of_keys(decimal_text(load));
  return point_of(values, problem);
}

/// Two curves may be the same at one load, where another set's number happens to be it; those that are at two are so at all.
std::string CasePlan::key_of_curve(const CasePoint& first) const {
  for (const double load : {file_.knee->from + 1, file_.knee->from * 2}) {
    QString problem;
    const CasePoint second = at_load(first, load, problem);
    if (problem.isEmpty()) return first.key + second.key;
  }
  std::string by_itself = first.key;  // no other load can be
  for (const CaseValue& value : first.values) by_itself += '\n' + value.name;
  return by_itself;
}

CaseRun CasePlan::run_of(std::size_t point, int repeat) const {
  Settings settings = settings_of_repeat(points_[point].settings, repeat);
  std::string sha256 = settings_sha256(settings);
  return {point, repeat, std::move(settings), std::move(sha256)};
}

std::vector<std::size_t> CasePlan::distinct_points() const {
  std::vector<std::size_t> out;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].not_run.isEmpty() && seen.insert(distinct_keys_[i]).second) out.push_back(i);
  }
  return out;
}

std::vector<CaseRun> CasePlan::runs(int repeats) const {
  std::vector<CaseRun> out;
  for (int repeat = 1; repeat <= repeats; ++repeat) {
    std::vector<std::size_t> order = distinct_points();
    if (file_.shuffled) shuffle(order, file_.order_seed * 1'000'003 + static_cast<std::uint64_t>(repeat));
    for (const std::size_t point : order) out.push_back(run_of(point, repeat));
  }
  return out;
}

int CasePlan::runs_expected() const {
  const int points = static_cast<int>(distinct_points().size());
  if (!seeks_knee()) return points * rules_.repeats;
  return points * KneeSearch(file_.knee->from, file_.knee->to, file_.knee->within_percent).runs_expected();
}

double CasePlan::seconds_of(const Settings& settings, double overhead_s) {
  return settings.planned_duration_s().value_or(0) + static_cast<double>(settings.warmup_ns()) / 1e9 + overhead_s;
}

double CasePlan::seconds_expected(double overhead_s) const {
  const auto points = distinct_points();
  if (points.empty()) return 0;
  double seconds = 0;
  for (const std::size_t point : points) seconds += seconds_of(points_[point].settings, overhead_s);
  return seconds * runs_expected() / static_cast<double>(points.size());
}

}  // namespace n2nq::app
