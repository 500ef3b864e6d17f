// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-lab-links SOCKET [NAME NETWORK HOST_DEVICE BRIDGE_DEVICE]…: waits for a byte, makes the devices of these links, says "ready" and
// carries frames between them until it is killed. tests/lab/links.py starts it, and sends the byte once somebody could take it away again:
// when stdin ends before that, it ends, too.
#include <sched.h>

#include <cstdio>
#include <exception>

#include "broker/net/event_loop.h"
#include "tests/lab/emulator/control.h"

namespace {

/// Before whatever else wants a processor: an emulator that waits for one adds to the delay. Where that is forbidden, it waits.
void take_precedence() {
  sched_param priority{};
  priority.sched_priority = 10;
  sched_setscheduler(0, SCHED_FIFO, &priority);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace n2nq;
  if (argc < 2 || (argc - 2) % 4 != 0) {
    std::fprintf(stderr, "usage: n2nq-lab-links SOCKET [NAME NETWORK HOST_DEVICE BRIDGE_DEVICE]...\n");
    return 2;
  }
  if (std::getchar() == EOF) return 1;
  try {
    net::EventLoop loop;
    lab::Links links;
    for (int i = 2; i < argc; i += 4) {
      links.push_back(std::make_unique<lab::Link>(loop, argv[i], argv[i + 1], argv[i + 2], argv[i + 3], static_cast<std::uint32_t>(i)));
    }
    lab::Control control(loop, argv[1], links);
    take_precedence();
    std::puts("ready");
    std::fflush(stdout);
    loop.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "n2nq-lab-links: %s\n", error.what());
    return 1;
  }
  return 0;
}
