// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/queue.h"

#include <stdexcept>
#include <utility>

#include "broker/queue/broadcaster.h"
#include "broker/queue/load_balancer.h"
#include "broker/queue/sabotage.h"
#include "broker/queue/selective_balancer.h"
#include "broker/queue/selective_broadcaster.h"
#include "broker/wire/record.h"

namespace n2nq {

void Batch::begin(size_t record_bytes_in_it, uint64_t messages_in_it, int64_t now_ns) {
  record_bytes = record_bytes_in_it;
  messages = messages_in_it;
  written = 0;
  const size_t body_bytes = wire::deliver_prefix_bytes + record_bytes;
  wire::write_frame_header(head.data(), wire::FrameType::deliver, static_cast<uint32_t>(body_bytes));
  wire::store(head.data() + stamp_at, now_ns);
}

std::unique_ptr<Queue> Queue::make(const QueueOptions& options) {
  const bool selective = options.responses || options.requests;
  if (options.mode == wire::QueueMode::broadcaster) {
    if (selective) return std::make_unique<SelectiveBroadcaster>(options);
    return std::make_unique<Broadcaster>(options);
  }
  if (selective) return std::make_unique<SelectiveBalancer>(options);
  return std::make_unique<LoadBalancer>(options);
}

Queue::Queue(const QueueOptions& options, MessageLog::Holds holds)
    : options_(options), log_(holds), still_queued_(options.receivers), accounts_(options.receivers), batches_(options.receivers) {}

void Queue::take_in(wire::ByteView records, size_t messages, int64_t taken_in_ns) {
  while (messages > 0) {
    const MessageLog::Appended appended = log_.append(records, messages);
    appended.for_each([taken_in_ns](uint8_t* record, size_t, uint32_t) {
      wire::set_record_taken_in_ns(record, taken_in_ns);
      const bool warm_up = (wire::record_flags(record) & wire::flag_warm_up) != 0 && !sabotage::now(sabotage::Way::unmarked);
      wire::set_record_flags(record, warm_up ? wire::flag_warm_up : uint16_t{0});
      wire::set_record_attempt(record, 1);
    });
    on_taken_in(appended);
    records = records.subspan(appended.bytes);
    messages -= appended.messages;
  }
}

void Queue::gather(uint32_t receiver, Pieces& pieces) {
  const Batch& batch = batches_[receiver - 1];
  if (batch.written < Batch::head_bytes) pieces.add(wire::ByteView(batch.head).subspan(batch.written));
  gather_records(receiver, batch.records_written(), pieces);
}

Queue::Confirmed Queue::confirm(uint32_t, uint64_t, uint32_t, bool) {
  throw std::logic_error("this queue was made without responses");
}

std::string Queue::set_rules(uint32_t, const std::vector<wire::Rule>&, uint64_t, bool) {
  throw std::logic_error("this queue was made without requests");
}

void Queue::add_credit(uint32_t, uint64_t) {
  throw std::logic_error("this queue was made without requests");
}

void Queue::taken(uint32_t receiver, size_t bytes, int64_t now_ns) {
  Batch& batch = batches_[receiver - 1];
  batch.written += bytes;
  if (!batch.complete()) return;
  account_of(receiver).handed_over += batch.messages + sabotage::now(sabotage::Way::count_one_more);
  complete_batch(receiver, now_ns);
  batch.record_bytes = 0;
}

const std::vector<uint32_t>& Queue::take_ready() {
  ready_.clear();
  collect_ready(ready_);
  return ready_;
}

SkippedSets Queue::take_untold(uint32_t receiver) {
  account_of(receiver).has_untold = false;
  return std::exchange(account_of(receiver).untold, SkippedSets());
}

size_t Queue::books_bytes() const {
  size_t bytes = 0;
  const auto add = [&bytes](const SkippedSets& sets) {
    for (const SenderSets& set : sets) bytes += set.bytes();
  };
  add(total_.skipped);
  for (const ReceiverAccount& account : accounts_) {
    add(account.skipped);
    add(account.untold);
    bytes += account.unsettled.bytes();
  }
  for (const SenderSets& sets : still_queued_) bytes += sets.bytes();
  return bytes;
}

size_t Queue::account_text_bytes() const {
  size_t bytes = 0;
  const auto add = [&bytes](const SkippedSets& sets) {
    for (const SenderSets& set : sets) bytes += set.text_bytes();
  };
  add(total_.skipped);
  for (const ReceiverAccount& account : accounts_) {
    if (options_.mode == wire::QueueMode::broadcaster) add(account.skipped);
    bytes += account.unsettled.text_bytes();
  }
  return bytes;
}

void Queue::give_back_untold(uint32_t receiver, const SkippedSets& rest) {
  account_of(receiver).has_untold = true;
  for (size_t i = 0; i < rest.size(); ++i) account_of(receiver).untold[i] += rest[i];
}

void Queue::skip(uint32_t receiver, wire::SkipReason reason, uint32_t sender, uint64_t index) {
  ReceiverAccount& account = account_of(receiver);
  of(account.skipped, reason).add(sender, index);
  of(account.untold, reason).add(sender, index);
  account.has_untold = true;
}

void Queue::skip(uint32_t receiver, wire::SkipReason reason, const SenderSets& sets) {
  if (sets.empty() || (reason == wire::SkipReason::expired && sabotage::now(sabotage::Way::lose_expired))) return;
  ReceiverAccount& account = account_of(receiver);
  of(account.skipped, reason) += sets;
  of(account.untold, reason) += sets;
  account.has_untold = true;
}

size_t Queue::skip_unsettled(uint32_t receiver) {
  const SenderSets sets = std::exchange(account_of(receiver).unsettled, {});
  skip(receiver, wire::SkipReason::unrequested, sets);
  return 2 * sets.bytes();
}

bool Queue::is_expired(const uint8_t* record, int64_t now_ns) const {
  return wire::record_taken_in_ns(record) + options_.retention_ns <= now_ns;
}

}  // namespace n2nq
