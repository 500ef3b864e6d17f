// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/send_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>

#include "broker/net/fd.h"

namespace n2nq::net {
namespace {

struct Pair {
  Fd ours, theirs;

  Pair() {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    ours = Fd(fds[0]);
    theirs = Fd(fds[1]);
  }
  std::string read_all() {
    std::string all;
    std::array<char, 65536> room{};
    for (ssize_t bytes = 0; (bytes = ::read(theirs.get(), room.data(), room.size())) > 0;) all.append(room.data(), static_cast<size_t>(bytes));
    return all;
  }
};

void add(SendRing& ring, const Fd& fd, std::string text) {
  const iovec piece{text.data(), text.size()};
  ring.add(fd.get(), &piece, 1);
}

class SendRingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string problem = SendRing::problem(); !problem.empty()) GTEST_SKIP() << problem;
  }
};

TEST_F(SendRingTest, everybody_gets_his_own_and_the_outcomes_come_in_the_order_of_adding) {
  SendRing ring;
  std::array<Pair, SendRing::writes_max> pairs;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < pairs.size(); ++i) add(ring, pairs[i].ours, std::string(i + 1, static_cast<char>('a' + i % 26)));
    EXPECT_TRUE(ring.full());
    const auto results = ring.submit();
    ASSERT_EQ(results.size(), pairs.size());
    EXPECT_EQ(ring.waiting(), 0u);
    for (size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(results[i].status, IoStatus::done);
      EXPECT_EQ(results[i].bytes, i + 1);
      EXPECT_EQ(pairs[i].read_all(), std::string(i + 1, static_cast<char>('a' + i % 26)));
    }
  }
  EXPECT_FALSE(ring.failed());
}

TEST_F(SendRingTest, pieces_are_joined_and_copied) {
  SendRing ring;
  Pair pair;
  std::string first = "one ", second = "two";
  const std::array<iovec, 2> pieces = {iovec{first.data(), first.size()}, iovec{second.data(), second.size()}};
  ring.add(pair.ours.get(), pieces.data(), 2);
  first = second = "gone";
  EXPECT_EQ(ring.submit()[0].bytes, 7u);
  EXPECT_EQ(pair.read_all(), "one two");
}

TEST_F(SendRingTest, a_full_socket_takes_nothing_and_holds_nobody_up) {
  SendRing ring;
  Pair full, empty;
  const std::string much(SendRing::write_bytes_max, 'x');
  size_t filled = 0;
  for (ssize_t bytes = 0; (bytes = ::send(full.ours.get(), much.data(), much.size(), MSG_NOSIGNAL)) > 0;) filled += static_cast<size_t>(bytes);
  add(ring, full.ours, "late");
  add(ring, empty.ours, "in time");
  const auto results = ring.submit();
  EXPECT_EQ(results[0].status, IoStatus::again);
  EXPECT_EQ(results[0].bytes, 0u);
  EXPECT_EQ(results[1].bytes, 7u);
  EXPECT_EQ(empty.read_all(), "in time");
  EXPECT_EQ(full.read_all().size(), filled);  // what was refused is not sent behind the caller's back
}

TEST_F(SendRingTest, a_closed_socket_is_told_with_its_reason) {
  SendRing ring;
  Pair closed, open;
  closed.theirs.reset();
  add(ring, closed.ours, "nobody hears it");
  add(ring, open.ours, "heard");
  const auto results = ring.submit();
  EXPECT_EQ(results[0].status, IoStatus::failed);
  EXPECT_EQ(results[0].error, EPIPE);
  EXPECT_EQ(results[1].status, IoStatus::done);
}

TEST_F(SendRingTest, nothing_added_is_nothing_to_do) {
  SendRing ring;
  EXPECT_TRUE(ring.submit().empty());
}

}  // namespace
}  // namespace n2nq::net
