// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-floor broadcast|balance read|wake-up|kept SENDERS RECEIVERS: prints its port and relays until its standard input ends.
#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>

#include "broker/net/file_limit.h"
#include "broker/net/turns.h"
#include "tests/bench/relay/floor_relay.h"

namespace {

bool read_number(std::string_view text, unsigned& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace n2nq::bench;
  const std::string_view pattern = argc == 5 ? argv[1] : "";
  const std::string_view write_after = argc == 5 ? argv[2] : "";
  unsigned senders = 0, receivers = 0;
  const bool right = (pattern == "broadcast" || pattern == "balance") && (write_after == "read" || write_after == "wake-up" || write_after == "kept") &&
                     read_number(argv[3], senders) && read_number(argv[4], receivers);
  if (!right) {
    std::fprintf(stderr, "usage: n2nq-floor broadcast|balance read|wake-up|kept SENDERS RECEIVERS\n");
    return 2;
  }
  try {
    n2nq::net::raise_file_limit(senders + receivers + 16);
    n2nq::net::ask_for_short_turns();  // as N2NQ and its clients do
    FloorRelay relay(pattern == "broadcast" ? Pattern::broadcast : Pattern::balance,
                     write_after == "read"      ? WriteAfter::each_read
                     : write_after == "wake-up" ? WriteAfter::each_wake_up
                                                : WriteAfter::each_wake_up_kept,
                     senders, receivers);
    std::printf("%d\n", relay.port());
    std::fflush(stdout);
    relay.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "n2nq-floor: %s\n", error.what());
    return 1;
  }
  return 0;
}
