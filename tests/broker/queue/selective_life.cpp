// SPDX-License-Identifier: GPL-3.0-or-later
// What happens in the life: publishing, joining and leaving, rules, answers, deadlines and retention.
#include "tests/broker/queue/selective_life.h"

namespace n2nq::support {

bool Life::matches(const std::vector<Rule>& list, const Message& message) {
  return std::any_of(list.begin(), list.end(), [&](const Rule& rule) {
    return message.sender >= rule.sender_first && message.sender <= rule.sender_last && message.size >= rule.size_min &&
           message.size <= rule.size_max;
  });
}

uint64_t Life::room(uint32_t number) {
  const Receiver& receiver = of_number(number);
  const uint64_t by_credit = options_.requests ? receiver.credit : UINT64_MAX;
  const uint64_t unconfirmed = receiver.open() + receiver.batch.size();
  const uint64_t by_window =
      !options_.responses ? UINT64_MAX : options_.responses_window - std::min<uint64_t>(options_.responses_window, unconfirmed);
  return std::min(by_credit, by_window);
}

void Life::act(uint32_t number) {
  const bool connected = state(number) == State::connected, leaving = state(number) == State::leaving;
  switch (below(20)) {
    case 0:
    case 1:
      if (!connected && !leaving && state(number) != State::cut_off) join(number);
      break;
    case 2:
      if (connected && below(3) == 0) {
        break_off(number);
        queue_->lose(number);
      }
      break;
    case 3:
      if (connected && below(8) == 0) below(2) ? leave(number, false) : stop_giving(number);
      if (leaving && below(2) == 0) leave(number, false);
      if (state(number) == State::left && below(2) == 0) {
        if (mode1()) update_left();  // what it held back
        join(number);
      }
      break;
    case 4:
      if ((connected || leaving) && below(20) == 0) leave(number, true);
      break;
    case 5:
      if (connected && below(3) == 0) {
        break_off(number);
        queue_->replace(number);
        join(number);
      }
      if (leaving && below(3) == 0) {
        leave(number, false);
        join(number);
      }
      break;
    case 6:
    case 7:
      expire();
      break;
    case 8:
    case 9:
    case 10:
    case 11:
      for (uint64_t i = below(6); i > 0; --i) publish(1 + static_cast<uint32_t>(below(options_.senders)));
      break;
    case 12:
      if (options_.requests && connected) set_rules(number);
      break;
    case 13:
      if (options_.requests && connected) {
        const uint64_t more = below(10) == 0 ? 1000 : below(6);
        queue_->add_credit(number, more);
        of_number(number).credit += more;
      }
      break;
    case 14:
      if (options_.responses) pass_deadlines();
      break;
    case 15:
    case 16:
      if (options_.responses && (connected || leaving)) answer(number);
      break;
    default:
      if (connected || leaving) write(number, below(3) == 0 ? below(200) : SIZE_MAX);
  }
}

void Life::publish(uint32_t sender) {
  const size_t payload = below(30) == 0 ? 70'000 : below(100);
  Message message{sender, next_index_[sender], static_cast<uint32_t>(payload), now_ns_, false, false, {}};
  message.with.assign(mode1() ? options_.receivers + 1 : 1, With::none);
  by_identity_[{sender, message.index}] = messages_.size();
  messages_.push_back(message);
  published_.add(sender, message.index);
  queue_->take_in(support::make_record(sender, next_index_[sender]++, payload), 1, now_ns_);
}

void Life::join(uint32_t number) {
  const bool comes_back = state(number) == State::left;
  queue_->join(number);
  Receiver& receiver = of_number(number);
  receiver.credit = 0;
  receiver.flights.clear();
  if (!comes_back || !mode1()) return;
  for (size_t i = 0; i < messages_.size(); ++i) {
    // What is queued still it may have after all.
    if (messages_[i].left || with(i, number) != With::skipped) continue;
    if (final_[number].contains(i)) continue;
    with(i, number) = With::none;
    for (auto& set : model_skipped_[number]) set.erase(i);
    still_queued_[number].erase(i);
  }
}

void Life::skip(uint32_t number, SkipReason reason, size_t message) {
  with(message, number) = With::skipped;
  model_skipped_[mode1() ? number : 0][static_cast<size_t>(reason) - 1].insert(message);
}

void Life::break_off(uint32_t number) {
  Receiver& receiver = of_number(number);
  std::vector<Sent> unanswered;
  const size_t written = queue_->batch(number).under_way() ? queue_->batch(number).records_written() : 0;
  size_t sum = 0;
  for (const Sent& sent : receiver.batch) {
    sum += wire::record_header_bytes + messages_[sent.message].size;
    if (sum > written) {
      if (messages_[sent.message].left) {
        skip(number, SkipReason::expired, sent.message);
      } else {
        with(sent.message, number) = mode1() || closing_ ? With::owed : With::none;
      }
    } else {
      note_handed_over(number, sent);
      if (options_.responses) unanswered.push_back(sent);
    }
  }
  receiver.batch.clear();
  for (const Receiver::Flight& flight : receiver.flights) {
    if (flight.open) unanswered.push_back(flight.sent);
  }
  receiver.flights.clear();
  for (const Sent& sent : unanswered) again(number, sent, 0);
}

void Life::again(uint32_t number, const Sent& sent, uint32_t own_fault) {
  const uint32_t failures = failures_[{sent.message, mode1() ? number : 0}] += own_fault;
  if (messages_[sent.message].left) {
    skip(number, SkipReason::expired, sent.message);
  } else if (failures >= options_.responses_attempts_max && !closing_) {
    skip(number, SkipReason::parked, sent.message);
    if (mode1()) with(sent.message, number) = With::done;  // as far as the others are concerned
    if (!mode1()) messages_[sent.message].left = true;
  } else {
    with(sent.message, number) = mode1() || closing_ ? With::owed : With::none;
  }
}

void Life::note_handed_over(uint32_t number, const Sent& sent) {
  Receiver& receiver = of_number(number);
  ++handed_over_[number];
  receiver.handed.insert(sent.message);
  if (sent.flags == 0) {
    const Message& message = messages_[sent.message];
    int64_t& last = receiver.last_unmarked.try_emplace(message.sender, -1).first->second;
    EXPECT_GT(static_cast<int64_t>(message.index), last) << "out of order, and not marked: receiver " << number;
    last = static_cast<int64_t>(message.index);
  }
  if (!options_.responses) {
    with(sent.message, number) = With::done;
    if (!mode1()) messages_[sent.message].left = true;
    done_[mode1() ? number : 0].insert(sent.message);
  } else {
    with(sent.message, number) = With::flight;
  }
}

void Life::stop_giving(uint32_t number) {
  if (mode1()) miss_rest(number, false);
  queue_->stop_giving(number);
}

void Life::miss_rest(uint32_t number, bool cut) {
  const bool was_leaving = state(number) == State::leaving;
  update_left();
  for (size_t i = 0; i < messages_.size(); ++i) {
    const bool owed = with(i, number) == With::owed;
    if (!owed && (was_leaving || messages_[i].left || with(i, number) != With::none)) continue;
    const bool missed = owed || matches(of_number(number).list, messages_[i]);
    if (owed) final_[number].insert(i);
    if (!missed) {
      skip(number, SkipReason::unrequested, i);
    } else if (cut) {
      skip(number, SkipReason::cut_off, i);
    } else {
      with(i, number) = With::skipped;
      still_queued_[number].insert(i);
    }
  }
}

void Life::leave(uint32_t number, bool cut) {
  break_off(number);
  if (mode1()) miss_rest(number, cut);
  // What came in since it said so is booked by how it went.
  for (const size_t i : std::exchange(missed_leaving_[number], {})) {
    if (cut) skip(number, SkipReason::cut_off, i);
    else still_queued_[number].insert(i);
  }
  cut ? queue_->cut_off(number) : queue_->leave(number);
}

void Life::expire() {
  queue_->expire(now_ns_);
  for (size_t i = 0; i < messages_.size(); ++i) {
    Message& message = messages_[i];
    if (message.left || message.taken_in_ns + options_.retention_ns > now_ns_) continue;
    message.left = message.expired = true;
    mode1() ? expire_for_each(i) : expire_in_total(i);
  }
}

void Life::expire_for_each(size_t i) {
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    if (!expected(number) && with(i, number) != With::owed) {
      miss(number, i);
    } else if (with(i, number) == With::none) {
      skip(number, matches(of_number(number).list, messages_[i]) ? SkipReason::expired : SkipReason::unrequested, i);
    } else if (with(i, number) == With::owed) {
      skip(number, SkipReason::expired, i);
    }
  }
}

void Life::miss(uint32_t number, size_t i) {
  if (with(i, number) != With::none) return;
  with(i, number) = With::skipped;
  if (state(number) == State::left) still_queued_[number].insert(i);
  if (state(number) == State::leaving) missed_leaving_[number].insert(i);
  if (state(number) == State::cut_off) skip(number, SkipReason::cut_off, i);
}

void Life::expire_in_total(size_t i) {
  if (with(i, 0) != With::none) return;  // on its way
  const bool wanted = is_wanted(i, of(queue_->total().skipped, SkipReason::expired));
  skip(0, wanted ? SkipReason::expired : SkipReason::unrequested, i);
}

bool Life::is_wanted(size_t i, const SenderSets& said) const {
  if (!options_.requests) return true;
  bool may_be = false;
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    if (!expected(number)) continue;
    const bool asks = matches(receivers_[number].list, messages_[i]), asked = matches(receivers_[number].list_before, messages_[i]);
    if (asks && asked) return true;
    may_be |= asks || asked;
  }
  const auto set = said.sets().find(messages_[i].sender);
  return may_be && set != said.sets().end() && set->second.contains(messages_[i].index);
}

void Life::update_left() {
  while (queue_->work(1000) > 0) continue;  // what all have passed leaves in parts
  if (options_.removal != RemovalRule::when_all_have_it) return;
  for (size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].left) continue;
    bool one_asks = false;
    bool all_have_it = true;
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      const With with_it = with(i, number);
      all_have_it &= with_it != With::batch && with_it != With::flight && with_it != With::owed;
      if (!expected(number) || !matches(of_number(number).list, messages_[i])) continue;
      one_asks = true;
      all_have_it &= with_it == With::done || final_[number].contains(i);
    }
    if (!one_asks || !all_have_it) continue;
    messages_[i].left = true;
    for (uint32_t number = 1; number <= options_.receivers; ++number) {
      if (!expected(number)) {
        miss(number, i);
      } else if (with(i, number) == With::none) {
        skip(number, SkipReason::unrequested, i);
      }
    }
  }
}

void Life::ask_for_list(uint32_t number) {
  std::vector<Rule> list;
  for (uint64_t rules = below(4); rules > 0; --rules) {
    Rule rule;
    if (below(3)) {
      rule.sender_first = static_cast<uint32_t>(below(5));
      rule.sender_last = rule.sender_first + static_cast<uint32_t>(below(4));
    }
    if (below(3)) {
      rule.size_min = static_cast<uint32_t>(below(90));
      rule.size_max = rule.size_min + static_cast<uint32_t>(below(60));
    }
    list.push_back(rule);
  }
  EXPECT_EQ(queue_->set_rules(number, list, 1), "");
  of_number(number).list = list;
}

void Life::set_rules(uint32_t number) {
  Receiver& receiver = of_number(number);
  ask_for_list(number);
  const bool narrows = receiver.list_before == std::vector<Rule>{Rule()};
  while (queue_->work(1 + below(6)) > 0) live_meanwhile(number, narrows);
  receiver.list_before = receiver.list;
  EXPECT_TRUE(queue_->take_refused_lists().empty());
}

void Life::leave_list_on_its_way(uint32_t number) {
  ask_for_list(number);
  if (queue_->work(1 + below(20)) == 0) of_number(number).list_before = of_number(number).list;
}

void Life::live_meanwhile(uint32_t number, bool narrows) {
  // What somebody else gets may leave before the list asks for it, if it asks for more than before.
  const bool may_hand_over = narrows || !mode1();
  const uint32_t other = 1 + static_cast<uint32_t>(below(options_.receivers));
  switch (below(5)) {
    case 0:
      publish(1 + static_cast<uint32_t>(below(options_.senders)));
      break;
    case 1:
      if (below(10) > 0 || !may_hand_over || state(other) != State::connected) break;
      // What it has got of a batch may leave by the list before, which is in force in a part of the cells.
      if (other == number && mode1() && queue_->batch(number).under_way()) break;
      break_off(other);
      queue_->lose(other);
      break;
    case 2:
      if (state(other) == State::absent) join(other);
      break;
    case 3:
      if (!mode1() && !queue_->has_work()) expire();  // what comes back is in nobody's books yet
      break;
    default:
      if (!may_hand_over || other == number || state(other) != State::connected) break;
      write(other, below(3) == 0 ? below(200) : SIZE_MAX);
  }
}

void Life::pass_deadlines() {
  while (queue_->pass_deadlines(now_ns_)) continue;
  for (uint32_t number = 1; number <= options_.receivers; ++number) {
    Receiver& receiver = of_number(number);
    for (Receiver::Flight& flight : receiver.flights) {
      if (!flight.open || flight.deadline_ns > now_ns_) continue;
      flight.open = false;
      receiver.credit += options_.requests;
      again(number, flight.sent, 1);
    }
  }
}

void Life::answer(uint32_t number) {
  Receiver& receiver = of_number(number);
  const uint64_t sent = receiver.flights.size();
  const uint64_t first = sent < 8 || below(3) == 0 ? below(sent + 1) : sent - below(8);
  const uint32_t count = 1 + static_cast<uint32_t>(below(6));
  const bool negative = below(4) == 0;
  if (first + count > sent) {
    EXPECT_EQ(queue_->confirm(number, first, count, negative), Queue::Confirmed::never_sent);
    return;
  }
  const bool twice =
      std::any_of(receiver.flights.begin() + static_cast<ptrdiff_t>(first),
                  receiver.flights.begin() + static_cast<ptrdiff_t>(first + count), [](const auto& one) { return one.answered; });
  if (twice) return;  // an error, behind which the connection is closed
  EXPECT_EQ(queue_->confirm(number, first, count, negative), Queue::Confirmed::yes);
  for (uint64_t delivery = first; delivery < first + count; ++delivery) {
    Receiver::Flight& flight = receiver.flights[delivery];
    flight.answered = true;
    if (!std::exchange(flight.open, false)) continue;
    receiver.credit += options_.requests;
    if (negative) {
      again(number, flight.sent, 1);
    } else {
      with(flight.sent.message, number) = With::done;
      if (!mode1()) messages_[flight.sent.message].left = true;
      EXPECT_TRUE(done_[mode1() ? number : 0].insert(flight.sent.message).second) << "confirmed twice";
      ++confirmed_[number];
    }
  }
  EXPECT_EQ(queue_->confirm(number, first, 1, false), Queue::Confirmed::twice);
}

}  // namespace n2nq::support
