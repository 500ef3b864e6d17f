// SPDX-License-Identifier: GPL-3.0-or-later
// What the broker is told by `configure`, checked: one struct, grouped by subject.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "broker/net/tcp.h"
#include "broker/queue/queue.h"
#include "broker/wire/limits.h"
#include "broker/wire/messages.h"

namespace n2nq {

struct Limits {
  size_t memory_bytes = limits::memory_bytes.standard;              // of queued messages; at it the broker stops reading from senders
  size_t books_bytes = limits::books_bytes.standard;                // of what receivers did not get; beyond it the broker ends the run
  size_t pending_bytes = limits::pending_bytes.standard;            // backlog of one receiver; beyond it the receiver is cut off
  int64_t write_deadline_ms = limits::write_deadline_ms.standard;   // for one batch; beyond it the receiver is cut off
  uint32_t message_bytes_max = limits::message_bytes_max.standard;  // payload
  int64_t handshake_deadline_ms = limits::handshake_deadline_ms.standard;  // from accept to a complete HELLO
  uint32_t heartbeat_ms = limits::heartbeat_ms.standard;                   // 0: none
  size_t sessions_max = limits::sessions_max.standard;                     // connections at a time
  int64_t reconnect_deadline_ms = limits::reconnect_deadline_ms.standard;  // a sender that is gone longer counts as ended
  int64_t drain_ms = limits::drain_ms.standard;                            // from `stop` to the end
};

enum class Io { epoll, io_uring };

struct Options {
  std::string run;
  wire::Token token{};
  bool token_required = false;
  net::SocketAddress listen;
  bool takes_over = false;                     // for one that died: its services are expected back
  bool listen_unix = false;                    // also on a Unix-domain socket, for services of this host
  Io io = Io::epoll;                           // io_uring: receivers' writes of a wake-up go to the kernel together (SendRing)
  int64_t spin_us = limits::spin_us.standard;  // EventLoop::set_spin()
  bool keep_core = true;                       // CoreKeeper, where many receivers are on this host
  QueueOptions queue;                          // with the numbers of senders and receivers, and the seed
  Limits limits;
  std::string log_file;  // empty: none
};

/// Throws net::SectionError.
Options parse_options(const nlohmann::json& configure);

}  // namespace n2nq
