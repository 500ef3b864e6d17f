// SPDX-License-Identifier: GPL-3.0-or-later
// What the queue counts, against what the model knows.
#include "tests/broker/queue/selective_life.h"

namespace n2nq::support {

SenderSets Life::sets_of(const std::set<size_t>& messages) const {
  SenderSets sets;
  for (const size_t i : messages) sets.add(messages_[i].sender, messages_[i].index);
  return sets;
}

void Life::check_books() {
  // In parts, and what came in meanwhile after that.
  for (int time = 0; time < 2; ++time) {
    while (queue_->settle(1 + below(400))) {
    }
  }
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    if (!expected(number)) continue;
    for (const SkipReason reason : {SkipReason::expired, SkipReason::unrequested, SkipReason::parked}) {
      EXPECT_EQ(text_of(of(queue_->account(number).skipped, reason)),
                text_of(sets_of(model_skipped_[number][static_cast<size_t>(reason) - 1])))
          << "receiver " << number << ", reason " << static_cast<int>(reason) << ", step " << step_;
    }
  }
}

void Life::add_disjoint(SenderSets& sum, const SenderSets& part, const char* what) {
  const uint64_t before = sum.count();
  sum += part;
  EXPECT_EQ(sum.count(), before + part.count()) << what << " overlaps: " << text_of(part);
}

void Life::close_each() {
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    SCOPED_TRACE("receiver " + std::to_string(number));
    still_queued_[number].merge(missed_leaving_[number]);  // the end let it go
    for (size_t i = 0; i < messages_.size(); ++i) {
      if (with(i, number) == With::owed) {
        still_queued_[number].insert(i);
      } else if (with(i, number) == With::none) {
        if (state(number) == State::cut_off) {
          skip(number, SkipReason::cut_off, i);
        } else if (state(number) == State::left || matches(of_number(number).list, messages_[i])) {
          still_queued_[number].insert(i);
        } else {
          skip(number, SkipReason::unrequested, i);
        }
      }
    }
    const ReceiverAccount& account = queue_->account(number);
    SenderSets sum = sets_of(done_[number]);
    EXPECT_EQ(account.handed_over, handed_over_[number]);
    EXPECT_EQ(account.confirmed, confirmed_[number]);
    for (const SkipReason reason : {SkipReason::expired, SkipReason::unrequested, SkipReason::parked, SkipReason::cut_off}) {
      EXPECT_EQ(text_of(of(account.skipped, reason)), text_of(sets_of(model_skipped_[number][static_cast<size_t>(reason) - 1])))
          << static_cast<int>(reason);
      add_disjoint(sum, of(account.skipped, reason), "skipped");
    }
    EXPECT_EQ(text_of(queue_->still_queued(number)), text_of(sets_of(still_queued_[number])));
    add_disjoint(sum, queue_->still_queued(number), "still queued");
    ASSERT_EQ(text_of(sum), text_of(published_));
  }
}

void Life::close_total() {
  std::set<size_t> still_queued;
  for (size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].left || (with(i, 0) != With::none && with(i, 0) != With::owed)) continue;
    if (with(i, 0) == With::owed || is_wanted(i, queue_->total().still_queued)) {
      still_queued.insert(i);
    } else {
      skip(0, SkipReason::unrequested, i);
    }
  }
  SenderSets sum = sets_of(done_[0]);
  for (const SkipReason reason : {SkipReason::expired, SkipReason::unrequested, SkipReason::parked, SkipReason::cut_off}) {
    EXPECT_EQ(text_of(of(queue_->total().skipped, reason)), text_of(sets_of(model_skipped_[0][static_cast<size_t>(reason) - 1])))
        << static_cast<int>(reason);
    add_disjoint(sum, of(queue_->total().skipped, reason), "skipped");
  }
  EXPECT_EQ(text_of(queue_->total().still_queued), text_of(sets_of(still_queued)));
  add_disjoint(sum, queue_->total().still_queued, "still queued");
  ASSERT_EQ(text_of(sum), text_of(published_));
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    EXPECT_EQ(queue_->account(number).handed_over, handed_over_[number]);
    EXPECT_EQ(queue_->account(number).confirmed, confirmed_[number]);
  }
}

}  // namespace n2nq::support
