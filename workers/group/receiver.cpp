// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/receiver.h"

#include <algorithm>
#include <utility>

#include "broker/net/clock.h"
#include "broker/wire/record.h"
#include "workers/group/plan_index.h"
#include "workers/load/pacer.h"

namespace n2nq::worker {

Receiver::Receiver(const Tools& tools, std::uint32_t number, std::uint32_t place, Shared& shared)
    : Service(tools, wire::Role::receiver, number),
      place_(place),
      shared_(shared),
      delivered_(shared.balanced == nullptr ? shared.senders_total : 0),
      leave_timer_(tools.loop, [this] {
        if (is_over()) return;
        close();
        set_state(ServiceState::ended);
      }) {
  if (shared.balanced != nullptr) shared.all.push_back(this);
}

const std::vector<wire::Rule>* Receiver::rules_to_come_back_with() const {
  return comes_back() && (requests_ || shared_.requests) ? &request_.rules : nullptr;
}

void Receiver::opened(const OpenFacts& facts, bool /*restarted*/) {
  reconnected_ = reconnected_ || received_on_last_connection_ > 0;
  received_on_last_connection_ = 0;
  responses_ = facts.responses;
  requests_ = facts.requests;
  if (std::exchange(misbehaviour_, Misbehaviour::none) != Misbehaviour::none)
    fault("behaves as usual again, because it has a new connection");
  if (requests_) client()->request(request_);
  if (shared_.begun) run();
  if (leaving_) client()->end(0);
}

void Receiver::leave() {
  if (is_over() || leaving_) return;
  leaving_ = true;
  if (state() == ServiceState::waiting) {  // nobody expects it yet
    close();
    return set_state(ServiceState::ended);
  }
  set_state(ServiceState::ending);
  if (is_open()) client()->end(0);
  leave_timer_.arm(net::now_ns() + leave_deadline_ns);
}

void Receiver::request(const Request& request) {
  request_ = request;
  if (is_open() && requests_) client()->request(request_);
}

void Receiver::misbehave(Misbehaviour how) {
  misbehaviour_ = how;
  if (is_open()) client()->set_reading(how != Misbehaviour::stop_reading);
}

namespace {

bool same_stamps(const Delivery& a, const Delivery& b) {
  return a.sent_ns == b.sent_ns && a.received_ns == b.received_ns && a.intended_ns == b.intended_ns && a.taken_in_ns == b.taken_in_ns &&
         a.sent_on_ns == b.sent_on_ns;
}

}  // namespace

void Receiver::on_delivery(const Delivery& delivery) {
  if (!shared_.clocks.is_on()) return take(delivery);
  // What N2NQ had for who comes late is measured before the bench has told a start.
  if (!shared_.begun && !std::exchange(shared_.measures, true)) shared_.on_first(delivery.received_ns);
  Delivery on_one_clock = delivery;
  const ClockCorrection::Offsets offsets = shared_.clocks.offsets(delivery.sent_ns, delivery.received_ns);
  on_one_clock.sender_clock_ns = offsets.sender_ns;
  on_one_clock.receiver_clock_ns = offsets.receiver_ns;
  take(on_one_clock);
}

void Receiver::take(const Delivery& delivery) {
  ++received_on_last_connection_;
  auto flags = static_cast<std::uint16_t>(count(delivery) | answer_to(delivery));
  if (std::exchange(reconnected_, false)) flags |= measure::line_reconnected;
  if (recorder().is_on()) note(delivery, flags);
  if (flags & measure::line_confirmed) client()->acknowledge(delivery.number, true);
  if (flags & measure::line_refused) client()->acknowledge(delivery.number, false);
  count_answer(delivery.index, flags);
}

void Receiver::note(const Delivery& delivery, std::uint16_t flags) {
  Record record;
  record.index = plan_index(delivery.index, shared_.warmup_messages);
  record.intended_ns = delivery.intended_ns;
  record.sent_ns = delivery.sent_ns;
  record.other_ns = delivery.received_ns;
  record.clocks_ns = delivery.receiver_clock_ns - delivery.sender_clock_ns;
  record.to_broker_ns = delivery.to_broker_ns();
  record.in_queue_ns = delivery.in_queue_ns();
  record.service = number();
  record.sender = delivery.sender;
  record.size = delivery.size;
  record.attempt = delivery.attempt;
  record.flags = flags;
  recorder().note(record);
}

/// As the flag of its log line; 0: none is given.
std::uint16_t Receiver::answer_to(const Delivery& delivery) const {
  if (!responses_ || leaving_ || misbehaviour_ == Misbehaviour::confirm_nothing) return 0;  // behind END nothing is answered
  const bool positive = delivery.checksum_ok && misbehaviour_ != Misbehaviour::answer_negatively;
  return positive ? measure::line_confirmed : measure::line_refused;
}

void Receiver::count_answer(std::uint64_t index, std::uint16_t flags) {
  if (flags & measure::line_confirmed) counts_of(index).confirmed.add();
  if (flags & measure::line_refused) counts_of(index).answered_negatively.add();
}

std::uint16_t Receiver::count(const Delivery& delivery, std::optional<std::uint16_t> logged) {
  const std::uint16_t flags = check(delivery, logged);
  if ((flags & (measure::line_unexpected | measure::line_bad_checksum)) != 0) return flags;
  const bool is_alike = same_stamps(alike_.first, delivery) && is_warm_up(alike_.first.index) == is_warm_up(delivery.index);
  if (alike_.count > 0 && !is_alike) on_deliveries_done();
  if (alike_.count++ == 0) alike_.first = delivery;
  alike_.bytes += delivery.size;
  return flags;
}

void Receiver::on_deliveries_done() {
  if (alike_.count == 0) return;
  DeliveryCounts& counts = counts_of(alike_.first.index);
  counts.received.add(alike_.count);
  counts.bytes.add(alike_.bytes);
  if (!is_warm_up(alike_.first.index)) {
    // The least and the greatest: services are read back one after the other.
    const std::int64_t received_ns = alike_.first.received_ns;
    if (shared_.first_measured_ns == 0 || received_ns < shared_.first_measured_ns) shared_.first_measured_ns = received_ns;
    shared_.last_measured_ns = std::max(shared_.last_measured_ns, received_ns);
    shared_.histograms.record(alike_.first, alike_.count);
    histograms_.record(alike_.first, alike_.count);
    shared_.clocks.measured(alike_.first.sent_ns, received_ns);
  }
  alike_.count = alike_.bytes = 0;
}

void Receiver::replay(const Record& record) {
  if (record.is_skipped()) {
    const measure::SkippedLine line = record.skipped_line();
    const std::uint64_t warm_up = shared_.warmup_messages;
    const wire::SkippedRange first{line.sender_first, line.reason, wire_index(line.from, warm_up), wire_index(line.to, warm_up)};
    for (wire::SkippedRange range = first; range.sender <= std::min(line.sender_last, shared_.senders_total); ++range.sender)
      take_skipped(range);
    return;
  }
  if (record.flags & measure::line_reconnected) received_on_last_connection_ = 0;
  ++received_on_last_connection_;
  Delivery delivery;
  delivery.index = wire_index(record.index, shared_.warmup_messages);
  delivery.sender = record.sender;
  delivery.size = record.size;
  delivery.intended_ns = record.intended_ns;
  delivery.sent_ns = record.sent_ns;
  delivery.received_ns = record.other_ns;
  delivery.receiver_clock_ns = record.clocks_ns;
  delivery.taken_in_ns = record.sent_ns + record.to_broker_ns;  // by the sender's clock, as is all else here
  delivery.sent_on_ns = delivery.taken_in_ns + record.in_queue_ns;
  delivery.flags = record.flags;
  delivery.attempt = record.attempt;
  delivery.checksum_ok = (record.flags & measure::line_bad_checksum) == 0;
  delivery.asked_for = (record.flags & measure::line_unasked) == 0;
  count(delivery, record.flags);
  count_answer(delivery.index, record.flags);
  on_deliveries_done();
}

/// `logged`: the flags of the line that it is read back from.
DeliveredSets::Finding Receiver::find(const Delivery& delivery, std::optional<std::uint16_t> logged) {
  const bool redelivered = (delivery.flags & wire::flag_redelivered) != 0;
  const bool announced = redelivered || (delivery.flags & wire::flag_newly_matched) != 0;
  if (shared_.balanced == nullptr) return delivered_.add(delivery.sender, delivery.index, announced);
  const auto add = [&] { return shared_.balanced->add(place_, delivery.sender, delivery.index, announced, redelivered); };
  if (!logged) return add();
  // Which receiver had it first is not seen from logs that are read one after the other, but it was known when they were written.
  const bool duplicate = (*logged & measure::line_duplicate) != 0;
  if (!duplicate) add();
  return {.duplicate = duplicate,
          .inverted = (*logged & measure::line_out_of_order) != 0,
          .overtaken = (*logged & measure::line_overtaken) != 0};
}

/// Counts what is remarkable about a delivery and says it as flags of its log line.
std::uint16_t Receiver::check(const Delivery& delivery, std::optional<std::uint16_t> logged) {
  static_assert(int{wire::flag_warm_up} == measure::line_warm_up && int{wire::flag_redelivered} == measure::line_redelivered &&
                int{wire::flag_newly_matched} == measure::line_newly_matched);
  auto flags = static_cast<unsigned>(delivery.flags & (wire::flag_warm_up | wire::flag_redelivered | wire::flag_newly_matched));
  if (!delivery.checksum_ok) {  // nothing it says can be relied on
    measured_.bad_checksum.add();
    return static_cast<std::uint16_t>(flags | measure::line_bad_checksum);
  }
  // The flag says the same as the index, or somebody changed one of them on the way.
  const bool said_right = is_warm_up(delivery.index) == ((delivery.flags & wire::flag_warm_up) != 0);
  if (delivery.sender == 0 || delivery.sender > shared_.senders_total || delivery.index >= Pacer::messages_max || !said_right) {
    measured_.unexpected.add();
    return static_cast<std::uint16_t>(flags | measure::line_unexpected);
  }
  DeliveryCounts& counts = counts_of(delivery.index);
  const bool redelivered = (delivery.flags & wire::flag_redelivered) != 0;
  const DeliveredSets::Finding finding = find(delivery, logged);
  if (redelivered) counts.redelivered.add();
  if (finding.duplicate) {
    counts.duplicated.add();
    if (!redelivered && !finding.overtaken) counts.duplicated_unflagged.add();
    flags |= measure::line_duplicate;
    if (finding.overtaken) flags |= measure::line_overtaken;
  } else if (shared_.balanced == nullptr ? !skipped_sets_.empty() : !shared_.skipped.empty()) {
    arrived_after_all(delivery.sender, delivery.index);
  }
  if (finding.inverted) {
    counts.out_of_order.add();
    flags |= measure::line_out_of_order;
  }
  if (!delivery.asked_for) {
    counts.unasked.add();
    flags |= measure::line_unasked;
  }
  if (delivery.latency_ns() < 0) {
    counts.negative.add();
    flags |= measure::line_negative;
  }
  return static_cast<std::uint16_t>(flags);
}

void Receiver::on_skipped(std::span<const wire::SkippedRange> ranges) {
  // Senders at one pace have the same ranges: a line for all of them.
  measure::SkippedLine line;
  line.told_ns = net::now_ns();
  const auto note = [&] {
    if (line.sender_first > 0 && recorder().is_on()) recorder().note(Record::of_skipped(number(), line));
  };
  for (const wire::SkippedRange& range : ranges) {
    if (!take_skipped(range)) continue;
    const std::int64_t from = plan_index(range.from, shared_.warmup_messages), to = plan_index(range.to, shared_.warmup_messages);
    const bool is_alike = line.from == from && line.to == to && line.reason == range.reason;
    if (is_alike && line.sender_last + 1 == range.sender) {
      line.sender_last = range.sender;
      continue;
    }
    note();
    line = {
        .from = from, .to = to, .sender_first = range.sender, .sender_last = range.sender, .reason = range.reason, .told_ns = line.told_ns};
  }
  note();
}

bool Receiver::take_skipped(const wire::SkippedRange& range) {
  // N2NQ may say anything, and so may what a killed process has left.
  const bool known = range.reason >= wire::SkipReason::expired && range.reason <= wire::SkipReason::cut_off;
  if (!known || range.sender == 0 || range.sender > shared_.senders_total || range.from > range.to || range.to >= Pacer::messages_max)
    return false;
  if (shared_.balanced != nullptr) shared_.skipped[range.sender].add_range(range.from, range.to);
  wire::IndexSet& set = skipped_sets_[{range.reason, range.sender}];
  const auto count = [&](const wire::IndexSet::Run& run) {
    const std::uint64_t border = shared_.warmup_messages;
    if (run.from < border) count_skipped(range.reason, range.sender, run.from, std::min(run.to, border - 1));
    if (run.to >= border) count_skipped(range.reason, range.sender, std::max(run.from, border), run.to);
  };
  if (set.count_in(range.from, range.to) == 0) {  // all of it is news, nearly always
    count({range.from, range.to});
    set.add_range(range.from, range.to);
    return true;
  }
  wire::IndexSet fresh;
  fresh.add_range(range.from, range.to);
  fresh -= set;
  set.add_range(range.from, range.to);
  for (const wire::IndexSet::Run& run : fresh.runs()) count(run);
  return !fresh.empty();
}

void Receiver::count_skipped(wire::SkipReason reason, std::uint32_t sender, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t here =
      shared_.balanced != nullptr ? shared_.balanced->count_in(sender, from, to) : delivered_.count_in(sender, from, to);
  counts_of(from).skipped_for(reason).add(to - from + 1 - here);
  if (reason == wire::SkipReason::parked) counts_of(from).parked_delivered.add(here);
}

void Receiver::arrived_after_all(std::uint32_t sender, std::uint64_t index) {
  if (shared_.balanced == nullptr) return take_off_skipped(sender, index);
  const auto told = shared_.skipped.find(sender);
  if (told == shared_.skipped.end() || !told->second.contains(index)) return;
  for (Receiver* receiver : shared_.all) receiver->take_off_skipped(sender, index);
}

void Receiver::take_off_skipped(std::uint32_t sender, std::uint64_t index) {
  if (skipped_sets_.empty()) return;
  for (const auto reason : {wire::SkipReason::expired, wire::SkipReason::unrequested, wire::SkipReason::parked, wire::SkipReason::cut_off}) {
    const auto found = skipped_sets_.find({reason, sender});
    if (found == skipped_sets_.end() || !found->second.contains(index)) continue;
    counts_of(index).skipped_for(reason).take(1);
    if (reason == wire::SkipReason::parked) counts_of(index).parked_delivered.add();
  }
}

measure::SkippedSets Receiver::skipped_sets() const {
  measure::SkippedSets sets;
  for (const auto& [key, set] : skipped_sets_) {
    const auto& [reason, sender] = key;
    measure::SenderSets* part = nullptr;
    switch (reason) {
      case wire::SkipReason::expired:
        part = &sets.expired;
        break;
      case wire::SkipReason::unrequested:
        part = &sets.unrequested;
        break;
      case wire::SkipReason::parked:
        part = &sets.parked;
        break;
      case wire::SkipReason::cut_off:
        part = &sets.cut_off;
        break;
    }
    if (part != nullptr) part->push_back({sender, sender, set});
  }
  return sets;
}

}  // namespace n2nq::worker
