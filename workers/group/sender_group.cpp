// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/sender_group.h"

#include <algorithm>

#include "broker/net/clock.h"
#include "workers/group/reports.h"

namespace n2nq::worker {

SenderGroup::SenderGroup(net::EventLoop& loop, WorkerSettings settings, Tell tell)
    : Group(loop, std::move(settings), std::move(tell)),
      payload_(this->settings().seed, this->settings().size_min, this->settings().plan.size_max),
      delay_cutter_(histograms_.delay),
      lag_cutter_(histograms_.lag),
      listed_(amount()),
      turn_timer_(loop, [this] { wake_for_turns(); }) {
  for (std::uint32_t number = this->settings().first; number <= this->settings().last; ++number) {
    senders_.emplace_back(tools(), number, this->settings().plan, payload_, histograms_, static_cast<Sender::Scheduler&>(*this));
  }
  heap_.reserve(amount());
  ready_.reserve(amount());
  turns_.reserve(amount());
}

void SenderGroup::begin(std::int64_t start_ns) {
  // Who goes on does so by the very plan of the killed process, as its lines have it: what it was told goes through another line between the
  // clocks. So do those of which there is no line.
  const auto has_lines = [](const Sender& sender) { return sender.replayed_start_ns().has_value(); };
  const auto replayed = std::find_if(senders_.begin(), senders_.end(), has_lines);
  if (replayed != senders_.end()) start_ns = *replayed->replayed_start_ns();
  for (Sender& sender : senders_) sender.start(start_ns);
}

void SenderGroup::replayed_all() {
  for (Sender& sender : senders_) sender.tell_unnoted();
}

void SenderGroup::stop_services() {
  for (Sender& sender : senders_) sender.stop();
}

void SenderGroup::sender_ready(Sender& sender) {
  const std::size_t place = place_of(sender.number());
  if (listed_[place].in_ready) return;
  listed_[place].in_ready = true;
  ready_.push_back(place);
  wake_due_ns_ = 0;
  turn_timer_.arm(0);
}

void SenderGroup::wake_for_turns() {
  std::int64_t now = net::now_ns();
  if (wake_due_ns_ != 0) {
    lead_.woke(now - wake_at_ns_);
    while (now < wake_due_ns_) now = net::now_ns();  // no longer than WakeLead::lead_ns_max
  }
  take_turns(now);
  arm_turn_timer();
}

void SenderGroup::arm_turn_timer() {
  wake_due_ns_ = ready_.empty() && !heap_.empty() ? heap_.front().at_ns : 0;
  wake_at_ns_ = wake_due_ns_ - lead_.lead_ns();
  if (wake_due_ns_ != 0) {
    turn_timer_.arm(wake_at_ns_);
  } else if (!ready_.empty()) {
    turn_timer_.arm(0);
  }
}

/// One turn for everybody who is due now; then the sockets get theirs.
void SenderGroup::take_turns(std::int64_t now_ns) {
  turns_.clear();
  turns_.swap(ready_);
  for (const std::size_t place : turns_) listed_[place].in_ready = false;
  while (!heap_.empty() && heap_.front().at_ns <= now_ns) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    turns_.push_back(heap_.back().place);
    listed_[heap_.back().place].in_heap = false;
    heap_.pop_back();
  }
  for (const std::size_t place : turns_) take_turn(place, now_ns);
}

void SenderGroup::take_turn(std::size_t place, std::int64_t now_ns) {
  Sender& sender = senders_[place];
  switch (sender.take_turn(now_ns)) {
    case Sender::Turn::due_later:
      if (listed_[place].in_heap) return;  // with an earlier instant: then it looks once in vain
      listed_[place].in_heap = true;
      heap_.push_back({sender.next_due_ns(), place});
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      return;
    case Sender::Turn::more:
      return sender_ready(sender);
    case Sender::Turn::held_up:
    case Sender::Turn::done:
      return;
  }
}

std::uint64_t SenderGroup::bytes() {
  return sum_of(senders_, &Sender::bytes);
}

namespace {

nlohmann::json row_of(const Sender& sender, const measure::SentCounts& seen) {
  return {{"number", sender.number()},
          {"state", name_of(sender.state())},
          {"attempted", seen.attempted},
          {"accepted", seen.accepted},
          {"delay_mean_ns", mean_or_null(sender.histograms().delay)},
          {"lag_mean_ns", mean_or_null(sender.histograms().lag)}};
}

}  // namespace

void SenderGroup::put_counts(nlohmann::json& json, const Ranges& ranges, nlohmann::json& rows) {
  measure::SentCounts sum, warm_up;
  for (const Sender& sender : senders_) {
    const measure::SentCounts seen = sender.measured();
    sum += seen;
    warm_up += sender.warm_up();
    if (is_in(ranges, sender.number())) rows.push_back(row_of(sender, seen));
  }
  json.update(sum);
  json["bytes"] = bytes();
  if (settings().plan.warmup_messages > 0) json["warmup"] = warm_up;
  json["ended"] = std::ranges::count(senders_, ServiceState::ended, &Sender::state);
}

nlohmann::json SenderGroup::cut_intervals() {
  return {{"delay", delay_cutter_.cut().to_json()}, {"lag", lag_cutter_.cut().to_json()}};
}

void SenderGroup::put_totals(nlohmann::json& bye) {
  put_totals_and_figures(bye, histograms_);
  std::optional<std::int64_t> last_lag_ns, lag_growth_ns;
  nlohmann::json services = nlohmann::json::array();
  for (const Sender& sender : senders_) {
    const measure::SentCounts counts = sender.measured();
    if (sender.last_lag_ns()) last_lag_ns = std::max(last_lag_ns.value_or(INT64_MIN), *sender.last_lag_ns());
    if (const auto slipped_ns = sender.slipped_ns()) lag_growth_ns = std::max(lag_growth_ns.value_or(INT64_MIN), *slipped_ns);
    services.push_back({{"number", sender.number()},
                        {"port", sender.source_port()},
                        {"attempted", counts.attempted},
                        {"accepted", counts.accepted},
                        {"refused", counts.refused},
                        {"lost_before_queue", counts.attempted - counts.accepted - counts.refused},
                        {"bytes", sender.bytes()},
                        {"accepted_set", sender.accepted_set().text()},
                        {"figures", figures_json(sender.histograms())}});
    if (settings().plan.warmup_messages > 0) services.back()["warmup"] = sender.warm_up();
    if (sender.unnoted() > 0) {
      services.back()["unnoted"] = sender.unnoted();
      services.back()["sent_over_ns"] = sender.sent_over_ns();
    }
    if (sender.stood_still_ns() > 0) services.back()["stood_still_ns"] = sender.stood_still_ns();
    const bool speaks_for_another = !settings().salvage.empty() || !settings().continue_of.empty();
    if (speaks_for_another && sender.connections() == 0) services.back()["unheard"] = true;
  }
  bye["services"] = std::move(services);
  bye["last_lag_ns"] = last_lag_ns ? nlohmann::json(*last_lag_ns) : nlohmann::json(nullptr);
  bye["lag_growth_ns"] = lag_growth_ns ? nlohmann::json(*lag_growth_ns) : nlohmann::json(nullptr);
}

}  // namespace n2nq::worker
