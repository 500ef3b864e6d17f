// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/check_advice.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "app/settings/host_name.h"

namespace n2nq::app {

std::vector<std::string> names_in_order(const Hosts& hosts, const HostReports& reports) {
  std::vector<std::string> names;
  if (reports.contains(std::string(local_host))) names.emplace_back(local_host);
  for (const Host& host : hosts.hosts) {
    if (reports.contains(host.name)) names.push_back(host.name);
  }
  return names;
}

std::vector<CheckAdvice> advice_of(const std::vector<std::string>& names, const HostReports& hosts, const PathReports& paths) {
  std::vector<CheckAdvice> all;
  // One reason for many cells of a machine (no time, say) is one thing to do.
  std::map<std::tuple<std::string, CheckState, QString, QString>, std::size_t> of_machines;
  const auto add = [&](const std::string& machine, const QString& what, const CheckCell& cell) {
    const bool mendable = cell.state == CheckState::not_known && !cell.what_to_do.isEmpty();
    if (cell.state != CheckState::bad && cell.state != CheckState::warning && !mendable) return;
    const QString why = cell.detail.isEmpty() ? cell.text : cell.detail;
    const auto [same, is_new] = mendable ? of_machines.try_emplace({machine, cell.state, why, cell.what_to_do}, all.size()) : std::pair(of_machines.end(), true);
    if (is_new) {
      all.push_back({cell.state, {machine}, what, why, cell.what_to_do});
    } else {
      all[same->second].what += ", " + what;
    }
  };
  for (const std::string& name : names) {
    const auto report = hosts.find(name);
    if (report == hosts.end()) continue;
    for (const CheckItemInfo& info : check_items()) add(name, QString(info.label).toLower(), report->second.of(info.item));
  }
  std::vector<std::string> ends = names;
  if (std::find(ends.begin(), ends.end(), local_host) == ends.end()) ends.insert(ends.begin(), std::string(local_host));
  for (const std::string& from : ends) {
    for (const std::string& to : ends) {
      const auto path = paths.find({from, to});
      const QString there = to == local_host ? QString("this machine") : QString::fromStdString(to);
      if (path != paths.end()) add(from, "way to " + there, path->second);
    }
  }
  std::vector<CheckAdvice> once;
  std::map<std::tuple<CheckState, QString, QString, QString>, std::size_t> places;
  for (CheckAdvice& each : all) {
    const auto [place, is_new] = places.try_emplace({each.state, each.what, each.why, each.what_to_do}, once.size());
    if (is_new) {
      once.push_back(std::move(each));
    } else {
      auto& machines = once[place->second].machines;
      machines.insert(machines.end(), each.machines.begin(), each.machines.end());
    }
  }
  const auto rank = [](const CheckAdvice& each) { return each.state == CheckState::bad ? 0 : each.state == CheckState::warning ? 1 : 2; };
  std::stable_sort(once.begin(), once.end(), [&](const CheckAdvice& a, const CheckAdvice& b) { return rank(a) < rank(b); });
  return once;
}

bool something_is_unknown(const HostReports& hosts) {
  return std::any_of(hosts.begin(), hosts.end(), [](const auto& host) {
    return std::any_of(host.second.cells.begin(), host.second.cells.end(),
                       [](const CheckCell& cell) { return cell.state == CheckState::not_known; });
  });
}

bool was_cancelled(const HostReports& hosts) {
  // What runs the bench is never reached.
  return std::any_of(hosts.begin(), hosts.end(), [](const auto& host) {
    return host.first != local_host && host.second.of(CheckItem::reach).state == CheckState::not_checked;
  });
}

}  // namespace n2nq::app
