// SPDX-License-Identifier: GPL-3.0-or-later
// What the broker is told by `configure`, checked: one struct, grouped by subject.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "broker/net/tcp.h"
#include "broker/queue/queue.h"
#include "broker/wire/messages.h"

namespace n2nq {

/// The same limits, with ranges and the reason for each, are settings of the bench: docs/settings.md, limits.*.
struct Limits {
  size_t memory_bytes = 256 * 1024 * 1024;   // of queued messages; at it the broker stops reading from senders
  size_t pending_bytes = 64 * 1024 * 1024;   // backlog of one receiver; beyond it the receiver is cut off
  int64_t write_deadline_ms = 10'000;        // for one batch; beyond it the receiver is cut off
  uint32_t message_bytes_max = 1024 * 1024;  // payload
  int64_t handshake_deadline_ms = 2'000;     // from accept to a complete HELLO
  uint32_t heartbeat_ms = 10'000;            // 0: none
  size_t sessions_max = 4096;                // connections at a time
  int64_t reconnect_deadline_ms = 10'000;    // a sender that is gone longer counts as ended
  int64_t drain_ms = 5'000;                  // from `stop` to the end
};

enum class Io { epoll, io_uring };

struct Options {
  std::string run;
  wire::Token token{};
  bool token_required = false;
  net::SocketAddress listen;
  bool listen_unix = false;  // also on a Unix-domain socket, for services of this host
  Io io = Io::epoll;         // io_uring: receivers' writes of a wake-up go to the kernel together (SendRing)
  int64_t spin_us = 0;       // EventLoop::set_spin()
  QueueOptions queue;        // with the numbers of senders and receivers, and the seed
  Limits limits;
  std::string log_file;  // empty: none
};

/// Throws net::SectionError.
Options parse_options(const nlohmann::json& configure);

}  // namespace n2nq
