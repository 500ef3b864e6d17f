// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/live_accumulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workers/measure/figures.h"

namespace n2nq::app {

namespace {

constexpr double silent_after_s = 1;
constexpr double patience_s = 0.5;       // how long one group's answer waits for the other's to the same question
constexpr std::size_t waiting_max = 32;  // answers; three seconds' worth

}  // namespace

double mean_us(const measure::Histogram& histogram) {
  return histogram.empty() ? unknown : histogram.mean_ns() / 1e3;
}

Percentiles percentiles_us(const measure::Histogram& histogram) {
  const measure::Figures figures = measure::figures_of(histogram);
  Percentiles out;
  out.count = figures.count;
  if (figures.count == 0) return out;
  const auto us = [](auto ns) { return static_cast<double>(ns) / 1e3; };
  out.mean_us = us(figures.mean_ns);
  out.mean_lowest_95_us = us(figures.mean_lowest_95_ns);
  out.left_out = figures.left_out;
  out.p50_us = us(figures.p50_ns);
  out.p90_us = us(figures.p90_ns);
  out.p95_us = us(figures.p95_ns);
  out.p99_us = us(figures.p99_ns);
  out.p99_9_us = us(figures.p99_9_ns);
  out.max_us = us(figures.max_ns);
  return out;
}

void forget_rates(LiveFigures& figures, Role role) {
  if (role == Role::senders) {
    figures.sent_per_s = figures.sent_bytes_per_s = figures.sent_copies_per_s = unknown;
    for (SenderRow& row : figures.senders) row.rate_per_s = unknown;
  } else if (role == Role::receivers) {
    figures.received_per_s = figures.received_bytes_per_s = unknown;
    for (ReceiverRow& row : figures.receivers) row.rate_per_s = unknown;
  }
}

template <class Stats>
void LiveAccumulator::Group<Stats>::take(const Stats& stats, std::int64_t count, double t_s) {
  asked_s = unknown;
  rate.look(stats.now_ns, count, stats.bytes);
  waiting.push_back({stats, t_s, rate.per_s(), rate.other_per_s()});
}

template <class Stats>
bool LiveAccumulator::Group<Stats>::is_silent(double t_s) const {
  return absent || t_s - asked_s > silent_after_s;
}

/// Whether the other group should wait for this one.
template <class Stats>
bool LiveAccumulator::Group<Stats>::is_kept_waiting_for(double t_s) const {
  return is_open() && !is_silent(t_s);
}

LiveAccumulator::LiveAccumulator(const Settings& settings) : copies_(settings.copies()), responses_(settings.queue.responses) {
  figures_.planned = settings.planned_messages().value_or(-1);
  figures_.warm_up.planned = settings.planned_warmup();
  figures_.in_flight_at_most = settings.queue.requests.has_value();
}

void LiveAccumulator::may_have_lost(Role role) {
  // With responses N2NQ sends again what a receiver did not confirm; senders know what of theirs it has.
  if (role == Role::broker || (role == Role::receivers && !responses_)) figures_.in_flight_at_most = true;
}

void LiveAccumulator::restarted(Role role) {
  may_have_lost(role);
  if (role == Role::senders) {
    senders_ = {};
    senders_.absent = true;  // until it is asked
    for (measure::Histogram* told : {&delay_, &lag_}) *told = measure::Histogram();
  } else if (role == Role::receivers) {
    receivers_ = {};
    receivers_.absent = true;
    if (!latency_told_) latency_told_ = latency_;  // the one before it may have ended without an answer
    for (measure::Histogram* told : {&latency_, &latency_from_plan_, &lag_stage_, &to_broker_, &in_queue_, &to_receiver_}) {
      *told = measure::Histogram();
    }
  }
}

void LiveAccumulator::add(const SendersStats& stats, double t_s) {
  senders_.take(stats, stats.attempted, t_s);
  for (SenderRow& row : senders_.waiting.back().stats.rows) {
    CountRate& rate = senders_.row_rates[row.number];
    rate.look(stats.now_ns, row.attempted);
    row.rate_per_s = rate.per_s();
  }
}

void LiveAccumulator::add(const ReceiversStats& stats, double t_s) {
  receivers_.take(stats, stats.received, t_s);
  for (ReceiverRow& row : receivers_.waiting.back().stats.rows) {
    CountRate& rate = receivers_.row_rates[row.number];
    rate.look(stats.now_ns, row.received);
    row.rate_per_s = rate.per_s();
  }
}

LiveAccumulator::Due LiveAccumulator::due(double t_s) const {
  const auto& senders = senders_.waiting;
  const auto& receivers = receivers_.waiting;
  const Due all{senders.size(), receivers.size()};
  if (senders.empty() && receivers.empty()) return {};
  // The newest question that both have answered.
  for (std::size_t i = senders.size(); i > 0; --i) {
    for (std::size_t j = receivers.size(); j > 0; --j) {
      if (senders[i - 1].stats.id == receivers[j - 1].stats.id) return {i, j};
    }
  }
  const double oldest_s = std::min(senders.empty() ? t_s : senders.front().t_s, receivers.empty() ? t_s : receivers.front().t_s);
  if (t_s - oldest_s > patience_s || senders.size() + receivers.size() > waiting_max) return all;
  const bool waits = (senders.empty() && senders_.is_kept_waiting_for(t_s)) || (receivers.empty() && receivers_.is_kept_waiting_for(t_s)) ||
                     (!senders.empty() && !receivers.empty());
  return waits ? Due{} : all;
}

void LiveAccumulator::show(const Group<SendersStats>::Answer& answer) {
  const SendersStats& stats = answer.stats;
  senders_at_ns_ = stats.now_ns;
  senders_shown_id_ = stats.id;
  figures_.attempted = stats.attempted;
  figures_.accepted = stats.accepted;
  figures_.warm_up.sent = stats.warmup_sent;
  figures_.sent_per_s = answer.per_s;
  figures_.sent_bytes_per_s = answer.bytes_per_s;
  figures_.sent_copies_per_s = answer.per_s * copies_;
  figures_.senders = stats.rows;
  delay_.merge(stats.delay);
  lag_.merge(stats.lag);
  senders_lines_dropped_ = stats.log.dropped;
}

void LiveAccumulator::show(const Group<ReceiversStats>::Answer& answer) {
  const ReceiversStats& stats = answer.stats;
  receivers_at_ns_ = stats.now_ns;
  receivers_shown_id_ = stats.id;
  figures_.received = stats.received;
  figures_.skipped = stats.skipped;
  figures_.warm_up.received = stats.warmup_received;
  figures_.warm_up.skipped = stats.warmup_skipped;
  figures_.duplicated = stats.duplicated;
  figures_.duplicated_unflagged = stats.duplicated_unflagged;
  figures_.out_of_order = stats.out_of_order;
  figures_.unexpected = stats.unexpected;
  figures_.negative = stats.negative;
  figures_.bad_checksum = stats.bad_checksum;
  figures_.unasked = stats.unasked;
  figures_.expired = stats.expired;
  figures_.unrequested = stats.unrequested;
  figures_.parked = stats.parked;
  figures_.parked_delivered = stats.parked_delivered;
  figures_.cut_off = stats.cut_off;
  figures_.redelivered = stats.redelivered;
  figures_.confirmed = stats.confirmed;
  figures_.answered_negatively = stats.answered_negatively;
  figures_.received_per_s = answer.per_s;
  figures_.received_bytes_per_s = answer.bytes_per_s;
  figures_.receivers = stats.rows;
  latency_.merge(stats.latency);
  // What a killed group had received is told again by the one that goes on for it.
  latency_now_.merge(latency_told_ ? stats.latency.without(*latency_told_) : stats.latency);
  latency_told_.reset();
  latency_from_plan_.merge(stats.latency_from_plan);
  lag_stage_.merge(stats.lag);
  to_broker_.merge(stats.to_broker);
  in_queue_.merge(stats.in_queue);
  to_receiver_.merge(stats.to_receiver);
  receivers_lines_dropped_ = stats.log.dropped;
}

/// Two groups answer one question a moment apart, and senders hear a little late what N2NQ has accepted. But what has arrived was accepted,
/// and what was accepted was sent. A copy is in one place only: what arrived and was parked all the same is not in `skipped`.
void LiveAccumulator::settle_counts(bool whole_round) {
  const std::int64_t arrived = figures_.received - figures_.duplicated + figures_.skipped;
  const std::int64_t attempted = figures_.attempted, told = figures_.accepted;
  figures_.accepted = std::max(told, (arrived + copies_ - 1) / copies_);
  figures_.attempted = std::max(figures_.attempted, figures_.accepted);
  // From answers to two questions, what arrived between them would look as if it were in flight.
  figures_.in_flight_is_old = !whole_round;
  if (!whole_round) return;
  figures_.in_flight = std::max<std::int64_t>(0, figures_.accepted * copies_ - arrived);
  figures_.in_flight_bound = counts_are_apart() ? unknown : 0;
  if (clocks_.latency.apart && senders_shown_id_ == receivers_shown_id_) bring_to_one_instant(arrived, attempted, told);
}

/// Whether the groups' answers that are shown are of two questions, while both of them go on: nobody knows what was sent in between.
bool LiveAccumulator::counts_are_apart() const {
  const auto goes_on = [](const auto& group, bool silent, std::int64_t shown_id) {
    const bool never_asked = shown_id < 0 && !group.is_open();
    return !group.over && !silent && !never_asked;
  };
  return senders_shown_id_ != receivers_shown_id_ && goes_on(senders_, figures_.senders_silent, senders_shown_id_) &&
         goes_on(receivers_, figures_.receivers_silent, receivers_shown_id_);
}

/// On hosts of their own the groups' answers are further apart than on one, and it takes the clocks to say by how much.
void LiveAccumulator::bring_to_one_instant(std::int64_t arrived, std::int64_t attempted, std::int64_t accepted) {
  const double offsets_us = clocks_.receivers_offset_us - clocks_.senders_offset_us;
  const double later_s = static_cast<double>(receivers_at_ns_ - senders_at_ns_) / 1e9 + offsets_us / 1e6;
  const double meanwhile = figures_.sent_copies_per_s * later_s;
  const double clocks_err = figures_.sent_copies_per_s * (clocks_.senders_offset.total_us() + clocks_.receivers_offset.total_us()) / 1e6;
  const std::int64_t untold = std::max<std::int64_t>(0, attempted - accepted);
  figures_.in_flight_bound = std::ceil(std::abs(meanwhile) + clocks_err) + static_cast<double>((untold + 1) * copies_);
  if (std::isnan(figures_.in_flight_bound)) return;
  figures_.in_flight = std::max<std::int64_t>(0, accepted * copies_ + std::llround(meanwhile) - arrived);
}

LiveFigures LiveAccumulator::show_due(Due now, double t_s) {
  figures_.t_s = t_s;
  figures_.senders_silent = senders_.is_silent(t_s);
  figures_.receivers_silent = receivers_.is_silent(t_s);
  latency_now_ = measure::Histogram();
  if (now.senders + now.receivers > 0) {
    ++figures_.round;
    figures_.heard_s = std::fmax(now.senders > 0 ? senders_.waiting[now.senders - 1].t_s : unknown,
                                 now.receivers > 0 ? receivers_.waiting[now.receivers - 1].t_s : unknown);
    for (std::size_t i = 0; i < now.senders; ++i) show(senders_.waiting[i]);
    for (std::size_t i = 0; i < now.receivers; ++i) show(receivers_.waiting[i]);
    senders_.waiting.erase(senders_.waiting.begin(), senders_.waiting.begin() + static_cast<std::ptrdiff_t>(now.senders));
    receivers_.waiting.erase(receivers_.waiting.begin(), receivers_.waiting.begin() + static_cast<std::ptrdiff_t>(now.receivers));
  }
  // Senders that ended before hold their counts, so that the receivers' answers alone are a whole round. Receivers that do not answer hold
  // theirs: they may have got more, never less.
  const bool no_receivers_yet = receivers_shown_id_ < 0 && !receivers_.is_open();  // nobody was ever asked
  const bool holds_still = figures_.receivers_silent || no_receivers_yet;
  if (now.senders + now.receivers > 0 || figures_.receivers_silent) settle_counts(now.receivers > 0 || holds_still);
  figures_.log_lines_dropped = static_cast<std::int64_t>(senders_lines_dropped_ + receivers_lines_dropped_);
  figures_.latency = percentiles_us(latency_);
  figures_.latency_from_plan = percentiles_us(latency_from_plan_);
  figures_.delay = percentiles_us(delay_);
  figures_.lag = percentiles_us(lag_);
  figures_.latency_now = percentiles_us(latency_now_);
  figures_.stages = {mean_us(lag_stage_), mean_us(to_broker_), mean_us(in_queue_), mean_us(to_receiver_)};
  figures_.stage_tails = {percentiles_us(lag_stage_), percentiles_us(to_broker_), percentiles_us(in_queue_), percentiles_us(to_receiver_)};
  LiveFigures shown = figures_;
  forget_what_is_over(shown);
  return shown;
}

void LiveAccumulator::forget_what_is_over(LiveFigures& figures) const {
  if (figures.senders_silent || senders_.over) forget_rates(figures, Role::senders);
  if (figures.receivers_silent || receivers_.over) forget_rates(figures, Role::receivers);
  if (figures.senders_silent) {
    figures.delay = figures.lag = {};
    for (SenderRow& row : figures.senders) row.delay_mean_ms = unknown;
  }
  if (figures.receivers_silent) {
    figures.latency = figures.latency_from_plan = figures.latency_now = {};
    figures.stages = {};
    figures.stage_tails = {};
    for (ReceiverRow& row : figures.receivers) row.latency_mean_us = row.latency_p99_us = unknown;
  }
}

}  // namespace n2nq::app
