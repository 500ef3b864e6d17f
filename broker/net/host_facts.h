// SPDX-License-Identifier: GPL-3.0-or-later
// What a process knows about the host it runs on: the "host" object of `hello`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace n2nq::net {

/// name, boot_id, time_namespace, kernel, cpu, cores, governor, load_1min, timer_slack_ns, clocksource; "unknown" where it is not known.
/// Reads /proc and /sys: not for the hot path.
nlohmann::json host_facts();

/// Timer slack of the calling thread and of the threads it starts from now on; false when the kernel refuses.
bool set_timer_slack_ns(uint64_t slack_ns);

/// `hello` for a process of `role`, without address and port: control and wire version, program version, pid, clock, host facts.
nlohmann::json make_hello(const std::string& role);

}  // namespace n2nq::net
