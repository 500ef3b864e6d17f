// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/live_chart.h"

#include <QCategoryAxis>
#include <QChart>
#include <QGraphicsLayout>
#include <QGraphicsSimpleTextItem>
#include <QMouseEvent>
#include <QToolTip>
#include <cmath>
#include <limits>

#include "app/figure/figure_scale.h"
#include "ui/chart/reading_item.h"

namespace n2nq::ui {

namespace {

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
constexpr double zoom_per_notch = 0.8;
constexpr int notch = 120;
constexpr double label_room_px = 26;
constexpr double right_least_top = 10;
constexpr double finer_below_s = 100;
constexpr double newest_room = 0.4;  // of a step: what would stand nearer to the newest has no label
constexpr int side_room_px = 26;  // half of a time label stands beyond the plot
constexpr int unit_room_px = 18;
constexpr double mark_near_px = 5;
constexpr int mark_lines_max = 8;
constexpr int chart_min_height_px = 16;  // so that a window with charts can be made low enough for them to move to their page

QChart* make_chart() {
  auto* chart = new QChart;
  chart->setAnimationOptions(QChart::NoAnimation);
  chart->legend()->hide();
  chart->setBackgroundVisible(false);
  chart->setMargins(QMargins(side_room_px, unit_room_px, side_room_px, 0));
  chart->layout()->setContentsMargins(0, 0, 0, 0);
  return chart;
}

QString with_minus(QString number) {
  return number.replace(u'-', u'−');
}

void remove_labels(QCategoryAxis& axis) {
  for (const QString& label : axis.categoriesLabels()) axis.remove(label);
}

int intervals_of(const LinearRange& range) {
  return static_cast<int>(std::lround((range.top - range.bottom) / range.step));
}

// Labels are written as all figures are; the axes of Qt Charts for values know no separator between thousands.
// `stride`: every how manieth grid line is labelled, among them that of 0.
void label_axis(QCategoryAxis& axis, const LinearRange& range, double factor, int stride) {
  const double step = range.step * factor;
  const int decimals = step >= 1 && std::abs(step - std::round(step)) < 1e-6 ? 0 : step >= 0.1 ? 1 : 2;
  const int below = static_cast<int>(std::lround(-range.bottom / range.step)), above = intervals_of(range) - below;
  remove_labels(axis);
  axis.setRange(range.bottom * factor, range.top * factor);
  axis.setStartValue(range.bottom * factor);
  for (int i = -(below / stride) * stride; i <= above; i += stride) {
    axis.append(with_minus(fixed_text(step * i, decimals)), step * i);
  }
}

}  // namespace

LiveChart::LiveChart(const Theme& theme, Spec spec, const ChartHistory& history, QWidget* parent)
    : QChartView(make_chart(), parent),
      theme_(theme),
      spec_(std::move(spec)),
      history_(history),
      time_axis_(new QCategoryAxis),
      value_axis_(new QCategoryAxis),
      reading_s_(nowhere) {
  setObjectName(spec_.object_name);
  setAccessibleName(spec_.accessible_name);
  setToolTip(QString());
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumHeight(chart_min_height_px);
  setViewportUpdateMode(QGraphicsView::BoundingRectViewportUpdate);
  setRenderHint(QPainter::Antialiasing);

  time_axis_->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  chart()->addAxis(time_axis_, Qt::AlignBottom);
  chart()->addAxis(value_axis_, Qt::AlignLeft);
  value_axis_->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  if (!spec_.right_unit.isEmpty()) {
    right_axis_ = new QCategoryAxis;
    right_axis_->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
    right_axis_->setGridLineVisible(false);
    chart()->addAxis(right_axis_, Qt::AlignRight);
  }
  curves_ = new CurveItem(chart(), history_);
  reading_ = new ReadingItem(chart());
  unit_label_ = new QGraphicsSimpleTextItem(chart());
  right_unit_label_ = new QGraphicsSimpleTextItem(chart());
  connect(chart(), &QChart::plotAreaChanged, this, &LiveChart::fit_labels);
  connect(&theme_, &Theme::changed, this, &LiveChart::restyle);
  restyle();
  show_window(window_);
}

void LiveChart::name_series(std::size_t series, const QString& name) {
  if (spec_.series[series].name == name) return;
  spec_.series[series].name = name;
  emit series_named();
}

QString LiveChart::unit() const {
  return spec_.is_time ? QString::fromUtf8(scale_.unit) : spec_.unit;
}

void LiveChart::restyle() {
  const Tokens& t = theme_.tokens();
  const QFont caption = theme_.font(TextStyle::caption);
  setBackgroundBrush(t.surface);
  const QPen grid(mixed(t.border, t.surface, 0.6), 1);
  for (QAbstractAxis* axis : std::initializer_list<QAbstractAxis*>{time_axis_, value_axis_, right_axis_}) {
    if (axis == nullptr) continue;
    axis->setLabelsFont(caption);
    axis->setLabelsColor(t.secondary);
    axis->setGridLinePen(grid);
    axis->setLinePen(Qt::NoPen);
    axis->setShadesVisible(false);
  }
  time_axis_->setGridLineVisible(false);
  time_axis_->setLinePenColor(t.border);
  time_axis_->setLinePen(QPen(t.border, 1));
  for (QGraphicsSimpleTextItem* label : {unit_label_, right_unit_label_}) {
    label->setFont(caption);
    label->setBrush(t.secondary);
  }
  curves_->set_font(caption);
  curves_->set_colors(t.text, t.secondary, t.warning, t.surface);
  reading_->set_style(t, caption);
  update_curves();
  set_reading(reading_s_);
}

void LiveChart::set_logarithmic(bool logarithmic) {
  if (logarithmic == logarithmic_) return;
  logarithmic_ = logarithmic;
  linear_ = {};
  log_ = LogRange{0, 0};
  show_window(window_);
}

void LiveChart::show_window(const TimeWindow& window) {
  window_ = window;
  scale_times();
  scale_values();
  // Labels of another width need their room at once, not with the next turn of the event loop: till then they would be cut.
  chart()->layout()->activate();
  update_curves();
  set_reading(reading_s_);
}

void LiveChart::set_newest_word(const QString& word) {
  if (word == newest_word_) return;
  newest_word_ = word;
  scale_times();
}

bool LiveChart::tells_run_times() const {
  return !window_.is_live() || newest_word_ != QLatin1String("now") || window_.begins_with_run();
}

void LiveChart::scale_times() {
  const double now_s = window_.now_s(), step = time_step(window_.span_s());
  TimeLabels labels{.right_s = window_.to_s(), .span_s = window_.span_s(), .of_run = tells_run_times()};
  if (!labels.of_run) labels.right_s -= now_s;
  const bool grows = window_.is_live() && newest_word_ == QLatin1String("now") && window_.begins_with_run();
  const bool ends_with_newest = !grows && std::abs(window_.to_s() - now_s) < 1e-6;
  const int decimals = now_s < finer_below_s || step <= 1 ? 1 : 0;
  if (ends_with_newest) labels.newest = window_.shows_newest() ? newest_word_ : fixed_text(now_s, decimals) + QStringLiteral(" s");
  if (labels == time_labels_) return;
  time_labels_ = labels;
  remove_labels(*time_axis_);
  const double right = labels.right_s, left = right - labels.span_s;
  time_axis_->setRange(left, right);
  time_axis_->setStartValue(left);
  double told = std::ceil(left / step - 1e-9) * step;
  if (labels.of_run) told = std::max(0.0, told);  // before its start a run has no seconds
  for (; told <= right + 1e-6; told += step) {
    if (ends_with_newest && right - told < newest_room * step) continue;
    time_axis_->append(QStringLiteral("%1 s").arg(with_minus(app::axis_number(told))), told);
  }
  if (ends_with_newest) time_axis_->append(labels.newest, right);
}

LiveChart::Extent LiveChart::extent_in_window(bool on_right) const {
  Extent extent{nowhere, nowhere, nowhere};
  const std::size_t end = std::min(history_.index_from(window_.shown_to_s()) + 1, history_.size());
  for (std::size_t series = 0; series < spec_.series.size(); ++series) {
    if (spec_.series[series].on_right != on_right) continue;
    for (std::size_t at = history_.index_from(window_.from_s()); at < end; ++at) {
      const double value = history_.value(series, at);
      extent.largest = std::fmax(extent.largest, value);
      extent.smallest = std::fmin(extent.smallest, value);
      if (value > 0) extent.smallest_positive = std::fmin(extent.smallest_positive, value);
    }
  }
  return extent;
}

// A decade is as high as any other, and its label is a whole power of ten.
void LiveChart::scale_logarithmic(const Extent& extent) {
  const LogRange range = log_range(extent.smallest_positive, extent.largest, log_.max > 0 ? log_ : LogRange{1, 1000});
  if (range == log_) return;
  log_ = range;
  scale_ = spec_.is_time ? TimeScale{} : scale_;
  remove_labels(*value_axis_);
  const double from = std::log10(log_.min), to = std::log10(log_.max);
  value_axis_->setRange(from, to);
  value_axis_->setStartValue(from);
  const int stride = label_stride(static_cast<int>(std::round(to - from)));
  for (double at = std::round(from); at <= to + 1e-6; at += stride) {
    const double value = std::pow(10, at);
    value_axis_->append(at < 0 ? fixed_text(value, static_cast<int>(-at)) : count_text(std::llround(value)), at);
  }
}

// In a low plot fewer lines are labelled, or Qt Charts would write an ellipsis at each of them.
int LiveChart::label_stride(int intervals) const {
  const double height = std::max(chart()->plotArea().height(), 1.0);
  return std::clamp(static_cast<int>(std::ceil(label_room_px * intervals / height)), 1, std::max(intervals, 1));
}

void LiveChart::fit_labels() {
  label_units();
  const double height = chart()->plotArea().height();
  if (std::abs(height - labelled_height_) < 1) return;
  labelled_height_ = height;
  linear_ = right_ = {};
  log_ = LogRange{0, 0};
  scale_values();
  update_curves();
}

void LiveChart::scale_linear(const Extent& extent) {
  const LinearRange range = linear_range(extent.smallest, extent.largest, linear_, spec_.least_top);
  if (range == linear_) return;
  linear_ = range;
  if (spec_.is_time) scale_ = time_scale(std::max(range.top, -range.bottom) * 0.999);
  label_axis(*value_axis_, range, scale_.factor, label_stride(intervals_of(range)));
}

void LiveChart::scale_values() {
  const Extent extent = extent_in_window(false);
  logarithmic_ ? scale_logarithmic(extent) : scale_linear(extent);
  if (right_axis_ != nullptr) {
    const Extent right = extent_in_window(true);
    const LinearRange range = linear_range(right.smallest, right.largest, right_, right_least_top);
    if (range != right_) {
      right_ = range;
      label_axis(*right_axis_, range, 1, label_stride(intervals_of(range)));
    }
  }
  label_units();
}

void LiveChart::label_units() {
  const QRectF plot = chart()->plotArea();
  unit_label_->setText(unit());
  unit_label_->setPos(std::max(0.0, plot.left() - unit_label_->boundingRect().width() - space::between), 0);
  right_unit_label_->setText(spec_.right_unit);
  right_unit_label_->setPos(chart()->size().width() - right_unit_label_->boundingRect().width(), 0);
}

void LiveChart::update_curves() {
  const Tokens& t = theme_.tokens();
  std::vector<CurveItem::Curve> curves;
  for (std::size_t i = 0; i < spec_.series.size(); ++i) {
    const Series& series = spec_.series[i];
    ValueScale scale;
    if (series.on_right) {
      scale = {right_.bottom, right_.top, false};
    } else {
      scale = {value_axis_bottom(), value_axis_top(), logarithmic_};
    }
    curves.push_back({i, t.series[series.color], series.marker, scale});
  }
  curves_->set_curves(std::move(curves));
  curves_->set_window(window_.from_s(), window_.to_s(), window_.shown_to_s());
  curves_->refresh();
}

QString LiveChart::value_text(const Series& series, std::size_t index, std::size_t at) const {
  const double value = history_.value(index, at);
  if (std::isnan(value)) return dash();
  if (spec_.is_time) return time_figure(value).text();
  if (!series.on_right) return rate_figure(value).text();
  return count_text(std::llround(value)) + (series.bound ? count_bound_text(history_.value(*series.bound, at)) : QString());
}

void LiveChart::set_reading(double t_s) {
  reading_s_ = t_s;
  const std::size_t at = std::isnan(t_s) ? history_.size() : history_.nearest(t_s);
  if (at >= history_.size() || history_.time(at) < window_.from_s() || history_.time(at) > window_.shown_to_s() + 1e-9) {
    setAccessibleDescription({});
    return reading_->hide();
  }
  const Tokens& t = theme_.tokens();
  std::vector<ReadingItem::Line> lines;
  for (std::size_t i = 0; i < spec_.series.size(); ++i) {
    const Series& series = spec_.series[i];
    lines.push_back({series.name, value_text(series, i, at), t.series[series.color], series.marker});
  }
  reading_->show_at(curves_->x_of(history_.time(at)), QStringLiteral("at %1 s").arg(fixed_text(history_.time(at), 1)), std::move(lines));
  setAccessibleDescription((reading_lines() + marks_at(t_s)).join(QStringLiteral("; ")));
}

QStringList LiveChart::marks_at(double t_s) const {
  const double near_s = window_.span_s() * mark_near_px / std::max(chart()->plotArea().width(), 1.0);
  QStringList lines;
  for (const ChartMark& mark : history_.marks_between(std::max(t_s - near_s, window_.from_s()), std::min(t_s + near_s, window_.shown_to_s()))) {
    if (lines.size() == mark_lines_max) return lines << QStringLiteral("…");
    lines << mark.detail;
  }
  return lines;
}

void LiveChart::tell_marks(double t_s, const QPoint& at) {
  const QString text = std::isnan(t_s) ? QString() : marks_at(t_s).join(u'\n');
  if (text == told_) return;
  told_ = text;
  text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(at, text, this);
}

QStringList LiveChart::reading_lines() const {
  return reading_->texts();
}

double LiveChart::chart_x(const QPointF& view_position) const {
  return chart()->mapFromScene(mapToScene(view_position.toPoint())).x();
}

void LiveChart::wheelEvent(QWheelEvent* event) {
  const double notches = event->angleDelta().y() / static_cast<double>(notch);
  if (notches != 0) emit zoom_requested(std::pow(zoom_per_notch, notches), curves_->t_of(chart_x(event->position())));
  event->accept();
}

void LiveChart::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  if (event->button() != Qt::LeftButton) return;
  dragging_ = true;
  drag_x_ = chart_x(event->position());
  viewport()->setCursor(Qt::ClosedHandCursor);
}

void LiveChart::mouseMoveEvent(QMouseEvent* event) {
  const double x = chart_x(event->position());
  if (dragging_) {
    emit pan_requested(curves_->t_of(drag_x_) - curves_->t_of(x));
    drag_x_ = x;
    return;
  }
  const bool inside = x >= chart()->plotArea().left() && x <= chart()->plotArea().right();
  emit reading_requested(inside ? curves_->t_of(x) : nowhere);
  tell_marks(inside ? curves_->t_of(x) : nowhere, event->globalPosition().toPoint());
}

void LiveChart::mouseReleaseEvent(QMouseEvent* event) {
  Q_UNUSED(event);
  dragging_ = false;
  viewport()->unsetCursor();
}

void LiveChart::leaveEvent(QEvent* event) {
  QChartView::leaveEvent(event);
  emit reading_requested(nowhere);
  tell_marks(nowhere, {});
}

void LiveChart::drawForeground(QPainter* painter, const QRectF& rect) {
  QChartView::drawForeground(painter, rect);
  if (!hasFocus()) return;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing, false);
  painter->setPen(QPen(theme_.tokens().primary, 1, Qt::DotLine));
  painter->setBrush(Qt::NoBrush);
  painter->drawRect(mapToScene(viewport()->rect().adjusted(0, 0, -1, -1)).boundingRect());
  painter->restore();
}

void LiveChart::focusInEvent(QFocusEvent* event) {
  QChartView::focusInEvent(event);
  viewport()->update();
}

void LiveChart::focusOutEvent(QFocusEvent* event) {
  QChartView::focusOutEvent(event);
  viewport()->update();
  emit reading_requested(nowhere);
  tell_marks(nowhere, {});
}

void LiveChart::keyPressEvent(QKeyEvent* event) {
  const double step = window_.span_s() / 60;
  const double at = std::isnan(reading_s_) ? window_.shown_to_s() : reading_s_;
  switch (event->key()) {
    case Qt::Key_Left:
      return read_by_key(std::max(at - step, window_.from_s()));
    case Qt::Key_Right:
      return read_by_key(std::min(at + step, window_.shown_to_s()));
    case Qt::Key_Plus:
      return emit zoom_requested(zoom_per_notch, at);
    case Qt::Key_Minus:
      return emit zoom_requested(1 / zoom_per_notch, at);
    case Qt::Key_0:
      return emit reset_requested();
    default:
      return QChartView::keyPressEvent(event);
  }
}

void LiveChart::read_by_key(double t_s) {
  emit reading_requested(t_s);
  tell_marks(t_s, mapToGlobal(mapFromScene(chart()->mapToScene(QPointF(curves_->x_of(t_s), chart()->plotArea().top())))));
}

void LiveChart::resizeEvent(QResizeEvent* event) {
  QChartView::resizeEvent(event);
  label_units();
}

}  // namespace n2nq::ui
