// SPDX-License-Identifier: GPL-3.0-or-later
// A whole server, in this process, with a client that says anything: whatever it is, the server lives, says only valid frames, and its
// books balance.
//   byte 0  bits 0-1 who the client says it is (0: it has said nothing yet, 1 sender, 2 receiver, 3 probe); bit 2 the rest is a row of
//           [type][u16 length][body], made into frames with right headers; bit 3 another sender has published; bit 4 and has ended;
//           bit 5 the client, a receiver, has asked for anything and given credit; bit 6 another receiver is there
//   byte 1  bit 0 queue mode, bit 1 responses, bit 2 requests, bit 3 removal rule, bits 4-5 dispatch
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "broker/net/event_loop.h"
#include "broker/server/server.h"
#include "broker/wire/record.h"
#include "tests/fuzz/fuzz.h"

namespace n2nq {
namespace {

using fuzz::require;
using wire::Bytes;
using wire::ByteView;

constexpr uint64_t messages_of_another = 5;

Options options_of(uint8_t byte) {
  Options options;
  options.listen = *net::SocketAddress::parse("127.0.0.1", 0);
  options.queue.mode = (byte & 1) != 0 ? wire::QueueMode::load_balancer : wire::QueueMode::broadcaster;
  options.queue.responses = (byte & 2) != 0;
  options.queue.requests = (byte & 4) != 0;
  options.queue.removal = (byte & 8) != 0 ? RemovalRule::after_time : RemovalRule::when_all_have_it;
  static constexpr DispatchRule dispatches[] = {DispatchRule::random, DispatchRule::round_robin, DispatchRule::next_free,
                                                DispatchRule::random};
  options.queue.dispatch = dispatches[(byte >> 4) & 3];
  options.queue.senders = options.queue.receivers = 2;
  options.queue.responses_window = 4;
  options.queue.responses_attempts_max = 2;
  options.limits.memory_bytes = 3 << 20;
  options.limits.pending_bytes = 1 << 20;
  options.limits.message_bytes_max = 2000;
  return options;
}

/// The client's end of a connection, and what the server said on it.
class Client {
 public:
  explicit Client(Server& server) {
    int ends[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "a socket pair");
    fd_.reset(ends[0]);
    server.accept(net::Fd(ends[1]));
  }

  void send(ByteView bytes) {
    // What does not fit into the socket is left out; a closed one takes nothing.
    [[maybe_unused]] const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  template <typename Message>
  void send(const Message& message) {
    Bytes bytes;
    message.encode(bytes);
    send(ByteView(bytes));
  }
  void hello(wire::Role role, uint32_t number) {
    wire::Hello hello;
    hello.role = role;
    hello.number = number;
    send(hello);
  }
  void hear() {
    while (true) {
      const std::span<uint8_t> room = reader_.room();
      const ssize_t bytes = recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
      if (bytes <= 0) return;
      reader_.commit(static_cast<size_t>(bytes));
      while (reader_.next()) {
      }
      require(!reader_.failed(), "the server says valid frames only");
    }
  }

 private:
  net::Fd fd_;
  wire::FrameReader reader_{1 << 30};
};

Bytes published(uint32_t sender, uint64_t messages) {
  Bytes bytes;
  const size_t begun_at = wire::begin_frame(bytes, wire::FrameType::publish);
  for (uint64_t index = 0; index < messages; ++index) {
    wire::RecordHeader header;
    header.size = static_cast<uint32_t>(10 * index);
    header.sender = sender;
    header.index = index;
    Bytes record(header.record_bytes(), 'A');
    wire::write_record_header(record.data(), header);
    wire::set_record_checksum(record.data(), wire::compute_record_checksum(record.data()));
    bytes.insert(bytes.end(), record.begin(), record.end());
  }
  wire::end_frame(bytes, begun_at);
  return bytes;
}

/// [type][u16 length][body]… as frames.
Bytes framed(ByteView plan) {
  Bytes bytes;
  while (plan.size() >= 3) {
    const size_t length = std::min<size_t>(wire::load<uint16_t>(plan.data() + 1), plan.size() - 3);
    bytes.resize(bytes.size() + wire::frame_header_bytes);
    wire::write_frame_header(bytes.data() + bytes.size() - wire::frame_header_bytes, static_cast<wire::FrameType>(plan[0]),
                             static_cast<uint32_t>(length));
    const ByteView body = plan.subspan(3, length);
    bytes.insert(bytes.end(), body.begin(), body.end());
    plan = plan.subspan(3 + length);
  }
  return bytes;
}

class World {
 public:
  explicit World(const Options& options) : options_(options), server_(loop_, options_, log_, 1, [](Server::State, const std::string&) {}) {}

  Client& connect() { return *clients_.emplace_back(std::make_unique<Client>(server_)); }
  /// Some wake-ups, and what is heard in them.
  void turn(int wake_ups) {
    for (; wake_ups > 0; --wake_ups) {
      loop_.post([this] { loop_.stop(); });
      loop_.run();
      for (const auto& client : clients_) client->hear();
    }
  }
  void check_books() {
    const nlohmann::json summary = server_.summary();
    turn(2);
    const char* there = options_.queue.responses ? "confirmed" : "handed_over";
    const auto elsewhere = [](const nlohmann::json& account) {
      uint64_t sum = 0;
      for (const char* part : {"expired", "unrequested", "parked", "cut_off", "still_queued"}) sum += account[part].get<uint64_t>();
      return sum;
    };
    if (options_.queue.mode == wire::QueueMode::load_balancer) {
      uint64_t sum = elsewhere(summary["total"]);
      for (const nlohmann::json& receiver : summary["receivers"]) sum += receiver[there].get<uint64_t>();
      require(sum == summary["messages_accepted"], "each message is in one place");
      return;
    }
    for (const nlohmann::json& receiver : summary["receivers"]) {
      require(receiver[there].get<uint64_t>() + elsewhere(receiver) == summary["messages_accepted"],
              "each message is in one place for each receiver");
    }
  }

 private:
  const Options options_;
  net::EventLoop loop_;
  EventLog log_{""};
  Server server_;
  std::vector<std::unique_ptr<Client>> clients_;
};

void run(uint8_t who, uint8_t how, ByteView rest) {
  World world(options_of(how));
  const int role = who & 3;
  if ((who & 64) != 0) world.connect().hello(wire::Role::receiver, 2);
  if ((who & 8) != 0) {
    Client& another = world.connect();
    another.hello(wire::Role::sender, 2);
    another.send(ByteView(published(2, messages_of_another)));
    if ((who & 16) != 0) another.send(wire::End{messages_of_another});
  }
  Client& client = world.connect();
  if (role != 0) client.hello(static_cast<wire::Role>(role), 1);
  if (role == 2 && (who & 32) != 0 && (how & 4) != 0) {
    client.send(wire::Rules{0, {wire::Rule{}}});
    client.send(wire::Credit{10});
  }
  world.turn(3);
  const Bytes frames = (who & 4) != 0 ? framed(rest) : Bytes(rest.begin(), rest.end());
  const ByteView bytes(frames);
  client.send(bytes.first(bytes.size() / 2));
  world.turn(1);
  client.send(bytes.subspan(bytes.size() / 2));
  world.turn(3);
  world.check_books();
}

}  // namespace
}  // namespace n2nq

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size >= 2) n2nq::run(data[0], data[1], n2nq::wire::ByteView(data + 2, size - 2));
  return 0;
}
