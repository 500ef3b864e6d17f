// SPDX-License-Identifier: GPL-3.0-or-later
// One live chart: axes and grid by Qt Charts, curves from a ChartHistory, values of all series at the instant under the pointer.
//
// The wheel zooms time and dragging moves it; both are only asked for here, by signals, because charts side by side move together.
// With the keyboard: left and right move the instant that is read, + and − zoom, 0 goes back to live.
#pragma once

#include <QChartView>
#include <optional>
#include <vector>

#include "ui/chart/axis_steps.h"
#include "ui/chart/chart_history.h"
#include "ui/chart/curve_item.h"
#include "ui/chart/time_window.h"
#include "ui/text/figures.h"

class QCategoryAxis;

namespace n2nq::ui {

class ReadingItem;

class LiveChart : public QChartView {
  Q_OBJECT
 public:
  struct Series {
    QString name;
    std::size_t color;  // in the theme's series
    MarkerShape marker;
    bool on_right = false;  // has the right axis
    std::optional<std::size_t> bound = {};  // where the history has how far its values may be off: 0 not at all, NaN not known
  };
  struct Spec {
    QString object_name, accessible_name;
    std::vector<Series> series;
    bool is_time = false;      // values in µs, the unit chosen by size; otherwise `unit`
    QString unit, right_unit;  // right_unit empty: no right axis
    double least_top = 1;      // the value axis ends at least here
  };

  LiveChart(const Theme& theme, Spec spec, const ChartHistory& history, QWidget* parent = nullptr);

  /// Takes up the window and what the history has in it.
  void show_window(const TimeWindow& window);
  void set_logarithmic(bool logarithmic);
  /// What the newest instant is called on the axis: "now" while it moves, "end" once it does not. The axis has the seconds of the run, as
  /// readings and reasons have; where the newest is "now" and the window moves along, it is told from there backwards.
  void set_newest_word(const QString& word);
  /// Shows the values at this instant; NaN: none.
  void set_reading(double t_s);
  /// What set_reading shows, line by line; empty when nothing is read.
  QStringList reading_lines() const;
  /// What is marked at this instant, give or take a few pixels, line by line.
  QStringList marks_at(double t_s) const;
  const Spec& spec() const { return spec_; }
  /// What the series is called from now on.
  void name_series(std::size_t series, const QString& name);
  QString unit() const;
  double value_axis_top() const { return logarithmic_ ? log_.max : linear_.top; }
  /// Below 0 where a value in sight is; a logarithmic axis has no place for such a value.
  double value_axis_bottom() const { return logarithmic_ ? log_.min : linear_.bottom; }

 signals:
  void pan_requested(double seconds);
  void zoom_requested(double factor, double anchor_s);
  void reset_requested();
  void series_named();
  /// The instant under the pointer or moved to by keys; NaN: none.
  void reading_requested(double t_s);

 protected:
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void drawForeground(QPainter* painter, const QRectF& rect) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Of the values in sight; NaN: there are none.
  struct Extent {
    double smallest, smallest_positive, largest;
  };
  void restyle();
  void scale_values();
  void scale_logarithmic(const Extent& extent);
  void scale_linear(const Extent& extent);
  int label_stride(int intervals) const;
  void fit_labels();
  bool tells_run_times() const;
  void scale_times();
  void label_units();
  void update_curves();
  Extent extent_in_window(bool on_right) const;
  /// Shows what is marked there; NaN, or nothing marked: nothing.
  void tell_marks(double t_s, const QPoint& at);
  void read_by_key(double t_s);
  QString value_text(const Series& series, std::size_t index, std::size_t at) const;
  double chart_x(const QPointF& view_position) const;

  const Theme& theme_;
  Spec spec_;
  const ChartHistory& history_;
  TimeWindow window_;
  QCategoryAxis *time_axis_, *value_axis_, *right_axis_ = nullptr;
  CurveItem* curves_;
  ReadingItem* reading_;
  QGraphicsSimpleTextItem *unit_label_, *right_unit_label_;
  double reading_s_;
  LinearRange linear_, right_;
  double labelled_height_ = 0;
  LogRange log_{1, 1000};
  TimeScale scale_;
  /// What the time axis says now.
  struct TimeLabels {
    double right_s = 0, span_s = -1;  // since the run's start, or else since the newest
    bool of_run = false;
    QString newest{};  // empty: it is not at the right end
    bool operator==(const TimeLabels&) const = default;
  } time_labels_;
  QString newest_word_ = QStringLiteral("now");
  bool logarithmic_ = false;
  QString told_;
  bool dragging_ = false;
  double drag_x_ = 0;
};

}  // namespace n2nq::ui
