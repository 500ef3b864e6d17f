// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a run the charts show. Live it begins where the run begins, at first over ten seconds and, as there is more to show, in
// steps over up to sixty; then it follows the newest sample. Once the run is over it shows all of a run that is no longer than that. Panning
// or pausing holds it still; zooming changes its span.
#pragma once

#include <algorithm>
#include <limits>

namespace n2nq::ui {

class TimeWindow {
 public:
  static constexpr double span_default_s = 60;
  static constexpr double span_at_first_s = 10;
  static constexpr double span_min_s = 2;
  static constexpr double span_max_s = 600;

  /// The newest and oldest instants there are; moves a live window along.
  void set_limits(double oldest_s, double newest_s);
  /// Whether no more will come.
  void set_over(bool over);

  /// The newest instant, or what it was when the window was held or moved last.
  double now_s() const { return now_s_; }
  /// Up to here there is something to show: right of it is room for what comes, and none for what comes while the window is held.
  double shown_to_s() const { return std::min(to_s_, now_s_); }
  /// Whether the run's begin is at the left edge.
  bool begins_with_run() const { return from_s() <= begin_s() + 1e-9; }
  /// Whether that is the newest there is: a held window stays behind it.
  bool shows_newest() const { return now_s_ == newest_s_; }
  double from_s() const { return to_s_ - span_s_; }
  double to_s() const { return to_s_; }
  double span_s() const { return span_s_; }
  bool is_live() const { return live_; }
  bool is_default() const { return live_ && !zoomed_; }
  /// What was in sight since the window is held, from and to; at most span_max_s, of which the part nearest to what is in sight stays.
  /// NaN: it follows.
  double seen_from_s() const { return seen_from_s_; }
  double seen_to_s() const { return seen_to_s_; }

  void pause();
  void resume();
  /// Shows later (positive) or earlier time, within the limits; holds the window still.
  void pan(double seconds);
  /// `factor` below 1 shows less. Keeps the instant `anchor_s` where it is; a live window keeps its right edge.
  void zoom(double factor, double anchor_s);
  /// Back to the newest, following.
  void reset();

 private:
  void clamp();
  void follow();
  void note_seen();
  double begin_s() const;
  double span_for(double seconds) const;

  double oldest_s_ = 0, newest_s_ = 0;
  double now_s_ = 0, to_s_ = span_at_first_s, span_s_ = span_at_first_s;
  double seen_from_s_ = std::numeric_limits<double>::quiet_NaN(), seen_to_s_ = seen_from_s_;
  bool live_ = true, over_ = false;
  bool zoomed_ = false;
};

}  // namespace n2nq::ui
