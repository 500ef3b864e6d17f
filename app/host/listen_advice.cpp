// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/listen_advice.h"

namespace n2nq::app {

namespace {

constexpr int first_port_of_users = 1024;

}  // namespace

QString listen_advice(const QString& said, const QString& address, int port) {
  if (port > 0 && port < first_port_of_users && said.contains("ermission denied"))
    return QString("Ports below %1 are root's: choose another one for N2NQ (broker.port)").arg(first_port_of_users);
  if (address.isEmpty()) return QString("Is port %1 (broker.port) taken? 0 takes one that is free").arg(port);
  return QString("Is %1 one of its addresses%2?")
      .arg(address, port > 0 ? QString(", and port %1 (broker.port) free there").arg(port) : QString());
}

}  // namespace n2nq::app
