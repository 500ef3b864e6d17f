// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/send_ring.h"

#include <liburing.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace n2nq::net {

namespace {

IoResult outcome(int result) {
  if (result >= 0) return {IoStatus::done, static_cast<size_t>(result), 0};
  // Interrupted before it began: as with a full socket, epoll says at once when to try again.
  if (result == -EAGAIN || result == -EINTR) return {IoStatus::again, 0, 0};
  return {IoStatus::failed, 0, -result};
}

}  // namespace

struct SendRing::Ring {
  io_uring uring{};
  bool made = false;

  /// 0, or errno.
  int make() {
    io_uring_params params{};
    // One thread submits, and waits for all at once: the kernel need not interrupt it, nor guard against others (Linux 6.1).
    params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    int result = io_uring_queue_init_params(writes_max, &uring, &params);
    if (result == -EINVAL) {
      params = {};
      result = io_uring_queue_init_params(writes_max, &uring, &params);
    }
    made = result == 0;
    return -result;
  }
  /// IORING_OP_SEND came with Linux 5.6.
  bool can_send() {
    io_uring_probe* probe = io_uring_get_probe_ring(&uring);
    const bool can = probe && io_uring_opcode_supported(probe, IORING_OP_SEND);
    io_uring_free_probe(probe);
    return can;
  }
  ~Ring() {
    if (made) io_uring_queue_exit(&uring);
  }
};

std::string SendRing::problem() {
  Ring ring;
  if (const int error = ring.make(); error != 0) {
    const char* why = error == ENOSYS ? "it has none" : error == EPERM || error == EACCES ? "it is forbidden here" : std::strerror(error);
    return std::string("the kernel gives no io_uring: ") + why;
  }
  if (!ring.can_send()) return "the kernel's io_uring cannot send (Linux 5.6 is the first that can)";
  return {};
}

SendRing::SendRing() : ring_(std::make_unique<Ring>()), bytes_(writes_max * write_bytes_max), results_(writes_max) {
  if (const int error = ring_->make(); error != 0) throw std::system_error(error, std::generic_category(), "io_uring_setup");
}

SendRing::~SendRing() = default;

void SendRing::add(int fd, const iovec* pieces, int count) {
  uint8_t* const slot = bytes_.data() + waiting_ * write_bytes_max;
  size_t size = 0;
  for (int i = 0; i < count; ++i) {
    std::memcpy(slot + size, pieces[i].iov_base, pieces[i].iov_len);
    size += pieces[i].iov_len;
  }
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_->uring);  // there is one for each write of a submit
  // MSG_DONTWAIT: a full socket is told at once, instead of being waited for inside the kernel.
  io_uring_prep_send(entry, fd, slot, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  io_uring_sqe_set_data64(entry, waiting_);
  results_[waiting_] = {IoStatus::again, 0, 0};
  ++waiting_;
}

std::span<const IoResult> SendRing::submit() {
  const size_t count = std::exchange(waiting_, 0);
  size_t submitted = 0, told = 0;
  while (told < count) {
    const int result = io_uring_submit_and_wait(&ring_->uring, static_cast<unsigned>(count - told));
    if (result < 0 && result != -EINTR) {
      error_ = -result;
      break;
    }
    if (result > 0) submitted += static_cast<size_t>(result);
    io_uring_cqe* entry = nullptr;
    unsigned head = 0, seen = 0;
    io_uring_for_each_cqe(&ring_->uring, head, entry) {
      ++seen;
      results_[io_uring_cqe_get_data64(entry)] = outcome(entry->res);
    }
    io_uring_cq_advance(&ring_->uring, seen);
    told += seen;
    if (submitted < count && told == submitted && result == 0) {
      error_ = EAGAIN;  // it neither takes the rest nor says why
      break;
    }
  }
  return {results_.data(), count};
}

}  // namespace n2nq::net
