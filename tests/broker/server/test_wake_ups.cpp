// SPDX-License-Identifier: GPL-3.0-or-later
// What is due for very many at once is done in parts, and others have their turn between these.
#include <gtest/gtest.h>

#include <vector>

#include "tests/broker/support/stepped_server.h"

namespace n2nq {
namespace {

using support::SteppedServer;
using support::WireClient;

/// The smallest part; of thousands it is more.
constexpr size_t said_at_once_max = 8;

TEST(WakeUps, OfManyThatSayNothingEachSaysSomethingToAFewAndRefusesThemTogether) {
  constexpr size_t probes = 200;
  SteppedServer server(Options(), 1000);
  std::vector<WireClient> clients;
  for (size_t i = 0; i < probes; ++i) clients.push_back(server.connect(wire::Role::probe, 0));
  std::vector<size_t> heartbeats(probes);
  std::vector<bool> is_refused(probes);
  for (size_t refused = 0; refused < probes;) {
    server.wake_up();
    size_t said = 0;
    for (size_t i = 0; i < probes; ++i) {
      while (!is_refused[i] && clients[i].readable()) {
        const auto frame = clients[i].read(true);
        ASSERT_TRUE(frame);
        ++said;
        if (frame->type == wire::FrameType::heartbeat) {
          ++heartbeats[i];
          continue;
        }
        ASSERT_EQ(frame->type, wire::FrameType::error);
        EXPECT_EQ(wire::Error::decode(frame->body)->code, wire::ErrorCode::silent);
        is_refused[i] = true;
        ++refused;
      }
    }
    ASSERT_LE(said, said_at_once_max);
  }
  for (const size_t count : heartbeats) EXPECT_GT(count, 0u) << "until it was refused it was told that this end is there";
}

}  // namespace
}  // namespace n2nq
