// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/time_window.h"

#include <utility>

namespace n2nq::ui {

namespace {

/// Runs that are shown whole once they are over; one of a minute takes a little longer than that.
constexpr double whole_min_s = 0.5, whole_max_s = 66;

}  // namespace

void TimeWindow::set_limits(double oldest_s, double newest_s) {
  oldest_s_ = oldest_s;
  newest_s_ = newest_s;
  follow();
}

void TimeWindow::set_over(bool over) {
  over_ = over;
  follow();
}

void TimeWindow::follow() {
  if (!live_) return;
  now_s_ = newest_s_;
  if (!zoomed_) span_s_ = span_for(newest_s_ - begin_s());
  to_s_ = std::max(newest_s_, begin_s() + span_s_);
}

// A run begins at 0, and its first sample comes a little later; of a long run the begin is gone.
double TimeWindow::begin_s() const {
  return oldest_s_ < span_at_first_s ? std::min(oldest_s_, 0.0) : oldest_s_;
}

// In steps, so that the axis does not breathe; the last of them is not outgrown.
double TimeWindow::span_for(double seconds) const {
  if (over_ && seconds <= whole_max_s) return std::max(seconds, whole_min_s);
  for (const double span : {span_at_first_s, 15.0, 20.0, 30.0, 45.0}) {
    if (seconds <= span) return span;
  }
  return span_default_s;
}

void TimeWindow::pause() {
  if (!std::exchange(live_, false)) return;
  seen_from_s_ = from_s();
  seen_to_s_ = shown_to_s();
}

void TimeWindow::note_seen() {
  if (live_) return;
  seen_from_s_ = std::max(std::min(seen_from_s_, from_s()), to_s_ - span_max_s);
  seen_to_s_ = std::min(std::max(seen_to_s_, shown_to_s()), seen_from_s_ + span_max_s);
}

void TimeWindow::resume() {
  live_ = true;
  seen_from_s_ = seen_to_s_ = std::numeric_limits<double>::quiet_NaN();
  follow();
}

void TimeWindow::pan(double seconds) {
  pause();
  to_s_ += seconds;
  clamp();
  note_seen();
}

void TimeWindow::zoom(double factor, double anchor_s) {
  const double span = std::clamp(span_s_ * factor, std::min(span_s_, span_min_s), span_max_s);
  if (!live_) {
    to_s_ = anchor_s + (to_s_ - anchor_s) * span / span_s_;
  }
  span_s_ = span;
  zoomed_ = true;
  follow();
  clamp();
  note_seen();
}

void TimeWindow::reset() {
  zoomed_ = false;
  resume();
}

// The newest instant may be left of the right edge where there is less than the window is long. Left of the begin there is nothing.
void TimeWindow::clamp() {
  if (live_) return;
  now_s_ = newest_s_;  // whoever moves a held window gets the newest into reach, and nothing lies behind "now"
  const double earliest_end = begin_s() + span_s_;
  to_s_ = std::clamp(to_s_, earliest_end, std::max(newest_s_, earliest_end));
}

}  // namespace n2nq::ui
