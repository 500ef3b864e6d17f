// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/write_deadline.h"

#include <utility>

#include "broker/net/liveness.h"

namespace n2nq {

WriteDeadline::WriteDeadline(net::EventLoop& loop, int64_t length_ns, std::function<void()> passed)
    : loop_(loop), length_ns_(length_ns), passed_(std::move(passed)), timer_(loop, [this] { ring(); }) {}

void WriteDeadline::watch(uint64_t batch, const net::Connection& connection) {
  // A long batch takes its time over a slow link: who takes that much of it is not standing still.
  if (connection_ && batch_ == batch && taken_bytes_ < net::Progress::bytes_min) return;
  connection_ = &connection;
  batch_ = batch;
  arm(connection.unacknowledged_bytes());
}

void WriteDeadline::disarm() {
  if (std::exchange(connection_, nullptr)) timer_.disarm();
}

void WriteDeadline::arm(uint64_t underway_bytes) {
  taken_bytes_ = 0;
  underway_bytes_ = underway_bytes;
  timer_.arm(loop_.woke_ns() + length_ns_);
}

void WriteDeadline::ring() {
  if (!connection_->has_no_room()) {
    // There is room that was not looked at yet, because this process itself stood still: that is not the receiver's slowness. What is to be
    // written is written at the end of this wake-up, with a deadline of its own.
    connection_ = nullptr;
    return;
  }
  // A socket that was full has room again when a third of it has gone, which may be MiB: more than a slow link takes in that time.
  const uint64_t underway_bytes = connection_->unacknowledged_bytes();
  if (underway_bytes_ + taken_bytes_ >= underway_bytes + net::Progress::bytes_min) return arm(underway_bytes);
  passed_();
}

}  // namespace n2nq
