// SPDX-License-Identifier: GPL-3.0-or-later
// A client that speaks the wire protocol over a blocking socket, as a test wants it: right or wrong on purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/net/clock.h"
#include "broker/net/fd.h"
#include "broker/queue/sender_sets.h"
#include "broker/wire/frame.h"
#include "broker/wire/messages.h"
#include "broker/wire/record.h"

namespace n2nq::support {

struct ReadFrame {
  wire::FrameType type;
  wire::Bytes body;
};

/// What a receiver was told until its stream ended.
struct Received {
  std::vector<wire::RecordHeader> records;
  std::vector<int64_t> sent_on_ns;  // beside records
  std::vector<wire::SkippedRange> skipped;
  std::optional<wire::EndTotals> totals;  // none: the stream ended without END
  std::optional<wire::Error> error;
  bool in_order = true;  // per sender, of records without marks
  bool checksums_right = true;

  SenderSets set() const;
  SenderSets skipped_set() const;
};

class WireClient {
 public:
  struct Socket {
    int receive_buffer_bytes = 0;  // 0: the system's
  };
  explicit WireClient(uint16_t port) : WireClient(port, Socket{}) {}
  WireClient(uint16_t port, Socket socket);
  /// Connected already.
  explicit WireClient(net::Fd socket);

  /// Connects, says HELLO and expects WELCOME.
  static WireClient sender(uint16_t port, uint32_t number, uint32_t session = 0, uint64_t next_index = 0);
  static WireClient receiver(uint16_t port, uint32_t number, Socket socket, uint32_t session = 0);
  static WireClient receiver(uint16_t port, uint32_t number, uint32_t session = 0) { return receiver(port, number, Socket{}, session); }
  static WireClient probe(uint16_t port);

  void send(wire::ByteView bytes);
  template <typename Message>
  void send(const Message& message) {
    wire::Bytes bytes;
    message.encode(bytes);
    send(wire::ByteView(bytes));
  }
  wire::Welcome hello(const wire::Hello& hello);
  /// The second half of hello().
  wire::Welcome read_welcome();
  const wire::Welcome& welcome() const { return welcome_; }

  /// As sender: messages `from` to below `to`, in as few frames as allowed.
  void publish(uint32_t sender, uint64_t from, uint64_t to, size_t payload_bytes = 50);
  /// END, then everything until the broker's END; returns how many it accepted.
  uint64_t end(uint64_t next_index);
  /// Frames until an ACCEPTED up to `next_index`; returns all that was refused on the way.
  std::vector<wire::RefusedRange> wait_accepted(uint64_t next_index);
  /// As probe: one round trip.
  wire::ProbeReply ask_clock();
  /// As probe: asks until the broker's clock is past `ns`.
  void wait_for_broker_clock(int64_t ns);

  /// Something can be read at this moment.
  bool readable();
  /// The next frame but HEARTBEAT; none at the end of the stream. Throws after the patience.
  std::optional<ReadFrame> read(bool heartbeats_too = false);
  /// After read() gave none: the stream did not end in order.
  bool was_reset() const { return reset_; }
  /// Everything to the end of the stream.
  Received receive_all();
  /// Everything until so many records are there.
  Received receive(size_t records);
  /// Adds what one frame says. Throws on a frame that a receiver does not get.
  void take(const ReadFrame& frame, Received& received);
  /// Frames until ERROR or the end of the stream.
  std::optional<wire::Error> read_error();
  void close() { fd_.reset(); }
  /// Closes with a reset: the other end learns of it at once.
  void reset();
  int fd() const { return fd_.get(); }

 private:
  net::Fd fd_;
  bool reset_ = false;
  wire::FrameReader reader_;
  wire::Welcome welcome_;
  std::vector<std::pair<uint32_t, int64_t>> last_index_;
};

/// Returns when a probe is let in: whoever took the last place is gone. Throws after the patience.
void wait_for_a_place(uint16_t port);

/// Messages `from` to below `to` as PUBLISH frames of at most `frame_bytes_max`.
wire::Bytes publish_frames(uint32_t sender, uint64_t from, uint64_t to, size_t payload_bytes, size_t frame_bytes_max);

}  // namespace n2nq::support
