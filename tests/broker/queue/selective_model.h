// SPDX-License-Identifier: GPL-3.0-or-later
// What selective_life.h knows of each message and each receiver.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "broker/wire/messages.h"

namespace n2nq::support {

struct Message {
  uint32_t sender = 0;
  uint64_t index = 0;
  uint32_t size = 0;
  int64_t taken_in_ns = 0;
  bool left = false;     // the queue
  bool expired = false;  // that was why
  // For each receiver (mode 1), or at [0] for all (mode 2).
  enum class With { none, batch, flight, owed, done, skipped };
  std::vector<With> with;
};
using With = Message::With;

struct Sent {
  size_t message = 0;
  uint16_t attempt = 1;
  uint16_t flags = 0;
};

struct Receiver {
  std::vector<wire::Rule> list{wire::Rule()};
  std::vector<wire::Rule> list_before = list;  // another one while that is on its way into force
  uint64_t credit = 0;
  struct Flight {
    Sent sent;
    int64_t deadline_ns = 0;
    bool open = true;
    bool answered = false;
  };
  std::vector<Flight> flights;  // by delivery number
  std::vector<Sent> batch;      // what is under way
  wire::Bytes batch_bytes;
  std::set<size_t> handed;
  std::map<uint32_t, int64_t> last_unmarked;
  uint64_t open() const {
    return static_cast<uint64_t>(std::count_if(flights.begin(), flights.end(), [](const Flight& flight) { return flight.open; }));
  }
};

}  // namespace n2nq::support
