// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "broker/server/server.h"
#include "tests/broker/support/count_allocations.h"
#include "tests/broker/support/wire_client.h"

namespace n2nq {
namespace {

/// N2NQ on a thread of this process, where its allocations are counted.
class ServerHere {
 public:
  ServerHere()
      : server_(loop_, options(), log_, 1, [](Server::State, const std::string&) {}), thread_([this] { loop_.run(); }) {}
  ~ServerHere() {
    loop_.stop();
    thread_.join();
  }
  uint16_t port() const { return server_.address().port(); }

 private:
  static Options options() {
    Options options;
    options.listen = *net::SocketAddress::parse("127.0.0.1", 0);
    options.queue.senders = options.queue.receivers = 1;
    return options;
  }

  net::EventLoop loop_;
  EventLog log_{""};
  Server server_;
  std::thread thread_;
};

/// A socket without any of the conveniences, which allocate.
class BareProbe {
 public:
  explicit BareProbe(uint16_t port) {
    const auto address = net::SocketAddress::parse("127.0.0.1", port);
    fd_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->bytes) != 0) throw std::runtime_error("connect");
    wire::Hello hello;
    hello.role = wire::Role::probe;
    hello.encode(frame_);
    exchange(wire::frame_header_bytes + 48);
    frame_.clear();
    wire::Probe{12345}.encode(frame_);
  }
  void ask() { exchange(wire::frame_header_bytes + 24); }

 private:
  void exchange(size_t answer_bytes) {
    std::array<uint8_t, 256> answer;
    if (send(fd_.get(), frame_.data(), frame_.size(), 0) < 0) throw std::runtime_error("send");
    if (recv(fd_.get(), answer.data(), answer_bytes, MSG_WAITALL) != static_cast<ssize_t>(answer_bytes)) throw std::runtime_error("recv");
  }

  net::Fd fd_;
  wire::Bytes frame_;
};

TEST(ProbeAllocations, NoneForEachProbe) {
  ServerHere server;
  BareProbe probe(server.port());
  for (int i = 0; i < 100; ++i) probe.ask();
  const uint64_t before = support::allocations();
  for (int i = 0; i < 1000; ++i) probe.ask();
  EXPECT_LE(support::allocations() - before, 5u) << "the server's timers may have grown";
}

}  // namespace
}  // namespace n2nq
