// SPDX-License-Identifier: GPL-3.0-or-later
// Who connects where no file, or no memory, is left for him waits or is turned away; that is a fault of the run, and others are served.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>

#include "tests/broker/support/few_files.h"
#include "tests/broker/support/stepped_server.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

using nlohmann::json;
using support::SteppedServer;
using support::WireClient;

TEST(Listeners, WithoutAFileForOneMoreItWaitsAndThatIsAFault) {
  const net::Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Options options;
  options.listen_unix = true;
  std::optional<SteppedServer> server(options);
  server->open();  // of a type that it meets for the first time the undefined-behaviour sanitizer opens a pipe
  server->wake_up();
  server.reset();
  {
    const support::FewFiles few(6);  // the loop's three, the two sockets that listen, and a spare one for the first of these
    server.emplace(options);
    const net::SocketAddress address = net::SocketAddress::unix_beside(server->server().address().port());
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes), 0);
    server->wake_up();
  }
  // Of two that listen it is said where.
  const std::string where = net::SocketAddress::unix_beside(server->server().address().port()).text();
  EXPECT_EQ(server->server().summary()["faults"],
            json::array({"who connected to " + where + " had to wait, for 100 ms in all: Too many open files"}));
}

TEST(Listeners, AConnectionThatTheKernelDoesNotWatchIsTurnedAwayAndOthersAreServed) {
  SteppedServer server{Options()};
  WireClient receiver = server.connect(wire::Role::receiver, 1);
  server.server().accept(net::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));  // stands for one that it has no memory for
  WireClient sender = server.connect(wire::Role::sender, 1);
  sender.publish(1, 0, 10);
  server.wake_up();
  EXPECT_EQ(receiver.receive(10).records.size(), 10u);
  EXPECT_EQ(server.server().summary()["faults"],
            json::array({"1 connections were turned away: no file descriptors, or no memory, left for them"}));
}

}  // namespace
}  // namespace n2nq
