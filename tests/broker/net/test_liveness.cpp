// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/liveness.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/net/clock.h"
#include "broker/net/fd.h"
#include "broker/net/tcp.h"

namespace n2nq::net {
namespace {

constexpr int64_t heartbeat_ns = 10 * ns_per_s;

Silence judged(double silent_s, std::optional<double> host_silent_s) {
  std::optional<int64_t> host_ns;
  if (host_silent_s) host_ns = static_cast<int64_t>(*host_silent_s * ns_per_s);
  return judge_silence(static_cast<int64_t>(silent_s * ns_per_s), host_ns, heartbeat_ns);
}

TEST(Liveness, ADeadLinkIsKnownAfterOneHeartbeatTime) {
  EXPECT_EQ(judged(10.0, 10.0), Silence::none);
  EXPECT_EQ(judged(10.1, 10.0), Silence::link);
  EXPECT_EQ(judged(10.1, 7.6), Silence::link);
}

TEST(Liveness, AProcessThatStandsStillIsGivenHalfAsMuchMoreWhileItsHostAnswers) {
  EXPECT_EQ(judged(13.3, 3.4), Silence::none) << "stopped for just under the heartbeat time, a third of it behind its last sign of life";
  EXPECT_EQ(judged(13.3, 7.5), Silence::none) << "a full window is probed that rarely";
  EXPECT_EQ(judged(15.1, 0.1), Silence::process);
}

TEST(Liveness, ASocketThatKnowsNothingOfItsHostIsAPromiseThatTheHostLives) {
  EXPECT_EQ(judged(14.9, std::nullopt), Silence::none);
  EXPECT_EQ(judged(15.1, std::nullopt), Silence::process);
}

TEST(Liveness, WhoDoesNotReadJudgesTheHostOnly) {
  EXPECT_EQ(judge_silence(std::nullopt, 10 * ns_per_s, heartbeat_ns), Silence::none);
  EXPECT_EQ(judge_silence(std::nullopt, 10 * ns_per_s + 1, heartbeat_ns), Silence::link);
  EXPECT_EQ(judge_silence(std::nullopt, std::nullopt, heartbeat_ns), Silence::none);
}

TEST(Liveness, TheKernelTellsOfTcpAndOfNothingElse) {
  const Fd listener = listen_on(*SocketAddress::parse("127.0.0.1", 0));
  const Fd client = start_connect(local_address(listener.get()));
  const std::optional<int64_t> silent_ns = host_silent_ns(client.get());
  ASSERT_TRUE(silent_ns.has_value());
  EXPECT_GE(*silent_ns, 0);
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_EQ(host_silent_ns(pair[0]), std::nullopt);
  close(pair[0]);
  close(pair[1]);
}

}  // namespace
}  // namespace n2nq::net
