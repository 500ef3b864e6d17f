// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/recovery.h"

#include <algorithm>
#include <utility>

namespace n2nq::app {

void Recovery::look(const LiveFigures& figures) {
  const bool silent = figures.senders_silent || figures.receivers_silent;
  const bool heard = !silent && figures.latency_now.count > 0;
  const Sample now{figures.t_s, figures.latency_now.p50_us, static_cast<double>(figures.in_flight)};
  for (Open& open : open_) {
    const bool in_range =
        heard && !open.lasts && now.t_s > open.at_s && now.p50_us <= open.p50_us_max && now.in_flight <= open.in_flight_max;
    if (!heard && !silent) continue;  // nothing was delivered since the last look, as happens at low rates
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
  const auto highest = [this](auto member) {
    return (*std::max_element(before_.begin(), before_.end(), [&](const Sample& a, const Sample& b) { return a.*member < b.*member; })).*
           member;
  };
  open_.push_back({event, at_s, highest(&Sample::p50_us) * latency_slack, highest(&Sample::in_flight) * in_flight_slack, whom, lasts});
}

void Recovery::mend(Whom whom) {
  for (Open& open : open_) {
    const bool its = open.whom == whom || (whom.number == 0 && open.whom.role == whom.role);
    if (!its) continue;
    open.lasts = false;
    open.in_range = 0;
  }
}

std::vector<Recovery::Recovered> Recovery::take() {
  return std::exchange(recovered_, {});
}

}  // namespace n2nq::app
