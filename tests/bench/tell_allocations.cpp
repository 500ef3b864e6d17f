// SPDX-License-Identifier: GPL-3.0-or-later
// Linked into one of the programs, this answers SIGUSR1 with how often it has called operator new so far, as eight bytes on standard
// error. What two answers differ by is what the messages in between cost (bench.py --works allocations).
#include <unistd.h>

#include <csignal>

#include "tests/broker/support/count_allocations.h"

namespace {

void tell(int) {
  const uint64_t count = n2nq::support::allocations();
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, &count, sizeof count);
}

struct AtStart {
  AtStart() {
    struct sigaction action {};
    action.sa_handler = tell;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
  }
};
const AtStart at_start;

}  // namespace
