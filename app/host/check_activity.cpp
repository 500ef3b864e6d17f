// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/check_activity.h"

#include "app/settings/host_name.h"

namespace n2nq::app {

QString activity_text(const std::string& name, const CheckActivity& activity) {
  using Kind = CheckActivity::Kind;
  const QString machine = name == local_host ? QString("this machine") : QString::fromStdString(name);
  switch (activity.kind) {
    case Kind::connecting:
      return QString("connecting to %1").arg(machine);
    case Kind::sending:
      return QString("sending %1 to %2, %3 of %4 KiB")
          .arg(activity.program, machine)
          .arg(activity.sent_bytes >> 10)
          .arg((activity.all_bytes + 1023) >> 10);
    case Kind::waiting:
      return QString("waiting for an answer of %1").arg(machine);
    case Kind::ways:
      return QString("trying the ways from %1").arg(machine);
    case Kind::none:
      break;
  }
  return {};
}

QString activity_advice(const CheckActivity& activity) {
  using Kind = CheckActivity::Kind;
  switch (activity.kind) {
    case Kind::connecting:
      return "See whether ssh gets in there by hand, and how long it takes, and check again";
    case Kind::sending:
      return "The link there is slow: check again, by another link perhaps. A program that has come over whole is not sent again";
    case Kind::waiting:
      return "See what keeps that machine busy (its disk, a login script, other programs), and check again";
    case Kind::ways:
    case Kind::none:
      break;
  }
  return "Mend first what is bad, a firewall between machines perhaps, and check again: what does not answer takes its time from the rest";
}

}  // namespace n2nq::app
