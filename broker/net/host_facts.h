// SPDX-License-Identifier: GPL-3.0-or-later
// What a process knows about the host it runs on: the "host" object of `hello`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace n2nq::net {

/// name, boot_id, time_namespace, kernel, cpu, cores, smt, turbo, isolated_cores, governor, load_1min, timer_slack_ns, clocksource,
/// clock_sync; "unknown" where it is not known.
/// Reads /proc and /sys: not for the hot path.
nlohmann::json host_facts();

/// How often a thread of this process was taken off its core though it had more to do; "unknown" where the kernel does not count.
nlohmann::json involuntary_switches();

/// How long the threads that there are now have had a core (`ran_ns`), and have been ready and had to wait for one (`waited_ns`), since
/// they began, without those that give way to the others; "unknown" where the kernel does not count. Waiting is what other programs on the
/// same cores do to a run.
nlohmann::json core_times();

/// Timer slack of the calling thread and of the threads it starts from now on; false when the kernel refuses.
bool set_timer_slack_ns(uint64_t slack_ns);

/// `hello` for a process of `role`, without address and port: control and wire version, program version, pid, clock, host facts.
nlohmann::json make_hello(const std::string& role);

}  // namespace n2nq::net
