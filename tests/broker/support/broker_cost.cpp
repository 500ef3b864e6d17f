// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/broker/support/broker_cost.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "broker/net/clock.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq::support {

size_t memory_of(BrokerUnderTest& broker) {
  std::ifstream statm("/proc/" + std::to_string(broker.process().pid()) + "/statm");
  size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

size_t files_of(BrokerUnderTest& broker) {
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(broker.process().pid()) + "/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

void wait_for_files(BrokerUnderTest& broker, size_t files) {
  const int64_t deadline_ns = net::now_ns() + patience_ns;
  WireClient probe = WireClient::probe(broker.port());
  while (files_of(broker) > files + 1 && net::now_ns() < deadline_ns) probe.ask_clock();
  EXPECT_LE(files_of(broker), files + 1);
}

}  // namespace n2nq::support
