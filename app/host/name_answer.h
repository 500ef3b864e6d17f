// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine's system says of a name: its addresses.
#pragma once

#include <QString>
#include <QStringList>

namespace n2nq::app {

struct NameAnswer {
  QStringList addresses;  // numeric, in the system's order
  QString why_none;       // in a few words, where there are none

  /// Blocks for as long as the system takes, which may be minutes. Addresses that it gave are not asked for again within one. Any thread.
  static NameAnswer of(const QString& name);
};

}  // namespace n2nq::app
