// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/receiver_group.h"

#include <algorithm>

#include "workers/group/reports.h"

namespace n2nq::worker {

ReceiverGroup::ReceiverGroup(net::EventLoop& loop, WorkerSettings settings, Tell tell)
    : Group(loop, std::move(settings), std::move(tell)),
      balanced_(is_broadcaster() ? 0 : this->settings().senders_total, is_broadcaster() ? 0 : amount()) {
  shared_.senders_total = this->settings().senders_total;
  if (!is_broadcaster()) shared_.balanced = &balanced_;
  for (std::uint32_t place = 0; place < amount(); ++place) receivers_.emplace_back(tools(), this->settings().first + place, place, shared_);
  histograms_.each([this](const char* name, const measure::FineHistogram& live) { cutters_.emplace_back(name, live); });
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

void ReceiverGroup::put_counts(nlohmann::json& json) {
  measure::ReceivedCounts counts;
  measure::SkippedCounts skipped;
  for (const Receiver& receiver : receivers_) {
    counts += receiver.counts();
    skipped += receiver.skipped();
  }
  json.update(nlohmann::json(counts));
  json["skipped"] = {
      {"expired", skipped.expired}, {"unrequested", skipped.unrequested}, {"parked", skipped.parked}, {"cut_off", skipped.cut_off}};
  json["bytes"] = bytes();
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
  const std::uint64_t received = receiver.received();
  nlohmann::json row = {{"number", receiver.number()},  {"state", name_of(receiver.state())}, {"received", received},
                        {"rate_per_s", rate_of(place)}, {"latency_mean_ns", nullptr},         {"latency_p99_ns", nullptr}};
  row["latency_mean_ns"] = mean_or_null(latency);
  if (received > 0) row["latency_p99_ns"] = latency.percentile(99, 100);
  return row;
}

void ReceiverGroup::put_totals(nlohmann::json& bye) {
  put_totals_and_figures(bye, histograms_);
  nlohmann::json services = nlohmann::json::array();
  for (const Receiver& receiver : receivers_) {
    nlohmann::json entry = receiver.counts();
    entry["number"] = receiver.number();
    entry["port"] = receiver.source_port();
    entry["bytes"] = receiver.bytes();
    if (is_broadcaster()) entry["delivered_sets"] = measure::sender_sets_json(receiver.delivered_sets());
    entry["skipped_sets"] = measure::skipped_sets_json(receiver.skipped_sets());
    entry["handed_over"] = receiver.totals() ? nlohmann::json(receiver.totals()->handed_over) : nlohmann::json(nullptr);
    entry["ended_by_broker"] = receiver.totals().has_value();
    entry["figures"] = figures_json(receiver.histograms());
    services.push_back(std::move(entry));
  }
  bye["services"] = std::move(services);
  bye["delivered_sets"] = is_broadcaster() ? nlohmann::json::array() : measure::sender_sets_json(balanced_.sets());
}

}  // namespace n2nq::worker
