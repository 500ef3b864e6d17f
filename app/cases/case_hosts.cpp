// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_hosts.h"

#include <algorithm>

namespace n2nq::app {

namespace {

bool is_host(const CaseSetting& setting) {
  return setting.key.ends_with(".host");
}

}  // namespace

bool sets_hosts(const CaseFile& file) {
  const Settings& base = file.base;
  if (base.broker.host != local_host || base.senders.host != local_host || base.receivers.host != local_host) return true;
  const auto any = [](const std::vector<CaseSetting>& settings) { return std::any_of(settings.begin(), settings.end(), is_host); };
  const auto any_of_axis = [&](const CaseAxis& axis) {
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const std::vector<CaseValue>& of_scale) {
      return std::any_of(of_scale.begin(), of_scale.end(), [&](const CaseValue& value) { return any(value.settings); });
    });
  };
  return std::any_of(file.rules.begin(), file.rules.end(), [&](const CaseRules& rules) { return any(rules.settings); }) ||
         std::any_of(file.axes.begin(), file.axes.end(), any_of_axis);
}

std::optional<CaseHosts> hosts_for(const CaseFile& file, const std::optional<CaseHosts>& chosen, const HostBook& book, QString& problem) {
  if (!file.has_places()) {
    problem = "the case has no external sets, so hosts would not be used: give an axis whose values say place: {senders: external, "
              "receivers: external}, or leave out --hosts and --on";
    return {};
  }
  const auto hosts = chosen ? chosen : file.hosts;
  if (!hosts) {
    problem = "the case names no hosts for its external sets: say which, by --on N2NQ,SENDERS,RECEIVERS";
    return {};
  }
  for (const std::string& name : {hosts->broker, hosts->senders, hosts->receivers}) {
    if (name == local_host || book.hosts().find(name)) continue;
    problem = QString("%1 knows no host \"%2\" for external sets: add it there, or name others by --on N2NQ,SENDERS,RECEIVERS")
                  .arg(book.path(), QString::fromStdString(name));
    return {};
  }
  return hosts;
}

}  // namespace n2nq::app
