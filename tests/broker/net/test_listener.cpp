// SPDX-License-Identifier: GPL-3.0-or-later
// Connections that come when the process has no descriptor left.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "broker/net/listener.h"
#include "tests/broker/support/few_files.h"
#include "tests/broker/support/run_until.h"

namespace n2nq::net {
namespace {

using support::FewFiles;

class Listening : public ::testing::Test {
 protected:
  /// Of a type that it meets for the first time the undefined-behaviour sanitizer opens a pipe.
  void SetUp() override {
    const Fd client = unconnected();
    listen();
    connect(client);
    run_until([this] { return accepted_.size() == 1; });
    listener_.reset();
    accepted_.clear();
    wake_ups_ = 0;
  }
  /// A socket of its own for each attempt to connect: made while there are descriptors.
  Fd unconnected() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
  void listen() {
    listener_.emplace(
        loop_, *SocketAddress::parse("127.0.0.1", 0), [this](Fd socket, const SocketAddress&) { accepted_.push_back(std::move(socket)); },
        [this](int error) { first_errors_.push_back(error); });
  }
  /// In the kernel's list of those who wait when it returns.
  void connect(const Fd& socket) {
    const SocketAddress& address = listener_->address();
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes), 0);
  }
  void run_until(const std::function<bool()>& done) {
    support::run_until(loop_, [&] {
      ++wake_ups_;
      return done();
    });
  }

  EventLoop loop_;
  std::optional<Listener> listener_;
  std::vector<Fd> accepted_;
  std::vector<int> first_errors_;
  int wake_ups_ = 0;
};

TEST_F(Listening, WhoComesWithoutADescriptorLeftIsTurnedAwayAndNobodyWaits) {
  const Fd client = unconnected(), next = unconnected();
  listen();
  {
    const FewFiles none_left(0);
    connect(client);
    run_until([this] { return listener_->turned_away() == 1; });
    char byte = 0;
    EXPECT_LE(::recv(client.get(), &byte, 1, 0), 0) << "closed";
  }
  connect(next);
  run_until([this] { return accepted_.size() == 1; });
  EXPECT_EQ(listener_->turned_away(), 1u);
  EXPECT_EQ(listener_->pauses(), 0u);
}

TEST_F(Listening, WhereNotEvenThatCanBeDoneAcceptingPausesAndTheLoopSleeps) {
  const Fd client = unconnected();
  {
    const FewFiles one_left(1);  // for the listening socket
    listen();
    connect(client);
    run_until([this] { return listener_->pauses() == 3; });
  }
  EXPECT_LT(wake_ups_, 30) << "it does not try over and over";
  EXPECT_EQ(first_errors_, std::vector<int>{EMFILE}) << "said once";
  EXPECT_EQ(listener_->pause_error(), EMFILE);
  run_until([this] { return accepted_.size() == 1; });
  EXPECT_EQ(listener_->turned_away(), 0u);
  EXPECT_EQ(first_errors_.size(), 1u);
}

}  // namespace
}  // namespace n2nq::net
