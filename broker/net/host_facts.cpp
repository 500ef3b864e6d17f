// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/host_facts.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "broker/net/clock.h"
#include "broker/wire/messages.h"

namespace n2nq::net {

namespace {

constexpr const char* unknown = "unknown";

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && !line.empty() ? line : unknown;
}

/// What the kernel says with one of two words.
std::string either(const char* path, const char* for_0, const char* for_1) {
  const std::string said = first_line(path);
  return said == "0" ? for_0 : said == "1" ? for_1 : unknown;
}

std::string turbo() {
  const std::string intel = either("/sys/devices/system/cpu/intel_pstate/no_turbo", "on", "off");
  return intel != unknown ? intel : either("/sys/devices/system/cpu/cpufreq/boost", "off", "on");
}

/// Cores that the scheduler leaves alone, "2-3".
std::string isolated_cores() {
  std::ifstream file("/sys/devices/system/cpu/isolated");
  std::string line;
  if (!file) return unknown;
  return std::getline(file, line) && !line.empty() ? line : "none";
}

/// Whether something keeps the host's clock in step with the world's.
std::string clock_sync() {
  timex state{};
  if (adjtimex(&state) < 0) return unknown;
  return (state.status & STA_UNSYNC) != 0 ? "unsynchronised" : "synchronised";
}

/// The number of one of this process's namespaces.
std::string namespace_number(const char* path) {
  char target[64] = "";
  const ssize_t bytes = readlink(path, target, sizeof target - 1);
  const std::string text(target, bytes > 0 ? static_cast<size_t>(bytes) : 0);  // "time:[4026531834]"
  const size_t from = text.find('[');
  const size_t to = text.find(']');
  return from == std::string::npos || to == std::string::npos ? unknown : text.substr(from + 1, to - from - 1);
}

std::string time_namespace() {
  // Whoever compares it has to find another clock here.
  if (has_test_clock()) return "test clock of process " + std::to_string(getpid());
  const std::string number = namespace_number("/proc/self/ns/time");
  // Kernels before 5.6 have one time for all.
  if (number == unknown && namespace_number("/proc/self/ns/uts") != unknown) return "none";
  return number;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return unknown;
}

nlohmann::json load_1min() {
  double loads[1];
  if (getloadavg(loads, 1) != 1) return unknown;
  return loads[0];
}

nlohmann::json timer_slack() {
  const int slack_ns = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  if (slack_ns < 0) return unknown;
  return slack_ns;
}

nlohmann::json cores() {
  const unsigned count = std::thread::hardware_concurrency();
  if (count == 0) return unknown;
  return count;
}

}  // namespace

nlohmann::json host_facts() {
  utsname names{};
  const bool named = uname(&names) == 0;
  return {{"name", named ? names.nodename : unknown},
          {"boot_id", first_line("/proc/sys/kernel/random/boot_id")},
          {"time_namespace", time_namespace()},
          {"kernel", named ? names.release : unknown},
          {"cpu", cpu_model()},
          {"cores", cores()},
          {"smt", either("/sys/devices/system/cpu/smt/active", "off", "on")},
          {"turbo", turbo()},
          {"isolated_cores", isolated_cores()},
          {"clock_sync", clock_sync()},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"load_1min", load_1min()},
          {"timer_slack_ns", timer_slack()},
          {"clocksource", first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource")}};
}

nlohmann::json involuntary_switches() {
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) != 0) return unknown;
  return used.ru_nivcsw;
}

nlohmann::json core_times() {
  std::error_code error;
  int64_t ran_ns = 0, waited_ns = 0;
  const int nice_of_process = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const int thread = std::atoi(task.path().filename().c_str());
    // Who gives way to the others waits on purpose: what keeps a core, what writes logs.
    if (sched_getscheduler(thread) == SCHED_IDLE || getpriority(PRIO_PROCESS, static_cast<id_t>(thread)) > nice_of_process) continue;
    std::ifstream file(task.path() / "schedstat");  // proc(5): on a core, waiting in its queue (ns), number of turns
    int64_t ran = 0, waited = 0;
    if (!(file >> ran >> waited)) continue;  // it has just ended, or the kernel does not count
    ran_ns += ran;
    waited_ns += waited;
  }
  if (ran_ns == 0) return unknown;
  return {{"ran_ns", ran_ns}, {"waited_ns", waited_ns}};
}

bool set_timer_slack_ns(uint64_t slack_ns) {
  return prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0) == 0;
}

nlohmann::json make_hello(const std::string& role) {
  return {{"type", "hello"},         {"control", 1},    {"wire", wire::version}, {"role", role},
          {"version", N2NQ_VERSION}, {"pid", getpid()}, {"now_ns", now_ns()},    {"host", host_facts()}};
}

}  // namespace n2nq::net
