// SPDX-License-Identifier: GPL-3.0-or-later
// The series of a chart with their colours and markers, beside the chart's title and never on its data.
#pragma once

#include <QWidget>

#include "ui/chart/live_chart.h"

namespace n2nq::ui {

class ChartLegend : public QWidget {
  Q_OBJECT
 public:
  ChartLegend(const Theme& theme, const LiveChart& chart, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void take_names();

  const Theme& theme_;
  const LiveChart::Spec& spec_;
};

}  // namespace n2nq::ui
