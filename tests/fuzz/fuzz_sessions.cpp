// SPDX-License-Identifier: GPL-3.0-or-later
// A whole server, in this process, with a client that says anything: whatever it is, the server lives, says only valid frames, and its
// books balance.
//   byte 0  bits 0-1 who the client says it is (0: it has said nothing yet, 1 sender, 2 receiver, 3 probe); bit 2 the rest is a row of
//           [type][u16 length][body], made into frames with right headers; bit 3 another sender has published; bit 4 and has ended;
//           bit 5 the client, a receiver, has asked for anything and given credit; bit 6 another receiver is there; bit 7, with bit 2,
//           messages expire and deliveries are overdue in less than a millisecond, and types from 0xF0 on are no frames but happenings
//   byte 1  bit 0 queue mode, bit 1 responses, bit 2 requests, bit 3 removal rule, bits 4-5 dispatch
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
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

/// In the place of a frame's type. Those above them are none, and nothing happens.
enum class Happening : uint8_t {
  client_breaks = 0xF0,     // its connection closes
  client_comes = 0xF1,      // on a new one, be the old one there or not
  other_breaks = 0xF2,      // the other receiver
  other_comes = 0xF3,
  another_publishes = 0xF4,  // the other sender, once more
  all_turn = 0xF5,          // N2NQ wakes up, all hear
  time_passes = 0xF6,
};
constexpr int happenings_max = 24;
constexpr int64_t short_ns = 300'000;

Options options_of(uint8_t byte, bool is_short) {
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
  if (is_short) options.queue.retention_ns = options.queue.responses_deadline_ns = short_ns;
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

Bytes published(uint32_t sender, uint64_t messages, uint64_t first = 0) {
  Bytes bytes;
  const size_t begun_at = wire::begin_frame(bytes, wire::FrameType::publish);
  for (uint64_t index = first; index < first + messages; ++index) {
    wire::RecordHeader header;
    header.size = static_cast<uint32_t>(10 * (index - first));
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

/// The first of [type][u16 length][body]… as a frame, added to `bytes`. Returns the rest.
ByteView add_frame(ByteView plan, Bytes& bytes) {
  const size_t length = std::min<size_t>(wire::load<uint16_t>(plan.data() + 1), plan.size() - 3);
  bytes.resize(bytes.size() + wire::frame_header_bytes);
  wire::write_frame_header(bytes.data() + bytes.size() - wire::frame_header_bytes, static_cast<wire::FrameType>(plan[0]),
                           static_cast<uint32_t>(length));
  const ByteView body = plan.subspan(3, length);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return plan.subspan(3 + length);
}

/// All of them.
Bytes framed(ByteView plan) {
  Bytes bytes;
  while (plan.size() >= 3) plan = add_frame(plan, bytes);
  return bytes;
}

class World {
 public:
  explicit World(const Options& options) : options_(options), server_(loop_, options_, log_, 1, [](Server::State, const std::string&) {}) {}

  Client& connect() { return *clients_.emplace_back(std::make_unique<Client>(server_)); }
  void close(const Client& client) {
    std::erase_if(clients_, [&client](const auto& each) { return each.get() == &client; });
  }
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

/// Frames, and what happens between them.
class Story {
 public:
  Story(World& world, uint8_t who, uint8_t how) : world_(world), who_(who), how_(how) {
    if ((who & 64) != 0) come_other();
    if ((who & 8) != 0) {
      another_ = &world.connect();
      another_->hello(wire::Role::sender, 2);
      another_->send(ByteView(published(2, messages_of_another)));
      if ((who & 16) != 0) another_->send(wire::End{messages_of_another});
    }
    come_client();
    world.turn(3);
  }
  Client* client() { return client_; }

  void tell(ByteView plan) {
    int happened = 0;
    while (plan.size() >= 3) {
      if (plan[0] < static_cast<uint8_t>(Happening::client_breaks)) {
        Bytes frame;
        plan = add_frame(plan, frame);
        if (client_ != nullptr) client_->send(ByteView(frame));
        continue;
      }
      if (++happened > happenings_max) return;
      happen(static_cast<Happening>(plan[0]));
      plan = plan.subspan(1);
    }
  }

 private:
  void come_client() {
    client_ = &world_.connect();
    const int role = who_ & 3;
    if (role != 0) client_->hello(static_cast<wire::Role>(role), 1);
    if (role == 2 && (who_ & 32) != 0 && (how_ & 4) != 0) {
      client_->send(wire::Rules{0, {wire::Rule{}}});
      client_->send(wire::Credit{10});
    }
  }
  void come_other() {
    other_ = &world_.connect();
    other_->hello(wire::Role::receiver, 2);
  }
  void break_off(Client*& client) {
    if (const Client* gone = std::exchange(client, nullptr)) world_.close(*gone);
  }

  void happen(Happening what) {
    switch (what) {
      case Happening::client_breaks:
        return break_off(client_);
      case Happening::client_comes:
        return come_client();
      case Happening::other_breaks:
        return break_off(other_);
      case Happening::other_comes:
        return come_other();
      case Happening::another_publishes:
        if (another_ != nullptr) another_->send(ByteView(published(2, messages_of_another, messages_of_another * ++publishings_)));
        return;
      case Happening::all_turn:
        return world_.turn(1);
      case Happening::time_passes:
        usleep(short_ns / 1000);
        return world_.turn(1);
    }
  }

  World& world_;
  const uint8_t who_, how_;
  Client *client_ = nullptr, *other_ = nullptr, *another_ = nullptr;
  uint64_t publishings_ = 0;
};

void run(uint8_t who, uint8_t how, ByteView rest) {
  const bool is_short = (who & 0x84) == 0x84;
  World world(options_of(how, is_short));
  Story story(world, who, how);
  if (is_short) {
    story.tell(rest);
    world.turn(3);
    return world.check_books();
  }
  Client& client = *story.client();
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
