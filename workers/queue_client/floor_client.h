// SPDX-License-Identifier: GPL-3.0-or-later
// A service's connection to the bare relay that N2NQ is compared with (tests/bench/relay/floor_relay.h draws what goes over it). For
// benchmarks on one host: no reconnects, no responses, no requests, no heartbeats; a message counts as accepted once the kernel has it.
//
//   idle -> connecting -> greeting -> open -> closed
#pragma once

#include <string>

#include "broker/net/event_loop.h"
#include "broker/net/fd.h"
#include "broker/wire/bytes.h"
#include "workers/queue_client/queue_client.h"

namespace n2nq::worker {

class FloorClient : public QueueClient, private net::Watcher, private net::LateReader {
 public:
  FloorClient(net::EventLoop& loop, const net::SocketAddress& address, const ClientIdentity& identity, QueueHandler& handler);
  ~FloorClient() override;

  void open(std::uint64_t next_index, const std::vector<wire::Rule>* rules) override;
  bool can_publish() const override { return state_ == State::open && written_ == out_.size() && !ending_; }
  std::size_t bytes_in_batch(std::size_t letters) const override;
  void publish(std::span<Outgoing> messages) override;
  void end(std::uint64_t next_index) override;
  void acknowledge(std::uint64_t /*delivery*/, bool /*positive*/) override {}
  void request(const Request& /*request*/) override {}
  void set_reading(bool reading) override;
  void tick(std::int64_t now_ns) override;
  void close() override;

 private:
  enum class State { idle, connecting, greeting, open, closed };

  void on_events(std::uint32_t events) override;
  void look_at_read() override;
  void greet();
  void read();
  void take_greeting();
  void take_records();
  void flush();
  void tell_accepted();
  void set_interest();
  void take_end(std::uint64_t messages);
  void fail(const std::string& reason, Closed closed);

  net::EventLoop& loop_;
  const net::SocketAddress address_;
  const ClientIdentity identity_;
  QueueHandler& handler_;
  net::Fd fd_;
  State state_ = State::idle;
  std::uint32_t interest_ = 0;
  bool reading_ = true;
  std::int64_t opened_ns_ = 0;
  std::int64_t greeted_ns_ = 0;  // when the greeting was sent

  wire::Bytes out_;
  std::size_t written_ = 0;  // of out_
  std::uint64_t published_ = 0, accepted_ = 0;
  bool ending_ = false;

  wire::ByteView read_;  // not looked at yet; in the memory that the loop shares
  wire::Bytes rest_;     // of the last read: less than a record
  std::int64_t read_ns_ = 0;
  bool looks_later_ = false;
  std::uint64_t deliveries_ = 0;
};

}  // namespace n2nq::worker
