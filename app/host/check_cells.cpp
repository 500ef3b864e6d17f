// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/check_cells.h"

#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/figure/number_text.h"

namespace n2nq::app {

using Json = nlohmann::json;

CheckCell good_cell(const QString& text, const Json& value, const QString& detail) {
  return {CheckState::good, text, detail, {}, value};
}

CheckCell not_good_cell(CheckState state, const QString& text, const QString& detail, const QString& what_to_do, const Json& value) {
  return {state, text, detail, what_to_do.isEmpty() ? QString("See the sentence above, mend it there, and check again") : what_to_do,
          value};
}

CheckCell not_known_cell(const QString& why) {
  return {CheckState::not_known, "unknown", why, {}, {}};
}

CheckCell clock_cell(const ClockOffset& clock) {
  const auto [offset, within, behind] = bounded_time_text(clock.offset_us, clock.bound_us, u' ');
  QString detail = std::abs(clock.offset_us) < clock.bound_us
                       ? QString("Its clock is that of this machine as far as can be told, to within %1").arg(within)
                       : QString("Its clock is %1 %2 this machine's, to within %3").arg(offset, behind ? "behind" : "ahead of", within);
  QStringList by;
  for (const std::string& name : clock.by) by += QString::fromStdString(name);
  if (!by.isEmpty()) detail += QString(" (found by way of %1)").arg(by.join(" and "));
  CheckCell cell = good_cell(offset_text(clock.offset_us, clock.bound_us, u' '), clock.offset_us, detail);
  cell.bound_us = clock.bound_us;
  return cell;
}

CheckCell floor_cell(const Json& floor) {
  const double floor_us = number_in(floor, "loopback_echo_p50_ns", -1) / 1000;
  if (floor_us < 0) return not_known_cell("It does not say");
  const auto us = [&floor](const char* key) {
    const double value_ns = number_in(floor, key, -1);
    return value_ns < 0 ? QString("?") : QString("%1 µs").arg(value_ns / 1000, 0, 'f', value_ns < 10'000 ? 2 : 0);
  };
  CheckCell cell = good_cell(text_of_us(floor_us), floor_us,
                             QString("The round trip of a loopback connection there takes %1 (p99 %2), reading the clock %3, and a timer wakes %4 "
                                     "late (p99 %5)")
                                 .arg(us("loopback_echo_p50_ns"), us("loopback_echo_p99_ns"), us("clock_read_ns"), us("timer_wake_p50_ns"),
                                      us("timer_wake_p99_ns")));
  for (const char* key : {"clock_read_ns", "timer_wake_p50_ns", "timer_wake_p99_ns", "loopback_echo_p50_ns", "loopback_echo_p99_ns"}) {
    if (const double value_ns = number_in(floor, key, -1); value_ns >= 0) cell.beside[key] = value_ns;
  }
  return cell;
}

CheckCell too_long_cell(std::vector<std::string> machines, const HostReports& reports) {
  using Kind = CheckActivity::Kind;
  for (const auto& [name, report] : reports) machines.push_back(name);
  const auto first = [&](auto is_so) {
    return std::find_if(machines.begin(), machines.end(), [&](const std::string& name) {
      const auto report = reports.find(name);
      return report != reports.end() && is_so(report->second.now.kind);
    });
  };
  // The ways of one that is through wait for the others, too.
  auto slow = first([](Kind kind) { return kind != Kind::none && kind != Kind::ways; });
  if (slow == machines.end()) slow = first([](Kind kind) { return kind == Kind::ways; });
  const CheckActivity now = slow == machines.end() ? CheckActivity() : reports.at(*slow).now;
  const QString what = slow == machines.end() ? QString() : ", still " + activity_text(*slow, now);
  CheckCell cell = not_known_cell("the check took too long" + what);
  cell.what_to_do = activity_advice(now);
  return cell;
}

QString text_of_us(double us) {
  return us >= 1000 ? QString("%1 ms").arg(us / 1000, 0, 'f', us >= 100'000 ? 0 : 1) : QString("%1 µs").arg(us, 0, 'f', 0);
}

QString text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString("unknown");
}

double number_in(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

}  // namespace n2nq::app
