// SPDX-License-Identifier: GPL-3.0-or-later
// A service's connection to N2NQ (docs/wire-protocol.md).
//
//   idle -> connecting -> greeting -> open -> closed -> connecting …      (greeting: HELLO is out, WELCOME is not in)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/net/connection.h"
#include "broker/net/liveness.h"
#include "workers/queue_client/asked_for.h"
#include "workers/queue_client/queue_client.h"

namespace n2nq::worker {

class N2nqClient : public QueueClient, private net::Connection::Handler {
 public:
  N2nqClient(net::EventLoop& loop, const net::SocketAddress& address, const ClientIdentity& identity, QueueHandler& handler);

  void open(std::uint64_t next_index, const std::vector<wire::Rule>* rules) override;
  bool can_publish() const override { return state_ == State::open && out_.empty() && !end_sent_; }
  std::size_t bytes_in_batch(std::size_t letters) const override;
  void publish(std::span<Outgoing> messages) override;
  void end(std::uint64_t next_index) override;
  void acknowledge(std::uint64_t delivery, bool positive) override;
  void request(const Request& request) override;
  void set_reading(bool reading) override;
  void tick(std::int64_t now_ns) override;
  void close() override;

 private:
  enum class State { idle, connecting, greeting, open, closed };

  void on_connected() override;
  void on_frame(const wire::Frame& frame, std::int64_t read_ns) override;
  void on_malformed(const std::string& error) override;
  void on_writable() override;
  void on_closed(const std::string& reason) override;

  void take_welcome(const wire::Welcome& welcome, std::int64_t read_ns);
  void take_deliveries(const wire::Frame& frame);
  void tell_rules(const std::vector<wire::Rule>& rules);
  void give_back(std::uint64_t deliveries);
  bool is_asked_for(const Delivery& delivery);
  void send_answers();
  void take_end(wire::ByteView body);
  void take_error(const wire::Error& error);
  void flush();
  std::string silence(std::int64_t now_ns) const;
  void fail(const std::string& reason, Closed closed);
  void refuse(const std::string& what);

  net::EventLoop& loop_;
  const net::SocketAddress address_;
  const ClientIdentity identity_;
  QueueHandler& handler_;
  std::unique_ptr<net::Connection> connection_;
  net::OutBuffer out_;
  State state_ = State::idle;
  bool end_sent_ = false;
  std::uint32_t session_;
  std::uint64_t next_index_ = 0;
  std::int64_t opened_ns_ = 0;  // when open() was called
  std::int64_t hello_sent_ns_ = 0;
  std::int64_t last_sent_ns_ = 0;
  std::int64_t long_frame_ns_ = 0;  // one came or went, which may take more memory than is kept
  std::int64_t last_heard_ns_ = 0;
  net::Progress progress_;
  std::int64_t heartbeat_ns_ = 0;  // 0: none
  std::int64_t heartbeat_earlier_ns_ = 0;  // the first of this connection
  std::uint32_t frame_bytes_max_ = 0;
  bool reading_ = true;

  // Receivers, on this connection.
  bool responses_ = false, requests_ = false;
  std::uint64_t deliveries_ = 0;
  wire::Confirm answers_;  // to be sent; at most one range per delivery that is unconfirmed
  bool in_deliveries_ = false;
  std::optional<std::vector<wire::Rule>> rules_with_hello_;  // until the first request()
  std::uint32_t rule_list_ = 0;
  std::uint32_t prefetch_ = 0;  // wanted
  std::uint32_t credit_ = 0;    // in play: given and not used up, or used and not given back yet
  std::uint64_t given_ = 0;     // in all CREDIT frames
  bool broadcaster_ = false;
  AskedFor asked_for_;
  std::int64_t offset_ns_ = 0;  // N2NQ's clock minus ours
  std::uint64_t owed_ = 0;      // so many deliveries may have been begun, and not announced, on connections before
};

}  // namespace n2nq::worker
