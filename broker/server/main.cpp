// SPDX-License-Identifier: GPL-3.0-or-later
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "broker/net/control_channel.h"
#include "broker/net/host_facts.h"
#include "broker/net/turns.h"
#include "broker/server/broker_process.h"

namespace {

constexpr const char* help =
    "n2nq-broker " N2NQ_VERSION
    " - N2NQ, the distributed many-to-many queue\n"
    "\n"
    "Takes messages from senders over TCP, queues them, and forwards each to every receiver (broadcaster) or to one of\n"
    "them (load balancer). It is run by n2nq-bench, which speaks JSON lines with it over stdin and stdout\n"
    "(docs/control-protocol.md); clients speak the protocol of docs/wire-protocol.md.\n"
    "\n"
    "  n2nq-broker             wait for a `configure` object on stdin; ends with stdin\n"
    "  n2nq-broker --marked    the same; its lines are marked, and leave in parts, for who shares stdout with others\n"
    "  n2nq-broker --help      this text\n"
    "  n2nq-broker --version   the version\n"
    "\n"
    "By hand:\n"
    "  (echo '{\"type\":\"configure\",\"control\":1,\"role\":\"broker\",\"listen\":{\"address\":\"127.0.0.1\",\"port\":4000},\n"
    "          \"expect\":{\"senders\":1,\"receivers\":1}}' | tr -d '\\n'; echo; while sleep 5; do echo; done) | n2nq-broker\n";

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("n2nq-broker %s\n", N2NQ_VERSION);
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(help, stdout);
    return 0;
  }
  const bool marked = argc == 2 && std::strcmp(argv[1], n2nq::net::marked_argument) == 0;
  if (argc > 1 && !marked) {
    std::fprintf(stderr, "n2nq-broker: unknown argument %s; --help, --version and --marked are known, settings come over stdin\n", argv[1]);
    return n2nq::BrokerProcess::exit_bad_start;
  }
  if (isatty(STDIN_FILENO)) {
    std::fputs(help, stderr);
    return n2nq::BrokerProcess::exit_bad_start;
  }
  n2nq::net::prepare_signals();
  n2nq::net::set_timer_slack_ns(1);
  n2nq::net::ask_for_short_turns();
  n2nq::BrokerProcess process(marked);
  return process.run();
}
