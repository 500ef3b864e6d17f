// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/recovery.h"

#include <cmath>
#include <utility>

namespace n2nq::app {

QString recovery_text(double after_s) {
  return after_s < 0.05 ? QStringLiteral("as before less than 0.1 s later") : QStringLiteral("as before %1 s later").arg(after_s, 0, 'f', 1);
}

/// What was not known before is not held against it.
bool Recovery::Open::has(const Sample& now) const {
  const bool flows = std::isnan(now.in_flight) ? std::isnan(received_per_s_min) || now.received_per_s >= received_per_s_min
                                               : !(now.in_flight > in_flight_max);
  return now.t_s > at_s && now.p50_us <= p50_us_max && flows;
}

bool Recovery::Open::have_stopped(double nothing_for_s) const {
  return nothing_for_s > 2 * gap_s && nothing_for_s * received_per_s_min >= missed_min;
}

void Recovery::look(const LiveFigures& figures) {
  const bool silent = figures.senders_silent || figures.receivers_silent;
  const bool heard = !silent && figures.latency_now.count > 0;
  const bool no_count = figures.in_flight_at_most || std::isnan(figures.in_flight_bound);
  const double in_flight = no_count ? unknown : static_cast<double>(figures.in_flight);
  const Sample now{figures.t_s, figures.latency_now.p50_us, in_flight, figures.received_per_s};
  if (heard) heard_at_s_ = now.t_s;
  for (Open& open : open_) {
    const bool in_range = heard && !open.lasts && open.has(now);
    // Nothing was delivered since the last look, as happens at low rates.
    if (!heard && !silent && !open.have_stopped(now.t_s - heard_at_s_)) continue;
    if (!in_range) {
      open.in_range = 0;
    } else if (open.in_range++ == 0) {
      open.first_in_range_s = now.t_s;
    }
    if (open.in_range == rounds_in_range) recovered_.push_back({open.event, open.first_in_range_s - open.at_s});
  }
  std::erase_if(open_, [](const Open& open) { return open.in_range == rounds_in_range; });
  if (!heard || !open_.empty()) return;  // the range before a fault is that of the run when nothing was wrong
  before_.push_back(now);
  while (before_.front().t_s < now.t_s - range_s) before_.pop_front();
}

void Recovery::fault(std::size_t event, double at_s, Whom whom, bool lasts) {
  if (before_.empty()) return;  // nothing to compare with: the event stays without a figure
  // NaN where none of the samples knows it, which bounds nothing.
  double p50_us = unknown, in_flight = unknown, received_per_s = unknown, gap_s = 0, former_s = before_.front().t_s;
  for (const Sample& sample : before_) {
    gap_s = std::fmax(gap_s, sample.t_s - std::exchange(former_s, sample.t_s));
    p50_us = std::fmax(p50_us, sample.p50_us);
    in_flight = std::fmax(in_flight, sample.in_flight);
    received_per_s = std::fmin(received_per_s, sample.received_per_s);
  }
  open_.push_back({event, at_s, p50_us * latency_slack, in_flight * in_flight_slack, received_per_s * rate_slack, gap_s, whom, lasts});
}

void Recovery::mend(Open& open) {
  open.lasts = false;
  open.in_range = 0;
}

void Recovery::mend(Whom whom) {
  for (Open& open : open_) {
    if (open.whom == whom) mend(open);
  }
}

void Recovery::renew(Role role) {
  for (Open& open : open_) {
    if (open.whom.role == role) mend(open);
  }
}

std::vector<Recovery::Recovered> Recovery::take() {
  return std::exchange(recovered_, {});
}

}  // namespace n2nq::app
