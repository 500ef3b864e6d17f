// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/turns.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace n2nq::net {

namespace {

/// struct sched_attr of linux/sched/types.h, which cannot be included beside the C library's sched.h.
struct SchedulingAttributes {
  uint32_t bytes = sizeof(SchedulingAttributes);
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime_ns, deadline_ns, period_ns;
};
constexpr uint64_t not_inherited = 1;  // SCHED_FLAG_RESET_ON_FORK

bool ask_for_turns(int64_t length_ns, uint64_t flags) {
  SchedulingAttributes wanted{};
  if (syscall(SYS_sched_getattr, 0, &wanted, sizeof wanted, 0) != 0 || wanted.policy != SCHED_OTHER) return false;
  wanted.runtime_ns = static_cast<uint64_t>(length_ns);
  wanted.flags |= flags;
  return syscall(SYS_sched_setattr, 0, &wanted, 0) == 0;
}

}  // namespace

bool ask_for_short_turns() {
  return ask_for_turns(short_turn_ns, 0);
}

bool ask_for_long_turns() {
  return ask_for_turns(long_turn_ns, not_inherited);
}

}  // namespace n2nq::net
