// SPDX-License-Identifier: GPL-3.0-or-later
// What the queue hands over, against what the model lets it.
#include "tests/broker/queue/selective_life.h"

namespace n2nq::support {

void Life::write(uint32_t number, size_t bytes_max) {
  Receiver& receiver = of_number(number);
  if (!queue_->batch(number).under_way()) {
    if (!queue_->has_next(number)) return;
    const uint64_t room_before = room(number);
    queue_->begin_batch(number, now_ns_);
    read_batch(number, room_before);
    if (::testing::Test::HasFailure()) return;
  }
  const size_t taken = std::min(bytes_max, receiver.batch_bytes.size());
  receiver.batch_bytes.erase(receiver.batch_bytes.begin(), receiver.batch_bytes.begin() + static_cast<ptrdiff_t>(taken));
  pieces_.clear();
  queue_->gather(number, pieces_);
  queue_->taken(number, taken, now_ns_);
  if (queue_->batch(number).under_way()) return;
  for (const Sent& sent : std::exchange(receiver.batch, {})) {
    note_handed_over(number, sent);
    if (options_.responses) receiver.flights.push_back({sent, now_ns_ + options_.responses_deadline_ns, true, false});
  }
}

void Life::read_batch(uint32_t number, uint64_t room_before) {
  Receiver& receiver = of_number(number);
  pieces_.clear();
  queue_->gather(number, pieces_);
  receiver.batch_bytes.clear();
  for (int i = 0; i < pieces_.count(); ++i) {
    const auto* bytes = static_cast<const uint8_t*>(pieces_.data()[i].iov_base);
    receiver.batch_bytes.insert(receiver.batch_bytes.end(), bytes, bytes + pieces_.data()[i].iov_len);
  }
  ASSERT_EQ(receiver.batch_bytes.size(), Batch::head_bytes + queue_->batch(number).record_bytes);
  wire::RecordWalk walk(wire::ByteView(receiver.batch_bytes).subspan(Batch::head_bytes));
  while (const auto record = walk.next()) {
    const wire::RecordHeader header = wire::read_record_header(record->data());
    EXPECT_EQ(wire::compute_record_checksum(record->data()), header.checksum);
    const Sent sent{by_identity_.at({header.sender, header.index}), header.attempt, header.flags};
    ASSERT_NO_FATAL_FAILURE(check_delivery(number, sent));
    receiver.batch.push_back(sent);
    with(sent.message, number) = With::batch;
  }
  EXPECT_EQ(receiver.batch.size(), queue_->batch(number).messages);
  EXPECT_LE(receiver.batch.size(), room_before) << "more than credit and window allow";
  if (options_.requests) receiver.credit -= receiver.batch.size();
}

void Life::check_delivery(uint32_t number, const Sent& sent) {
  const Message& message = messages_[sent.message];
  SCOPED_TRACE("receiver " + std::to_string(number) + ", message " + std::to_string(message.sender) + ":" + std::to_string(message.index));
  EXPECT_FALSE(message.left) << "it had left the queue";
  const bool redelivered = sent.flags & wire::flag_redelivered;
  const With before = with(sent.message, number);
  if (before == With::owed) {
    EXPECT_TRUE(redelivered || !of_number(number).handed.contains(sent.message));
  } else {
    EXPECT_EQ(before, With::none);
    EXPECT_TRUE(matches(of_number(number).list, message)) << "nobody asked for it";
    EXPECT_FALSE(mode1() && redelivered);
    for (uint32_t other = 1; other <= options_.receivers && !redelivered; ++other) {
      const bool counts = !mode1() || other == number;
      EXPECT_FALSE(counts && of_number(other).handed.contains(sent.message)) << "twice, and not marked";
    }
  }
  EXPECT_EQ(redelivered, sent.attempt > 1);
  if (mode1() && before == With::none) {
    // The oldest one first.
    for (size_t i = 0; i < sent.message; ++i) EXPECT_FALSE(is_for(number, i)) << "message " << i << " is older";
  }
}

bool Life::is_for(uint32_t number, size_t i) {
  if (messages_[i].left) return false;
  if (with(i, number) == With::owed) return true;
  return with(i, number) == With::none && matches(of_number(number).list, messages_[i]);
}

void Life::check_progress() {
  if (!mode1()) {
    while (queue_->work(100) > 0) continue;  // what comes back of new kinds waits for that
    // What is assigned shows only in batches.
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      if (state(number) != State::connected) continue;
      do {
        write(number, SIZE_MAX);
      } while (queue_->has_next(number) && !::testing::Test::HasFailure());
    }
  }
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    if (state(number) != State::connected || room(number) == 0 || queue_->batch(number).under_way()) continue;
    bool something = false;
    size_t which = 0;
    for (size_t i = 0; i < messages_.size() && !something; which = i++) something = is_for(number, i);
    EXPECT_EQ(queue_->has_next(number), something)
        << messages_[which].sender << ":" << messages_[which].index << " for receiver " << number << " at step " << step_;
  }
  bool any = false;
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    const bool busy = !of_number(number).batch.empty() || of_number(number).open() > 0;
    bool some = busy;
    for (size_t i = 0; i < messages_.size() && !some; ++i) some = is_for(number, i);
    some &= expected(number) || (!mode1() && busy);  // what a receiver that leaves does not take, others get
    EXPECT_EQ(mode1() ? queue_->drained(number) : !some, !some) << "receiver " << number << " at step " << step_;
    any |= some;
  }
  const bool shows = mode1() || options_.requests;
  EXPECT_EQ(shows ? queue_->drained() : !any, !any) << "at step " << step_;
}

}  // namespace n2nq::support
