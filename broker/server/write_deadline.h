// SPDX-License-Identifier: GPL-3.0-or-later
// Tells a receiver that stands still from one behind a slow link: by when of what is under way to it a batch, or 64 KiB of a longer one, has
// to be gone. The loop's thread.
#pragma once

#include <cstdint>
#include <functional>

#include "broker/net/connection.h"
#include "broker/net/event_loop.h"

namespace n2nq {

class WriteDeadline {
 public:
  /// `passed` is called once for each deadline that was not kept.
  WriteDeadline(net::EventLoop& loop, int64_t length_ns, std::function<void()> passed);
  WriteDeadline(const WriteDeadline&) = delete;
  WriteDeadline& operator=(const WriteDeadline&) = delete;

  /// Something waits for room: of that batch, a number that another one does not have. The connection stays until disarm().
  void watch(uint64_t batch, const net::Connection& connection);
  /// The kernel took so many bytes more of it.
  void took(uint64_t bytes) { taken_bytes_ += bytes; }
  /// Nothing waits any more.
  void disarm();

 private:
  void arm(uint64_t underway_bytes);
  void ring();

  net::EventLoop& loop_;
  const int64_t length_ns_;
  const std::function<void()> passed_;
  net::Timer timer_;
  const net::Connection* connection_ = nullptr;  // null: not armed
  uint64_t batch_ = 0;
  uint64_t taken_bytes_ = 0;     // since it was armed
  uint64_t underway_bytes_ = 0;  // then: what the kernel had, and the receiver's had not acknowledged
};

}  // namespace n2nq
