// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/receiver_group.h"

#include <algorithm>

#include "workers/group/reports.h"

namespace n2nq::worker {

ReceiverGroup::ReceiverGroup(net::EventLoop& loop, WorkerSettings settings, Tell tell)
    : Group(loop, std::move(settings), std::move(tell)),
      balanced_(is_broadcaster() ? 0 : this->settings().senders_total, is_broadcaster() ? 0 : amount()) {
  shared_.senders_total = this->settings().senders_total;
  shared_.warmup_messages = this->settings().warmup_messages;
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

void ReceiverGroup::begin(std::int64_t /*start_ns*/) {
  shared_.begun = true;
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

/// The same of all receivers together, and what they skipped.
nlohmann::json sum_json(const std::deque<Receiver>& receivers, const DeliveryCounts& (Receiver::*which)() const) {
  measure::ReceivedCounts counts;
  measure::SkippedCounts skipped;
  std::uint64_t bytes = 0, confirmed = 0, answered_negatively = 0, parked_delivered = 0;
  for (const Receiver& receiver : receivers) {
    const DeliveryCounts& one = (receiver.*which)();
    counts += one.counts();
    skipped += one.skipped();
    bytes += one.bytes.get();
    confirmed += one.confirmed.get();
    answered_negatively += one.answered_negatively.get();
    parked_delivered += one.parked_delivered.get();
  }
  nlohmann::json json = counts;
  json["skipped"] = {
      {"expired", skipped.expired}, {"unrequested", skipped.unrequested}, {"parked", skipped.parked}, {"cut_off", skipped.cut_off}};
  json["bytes"] = bytes;
  json["confirmed"] = confirmed;
  json["answered_negatively"] = answered_negatively;
  json["parked_delivered"] = parked_delivered;
  return json;
}

}  // namespace

void ReceiverGroup::put_counts(nlohmann::json& json) {
  json.update(sum_json(receivers_, &Receiver::measured));
  if (settings().warmup_messages > 0) json["warmup"] = sum_json(receivers_, &Receiver::warm_up);
  json["ended"] = std::ranges::count(receivers_, ServiceState::ended, &Receiver::state);
}

nlohmann::json ReceiverGroup::cut_intervals() {
  nlohmann::json intervals = nlohmann::json::object();
  for (auto& [name, cutter] : cutters_) intervals[name] = cutter.cut().to_json();
  return intervals;
}

nlohmann::json ReceiverGroup::row(std::size_t place) {
  const Receiver& receiver = receivers_[place];
  const measure::CoarseHistogram& latency = receiver.histograms().latency;
  const DeliveryCounts& measured = receiver.measured();
  const std::uint64_t received = measured.received.get();
  nlohmann::json row = {{"number", receiver.number()},
                        {"state", name_of(receiver.state())},
                        {"received", received},
                        {"latency_mean_ns", nullptr},
                        {"latency_p99_ns", nullptr}};
  const measure::SkippedCounts skipped = measured.skipped();
  row["confirmed"] = measured.confirmed.get();
  row["redelivered"] = measured.redelivered.get();
  row["expired"] = skipped.expired;
  row["skipped"] = skipped.expired + skipped.unrequested + skipped.parked + skipped.cut_off;
  row["latency_mean_ns"] = mean_or_null(latency);
  if (received > 0) row["latency_p99_ns"] = latency.percentile(99, 100);
  return row;
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
    entry["continued"] = !settings().continue_of.empty() || !settings().salvage.empty();
    entry["figures"] = figures_json(receiver.histograms());
    services.push_back(std::move(entry));
  }
  bye["services"] = std::move(services);
  if (settings().warmup_messages > 0)
    bye["first_measured_ns"] = shared_.first_measured_ns == 0 ? nlohmann::json(nullptr) : nlohmann::json(shared_.first_measured_ns);
  bye["delivered_sets"] = is_broadcaster() ? nlohmann::json::array() : measure::sender_sets_json(balanced_.sets());
}

}  // namespace n2nq::worker
