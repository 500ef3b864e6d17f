// SPDX-License-Identifier: GPL-3.0-or-later
// The two live charts, latency and rates, over the same stretch of time.
#pragma once

#include <QTimer>

#include "app/control/fault.h"
#include "app/control/live_figures.h"
#include "ui/chart/chart_history.h"
#include "ui/chart/live_chart.h"
#include "ui/chart/time_window.h"
#include "ui/widget/card.h"

class QLabel;
class QPushButton;
class QHBoxLayout;

namespace n2nq::ui {

class ChartsCard : public QFrame {
  Q_OBJECT
 public:
  explicit ChartsCard(const Theme& theme, QWidget* parent = nullptr);

  /// One more sample, if something new was said; a gap for a group that is silent. Ignored before the common start.
  void add_sample(const app::LiveFigures& figures);
  /// A line with a word at the newest instant.
  void mark(const QString& word);
  /// What was done in the run: a line each, with a word.
  void set_events(const std::vector<app::RunEvent>& events);
  void clear();
  /// Whether more samples will come.
  void set_running(bool running);
  void set_paused(bool paused);
  bool is_paused() const { return !window_.is_live(); }

  /// Low, so that charts never keep a window from being made low enough for them to move to their page.
  QSize minimumSizeHint() const override;

  const ChartHistory& latency_history() const { return latency_; }
  const ChartHistory& rate_history() const { return rates_; }
  LiveChart* latency_chart() const { return latency_chart_; }
  LiveChart* rate_chart() const { return rate_chart_; }
  const TimeWindow& window() const { return window_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show_bound(const app::ClockBound& bound, double median_us);
  void show_in_flight_bound(double bound, bool is_below);
  QHBoxLayout* make_head(QLabel* title, const LiveChart& chart);
  void connect_chart(LiveChart* chart);
  void window_changed();
  void draw_next();
  void restyle();

  const Theme& theme_;
  ChartHistory latency_{3}, rates_{4};  // the last of the rates: how far in flight may be off
  TimeWindow window_;
  QTimer draw_timer_;
  bool rates_due_ = false;
  std::uint64_t round_ = 0;              // the last one that was added
  double newest_p50_us_ = app::unknown;  // that was heard of: of a moment without deliveries nothing is
  QLabel *latency_title_, *rate_title_;
  LiveChart *latency_chart_, *rate_chart_;
  QPushButton *log_, *pause_, *back_;
};

}  // namespace n2nq::ui
