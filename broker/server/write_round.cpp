// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/write_round.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "broker/net/clock.h"

namespace n2nq {

namespace {

/// Batches for one receiver before the others get their turn.
constexpr int batches_per_round_max = 4;
/// Frames that say what it will not get, likewise.
constexpr int skipped_frames_per_round_max = 4;
/// From so many receivers in one round on their writes are given to the kernel together: for one the ring is dearer than a write.
constexpr size_t together_min = 3;
/// From so many receivers of this host in one round on this thread keeps them off its core: for fewer that costs more than it saves.
constexpr ptrdiff_t keep_core_min = 16;
/// Not when more messages came at once: the last ones are read sooner where all are written before anybody reads.
constexpr uint64_t keep_core_messages_max = 8;

/// Brings what a write needs of a session nearer while the one before it is written to.
void prefetch(const Session& session) {
  constexpr size_t line_bytes = 64, lines = 4;
  const auto* const first = reinterpret_cast<const uint8_t*>(&session);
  for (size_t line = 0; line < lines; ++line) __builtin_prefetch(first + line * line_bytes);
}

}  // namespace

WriteRound::WriteRound(net::EventLoop& loop, const Options& options, Queue& queue, EventLog& log, ReceiverSeats& seats, Tellings& tellings,
                       std::function<void(uint32_t)> look_after)
    : loop_(loop), options_(options), queue_(queue), log_(log), seats_(seats), tellings_(tellings), look_after_(std::move(look_after)),
      is_marked_(seats.count()), may_keep_core_(options.keep_core && net::CoreKeeper::is_of_use()) {
  if (options.io == Io::io_uring) {
    ring_ = std::make_unique<net::SendRing>();
    in_ring_.reserve(net::SendRing::writes_max);
  }
}

void WriteRound::mark(uint32_t number) {
  if (is_marked_[number - 1]) return;
  is_marked_[number - 1] = true;
  marked_.push_back(number);
}

/// Those for whom something is new, and those who were marked, each once.
void WriteRound::begin() {
  const std::vector<uint32_t>& ready = queue_.take_ready();
  if (marked_.empty()) {
    round_.assign(ready.begin(), ready.end());
    return;
  }
  for (const uint32_t number : ready) mark(number);
  round_.swap(marked_);
  for (const uint32_t number : round_) is_marked_[number - 1] = false;
}

/// Before writes that would bring many receivers onto this core.
void WriteRound::keep_core(ptrdiff_t within_host) {
  const uint64_t messages = queue_.messages_taken_in() - std::exchange(messages_before_, queue_.messages_taken_in());
  if (within_host < keep_core_min || messages > keep_core_messages_max || !may_keep_core_) return;
  if (std::ranges::count_if(round_, [this](uint32_t number) { return seats_.of(number).within_host; }) < keep_core_min) return;
  try {
    if (!core_keeper_) core_keeper_ = std::make_unique<net::CoreKeeper>();
    core_keeper_->keep();
  } catch (const std::system_error& error) {
    may_keep_core_ = false;
    log_.write(std::string("receivers are not kept off this core: ") + error.what());
  }
}

void WriteRound::write(ptrdiff_t within_host) {
  begin();
  keep_core(within_host);
  const bool together = ring_ && round_.size() >= together_min;
  if (together) stamp_common();
  size_t turn = round_.empty() ? 0 : ++turn_ % round_.size();
  for (size_t i = 0; i < round_.size(); ++i) {
    const uint32_t number = round_[turn];
    if (++turn == round_.size()) turn = 0;
    if (const Session* next = seats_.of(round_[turn]).session) prefetch(*next);
    if (together) {
      if (!add_to_ring(number)) apart_.push_back(number);
    } else if (!write_common(number)) {
      write_one(number);
    }
  }
  if (together && ring_) submit_ring();
  // What waits in the ring is stamped: much for others is not to be written before it goes.
  for (const uint32_t number : apart_) write_one(number);
  apart_.clear();
  round_.clear();
}

void WriteRound::write_one(uint32_t number) {
  const ReceiverSeat& seat = seats_.of(number);
  if (!seat.serving()) return;
  if (!seat.session->connection().waits_for_room()) {
    int batches = 0;
    while (write_control(number) && write_batch(number)) {
      if (++batches < batches_per_round_max) continue;
      mark(number);
      break;
    }
  }
  look_after_(number);
}

/// Whether the queue's common frame is the next thing to be written to it.
bool WriteRound::takes_common(uint32_t number) const {
  if (!queue_.is_in_step(number) || tellings_.any(number)) return false;
  const ReceiverSeat& seat = seats_.of(number);
  return seat.serving() && !seat.leaving && !seat.session->has_unsent() && !seat.session->connection().waits_for_room();
}

void WriteRound::stamp_common() {
  if (const std::span<uint8_t> frame = queue_.common_frame(); !frame.empty()) wire::store(frame.data() + Batch::stamp_at, net::now_ns());
}

/// False: it gets something else, or nothing.
bool WriteRound::write_common(uint32_t number) {
  if (!takes_common(number)) return false;
  stamp_common();
  settle_common(number, seats_.of(number).session->connection().write(queue_.common_frame()));
  return true;
}

void WriteRound::settle_common(uint32_t number, size_t bytes) {
  const std::span<const uint8_t> frame = queue_.common_frame();
  if (bytes < frame.size()) {
    queue_.begin_batch(number, wire::load<int64_t>(frame.data() + Batch::stamp_at));
    took(number, bytes);
    return look_after_(number);
  }
  queue_.taken_common(number);
  ReceiverSeat& seat = seats_.of(number);
  seat.moved_ns = loop_.woke_ns();
  seat.session->note_sent(loop_.woke_ns());
}

/// False: nothing of this receiver is in the ring, and it is to be written to on its own.
bool WriteRound::add_to_ring(uint32_t number) {
  if (!ring_) return false;  // it failed in this very round
  const ReceiverSeat& seat = seats_.of(number);
  const bool common = takes_common(number);
  if (common) {
    pieces_.clear();
    pieces_.gather(queue_.common_frame());
  } else {
    if (!seat.serving() || seat.session->connection().waits_for_room()) return false;
    // What is under way is the rest of a batch that was too much for its socket: no small one.
    if (queue_.batch(number).under_way() || queue_.backlog_bytes(number) > net::SendRing::write_bytes_max) return false;
    if (!write_control(number) || !gather_batch(number)) return false;
  }
  const size_t bytes = pieces_.bytes();
  if (bytes > net::SendRing::write_bytes_max) {
    // Its batch is stamped, as is what waits in the ring: neither is to wait for more than that.
    submit_ring();
    write_one(number);
    stamp_common();
    return true;
  }
  if (!seat.session->connection().add_to(*ring_, pieces_.data(), pieces_.count())) return false;
  in_ring_.push_back({number, bytes, common});
  if (ring_->full()) {
    submit_ring();
    stamp_common();  // for those who come behind these
  }
  return true;
}

void WriteRound::submit_ring() {
  const auto results = ring_->submit();
  for (size_t i = 0; i < in_ring_.size(); ++i) {
    const auto [number, bytes, common] = in_ring_[i];
    const size_t taken = seats_.of(number).session->connection().settle(results[i], bytes);
    if (common) {
      settle_common(number, taken);
      continue;
    }
    if (took(number, taken) && queue_.has_next(number)) mark(number);
    look_after_(number);
  }
  in_ring_.clear();
  if (!ring_->failed()) return;
  log_.write(std::string("io_uring failed (") + std::strerror(ring_->error()) + "): from here on each write is a call of its own");
  ring_.reset();
}

/// Frames that stand between batches. False: something is left, no batch may follow.
bool WriteRound::write_control(uint32_t number) {
  if (queue_.batch(number).under_way()) return true;
  const ReceiverSeat& seat = seats_.of(number);
  return seat.session->flush() && (seat.leaving || tell(number));  // who leaves is told at last, before its END
}

bool WriteRound::tell(uint32_t number) {
  for (int frames = 0; tellings_.any(number); ++frames) {
    if (frames == skipped_frames_per_round_max) return mark(number), false;
    ReceiverSeat& seat = seats_.of(number);
    // Each has the whole write deadline: it is a receiver that takes nothing who is too slow.
    seat.write_deadline->disarm();
    seat.moved_ns = loop_.woke_ns();
    tellings_.tell_some(number, seat.session->out());
    if (!seat.session->flush()) return false;
  }
  return true;
}

/// Puts what is to be written next into pieces_, stamped, unless it is the rest of what was; false: nothing is.
bool WriteRound::gather_batch(uint32_t number) {
  if (!queue_.batch(number).under_way()) {
    if (seats_.of(number).leaving || !queue_.has_next(number)) return false;
    queue_.begin_batch(number, net::now_ns());
  }
  pieces_.clear();
  queue_.gather(number, pieces_);
  return true;
}

/// True when a whole batch went out and there may be another one.
bool WriteRound::write_batch(uint32_t number) {
  if (!gather_batch(number)) return false;
  return took(number, seats_.of(number).session->connection().write(pieces_.data(), pieces_.count()));
}

/// The kernel took so much of what was gathered; true: all of the batch.
bool WriteRound::took(uint32_t number, size_t bytes) {
  // An answer has its whole time from here on, however long this wake-up has lasted.
  queue_.taken(number, bytes, options_.queue.responses ? net::now_ns() : loop_.woke_ns());
  if (bytes > 0) {
    ReceiverSeat& seat = seats_.of(number);
    seat.moved_ns = loop_.woke_ns();
    seat.write_deadline->took(bytes);
    seat.session->note_sent(loop_.woke_ns());
  }
  return !queue_.batch(number).under_way();
}

}  // namespace n2nq
