// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/broker/support/wire_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>

#include "broker/net/clock.h"
#include "broker/net/tcp.h"
#include "tests/broker/support/broker_under_test.h"
#include "tests/broker/support/seed_frames.h"

namespace n2nq::support {

using namespace wire;

namespace {

void wait_for(int fd, short events) {
  pollfd wait{fd, events, 0};
  if (poll(&wait, 1, static_cast<int>(patience_ns / net::ns_per_ms)) <= 0) throw std::runtime_error("waited too long for the broker");
}

}  // namespace

SenderSets Received::set() const {
  SenderSets set;
  for (const RecordHeader& record : records) set.add(record.sender, record.index);
  return set;
}

SenderSets Received::skipped_set() const {
  SenderSets set;
  for (const SkippedRange& range : skipped) set.add_range(range.sender, range.from, range.to);
  return set;
}

WireClient::WireClient(uint16_t port, Socket socket) : reader_(frame_bytes_max_from_broker_before_welcome) {
  fd_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.receive_buffer_bytes > 0) {
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &socket.receive_buffer_bytes, sizeof socket.receive_buffer_bytes);
  }
  const auto address = net::SocketAddress::parse("127.0.0.1", port);
  if (connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->bytes) != 0) {
    throw std::runtime_error("cannot connect");
  }
  net::prepare_stream(fd_.get());
}

WireClient::WireClient(net::Fd socket) : fd_(std::move(socket)), reader_(frame_bytes_max_from_broker_before_welcome) {}

WireClient WireClient::sender(uint16_t port, uint32_t number, uint32_t session, uint64_t next_index) {
  WireClient client(port);
  Hello hello;
  hello.role = Role::sender;
  hello.number = number;
  hello.session = session;
  hello.next_index = next_index;
  client.hello(hello);
  return client;
}

WireClient WireClient::receiver(uint16_t port, uint32_t number, Socket socket, uint32_t session) {
  WireClient client(port, socket);
  Hello hello;
  hello.role = Role::receiver;
  hello.number = number;
  hello.session = session;
  client.hello(hello);
  return client;
}

WireClient WireClient::probe(uint16_t port) {
  WireClient client(port);
  Hello hello;
  hello.role = Role::probe;
  client.hello(hello);
  return client;
}

void WireClient::send(ByteView bytes) {
  while (!bytes.empty()) {
    const iovec piece{const_cast<uint8_t*>(bytes.data()), bytes.size()};
    const net::IoResult result = net::write_some(fd_.get(), &piece, 1);
    if (result.status == net::IoStatus::failed) throw std::runtime_error("the broker has closed");
    if (result.status == net::IoStatus::again) wait_for(fd_.get(), POLLOUT);
    bytes = bytes.subspan(result.bytes);
  }
}

bool WireClient::readable() {
  if (const auto frame = reader_.next()) return reader_.put_back(*frame), true;  // it came with the one before
  pollfd look{fd_.get(), POLLIN, 0};
  return poll(&look, 1, 0) > 0;
}

Welcome WireClient::hello(const Hello& hello) {
  send(hello);
  return read_welcome();
}

Welcome WireClient::read_welcome() {
  const auto frame = read();
  if (!frame || frame->type != FrameType::welcome) {
    const auto error = frame ? Error::decode(frame->body) : std::nullopt;
    throw std::runtime_error("no WELCOME: " + (error ? error->text : std::string("closed")));
  }
  welcome_ = *Welcome::decode(frame->body);
  reader_.set_limits(welcome_.frame_bytes_max);
  return welcome_;
}

Bytes publish_frames(uint32_t sender, uint64_t from, uint64_t to, size_t payload_bytes, size_t frame_bytes_max) {
  Bytes frames;
  while (from < to) {
    const size_t begun_at = begin_frame(frames, FrameType::publish);
    for (size_t body_bytes = 0; from < to; ++from) {
      const Bytes record = make_record(sender, from, payload_bytes, net::now_ns());
      body_bytes += record.size();
      if (body_bytes > frame_bytes_max && body_bytes > record.size()) break;
      frames.insert(frames.end(), record.begin(), record.end());
    }
    end_frame(frames, begun_at);
  }
  return frames;
}

void WireClient::publish(uint32_t sender, uint64_t from, uint64_t to, size_t payload_bytes) {
  // In parts, so that stamps are near the write.
  const uint64_t part = std::max<uint64_t>(1, welcome_.frame_bytes_max / (payload_bytes + record_header_bytes));
  for (; from < to; from += part) {
    send(ByteView(publish_frames(sender, from, std::min(to, from + part), payload_bytes, welcome_.frame_bytes_max)));
  }
}

uint64_t WireClient::end(uint64_t next_index) {
  send(End{next_index});
  while (const auto frame = read()) {
    if (frame->type == FrameType::end) return End::decode(frame->body).value().value;
    if (frame->type == FrameType::error) throw std::runtime_error(Error::decode(frame->body).value().text);
  }
  throw std::runtime_error("the broker closed without END");
}

std::vector<RefusedRange> WireClient::wait_accepted(uint64_t next_index) {
  std::vector<RefusedRange> refused;
  while (const auto frame = read()) {
    if (frame->type != FrameType::accepted) continue;
    const Accepted accepted = Accepted::decode(frame->body).value();
    refused.insert(refused.end(), accepted.refused.begin(), accepted.refused.end());
    if (accepted.next_index >= next_index) return refused;
  }
  throw std::runtime_error("the broker closed before it accepted everything");
}

ProbeReply WireClient::ask_clock() {
  send(Probe{net::now_ns()});
  while (const auto frame = read()) {
    if (frame->type == FrameType::probe_reply) return ProbeReply::decode(frame->body).value();
  }
  throw std::runtime_error("the broker closed instead of answering a probe");
}

void WireClient::wait_for_broker_clock(int64_t ns) {
  while (ask_clock().t2_ns < ns) {
  }
}

std::optional<ReadFrame> WireClient::read(bool heartbeats_too) {
  while (true) {
    while (const auto frame = reader_.next()) {
      if (frame->type == FrameType::heartbeat && !heartbeats_too) continue;
      return ReadFrame{frame->type, Bytes(frame->body.begin(), frame->body.end())};
    }
    if (reader_.failed()) throw std::runtime_error("the broker's stream is broken: " + reader_.error());
    const net::IoResult result = net::read_some(fd_.get(), reader_.room());
    reset_ = result.status == net::IoStatus::failed;
    if (result.status == net::IoStatus::closed || reset_) return std::nullopt;
    if (result.status == net::IoStatus::again) {
      wait_for(fd_.get(), POLLIN);
    } else {
      reader_.commit(result.bytes);
    }
  }
}

void WireClient::take(const ReadFrame& frame, Received& received) {
  if (frame.type == FrameType::skipped) {
    const Skipped skipped = Skipped::decode(frame.body).value();
    received.skipped.insert(received.skipped.end(), skipped.ranges.begin(), skipped.ranges.end());
  } else if (frame.type == FrameType::end) {
    received.totals = EndTotals::decode(frame.body).value();
  } else if (frame.type == FrameType::error) {
    received.error = Error::decode(frame.body);
  } else if (frame.type == FrameType::deliver) {
    RecordWalk walk(ByteView(frame.body).subspan(deliver_prefix_bytes));
    while (const auto record = walk.next()) {
      const RecordHeader header = read_record_header(record->data());
      received.checksums_right &= header.checksum == compute_record_checksum(record->data());
      received.records.push_back(header);
      received.sent_on_ns.push_back(load<int64_t>(frame.body.data()));
      auto last = std::find_if(last_index_.begin(), last_index_.end(), [&](const auto& one) { return one.first == header.sender; });
      if (last == last_index_.end()) last = last_index_.insert(last, {header.sender, -1});
      if (header.flags & (flag_redelivered | flag_newly_matched)) continue;
      received.in_order &= static_cast<int64_t>(header.index) > last->second;
      last->second = static_cast<int64_t>(header.index);
    }
    if (walk.failed()) throw std::runtime_error("DELIVER ends in the middle of a record");
  } else {
    throw std::runtime_error(std::string("unexpected ") + name_of(frame.type));
  }
}

Received WireClient::receive_all() {
  Received received;
  while (!received.totals) {
    const auto frame = read();
    if (!frame) break;
    take(*frame, received);
  }
  return received;
}

Received WireClient::receive(size_t records) {
  Received received;
  while (received.records.size() < records) {
    const auto frame = read();
    if (!frame) throw std::runtime_error("the stream ended early");
    take(*frame, received);
  }
  return received;
}

std::optional<Error> WireClient::read_error() {
  while (const auto frame = read()) {
    if (frame->type == FrameType::error) return Error::decode(frame->body);
  }
  return std::nullopt;
}

void WireClient::reset() {
  const linger at_once{1, 0};
  setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  fd_.reset();
}

void wait_for_a_place(uint16_t port) {
  Hello hello;
  hello.role = Role::probe;
  for (const int64_t until_ns = net::now_ns() + patience_ns; net::now_ns() < until_ns;) {
    WireClient probe(port);
    probe.send(hello);
    const auto frame = probe.read();
    if (frame && frame->type == FrameType::welcome) return;
  }
  throw std::runtime_error("no place for a probe");
}

}  // namespace n2nq::support
