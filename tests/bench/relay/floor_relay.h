// SPDX-License-Identifier: GPL-3.0-or-later
// The floor: a bare relay that N2NQ is compared with. One thread, epoll. Records come in from senders and go out to all receivers, or to
// one of them in turn; no queue, no checks, no stamps. What a receiver's socket does not take waits in a ring; when a ring is nearly full
// the relay stops reading, so that it never holds more than its rings.
//
//   client -> relay   u32 role (1 sender, 2 receiver), u32 number     relay -> client   8 bytes of 0
//   sender -> relay   records (docs/wire-protocol.md, 64 KiB at most), then the end of the stream; the relay closes
//   relay -> receiver records; when all senders have ended, one of sender 0 whose index is the number of records before it
//
// In the steady state it makes no system call but epoll_wait, recv and send (the kind that does what N2NQ does about its core yields, and
// wakes a thread, too), and allocates nothing.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "broker/net/core_keeper.h"
#include "broker/net/courtesy.h"
#include "broker/net/fd.h"
#include "tests/bench/relay/byte_ring.h"

namespace n2nq::bench {

enum class Pattern { broadcast, balance };
/// One write per receiver for each read of a sender, or for all that one epoll_wait said; the latter also with what N2NQ does about its core:
/// it lets who woke it go first (courtesy.h), and keeps many receivers off its core (core_keeper.h).
enum class WriteAfter { each_read, each_wake_up, each_wake_up_kept };

class FloorRelay {
 public:
  FloorRelay(Pattern pattern, WriteAfter write_after, unsigned senders, unsigned receivers);

  std::uint16_t port() const;
  /// Until standard input ends. Throws std::system_error.
  void run();

 private:
  struct Client {
    enum class Kind { unknown, sender, receiver } kind = Kind::unknown;
    net::Fd fd;
    std::vector<std::uint8_t> rest;  // sender: the beginning of a record that is not whole yet
    ByteRing ring;                   // receiver: what waits for it (balance)
    std::uint64_t sent = 0;          // receiver: bytes of its ring, or of the common one, that the kernel has
    std::uint64_t records = 0;       // receiver: given to it (balance)
    bool blocked = false;            // receiver: its socket is full
    bool marked = false;             // receiver: something is new for it (balance)
  };

  void serve(const epoll_event& event);
  void accept_client();
  void greet(Client& client);
  void read_from(Client& sender);
  std::size_t take(const std::uint8_t* records, std::size_t bytes);
  void give_to_next(const std::uint8_t* record, std::size_t bytes);
  void end_sender(Client& sender);
  int wait();
  void keep_core();
  void write_all();
  void write_to(Client& receiver);
  ByteRing& ring_of(Client& receiver) { return pattern_ == Pattern::broadcast ? common_ : receiver.ring; }
  void free_common();
  bool has_room();

  const Pattern pattern_;
  const WriteAfter write_after_;
  const unsigned senders_;
  net::Fd listener_;
  net::Fd everybody_;  // epoll: all clients
  net::Fd the_rest_;   // epoll: all but the senders, to wait on while there is no room
  std::deque<Client> clients_;
  std::vector<Client*> receiving_;  // receivers, in the order they came
  std::vector<Client*> fresh_;      // receivers with something new (balance)
  std::size_t turn_ = 0;
  unsigned ended_ = 0;
  ByteRing common_;            // broadcast: what came in, read in place
  std::uint64_t records_ = 0;  // of all senders
  std::uint64_t written_records_ = 0;
  net::Courtesy courtesy_;
  std::unique_ptr<net::CoreKeeper> core_keeper_;  // null: not kept
  ByteRing input_;             // balance: one read
  std::array<epoll_event, 512> events_{};
  bool tight_ = false;  // balance: some ring may be nearly full
  bool stopped_ = false;
};

}  // namespace n2nq::bench
