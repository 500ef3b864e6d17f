// SPDX-License-Identifier: GPL-3.0-or-later
// The one small interface between the workers and the system under test: open, publish, deliver, acknowledge, request, close. One client is
// one service's connection. Behind it: N2NQ, and the bare relay that N2NQ is compared with.
//
// Everything happens on the loop's thread. A call costs per batch, a delivery one virtual call; nothing is allocated per message.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/net/clock.h"
#include "broker/net/event_loop.h"
#include "broker/net/tcp.h"
#include "broker/wire/messages.h"

namespace n2nq::worker {

/// From open() to the other end's first words. N2NQ gives a client 2 s; a network that swallows packets must not hold a service up for
/// minutes.
inline constexpr std::int64_t greeting_deadline_ns = 3 * net::ns_per_s;

/// One message on its way out.
struct Outgoing {
  std::uint64_t index = 0;
  std::int64_t intended_ns = 0;  // unplanned: the stamp of the send
  std::int64_t sent_ns = 0;      // not_sent_yet: publish() stamps it; otherwise it was offered before and keeps its stamp
  bool warm_up = false;          // extra traffic: says so in its flags
  std::string_view letters;
  static constexpr std::int64_t unplanned = INT64_MIN;
  static constexpr std::int64_t not_sent_yet = INT64_MIN;
};

/// One message that arrived. Stamps: intended and sent by the sender's clock, taken in and sent on by the broker's, received by ours.
struct Delivery {
  std::uint64_t index = 0;
  std::uint32_t sender = 0;
  std::uint32_t size = 0;
  std::int64_t intended_ns = 0, sent_ns = 0, taken_in_ns = 0, sent_on_ns = 0, received_ns = 0;
  std::int64_t sender_clock_ns = 0, receiver_clock_ns = 0;  // N2NQ's clock minus the sender's, and minus ours; the stamps are raw
  std::uint16_t flags = 0;                                  // as on the wire: wire::flag_warm_up, …
  std::uint16_t attempt = 0;
  bool checksum_ok = true;
  bool asked_for = true;     // with requests: one of the lists that can have been in force matches it
  std::uint64_t number = 0;  // of this connection's deliveries, from 0: what acknowledge() speaks of

  // On N2NQ's clock.
  std::int64_t intended_there_ns() const { return intended_ns + sender_clock_ns; }
  std::int64_t sent_there_ns() const { return sent_ns + sender_clock_ns; }
  std::int64_t received_there_ns() const { return received_ns + receiver_clock_ns; }
  std::int64_t latency_ns() const { return received_there_ns() - sent_there_ns(); }
  // Parts of the latency.
  std::int64_t to_broker_ns() const { return taken_in_ns - sent_there_ns(); }
  std::int64_t in_queue_ns() const { return sent_on_ns - taken_in_ns; }
  std::int64_t to_receiver_ns() const { return received_there_ns() - sent_on_ns; }
};

/// What a receiver asks for: messages that match one of the rules, `prefetch` at a time. No rule: nothing.
struct Request {
  std::vector<wire::Rule> rules = {wire::Rule{}};  // any
  std::uint32_t prefetch = 1;                      // deliveries that may be under way or unanswered; 1 is one after the other
};

struct OpenFacts {
  std::uint64_t next_index = 0;       // senders: what the system has already ends below this
  std::uint64_t incarnation = 0;      // another value than before: the system was restarted and its queue is gone
  std::uint32_t batch_bytes_max = 0;  // publish() takes that much at once, see bytes_in_batch(), or one message however long
  std::uint32_t letters_max = 0;      // longest payload that can be published at all
  std::uint16_t source_port = 0;
  bool responses = false;      // receivers: every delivery is to be acknowledged
  bool requests = false;       // receivers: nothing comes before request()
  std::int64_t offset_ns = 0;  // system's clock minus ours: 0 where the handshake is consistent with one shared clock, else its middle
  std::int64_t offset_error_ns = 0;  // half the handshake's round trip
};

/// What a closed connection means.
enum class Closed {
  for_now,   // a new open() makes sense
  for_good,  // it would end the same way
  ending,    // for good, because the system ends
  cut_off,   // for good, because the service was too slow for the system
};

/// What a client tells the service it belongs to.
class QueueHandler {
 public:
  virtual ~QueueHandler() = default;
  virtual void on_open(const OpenFacts& facts) = 0;
  /// publish() is possible again.
  virtual void on_room() {}
  /// Every index below is accepted or among the refused (now or earlier).
  virtual void on_accepted(std::uint64_t /*next_index*/, std::span<const wire::RefusedRange> /*refused*/) {}
  virtual void on_delivery(const Delivery& /*delivery*/) {}
  /// Behind the last on_delivery() of those that came in one piece.
  virtual void on_deliveries_done() {}
  /// What this receiver will not get.
  virtual void on_skipped(std::span<const wire::SkippedRange> /*ranges*/) {}
  /// The system's end message: nothing follows but on_closed(). Senders: nothing but the fact.
  virtual void on_end(const wire::EndTotals& totals) = 0;
  /// Not called after close().
  virtual void on_closed(const std::string& reason, Closed closed) = 0;
};

class QueueClient {
 public:
  virtual ~QueueClient() = default;

  /// Starts to connect; on_open() or on_closed() follows. Not from inside a call of the handler; not while open.
  /// `next_index`: senders: the lowest index that can still be published. `rules`: receivers that come back, with requests: the list that
  /// they ask for, told with the first words, because a system that drains may have nothing left for their list before; else null.
  /// request() follows in on_open() all the same, and does not tell the same list again.
  virtual void open(std::uint64_t next_index, const std::vector<wire::Rule>* rules) = 0;

  /// True when everything published before was taken by the kernel; else on_room() follows.
  virtual bool can_publish() const = 0;
  /// What one message adds to a batch.
  virtual std::size_t bytes_in_batch(std::size_t letters) const = 0;
  /// Offers a batch with one write(); fills in sent_ns where it was not_sent_yet. Only while can_publish(); `messages` is not empty and
  /// within the limits of OpenFacts. What the kernel does not take at once follows as soon as it does.
  virtual void publish(std::span<Outgoing> messages) = 0;
  /// Senders: nothing follows index `next_index` - 1. Receivers: this one leaves. on_end() follows.
  virtual void end(std::uint64_t next_index) = 0;
  /// Receivers, with responses: the delivery has arrived and was checked (positive), or is to be delivered again (negative). Each delivery
  /// of this connection at most once. Answers to what came in one piece leave in one piece.
  virtual void acknowledge(std::uint64_t delivery, bool positive) = 0;
  /// Receivers, with requests: from now on, on this connection. Replaces what was asked before as a whole. A smaller prefetch than before
  /// takes effect as deliveries come in; with responses only on the next connection, since there every answer gives its credit back.
  virtual void request(const Request& request) = 0;
  /// Stops taking anything from the connection, as a process that hangs does, and goes on with it.
  virtual void set_reading(bool reading) = 0;
  /// Heartbeats and deadlines; to be called about four times a second.
  virtual void tick(std::int64_t now_ns) = 0;
  /// At once; no call of the handler follows.
  virtual void close() = 0;
};

struct ClientIdentity {
  wire::Role role = wire::Role::sender;
  std::uint32_t number = 0;
  wire::Token token{};
  std::uint32_t first_session = 0;  // of HELLO; a service that goes on for a killed process is not new
  std::uint32_t services = 1;       // of this process: they share what memory is kept for long frames
};

/// The client for a system by its name in `configure`, "n2nq" or (benchmarks) "floor"; null when there is no such system.
std::unique_ptr<QueueClient> make_queue_client(std::string_view system, net::EventLoop& loop, const net::SocketAddress& address,
                                               const ClientIdentity& identity, QueueHandler& handler);
bool queue_system_exists(std::string_view system);

}  // namespace n2nq::worker
