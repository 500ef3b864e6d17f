// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/summary.h"

namespace n2nq {

using Json = nlohmann::json;
using wire::SkipReason;

namespace {

/// Around each set: [1,1,""]
constexpr size_t letters_around_min = 8;

Json sets_json(const SenderSets& sets, SetLetters& letters) {
  Json runs = Json::array();
  for (const auto& run : sets.shared()) {
    letters.count += letters_around_min + run.set.size();
    if (letters.fit()) runs.push_back({run.sender_first, run.sender_last, run.set});
  }
  return runs;
}

Json sender_json(uint32_t number, const SenderDesk::Account& account) {
  return {{"number", number},
          {"accepted", account.accepted},
          {"refused", account.refused},
          {"next_index", account.next_index},
          {"ended", account.ended}};
}

Json receiver_json(uint32_t number, const Options& options, const Queue& queue, const ReceiverDesk& receivers, SetLetters& letters) {
  const wire::EndTotals totals = receivers.totals(number);
  Json receiver{{"number", number},
                {"handed_over", totals.handed_over},
                {"handed_over_on_last_connection", receivers.handed_over_on_last_connection(number)},
                {"redelivered", totals.redelivered},
                {"confirmed", queue.account(number).confirmed},
                {"answers_missing", receivers.answers_missing(number)},
                {"ended", receivers.ended(number)},
                {"cut_off_reason", receivers.cut_off_reason(number)}};
  if (options.queue.mode == wire::QueueMode::load_balancer) return receiver;
  const SkippedSets& skipped = queue.account(number).skipped;
  receiver["expired"] = totals.expired;
  receiver["unrequested"] = totals.unrequested;
  receiver["parked"] = totals.parked;
  receiver["cut_off"] = totals.cut_off;
  receiver["still_queued"] = totals.still_queued;
  receiver["expired_sets"] = sets_json(of(skipped, SkipReason::expired), letters);
  receiver["unrequested_sets"] = sets_json(of(skipped, SkipReason::unrequested), letters);
  receiver["parked_sets"] = sets_json(of(skipped, SkipReason::parked), letters);
  receiver["cut_off_sets"] = sets_json(of(skipped, SkipReason::cut_off), letters);
  receiver["still_queued_sets"] = sets_json(queue.still_queued(number), letters);
  return receiver;
}

Json total_json(const Queue::Total& total, SetLetters& letters) {
  return {{"expired", of(total.skipped, SkipReason::expired).count()},
          {"unrequested", of(total.skipped, SkipReason::unrequested).count()},
          {"parked", of(total.skipped, SkipReason::parked).count()},
          {"cut_off", of(total.skipped, SkipReason::cut_off).count()},
          {"still_queued", total.still_queued.count()},
          {"expired_sets", sets_json(of(total.skipped, SkipReason::expired), letters)},
          {"unrequested_sets", sets_json(of(total.skipped, SkipReason::unrequested), letters)},
          {"parked_sets", sets_json(of(total.skipped, SkipReason::parked), letters)},
          {"cut_off_sets", sets_json(of(total.skipped, SkipReason::cut_off), letters)},
          {"still_queued_sets", sets_json(total.still_queued, letters)}};
}

}  // namespace

Json make_summary(const Options& options, const Queue& queue, const SenderDesk& senders, const ReceiverDesk& receivers,
                  const SummaryFacts& facts, SetLetters& letters) {
  Json senders_json = Json::array();
  for (uint32_t number = 1; number <= options.queue.senders; ++number) senders_json.push_back(sender_json(number, senders.account(number)));
  Json receivers_json = Json::array();
  uint64_t deliveries = 0;
  for (uint32_t number = 1; number <= options.queue.receivers; ++number) {
    receivers_json.push_back(receiver_json(number, options, queue, receivers, letters));
    deliveries += queue.account(number).handed_over;
  }
  Json refused = Json::array();
  for (const auto& [code, count] : facts.sessions_refused) refused.push_back({{"code", code}, {"count", count}});
  return {{"type", "bye"},
          {"role", "broker"},
          {"epoch", std::to_string(facts.epoch)},
          {"messages_accepted", senders.accepted()},
          {"messages_refused", senders.refused()},
          {"deliveries", deliveries},
          {"senders", std::move(senders_json)},
          {"receivers", std::move(receivers_json)},
          {"total", total_json(queue.total(), letters)},
          {"memory_bytes_max", facts.memory_bytes_max},
          {"books_bytes", facts.books_bytes},
          {"books_bytes_max", facts.books_bytes_max},
          {"kinds_bytes", facts.kinds_bytes},
          {"kept_bytes", facts.kept_bytes},
          {"heap_bytes", facts.heap_bytes},
          {"heap_holes_bytes", facts.heap_holes_bytes},
          {"held_back_ns", facts.held_back_by_memory_ns + facts.held_back_by_receivers_ns},
          {"held_back_by_memory_ns", facts.held_back_by_memory_ns},
          {"held_back_by_receivers_ns", facts.held_back_by_receivers_ns},
          {"waited_for_places_ns", facts.waited_for_places_ns},
          {"sessions_refused", std::move(refused)},
          {"faults", facts.faults}};
}

}  // namespace n2nq
