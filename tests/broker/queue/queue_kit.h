// SPDX-License-Identifier: GPL-3.0-or-later
// Drives a queue without sockets: messages go in, pretend kernels take bytes, and what came out is read as a receiver would.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker/queue/queue.h"
#include "broker/wire/frame.h"
#include "broker/wire/record.h"
#include "tests/broker/support/seed_frames.h"

namespace n2nq::support {

struct Delivered {
  uint32_t sender = 0;
  uint64_t index = 0;
  uint16_t flags = 0;
  uint16_t attempt = 0;
  int64_t taken_in_ns = 0;
  int64_t sent_on_ns = 0;
  bool operator==(const Delivered&) const = default;
};

/// One connection of one receiver: the bytes the kernel took, and the messages that are whole among them.
class PretendReceiver {
 public:
  void receive(wire::ByteView bytes) {
    stream_.insert(stream_.end(), bytes.begin(), bytes.end());
    while (true) {
      if (frame_end_ == 0) {
        if (unread() < Batch::head_bytes) return;
        const uint8_t* head = stream_.data() + read_;
        if (head[4] != static_cast<uint8_t>(wire::FrameType::deliver)) throw std::runtime_error("no DELIVER frame");
        frame_end_ = read_ + wire::frame_header_bytes + wire::load<uint32_t>(head);
        sent_on_ns_ = wire::load<int64_t>(head + wire::frame_header_bytes);
        read_ += Batch::head_bytes;
      }
      read_records();
      if (read_ < frame_end_) return;
      frame_end_ = 0;
      ++frames_;
    }
  }
  const std::vector<Delivered>& delivered() const { return delivered_; }
  /// Text like "1:0 1:1 2:0" (sender:index).
  std::string text() const {
    std::string out;
    for (const Delivered& one : delivered_) out += (out.empty() ? "" : " ") + std::to_string(one.sender) + ":" + std::to_string(one.index);
    return out;
  }
  size_t frames() const { return frames_; }

 private:
  size_t unread() const { return stream_.size() - read_; }
  void read_records() {
    while (read_ < frame_end_ && unread() >= wire::record_header_bytes) {
      const uint8_t* record = stream_.data() + read_;
      const wire::RecordHeader header = wire::read_record_header(record);
      if (unread() < header.record_bytes()) return;
      EXPECT_EQ(wire::compute_record_checksum(record), header.checksum);
      delivered_.push_back({header.sender, header.index, header.flags, header.attempt, header.taken_in_ns, sent_on_ns_});
      read_ += header.record_bytes();
    }
  }

  wire::Bytes stream_;
  size_t read_ = 0;
  size_t frame_end_ = 0;  // 0: between frames
  int64_t sent_on_ns_ = 0;
  size_t frames_ = 0;
  std::vector<Delivered> delivered_;
};

class QueueKit {
 public:
  explicit QueueKit(const QueueOptions& options) : options_(options), queue_(Queue::make(options)) {}

  Queue& queue() { return *queue_; }
  Queue* operator->() { return queue_.get(); }

  /// The sender's next message.
  void publish(uint32_t sender, int64_t now_ns = 0, size_t payload_bytes = 10) { publish_run(sender, {payload_bytes}, now_ns); }
  /// Its next ones, one behind the other in one read.
  void publish_run(uint32_t sender, const std::vector<size_t>& payload_bytes, int64_t now_ns = 0) {
    wire::Bytes run;
    for (const size_t bytes : payload_bytes) {
      const wire::Bytes record = make_record(sender, next_index_[sender], bytes);
      run.insert(run.end(), record.begin(), record.end());
      published_.add(sender, next_index_[sender]++);
    }
    queue_->take_in(run, payload_bytes.size(), now_ns);
  }
  const SenderSets& published() const { return published_; }

  /// As before each round: in the load balancer, a part of what was left behind.
  size_t pass_on() {
    if (options_.mode != wire::QueueMode::load_balancer) return 0;
    const size_t messages = options_.responses || options_.requests ? 0 : queue_->work(options_.rule_units_at_once);
    queue_->take_ready();
    return messages;
  }
  /// One write to this receiver, of which the kernel takes at most `bytes_max`. Returns how many it took.
  size_t write(uint32_t receiver, size_t bytes_max = SIZE_MAX, int64_t now_ns = 0) {
    if (!queue_->batch(receiver).under_way()) {
      pass_on();
      if (!queue_->has_next(receiver)) return 0;
      queue_->begin_batch(receiver, now_ns);
    }
    pieces_.clear();
    queue_->gather(receiver, pieces_);
    wire::Bytes offered;
    for (int i = 0; i < pieces_.count(); ++i) {
      const auto* bytes = static_cast<const uint8_t*>(pieces_.data()[i].iov_base);
      offered.insert(offered.end(), bytes, bytes + pieces_.data()[i].iov_len);
    }
    EXPECT_EQ(offered.size(), pieces_.bytes());
    const size_t taken = std::min(bytes_max, offered.size());
    connections_[receiver].back().receive(wire::ByteView(offered).first(taken));
    queue_->taken(receiver, taken, now_ns);
    return taken;
  }
  /// The common frame as one write; false when this receiver gets something else. Right behind take_ready().
  bool write_common(uint32_t receiver, size_t bytes_max = SIZE_MAX, int64_t now_ns = 0) {
    const std::span<uint8_t> frame = queue_->common_frame();
    if (!queue_->is_in_step(receiver)) return false;
    wire::store(frame.data() + Batch::stamp_at, now_ns);
    const size_t taken = std::min(bytes_max, frame.size());
    connections_[receiver].back().receive(frame.first(taken));
    if (taken == frame.size()) {
      queue_->taken_common(receiver);
    } else {
      queue_->begin_batch(receiver, now_ns);
      EXPECT_EQ(queue_->batch(receiver).record_bytes + Batch::head_bytes, frame.size());
      queue_->taken(receiver, taken, now_ns);
    }
    ++common_writes_;
    return true;
  }
  uint64_t common_writes() const { return common_writes_; }
  void write_all(uint32_t receiver, int64_t now_ns = 0) {
    while (write(receiver, SIZE_MAX, now_ns) > 0) {
    }
    queue_->trim();
  }

  void join(uint32_t receiver) {
    connections_[receiver].emplace_back();
    queue_->join(receiver);
  }
  void replace(uint32_t receiver) {
    queue_->replace(receiver);
    connections_[receiver].emplace_back();
  }

  /// Over all its connections.
  std::vector<Delivered> delivered(uint32_t receiver) const {
    std::vector<Delivered> all;
    const auto found = connections_.find(receiver);
    if (found == connections_.end()) return all;
    for (const auto& connection : found->second) all.insert(all.end(), connection.delivered().begin(), connection.delivered().end());
    return all;
  }
  std::string text(uint32_t receiver) { return connections_[receiver].back().text(); }
  const std::vector<PretendReceiver>& connections(uint32_t receiver) { return connections_[receiver]; }

 private:
  QueueOptions options_;
  std::unique_ptr<Queue> queue_;
  Pieces pieces_;
  uint64_t common_writes_ = 0;
  std::map<uint32_t, uint64_t> next_index_;
  SenderSets published_;
  std::map<uint32_t, std::vector<PretendReceiver>> connections_;
};

/// "1:0-4,6 2:0" (sender:set), the same for equal sets.
inline std::string text_of(const SenderSets& sets) {
  std::string out;
  for (const auto& [sender, set] : sets.sets()) {
    out += (out.empty() ? "" : " ") + std::to_string(sender);
    char before = ':';
    for (const auto& run : set.runs()) {
      out += std::exchange(before, ',') + std::to_string(run.from);
      if (run.to != run.from) out += '-' + std::to_string(run.to);
    }
  }
  return out;
}

}  // namespace n2nq::support
