// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/net/clock.h"
#include "broker/net/frame_places.h"
#include "broker/net/listener.h"
#include "broker/wire/messages.h"
#include "tests/broker/support/run_until.h"

namespace n2nq::net {
namespace {

/// Both ends of a real TCP connection on one loop.
struct End : Connection::Handler {
  void on_connected() override { events += "connected "; }
  void on_frame(const wire::Frame& frame, int64_t read_ns) override {
    EXPECT_LE(read_ns, now_ns());
    frames.emplace_back(frame.body.begin(), frame.body.end());
    last_read_ns = read_ns;
    if (when_whole_frame) when_whole_frame(frame);
    if (when_frame) when_frame();
  }
  void on_malformed(const std::string& error) override { events += "malformed(" + error + ") "; }
  void on_writable() override {
    if (when_writable) when_writable();
  }
  void on_closed(const std::string& reason) override { events += "closed(" + reason + ") "; }

  std::string events;
  std::vector<wire::Bytes> frames;
  int64_t last_read_ns = 0;
  std::function<void()> when_frame, when_writable;
  std::function<void(const wire::Frame&)> when_whole_frame;
  std::unique_ptr<Connection> connection;
};

TEST(ManyConnections, ThatEndTogetherAreClosedAFewInEachWakeUpAndTakeNothingMeanwhile) {
  constexpr size_t count = 20, at_once = 8;
  EventLoop loop;
  loop.set_closings_max(at_once);
  const auto wake_up = [&loop] {
    loop.post([&loop] { loop.stop(); });
    loop.run();
  };
  std::array<End, count + 1> ends;
  std::vector<Fd> others;
  for (End& end : ends) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    others.emplace_back(pair[1]);
    end.connection = std::make_unique<Connection>(loop, Fd(pair[0]), 1 << 20, end);
  }
  wire::Bytes frame;
  wire::encode_heartbeat(frame);
  // The first half will be reset, as something was sent to it that it has not read.
  for (size_t i = 0; i < count / 2; ++i) ASSERT_EQ(ends[i].connection->write(frame), frame.size());
  wake_up();
  ASSERT_EQ(::send(others.back().get(), frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
  for (size_t i = 0; i < count; ++i) others[i].reset();
  for (size_t before = 0; before < count;) {
    wake_up();
    EXPECT_EQ(ends[count].frames.size(), 1u) << "nobody waits for them";
    size_t closed = 0;
    for (size_t i = 0; i < count; ++i) {
      if (ends[i].connection->is_open()) {
        EXPECT_EQ(ends[i].events, "");
        EXPECT_EQ(ends[i].connection->write(frame), 0u);
        if (i % 3 == 0) ends[i].connection->pause_reading();
      } else {
        EXPECT_EQ(ends[i].events, i < count / 2 ? "closed(Connection reset by peer) " : "closed() ");
        ++closed;
      }
    }
    ASSERT_EQ(closed, std::min(count, before + at_once));
    before = closed;
  }
  EXPECT_TRUE(ends[count].connection->is_open());
}

/// A Unix-domain stream whose other end has written much and closed, before anything of it was read.
TEST(FailedWrite, ThrowsNothingAwayOfWhatTheOtherEndHadSent) {
  constexpr size_t frames = 20, letters = 10'000;
  for (const bool paused : {false, true}) {
    EventLoop loop;
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    End end;
    end.connection = std::make_unique<Connection>(loop, Fd(pair[0]), 1 << 20, end);
    Fd other(pair[1]);
    const int room_bytes = 2 * frames * letters;
    ASSERT_EQ(setsockopt(other.get(), SOL_SOCKET, SO_SNDBUF, &room_bytes, sizeof room_bytes), 0);
    for (size_t i = 0; i < frames; ++i) {
      wire::Bytes frame;
      const size_t begun_at = wire::begin_frame(frame, wire::FrameType::publish);
      frame.resize(frame.size() + letters, 'x');
      wire::end_frame(frame, begun_at);
      ASSERT_EQ(::send(other.get(), frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
    }
    other.reset();
    if (paused) end.connection->pause_reading();
    wire::Bytes word;
    wire::encode_heartbeat(word);
    EXPECT_EQ(end.connection->write(word), 0u);
    EXPECT_FALSE(end.connection->has_no_room()) << "it is gone, and not slow";
    if (paused) {
      support::run_until(loop, [&] { return end.connection->peer_has_closed(); });
      EXPECT_TRUE(end.frames.empty());
      EXPECT_EQ(end.events, "");
      end.connection->resume_reading();
    }
    end.when_frame = [&] { EXPECT_EQ(end.events, ""); };
    support::run_until(loop, [&] { return !end.events.empty(); });
    EXPECT_EQ(end.frames.size(), frames);
    EXPECT_EQ(end.events, "closed() ");
  }
}

TEST(FailedWrite, IsNoRoomWhereTheOtherEndIsThereAndReadsNoMore) {
  EventLoop loop;
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
  End end;
  end.connection = std::make_unique<Connection>(loop, Fd(pair[0]), 1 << 20, end);
  const Fd other(pair[1]);
  ASSERT_EQ(shutdown(other.get(), SHUT_RD), 0);
  wire::Bytes word;
  wire::encode_heartbeat(word);
  EXPECT_EQ(end.connection->write(word), 0u);
  EXPECT_TRUE(end.connection->has_no_room());
}

/// Whether all that is ready is read before any of it is looked at: it is the same to a connection.
class Connections : public ::testing::TestWithParam<bool> {
 protected:
  Connections() {
    if (GetParam()) loop_.set_reads_first();
    listener_.emplace(loop_, *SocketAddress::parse("127.0.0.1", 0), [this](Fd socket, const SocketAddress& peer) {
      server_.connection = std::make_unique<Connection>(loop_, std::move(socket), 1 << 20, server_);
      EXPECT_EQ(peer.text(), server_.connection->peer().text());
    });
    client_.connection = std::make_unique<Connection>(loop_, listener_->address(), 1 << 20, client_);
    EXPECT_EQ(client_.connection->state(), Connection::State::connecting);
    run_until([this] { return client_.connection->is_open() && server_.connection; });
  }

  void run_until(const std::function<bool()>& done) { support::run_until(loop_, done); }

  static wire::Bytes probe(int64_t value) {
    wire::Bytes bytes;
    wire::Probe{value}.encode(bytes);
    return bytes;
  }

  EventLoop loop_;
  End server_, client_;
  std::optional<Listener> listener_;
};

TEST_P(Connections, OpenAndTalkBothWays) {
  EXPECT_EQ(client_.events, "connected ");
  EXPECT_EQ(client_.connection->local().text(), server_.connection->peer().text());
  client_.connection->write(probe(1));
  server_.connection->write(probe(2));
  run_until([this] { return client_.frames.size() == 1 && server_.frames.size() == 1; });
  EXPECT_EQ(wire::Probe::decode(server_.frames[0])->t1_ns, 1);
  EXPECT_EQ(wire::Probe::decode(client_.frames[0])->t1_ns, 2);
}

TEST_P(Connections, AFrameThatIsNotDoneWaitsForItsTurnAndThoseBehindItWait) {
  int not_done = 2;
  std::vector<int64_t> read_ns;
  server_.when_whole_frame = [&](const wire::Frame& frame) {
    if (wire::Probe::decode(frame.body)->t1_ns != 2) return;
    read_ns.push_back(server_.last_read_ns);
    if (not_done-- > 0) server_.connection->wait_for_turn();
  };
  for (const int64_t value : {1, 2, 3}) client_.connection->write(probe(value));
  run_until([this] { return server_.frames.size() == 2; });
  EXPECT_FALSE(server_.connection->reading());
  client_.connection->write(probe(4));
  const auto look = [this] {
    client_.connection->write(probe(5));
    run_until([this, left = 20]() mutable {
      loop_.wake_again();
      return --left == 0;
    });
  };
  look();
  EXPECT_EQ(server_.frames.size(), 2u);
  server_.connection->pause_reading();
  server_.connection->resume_reading();
  look();
  EXPECT_EQ(server_.frames.size(), 2u) << "it waits all the same";
  server_.connection->give_turn();
  EXPECT_EQ(server_.frames.size(), 3u);
  server_.connection->pause_reading();
  server_.connection->give_turn();
  look();
  EXPECT_EQ(server_.frames.size(), 3u) << "its turn is over, and nobody reads";
  server_.connection->resume_reading();
  run_until([this] { return server_.frames.size() == 9; });
  std::string order;
  for (const wire::Bytes& body : server_.frames) order += std::to_string(wire::Probe::decode(body)->t1_ns);
  EXPECT_EQ(order, "122234555");
  EXPECT_TRUE(std::all_of(read_ns.begin(), read_ns.end(), [&](int64_t ns) { return ns == read_ns[0]; })) << "it was read once";
}

TEST_P(Connections, WhoEndsWhileNobodyReadsHearsNoMoreAndWhatItSentIsReadFirst) {
  server_.connection->pause_reading();
  client_.connection->write(probe(1));
  client_.connection->close();
  run_until([this] { return server_.connection->peer_has_closed(); });
  // It is told of the end, and not over and over: from now on nothing but the timer wakes the loop.
  bool due = false;
  int wake_ups = 0;
  Timer timer(loop_, [&] { due = true; });
  timer.arm(now_ns() + 50 * ns_per_ms);
  run_until([&] {
    ++wake_ups;
    return due;
  });
  EXPECT_LE(wake_ups, 5);
  EXPECT_EQ(server_.connection->write(probe(2)), 0u);
  EXPECT_TRUE(server_.connection->is_open());
  server_.connection->resume_reading();
  EXPECT_EQ(server_.connection->write(probe(2)), 0u);
  run_until([this] { return !server_.connection->is_open(); });
  ASSERT_EQ(server_.frames.size(), 1u);
  EXPECT_EQ(server_.events, "closed() ");
}

TEST_P(Connections, ALongFrameWhoseTurnComesWhileNobodyReadsIsNoEndOfTheStream) {
  FramePlaces places(1 << 21, [] {});
  server_.connection->share_places(places);
  wire::Bytes frame;
  const size_t begun_at = wire::begin_frame(frame, wire::FrameType::publish);
  frame.resize(frame.size() + 100'000, 'x');
  wire::end_frame(frame, begun_at);
  // Where it waits has room for it alone.
  bool not_done = true;
  server_.when_frame = [&] {
    if (std::exchange(not_done, false)) server_.connection->wait_for_turn();
  };
  client_.connection->write(frame);
  run_until([this] { return server_.frames.size() == 1; });
  server_.connection->pause_reading();
  server_.connection->give_turn();
  client_.connection->write(frame);
  run_until([this, left = 20]() mutable {
    loop_.wake_again();
    return --left == 0;
  });
  EXPECT_EQ(server_.frames.size(), 1u) << "nobody reads";
  // In one wake-up descriptors go before timers: what came meanwhile before what waits.
  server_.connection->resume_reading();
  run_until([this] { return server_.frames.size() == 3 || !server_.events.empty(); });
  EXPECT_EQ(server_.events, "");
  ASSERT_EQ(server_.frames.size(), 3u);
  EXPECT_EQ(server_.frames[2].size(), 100'000u);
  server_.connection.reset();  // before its places
}

TEST_P(Connections, AFrameThatWaitsForItsTurnIsForgottenWhereAllIsThrownAway) {
  server_.when_frame = [&] { server_.connection->wait_for_turn(); };
  client_.connection->write(probe(1));
  run_until([this] { return !server_.frames.empty(); });
  server_.connection->discard_input(1000);
  EXPECT_TRUE(server_.connection->reading());
  server_.connection->give_turn();
  client_.connection->write(probe(2));
  client_.connection->close();
  run_until([this] { return !server_.events.empty(); });
  EXPECT_EQ(server_.events, "closed() ");
  EXPECT_EQ(server_.frames.size(), 1u);
}

TEST_P(Connections, AShortWriteGoesOnWhenThereIsRoom) {
  OutBuffer out;
  wire::Bytes large;
  const size_t begun_at = wire::begin_frame(large, wire::FrameType::publish);
  large.resize(large.size() + 1'000'000, 'x');
  wire::end_frame(large, begun_at);
  for (int i = 0; i < 20; ++i) out.bytes().insert(out.bytes().end(), large.begin(), large.end());
  client_.when_writable = [&] { out.flush(*client_.connection); };
  EXPECT_FALSE(out.flush(*client_.connection)) << "20 MB do not fit into a socket";
  EXPECT_TRUE(client_.connection->waits_for_room());
  run_until([this] { return server_.frames.size() == 20; });
  EXPECT_TRUE(out.empty());
}

TEST_P(Connections, PausedReadingKeepsTheFramesForLater) {
  server_.when_frame = [this] { server_.connection->pause_reading(); };
  for (int i = 0; i < 3; ++i) client_.connection->write(probe(i));
  run_until([this] { return server_.frames.size() == 1; });
  client_.frames.clear();
  server_.connection->write(probe(9));  // something else happens meanwhile
  run_until([this] { return client_.frames.size() == 1; });
  EXPECT_EQ(server_.frames.size(), 1u);
  server_.connection->resume_reading();
  run_until([this] { return server_.frames.size() == 2; });
  server_.when_frame = {};
  server_.connection->resume_reading();
  run_until([this] { return server_.frames.size() == 3; });
}

TEST_P(Connections, EachPartOfAFrameHasTheTimeOfTheReadThatBroughtIt) {
  wire::Bytes bytes;
  const size_t begun_at = wire::begin_frame(bytes, wire::FrameType::publish);
  bytes.resize(bytes.size() + 300, 'x');
  wire::end_frame(bytes, begun_at);
  const size_t head = wire::frame_header_bytes;
  bytes.resize(2 * (head + 300));
  std::copy_n(bytes.begin(), head + 300, bytes.begin() + head + 300);  // a second frame, which shares a read with the first one's end
  std::vector<int64_t> stamps;
  server_.when_whole_frame = [&](const wire::Frame& frame) {
    for (const size_t part : {1, 100, 101, 200, 201, 300}) stamps.push_back(server_.connection->read_ns_of(frame, part));
  };
  int64_t between[2];
  const auto write = [&](size_t from, size_t to) { client_.connection->write(wire::ByteView(bytes).subspan(from, to - from)); };
  const auto wait_for_read = [&](size_t bytes_in) {
    run_until([&] { return server_.connection->bytes_in() == bytes_in; });
    return now_ns();
  };
  write(0, head + 100);
  between[0] = wait_for_read(head + 100);
  write(head + 100, head + 200);
  between[1] = wait_for_read(head + 200);
  write(head + 200, bytes.size());
  run_until([this] { return server_.frames.size() == 2; });
  ASSERT_EQ(stamps.size(), 12u);
  EXPECT_LE(stamps[0], between[0]);
  EXPECT_EQ(stamps[1], stamps[0]) << "the same read";
  EXPECT_GT(stamps[2], between[0]) << "one byte later: the next read";
  EXPECT_EQ(stamps[3], stamps[2]);
  EXPECT_GT(stamps[4], between[1]);
  for (size_t i = 5; i < stamps.size(); ++i) EXPECT_EQ(stamps[i], stamps[4]) << i;
}

TEST_P(Connections, AnOrderlyEndAndAnEndInTheMiddleOfAFrameAreTwoThings) {
  client_.connection->write(wire::ByteView(probe(1)).first(11));
  client_.connection->shut_down_write();
  run_until([this] { return !server_.connection->is_open(); });
  EXPECT_EQ(server_.events, "closed(connection closed in the middle of a frame) ");
  run_until([this] { return !client_.connection->is_open(); });
  EXPECT_NE(client_.events.find("closed("), std::string::npos);
}

TEST_P(Connections, CloseIsSilentForWhoClosesAndOrderlyForTheOther) {
  client_.connection->close();
  run_until([this] { return !server_.connection->is_open(); });
  EXPECT_EQ(client_.events, "connected ");
  EXPECT_EQ(server_.events, "closed() ");
}

TEST_P(Connections, ABrokenStreamIsToldOnce) {
  client_.connection->write(wire::Bytes(100, 0xEE));
  run_until([this] { return !server_.events.empty(); });
  client_.connection->write(wire::Bytes(100, 0xEE));
  client_.connection->shut_down_write();
  run_until([this] { return !server_.connection->is_open(); });
  EXPECT_EQ(server_.events.find("malformed("), 0u);
  EXPECT_EQ(server_.events.find("malformed(", 1), std::string::npos);
}

TEST_P(Connections, AFrameMayCloseItsConnection) {
  server_.when_frame = [this] { server_.connection->close(); };
  for (int i = 0; i < 3; ++i) client_.connection->write(probe(i));
  run_until([this] { return !client_.connection->is_open(); });
  EXPECT_EQ(server_.frames.size(), 1u);
}

TEST_P(Connections, DiscardedInputIsBounded) {
  server_.connection->discard_input(1000);
  client_.connection->write(probe(1));
  client_.connection->write(wire::Bytes(5000, 0));
  run_until([this] { return !server_.connection->is_open(); });
  EXPECT_TRUE(server_.frames.empty());
}

/// The loopback hands over within a write: at the next wake-up both have something to read.
TEST_P(Connections, WhereReadsGoFirstNobodysStampWaitsForALookAtAnothersFrames) {
  int64_t looked_ns = 0;
  client_.when_frame = server_.when_frame = [&] {
    if (looked_ns == 0) looked_ns = now_ns();
  };
  client_.connection->write(probe(1));
  server_.connection->write(probe(2));
  run_until([this] { return client_.last_read_ns != 0 && server_.last_read_ns != 0; });
  EXPECT_EQ(std::max(client_.last_read_ns, server_.last_read_ns) <= looked_ns, GetParam());
}

TEST_P(Connections, WhoIsClosedByAnotherHearsNoMore) {
  client_.when_frame = [this] { server_.connection->close(); };
  server_.when_frame = [this] { client_.connection->close(); };
  client_.connection->write(probe(1));
  server_.connection->write(probe(2));
  run_until([this] { return !client_.frames.empty() || !server_.frames.empty(); });
  EXPECT_EQ(client_.frames.size() + server_.frames.size(), 1u);
}

TEST_P(Connections, MoreThanThereIsRoomForComesWholeAndInOrder) {
  constexpr int frames = 200;
  constexpr size_t letters = 20'000;
  OutBuffer out_of_client, out_of_server;
  for (int i = 0; i < frames; ++i) {
    for (OutBuffer* out : {&out_of_client, &out_of_server}) {
      const size_t begun_at = wire::begin_frame(out->bytes(), wire::FrameType::publish);
      out->bytes().resize(out->bytes().size() + letters, static_cast<uint8_t>(i));
      wire::end_frame(out->bytes(), begun_at);
    }
  }
  client_.when_writable = [&] { out_of_client.flush(*client_.connection); };
  server_.when_writable = [&] { out_of_server.flush(*server_.connection); };
  client_.when_writable();
  server_.when_writable();
  run_until([this] { return client_.frames.size() == frames && server_.frames.size() == frames; });
  for (int i = 0; i < frames; ++i) {
    const wire::Bytes wanted(letters, static_cast<uint8_t>(i));
    EXPECT_EQ(client_.frames[static_cast<size_t>(i)], wanted) << i;
    EXPECT_EQ(server_.frames[static_cast<size_t>(i)], wanted) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(ReadsFirst, Connections, ::testing::Bool());

struct Wanting : FramePlaces::Waiter {
  explicit Wanting(size_t wanted) : bytes(wanted) {}
  size_t place_bytes_wanted() const override { return bytes; }
  void on_place(wire::LargeBuffer given) override { place = std::move(given); }
  size_t bytes;
  wire::LargeBuffer place;
};

TEST(Places, OneThatWasGivenBackIsUsedAgainForWhatWantsAtLeastHalfOfIt) {
  constexpr size_t step = 64 * 1024;
  FramePlaces places(20 * step, [] {});
  Wanting large(8 * step), half(4 * step), small(4 * step - 1);
  ASSERT_TRUE(places.take(large));
  const uint8_t* memory = large.place.bytes.get();
  places.give_back(std::move(large.place));
  ASSERT_TRUE(places.take(half));
  EXPECT_EQ(half.place.bytes.get(), memory);
  EXPECT_EQ(places.bytes_taken(), 8 * step) << "all of it counts";
  EXPECT_EQ(places.bytes_free(), 0u);
  places.give_back(std::move(half.place));
  // Of those that fit the smallest.
  Wanting five(5 * step);
  ASSERT_TRUE(places.take(large));
  ASSERT_TRUE(places.take(five));
  places.give_back(std::move(large.place));
  const uint8_t* smaller = five.place.bytes.get();
  places.give_back(std::move(five.place));
  ASSERT_TRUE(places.take(small));
  EXPECT_EQ(small.place.bytes.get(), smaller);
  // Where a larger one has no room, one of its own does.
  Wanting others(10 * step), last(4 * step);
  ASSERT_TRUE(places.take(others));
  ASSERT_TRUE(places.take(last));
  EXPECT_EQ(places.bytes_taken(), 19 * step);
  EXPECT_EQ(places.bytes_free(), 8 * step);
}

TEST(Connect, ARefusedConnectionSaysSo) {
  EventLoop loop;
  // A port that was free a moment ago, and that nobody listens on.
  const SocketAddress address = [&loop] {
    Listener listener(loop, *SocketAddress::parse("127.0.0.1", 0), [](Fd, const SocketAddress&) {});
    return listener.address();
  }();
  End client;
  client.connection = std::make_unique<Connection>(loop, address, 64, client);
  support::run_until(loop, [&] { return !client.events.empty(); });
  EXPECT_EQ(client.events, "closed(Connection refused) ");
}

TEST(OutBuffer, GivesBackTheMemoryOfSomethingLongAndKeepsThatOfSomethingShort) {
  OutBuffer out;
  for (const size_t bytes : {size_t{100}, size_t{65'536}}) {
    out.bytes().resize(bytes);
    out.fit(4096);
    EXPECT_EQ(out.bytes_waiting(), bytes) << "nothing of what waits is lost";
    out.clear();
    out.fit(4096);
    EXPECT_EQ(out.bytes().capacity(), bytes == 100 ? 100u : 0u);
  }
}

TEST(SocketAddressText, NumericOnly) {
  EXPECT_EQ(SocketAddress::parse("127.0.0.1", 80)->text(), "127.0.0.1:80");
  EXPECT_EQ(SocketAddress::parse("::1", 80)->text(), "[::1]:80");
  EXPECT_FALSE(SocketAddress::parse("localhost", 80).has_value());
  EXPECT_FALSE(SocketAddress::parse("", 80).has_value());
}

TEST(SocketAddressText, WhetherOtherHostsCanReachIt) {
  for (const char* address : {"127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(SocketAddress::parse(address, 1)->is_loopback()) << address;
  }
  for (const char* address : {"0.0.0.0", "10.0.0.127", "::", "fe80::1", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(SocketAddress::parse(address, 1)->is_loopback()) << address;
  }
}

TEST(SocketAddressText, AUnixDomainAddressIsNamedAfterThePort) {
  const SocketAddress address = SocketAddress::unix_beside(4000);
  EXPECT_EQ(address.text(), "unix:n2nq-4000");
  EXPECT_EQ(address.port(), 0);
  EXPECT_TRUE(address.is_loopback());
}

TEST(Listen, AUnixDomainAddressIsFreeAgainWithoutAFile) {
  const SocketAddress address = SocketAddress::unix_beside(1);  // no process listens on TCP port 1
  {
    const Fd listening = listen_on(address);
    EXPECT_THROW(listen_on(address), std::runtime_error);
    const Fd connected = start_connect(address);
    EXPECT_EQ(connect_error(connected.get()), 0);
  }
  EXPECT_NO_THROW(listen_on(address));
}

TEST(Listen, ATakenPortIsNamed) {
  EventLoop loop;
  Listener first(loop, *SocketAddress::parse("127.0.0.1", 0), [](Fd, const SocketAddress&) {});
  try {
    Listener second(loop, first.address(), [](Fd, const SocketAddress&) {});
    FAIL() << "two listeners on one port";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(first.address().text()), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace n2nq::net
