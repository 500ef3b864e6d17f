// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time goes: the mean of each stage as a part of one bar. Means, because only they add up; so either all are known or none is
// shown. When they cease to be known, those that were known last stay, and it is said that they do.
#pragma once

#include <QWidget>
#include <array>

#include "app/control/live_figures.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class StageBar : public QWidget {
  Q_OBJECT
 public:
  explicit StageBar(const Theme& theme, QWidget* parent = nullptr);
  void set_figures(const app::LiveFigures& figures);
  void clear();
  /// Whether what is shown was true once, but nothing newer is known.
  bool is_past() const { return past_; }
  /// What the bar shows, and that a stage in grey is less than what clocks leave open of it.
  QString heading() const;

 signals:
  void heading_changed(const QString& heading);

 public:
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  static constexpr std::size_t stage_count = 4;
  void describe();
  void tell_heading();
  std::array<QColor, stage_count> colors() const;

  const Theme& theme_;
  std::array<double, stage_count> means_us_;
  std::array<app::Percentiles, stage_count> tails_;
  std::array<app::ClockBound, stage_count> bounds_;
  bool past_ = false;
  QString heading_told_;
};

}  // namespace n2nq::ui
