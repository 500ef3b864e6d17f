// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_hosts.h"

namespace n2nq::app {

std::optional<CaseHosts> hosts_for(const CaseFile& file, const std::optional<CaseHosts>& chosen, const HostBook& book, QString& problem) {
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
