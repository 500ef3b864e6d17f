// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/run_digest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "app/figure/time_units.h"
#include "app/results/service_logs.h"
#include "broker/wire/index_set.h"

namespace n2nq::app {

namespace {

using measure::ReceivedLine;
using measure::SentLine;
using measure::SkippedLine;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The smallest value such that ceil(share * n) samples are not above it. Reorders.
double rank_us(std::vector<std::int64_t>& samples, double share) {
  if (samples.empty()) return none;
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(samples.size()) - 1e-9)));
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(rank - 1), samples.end());
  return static_cast<double>(samples[rank - 1]) / ns_in_us;
}

/// So that there are at most slices_max, of a width that people count in.
double slice_for(double span_s) {
  for (const double width : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0}) {
    if (span_s / width <= RunDigest::slices_max - 1) return width;
  }
  return span_s / (RunDigest::slices_max - 1);
}

std::uint64_t& count_of(measure::SkippedCounts& counts, wire::SkipReason reason) {
  switch (reason) {
    case wire::SkipReason::unrequested:
      return counts.unrequested;
    case wire::SkipReason::parked:
      return counts.parked;
    case wire::SkipReason::cut_off:
      return counts.cut_off;
    case wire::SkipReason::expired:
      break;
  }
  return counts.expired;
}

class Digester {
 public:
  Digester(const StoredRun& run, const ServiceLogs& logs, const std::atomic<bool>* cancelled)
      : run_(run), logs_(logs), cancelled_(cancelled) {
    planned_ = run.has_plan();
  }

  RunDigest digest() {
    const bool has_lines = run_.dropped_no_line() && has_all_logs();
    out_.whole = has_lines && run_.has_every_line();
    const bool none_unrequested = !(figure_at(run_.summary, "ledger.total.unrequested").value_or(0) > 0);
    // In the load balancer nobody is told what nobody asked for, and sampled logs do not say which of it was in the sample.
    out_.in_flight_known = has_lines && (none_unrequested || (out_.whole && run_.broadcaster()));
    needs_sent_by_ = out_.whole && std::ranges::any_of(logs_.receivers, [](const ReceiverLog& log) { return !log.skipped.empty(); });
    find_span();
    take_sent();
    take_received();
    take_skipped();
    finish_slices();
    take_pairs();
    out_.latency_limit_us = clock_limit_at(run_.summary, "latency_us.p50");
    out_.to_broker_limit_us = clock_limit_at(run_.summary, "stages.to_broker_us.p50");
    out_.to_receiver_limit_us = clock_limit_at(run_.summary, "stages.to_receiver_us.p50");
    return std::move(out_);
  }

 private:
  bool stopped() const { return cancelled_ != nullptr && *cancelled_; }

  /// Whether the logs that are here make up what the summary counts: some may lie elsewhere, and what was killed noted not all. Sampled ones
  /// have lines of the same messages at both ends; how many they should have is in no summary.
  bool has_all_logs() const {
    return make_up(logs_.senders, "senders", "attempted", [](const SentLine& line) { return !is_warm_up(line); }) &&
           make_up(logs_.receivers, "receivers", "received", [](const ReceivedLine& line) { return is_measured(line); });
  }

  template <class Log, class IsCounted>
  bool make_up(const std::vector<Log>& logs, const char* group, const char* count, IsCounted&& is_counted) const {
    const nlohmann::json& services = run_.summary.at("services").at(group);
    double told = 0, lines = 0;
    for (const nlohmann::json& service : services) {
      if (figure_at(service, "unnoted").value_or(0) > 0) return false;
      told += figure_at(service, count).value_or(0);
    }
    for (const Log& log : logs) {
      if (log.unreadable_count > 0) return false;
      lines += static_cast<double>(std::ranges::count_if(log.lines, is_counted));
    }
    return logs.size() == services.size() && (lines == told || !run_.has_every_line());
  }

  /// When a message was due (without a plan: sent) by its receiver's own clock.
  std::int64_t begun_ns(const ReceivedLine& line) const {
    return line.received_ns - line.latency_ns - (planned_ ? line.sent_ns - line.intended_ns : 0);
  }
  std::int64_t begun_ns(const SentLine& line) const { return planned_ ? line.intended_ns : line.sent_ns; }

  /// Instant 0 by each side's clock, and how long it went on.
  void find_span() {
    std::int64_t last_ns = 0, first_begun_ns = std::numeric_limits<std::int64_t>::max(), first_sent_ns = zero_sent_ns_;
    for (const SenderLog& log : logs_.senders) {
      for (const SentLine& line : log.lines) {
        if (!is_warm_up(line)) zero_sent_ns_ = std::min(zero_sent_ns_, begun_ns(line));
      }
    }
    for (const ReceiverLog& log : logs_.receivers) {
      for (const ReceivedLine& line : log.lines) {
        if (!is_measured(line)) continue;
        if (begun_ns(line) < first_begun_ns) {
          first_begun_ns = begun_ns(line);
          // By its sender's clock: what was sent before it may have reached nobody.
          first_sent_ns = planned_ ? line.intended_ns : line.sent_ns;
        }
        last_ns = std::max(last_ns, line.received_ns);
      }
    }
    const bool is_sent_known = zero_sent_ns_ != std::numeric_limits<std::int64_t>::max();
    zero_received_ns_ = first_begun_ns - (is_sent_known ? first_sent_ns - zero_sent_ns_ : 0);
    double span_s = last_ns > 0 ? static_cast<double>(last_ns - zero_received_ns_) / ns_in_s : 0;
    for (const SenderLog& log : logs_.senders) {
      for (const SentLine& line : log.lines) {
        if (!is_warm_up(line)) span_s = std::max(span_s, static_cast<double>(line.sent_ns - zero_sent_ns_) / ns_in_s);
      }
    }
    out_.slice_s = slice_for(span_s);
    const auto count = static_cast<std::size_t>(span_s / out_.slice_s) + 1;
    out_.slices.resize(count);
    out_.slowest.resize(count);
    lags_.resize(count);
    latencies_.resize(count);
    from_plan_.resize(count);
    for (std::size_t i = 0; i < count; ++i) out_.slices[i].from_s = static_cast<double>(i) * out_.slice_s;
  }

  std::size_t slice_of(double at_s) const {
    return std::min(out_.slices.size() - 1, static_cast<std::size_t>(std::max(0.0, at_s) / out_.slice_s));
  }

  void take_sent() {
    sent_.resize(out_.slices.size());
    std::vector<Counted> sent;  // of one sender
    for (const SenderLog& log : logs_.senders) {
      for (const SentLine& line : log.lines) {
        if (is_warm_up(line)) continue;
        ++out_.lines;
        const std::size_t slice = slice_of(static_cast<double>(line.sent_ns - zero_sent_ns_) / ns_in_s);
        ++out_.slices[slice].sent;
        sent.push_back({0, line.index, slice});
        if (needs_sent_by_ && line.index >= 0) sent_by_[static_cast<std::uint32_t>(log.number)].add(static_cast<std::uint64_t>(line.index));
        if (planned_) lags_[slice].push_back(line.sent_ns - line.intended_ns);
      }
      count_first(sent, sent_);
    }
  }

  void take_received() {
    came_.resize(out_.slices.size());
    std::vector<Counted> came;  // of one receiver; of all where each message is for one of them
    for (const ReceiverLog& log : logs_.receivers) {
      if (stopped()) return;
      std::vector<std::int64_t> own;
      for (const ReceivedLine& line : log.lines) {
        if (!is_measured(line)) continue;
        ++out_.lines;
        const double at_s = static_cast<double>(line.received_ns - zero_received_ns_) / ns_in_s;
        const std::size_t slice = slice_of(at_s);
        ++out_.slices[slice].received;
        came.push_back({line.sender, line.index, slice});
        latencies_[slice].push_back(line.latency_ns);
        if (planned_) from_plan_[slice].push_back(line.latency_ns + line.sent_ns - line.intended_ns);
        out_.latencies.add(line.latency_ns);
        own.push_back(line.latency_ns);
        note_slow(slice, log.number, line, at_s);
      }
      ServiceBox box{.number = log.number, .count = static_cast<std::int64_t>(own.size())};
      box.low_us = rank_us(own, 0.01);
      box.quarter_us = rank_us(own, 0.25);
      box.median_us = rank_us(own, 0.5);
      box.three_quarters_us = rank_us(own, 0.75);
      box.high_us = rank_us(own, 0.99);
      out_.receivers.push_back(box);
      if (run_.broadcaster()) count_first(came, came_);
    }
    count_first(came, came_);
  }

  /// Of one receiver; of all together where each message is for one of them.
  void take_skipped() {
    skipped_.resize(out_.slices.size());
    if (!needs_sent_by_) return;
    const std::span<const ReceiverLog> all = logs_.receivers;
    if (!run_.broadcaster()) return take_skipped(all);
    for (std::size_t i = 0; i < all.size() && !stopped(); ++i) take_skipped(all.subspan(i, 1));
  }

  /// What will not come is under way no more from when that was told. What came all the same, whenever, counts as come.
  void take_skipped(std::span<const ReceiverLog> logs) {
    std::vector<SkippedLine> told;
    for (const ReceiverLog& log : logs) told.insert(told.end(), log.skipped.begin(), log.skipped.end());
    if (told.empty()) return;
    std::ranges::stable_sort(told, {}, &SkippedLine::told_ns);
    std::map<std::uint32_t, wire::IndexSet> gone;  // by sender: that came, or was told
    for (const ReceiverLog& log : logs) {
      for (const ReceivedLine& line : log.lines) {
        if (is_measured(line) && line.index >= 0) gone[line.sender].add(static_cast<std::uint64_t>(line.index));
      }
    }
    const double end_s = static_cast<double>(out_.slices.size()) * out_.slice_s;
    for (const SkippedLine& line : told) {
      const double at_s = static_cast<double>(line.told_ns - zero_received_ns_) / ns_in_s;
      if (line.to < 0 || at_s >= end_s) continue;
      std::uint64_t fresh = 0;
      for (auto sent = sent_by_.lower_bound(line.sender_first); sent != sent_by_.end() && sent->first <= line.sender_last; ++sent)
        fresh += add_sent(gone[sent->first], sent->second, line);
      skipped_[slice_of(at_s)] += static_cast<std::int64_t>(fresh);
      count_of(out_.skipped, line.reason) += fresh;
    }
  }

  /// Those of the line's messages that were sent; returns how many of them are new.
  static std::uint64_t add_sent(wire::IndexSet& gone, const wire::IndexSet& sent, const SkippedLine& line) {
    const auto from = static_cast<std::uint64_t>(std::max<std::int64_t>(0, line.from)), to = static_cast<std::uint64_t>(line.to);
    std::uint64_t fresh = 0;
    for (const wire::IndexSet::Run& run : sent.runs()) {
      if (run.from > to) break;
      fresh += gone.add_range(std::max(run.from, from), std::min(run.to, to));
    }
    return fresh;
  }

  struct Counted {
    std::uint32_t sender;
    std::int64_t index;
    std::size_t slice;
    auto operator<=>(const Counted&) const = default;
  };

  /// What is sent, or comes, again is not one more under way, or one less. Empties `all`.
  static void count_first(std::vector<Counted>& all, std::vector<std::int64_t>& by_slice) {
    std::sort(all.begin(), all.end());
    const Counted* before = nullptr;
    for (const Counted& one : all) {
      if (before == nullptr || before->sender != one.sender || before->index != one.index) ++by_slice[one.slice];
      before = &one;
    }
    all.clear();
  }

  void note_slow(std::size_t slice, int receiver, const ReceivedLine& line, double at_s) {
    auto& slow = out_.slowest[slice];
    const double latency_us = static_cast<double>(line.latency_ns) / ns_in_us;
    if (slow.size() == RunDigest::slow_per_slice && slow.back().latency_us >= latency_us) return;
    const double lag_us = planned_ ? static_cast<double>(line.sent_ns - line.intended_ns) / ns_in_us : none;
    const SlowMessage message{.receiver = receiver,
                              .sender = static_cast<int>(line.sender),
                              .index = line.index,
                              .sent_ns = line.sent_ns,
                              .received_ns = line.received_ns,
                              .at_s = at_s,
                              .lag_us = lag_us,
                              .to_broker_us = static_cast<double>(line.to_broker_ns) / ns_in_us,
                              .in_queue_us = static_cast<double>(line.in_queue_ns) / ns_in_us,
                              .to_receiver_us = static_cast<double>(line.to_receiver_ns) / ns_in_us,
                              .latency_us = latency_us,
                              .attempt = line.attempt,
                              .flags = line.flags};
    const auto place = std::upper_bound(slow.begin(), slow.end(), message,
                                        [](const SlowMessage& a, const SlowMessage& b) { return a.latency_us > b.latency_us; });
    slow.insert(place, message);
    if (slow.size() > RunDigest::slow_per_slice) slow.pop_back();
  }

  void finish_slices() {
    const bool copies = run_.broadcaster();
    std::int64_t under_way = 0;
    for (std::size_t i = 0; i < out_.slices.size(); ++i) {
      TimeSlice& slice = out_.slices[i];
      slice.p50_us = rank_us(latencies_[i], 0.5);
      slice.p99_us = rank_us(latencies_[i], 0.99);
      slice.max_us = rank_us(latencies_[i], 1);
      slice.from_plan_p50_us = rank_us(from_plan_[i], 0.5);
      slice.lag_p99_us = rank_us(lags_[i], 0.99);
      under_way += sent_[i] * (copies ? static_cast<std::int64_t>(logs_.receivers.size()) : 1) - came_[i] - skipped_[i];
      slice.in_flight = std::max<std::int64_t>(0, under_way);
    }
    out_.never_came = std::max<std::int64_t>(0, under_way);
  }

  void take_pairs() {
    for (const SenderLog& log : logs_.senders) out_.pair_senders.push_back(log.number);
    for (const ReceiverLog& log : logs_.receivers) out_.pair_receivers.push_back(log.number);
    if (out_.pair_senders.size() * out_.pair_receivers.size() > RunDigest::pairs_max) return;
    for (const ReceiverLog& log : logs_.receivers) {
      if (stopped()) return;
      std::vector<std::vector<std::int64_t>> own(out_.pair_senders.size());
      for (const ReceivedLine& line : log.lines) {
        const auto found = std::lower_bound(out_.pair_senders.begin(), out_.pair_senders.end(), static_cast<int>(line.sender));
        if (!is_measured(line) || found == out_.pair_senders.end() || *found != static_cast<int>(line.sender)) continue;
        own[static_cast<std::size_t>(found - out_.pair_senders.begin())].push_back(line.latency_ns);
      }
      for (auto& samples : own) {
        const auto count = static_cast<std::int64_t>(samples.size());
        const double p50_us = rank_us(samples, 0.5);
        out_.pairs.push_back({count, p50_us, rank_us(samples, 0.99)});
      }
    }
  }

  const StoredRun& run_;
  const ServiceLogs& logs_;
  const std::atomic<bool>* cancelled_;
  bool planned_ = true;
  std::int64_t zero_sent_ns_ = std::numeric_limits<std::int64_t>::max(), zero_received_ns_ = zero_sent_ns_;
  std::vector<std::vector<std::int64_t>> lags_, latencies_, from_plan_;
  std::vector<std::int64_t> sent_, came_;                  // by slice: messages, and copies, for the first time
  std::vector<std::int64_t> skipped_;                      // by slice: copies of which it was told that they will not come
  bool needs_sent_by_ = false;                             // some receiver was told what will not come
  std::map<std::uint32_t, wire::IndexSet> sent_by_;        // then by sender's number: its messages' indexes
  RunDigest out_;
};

}  // namespace

std::optional<RunDigest> digest_of(const StoredRun& run, QString& error, const std::atomic<bool>* cancelled) {
  if (run.summary.at("logs").value("mode", "") == "off") return error = "this run wrote no logs (log: off)", std::nullopt;
  const auto logs = read_logs(run, error, cancelled);
  if (!logs) return {};
  bool any = false;
  for (const ReceiverLog& log : logs->receivers) any = any || !log.lines.empty();
  if (!any) return error = "the logs of this run hold no delivery", std::nullopt;
  RunDigest digest = Digester(run, *logs, cancelled).digest();
  if (cancelled && *cancelled) return error = "cancelled", std::nullopt;
  return digest;
}

}  // namespace n2nq::app
