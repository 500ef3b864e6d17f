// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine's clock, timers and loopback cost right now: no figure of a run can be better than that.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace n2nq::worker {

/// The `floor` object of docs/control-protocol.md. Takes about 0.15 s; to be measured on the thread that will carry the messages, before it
/// has any. A value that cannot be measured is null.
nlohmann::json measure_floor();

}  // namespace n2nq::worker
