// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/time_window.h"

#include <algorithm>
#include <utility>

namespace n2nq::ui {

void TimeWindow::set_limits(double oldest_s, double newest_s) {
  oldest_s_ = oldest_s;
  newest_s_ = newest_s;
  if (!live_) return;
  now_s_ = to_s_ = newest_s;
  if (!zoomed_) span_s_ = span_for(newest_s - oldest_s);
}

// In steps, so that the axis does not breathe; the last of them is not outgrown.
double TimeWindow::span_for(double seconds) const {
  for (const double span : {span_at_first_s, 15.0, 20.0, 30.0, 45.0}) {
    if (seconds <= span) return span;
  }
  return span_default_s;
}

void TimeWindow::pause() {
  if (!std::exchange(live_, false)) return;
  seen_from_s_ = from_s();
  seen_to_s_ = to_s_;
}

void TimeWindow::note_seen() {
  if (live_) return;
  seen_from_s_ = std::max(std::min(seen_from_s_, from_s()), to_s_ - span_max_s);
  seen_to_s_ = std::min(std::max(seen_to_s_, to_s_), seen_from_s_ + span_max_s);
}

void TimeWindow::resume() {
  live_ = true;
  seen_from_s_ = seen_to_s_ = std::numeric_limits<double>::quiet_NaN();
  set_limits(oldest_s_, newest_s_);
}

void TimeWindow::pan(double seconds) {
  pause();
  to_s_ += seconds;
  clamp();
  note_seen();
}

void TimeWindow::zoom(double factor, double anchor_s) {
  const double span = std::clamp(span_s_ * factor, span_min_s, span_max_s);
  if (!live_) {
    to_s_ = anchor_s + (to_s_ - anchor_s) * span / span_s_;
  }
  span_s_ = span;
  zoomed_ = true;
  clamp();
  note_seen();
}

void TimeWindow::reset() {
  zoomed_ = false;
  resume();
}

// The newest instant may be left of the right edge, but something of what there is stays in sight.
void TimeWindow::clamp() {
  if (live_) return;
  now_s_ = newest_s_;  // whoever moves a held window gets the newest into reach, and nothing lies behind "now"
  const double earliest_end = std::min(oldest_s_ + span_s_, newest_s_);
  to_s_ = std::clamp(to_s_, earliest_end, std::max(newest_s_, earliest_end));
}

}  // namespace n2nq::ui
