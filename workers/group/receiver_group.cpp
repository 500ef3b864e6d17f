// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/receiver_group.h"

#include <algorithm>

#include "broker/net/clock.h"
#include "workers/group/reports.h"

namespace n2nq::worker {

namespace {

constexpr std::int64_t short_nap_ns = 20'000;
/// The span that is named for a jump is no shorter than what the probes of one burst take (clock_watch.cpp).
constexpr std::int64_t jump_span_min_ns = 300 * net::ns_per_ms;

}  // namespace

ReceiverGroup::ReceiverGroup(net::EventLoop& loop, WorkerSettings settings, Tell tell)
    : Group(loop, std::move(settings), std::move(tell)),
      balanced_(is_broadcaster() ? 0 : this->settings().senders_total, is_broadcaster() ? 0 : amount()) {
  // One message for many receivers is one write for each of them, some us apart: each would wake the group, at the expense of the next
  // write.
  loop.set_short_nap(short_nap_ns);
  loop.set_reads_first();  // counting one receiver's messages takes about as long as reading another's
  shared_.senders_total = this->settings().senders_total;
  shared_.warmup_messages = this->settings().warmup_messages;
  shared_.requests = this->settings().requests.has_value();
  shared_.on_first = [this](std::int64_t received_ns) {
    begun_ns_ = received_ns;
    measure_clock_from(received_ns);
  };
  if (!is_broadcaster()) shared_.balanced = &balanced_;
  for (std::uint32_t place = 0; place < amount(); ++place) receivers_.emplace_back(tools(), this->settings().first + place, place, shared_);
  for (const RequestOrder& order : this->settings().requests.value_or(std::vector<RequestOrder>{})) request(order);
  histograms_.each([this](const char* name, const measure::FineHistogram& live) { cutters_.emplace_back(name, live); });
}

void ReceiverGroup::request(const RequestOrder& order) {
  if (!settings().requests) throw net::SectionError("type", "\"request\", but requests are off in this run");
  for (const auto& [first, last] : order.receivers) {
    for (std::uint32_t number = std::max(first, settings().first); number <= std::min(last, settings().last); ++number) {
      receivers_[place_of(number)].request(order.request);
    }
  }
}

void ReceiverGroup::make_fault(std::uint32_t number, Fault fault) {
  Receiver& receiver = receivers_[place_of(number)];
  switch (fault) {
    case Fault::disconnect:
      return receiver.break_connection();
    case Fault::none:
      return receiver.misbehave(Misbehaviour::none);
    case Fault::stop_reading:
      return receiver.misbehave(Misbehaviour::stop_reading);
    case Fault::confirm_nothing:
      return receiver.misbehave(Misbehaviour::confirm_nothing);
    case Fault::answer_negatively:
      return receiver.misbehave(Misbehaviour::answer_negatively);
  }
}

void ReceiverGroup::set_senders_clock(const ClockOrder& order) {
  const std::int64_t now = net::now_ns();
  if (order.line) {
    note_late(order, now);
    shared_.clocks.set_senders(*order.line, now, {order.bound, order.past, after_jump_ns_});
    recorder().note_clock({ClockNote::Whose::senders, now, *order.line, order.bound});
  } else {
    if (!senders_jumps_) senders_jumps_ = 0;
    shared_.clocks.set_senders_same(now);
    recorder().note_clock({ClockNote::Whose::senders_same, now, {}, {}});
  }
  look_at_clocks();
}

/// The senders answer for a line until they make the next one; for the time from then until that one is here, who uses the old one has to.
void ReceiverGroup::note_late(const ClockOrder& order, std::int64_t now_ns) {
  if (senders_jumps_ && order.jumps > *senders_jumps_) after_jump_ns_ = order.line->at_ns + jump_span_min_ns;
  senders_jumps_ = order.jumps;
  if (!begun_ns_) return;
  keep_larger(senders_late_, shared_.clocks.late(*order.line, order.bound, now_ns, *begun_ns_, after_jump_ns_));
}

void ReceiverGroup::begin(std::int64_t start_ns) {
  shared_.begun = true;
  begun_ns_ = begun_ns_ ? std::min(*begun_ns_, start_ns) : start_ns;
  for (Receiver& receiver : receivers_) receiver.run();
}

void ReceiverGroup::stop_services() {
  for (Receiver& receiver : receivers_) receiver.leave();
}

std::uint64_t ReceiverGroup::bytes() {
  return sum_of(receivers_, &Receiver::bytes);
}

namespace {

nlohmann::json counts_json(const DeliveryCounts& counts) {
  nlohmann::json json = counts.counts();
  json["bytes"] = counts.bytes.get();
  json["confirmed"] = counts.confirmed.get();
  json["answered_negatively"] = counts.answered_negatively.get();
  json["parked_delivered"] = counts.parked_delivered.get();
  return json;
}

/// DeliveryCounts as they were at one look.
struct Seen {
  measure::ReceivedCounts counts;
  measure::SkippedCounts skipped;
  std::uint64_t bytes = 0, confirmed = 0, answered_negatively = 0, parked_delivered = 0;

  Seen() = default;
  explicit Seen(const DeliveryCounts& now)
      : counts(now.counts()),
        skipped(now.skipped()),
        bytes(now.bytes.get()),
        confirmed(now.confirmed.get()),
        answered_negatively(now.answered_negatively.get()),
        parked_delivered(now.parked_delivered.get()) {}
  Seen& operator+=(const Seen& other) {
    counts += other.counts;
    skipped += other.skipped;
    bytes += other.bytes;
    confirmed += other.confirmed;
    answered_negatively += other.answered_negatively;
    parked_delivered += other.parked_delivered;
    return *this;
  }
  nlohmann::json json() const {
    nlohmann::json json = counts;
    json["skipped"] = {
        {"expired", skipped.expired}, {"unrequested", skipped.unrequested}, {"parked", skipped.parked}, {"cut_off", skipped.cut_off}};
    json["bytes"] = bytes;
    json["confirmed"] = confirmed;
    json["answered_negatively"] = answered_negatively;
    json["parked_delivered"] = parked_delivered;
    return json;
  }
};

nlohmann::json row_of(const Receiver& receiver, const Seen& seen) {
  const measure::CoarseHistogram& latency = receiver.histograms().latency;
  const measure::SkippedCounts& skipped = seen.skipped;
  nlohmann::json row = {{"number", receiver.number()}, {"state", name_of(receiver.state())}, {"received", seen.counts.received}};
  row["confirmed"] = seen.confirmed;
  row["redelivered"] = seen.counts.redelivered;
  row["expired"] = skipped.expired;
  row["skipped"] = skipped.expired + skipped.unrequested + skipped.parked + skipped.cut_off;
  row["latency_mean_ns"] = mean_or_null(latency);
  row["latency_p99_ns"] = seen.counts.received > 0 ? nlohmann::json(latency.percentile(99, 100)) : nlohmann::json(nullptr);
  return row;
}

}  // namespace

void ReceiverGroup::put_counts(nlohmann::json& json, const Ranges& ranges, nlohmann::json& rows) {
  Seen sum, warm_up;
  for (const Receiver& receiver : receivers_) {
    const Seen seen(receiver.measured());
    sum += seen;
    warm_up += Seen(receiver.warm_up());
    if (is_in(ranges, receiver.number())) rows.push_back(row_of(receiver, seen));
  }
  json.update(sum.json());
  if (settings().warmup_messages > 0) json["warmup"] = warm_up.json();
  json["ended"] = std::ranges::count(receivers_, ServiceState::ended, &Receiver::state);
}

nlohmann::json ReceiverGroup::cut_intervals() {
  nlohmann::json intervals = nlohmann::json::object();
  for (auto& [name, cutter] : cutters_) intervals[name] = cutter.cut().to_json();
  return intervals;
}

void ReceiverGroup::put_totals(nlohmann::json& bye) {
  put_totals_and_figures(bye, histograms_);
  nlohmann::json services = nlohmann::json::array();
  for (const Receiver& receiver : receivers_) {
    nlohmann::json entry = counts_json(receiver.measured());
    if (settings().warmup_messages > 0) entry["warmup"] = counts_json(receiver.warm_up());
    entry["number"] = receiver.number();
    entry["port"] = receiver.source_port();
    if (is_broadcaster()) entry["delivered_sets"] = measure::sender_sets_json(receiver.delivered_sets());
    entry["skipped_sets"] = measure::skipped_sets_json(receiver.skipped_sets());
    entry["handed_over"] = receiver.totals() ? nlohmann::json(receiver.totals()->handed_over) : nlohmann::json(nullptr);
    entry["ended_by_broker"] = receiver.totals().has_value();
    if (const auto& totals = receiver.totals()) {
      entry["skipped_at_end"] = {{"expired", totals->expired},
                                 {"unrequested", totals->unrequested},
                                 {"parked", totals->parked},
                                 {"cut_off", totals->cut_off},
                                 {"still_queued", totals->still_queued}};
    }
    entry["connections"] = receiver.connections();
    entry["received_on_last_connection"] = receiver.received_on_last_connection();
    entry["continued"] = !settings().continue_of.empty() || !settings().salvage.empty();
    entry["figures"] = figures_json(receiver.histograms());
    services.push_back(std::move(entry));
  }
  bye["services"] = std::move(services);
  const auto or_null = [](std::int64_t instant_ns) { return instant_ns == 0 ? nlohmann::json(nullptr) : nlohmann::json(instant_ns); };
  if (settings().warmup_messages > 0) bye["first_measured_ns"] = or_null(shared_.first_measured_ns);
  bye["last_measured_ns"] = or_null(shared_.last_measured_ns);
  keep_larger(senders_late_, shared_.clocks.worst_before());
  if (senders_late_) bye["senders_clock_late"] = *senders_late_;
  bye["delivered_sets"] = is_broadcaster() ? nlohmann::json::array() : measure::sender_sets_json(balanced_.sets());
}

}  // namespace n2nq::worker
