// SPDX-License-Identifier: GPL-3.0-or-later
// What a person has to do where N2NQ cannot listen: the same in a check as in a run.
#pragma once

#include <QString>

namespace n2nq::app {

/// `said`: N2NQ's own words about it. `address`: where it was to listen, as the sentence is to name it; empty: on this machine alone.
/// `port`: the one of the settings, 0 for any.
QString listen_advice(const QString& said, const QString& address, int port);

}  // namespace n2nq::app
