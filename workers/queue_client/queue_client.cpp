// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/queue_client/queue_client.h"

#include "workers/queue_client/floor_client.h"
#include "workers/queue_client/n2nq_client.h"

namespace n2nq::worker {

bool queue_system_exists(std::string_view system) {
  return system == "n2nq" || system == "floor";
}

std::unique_ptr<QueueClient> make_queue_client(std::string_view system, net::EventLoop& loop, const net::SocketAddress& address,
                                               const ClientIdentity& identity, QueueHandler& handler) {
  if (system == "n2nq") return std::make_unique<N2nqClient>(loop, address, identity, handler);
  if (system == "floor") return std::make_unique<FloorClient>(loop, address, identity, handler);
  return nullptr;
}

}  // namespace n2nq::worker
