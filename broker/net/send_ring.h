// SPDX-License-Identifier: GPL-3.0-or-later
// Many small writes to many sockets with one system call, where the kernel has io_uring (Linux 5.6 and later, and not forbidden).
//
// Writes are added, which copies their bytes, and then submitted together; each comes out as a write_some() of its own would: what the
// socket does not take at once is the caller's again. Nothing is under way between two submits. Belongs to one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "broker/net/tcp.h"
#include "broker/wire/bytes.h"

namespace n2nq::net {

class SendRing {
 public:
  /// Of one submit, and of one write: a larger one costs more than the system call it saves.
  static constexpr size_t writes_max = 256;
  static constexpr size_t write_bytes_max = 16 * 1024;

  /// Why this kernel gives none, as a sentence; empty: it does.
  static std::string problem();

  /// Throws std::system_error when the kernel gives none.
  SendRing();
  ~SendRing();
  SendRing(const SendRing&) = delete;
  SendRing& operator=(const SendRing&) = delete;

  size_t waiting() const { return waiting_; }
  bool full() const { return waiting_ == writes_max; }
  /// Not while full(); the pieces have at most write_bytes_max together. The socket must stay open until submit().
  void add(int fd, const iovec* pieces, int count);
  /// Offers all that was added to the kernel. The outcomes, in the order of adding, are valid until the next add().
  std::span<const IoResult> submit();
  /// Once the kernel has refused a submit (it is out of memory, say). Of what it refused, submit() says that nothing was taken; the ring
  /// must not be used any more. `error` is its errno.
  bool failed() const { return error_ != 0; }
  int error() const { return error_; }

 private:
  struct Ring;  // liburing's, which wants C's headers

  std::unique_ptr<Ring> ring_;
  wire::Bytes bytes_;  // write_bytes_max for each write
  std::vector<IoResult> results_;
  size_t waiting_ = 0;
  int error_ = 0;
};

}  // namespace n2nq::net
