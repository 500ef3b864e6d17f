// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/figure_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "app/figure/figure_words.h"

namespace n2nq::ui {

namespace {

constexpr double reach_px = 24;
constexpr double pad_px = space::between;

}  // namespace

app::FigureStyle figure_style(const Theme& theme) {
  const Tokens& tokens = theme.tokens();
  app::FigureStyle style;
  style.ink = {.paper = tokens.surface,
               .text = tokens.text,
               .secondary = tokens.secondary,
               .grid = tokens.border,
               .warning = tokens.warning,
               .bad = tokens.bad,
               .series = tokens.series};
  style.family = theme.font(TextStyle::body).family();
  style.text_px = text_px::body;
  return style;
}

FigureView::FigureView(Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  connect(&theme_, &Theme::changed, this, &FigureView::renew);
  renew();
}

std::optional<app::FigureHit> find_point(const app::Figure& figure, const QString& series, double x) {
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    if (figure.series[s].name != series) continue;
    const auto& points = figure.series[s].points;
    const auto same = std::find_if(points.begin(), points.end(), [x](const app::FigurePoint& point) { return point.x == x; });
    if (same != points.end()) return app::FigureHit{static_cast<int>(s), static_cast<int>(same - points.begin())};
  }
  return {};
}

void FigureView::set_figure(const app::Figure& figure) {
  if (hit_) {
    const app::FigureSeries& series = figure_.series[static_cast<std::size_t>(hit_->series)];
    hit_ = find_point(figure, series.name, series.points[static_cast<std::size_t>(hit_->point)].x);
  }
  figure_ = figure;
  setAccessibleName(figure_.title);
  renew();
  tell_hit();
}

void FigureView::set_notes(bool shown) {
  notes_ = shown;
  renew();
}

void FigureView::renew() {
  app::FigureStyle style = figure_style(theme_);
  style.heading = false;  // the card around it has one
  style.notes = notes_;
  painter_ = std::make_unique<app::FigurePainter>(figure_, style);
  update();
}

void FigureView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter_->paint(painter, QRectF(rect()));
  if (hit_) draw_hit(painter);
  if (hasFocus() && !hit_) {
    painter.setPen(QPen(theme_.tokens().primary, 1, Qt::DotLine));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

/// A small card beside the point, on the side where there is room.
void FigureView::draw_hit(QPainter& painter) const {
  const QStringList lines = app::point_lines(figure_, *hit_);
  const QPointF at = painter_->place_of(*hit_);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(theme_.font(TextStyle::caption));
  const QFontMetricsF metrics(painter.font());
  const double width_max = std::max(160.0, width() * 0.45);
  const QString text = lines.join('\n');
  const QRectF wanted = metrics.boundingRect(QRectF(0, 0, width_max, 1e4), Qt::TextWordWrap, text);
  QRectF box(at.x() + pad_px * 1.5, at.y() - wanted.height() - pad_px * 2, wanted.width() + pad_px * 2, wanted.height() + pad_px * 1.5);
  if (box.right() > width()) box.moveRight(at.x() - pad_px * 1.5);
  if (box.left() < 0) box.moveLeft(0);
  if (box.top() < 0) box.moveTop(std::min(at.y() + pad_px * 1.5, std::max(0.0, height() - box.height())));
  painter.setPen(QPen(theme_.tokens().text, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(at, 6, 6);
  painter.setPen(QPen(theme_.tokens().border, 1));
  painter.setBrush(theme_.tokens().surface);
  painter.drawRoundedRect(box, radius_px, radius_px);
  painter.setPen(theme_.tokens().text);
  painter.drawText(box.adjusted(pad_px, pad_px * 0.75, -pad_px, 0), Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, text);
}

void FigureView::show_hit(std::optional<app::FigureHit> hit) {
  if (hit == hit_) return;
  hit_ = hit;
  tell_hit();
}

void FigureView::tell_hit() {
  setAccessibleDescription(hit_ ? app::point_lines(figure_, *hit_).join(", ") : QString());
  const bool opens =
      hit_ && !figure_.series[static_cast<std::size_t>(hit_->series)].points[static_cast<std::size_t>(hit_->point)].folders.isEmpty();
  setCursor(opens ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void FigureView::mouseMoveEvent(QMouseEvent* event) {
  show_hit(painter_->hit(event->position(), reach_px));
}

void FigureView::leaveEvent(QEvent*) {
  show_hit({});
}

void FigureView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  show_hit(painter_->hit(event->position(), reach_px));
  click();
}

void FigureView::click() {
  if (!hit_) return;
  const app::FigurePoint& point = figure_.series[static_cast<std::size_t>(hit_->series)].points[static_cast<std::size_t>(hit_->point)];
  emit point_clicked(*hit_, point.folders);
}

int FigureView::point_count(int series) const {
  return static_cast<int>(figure_.series[static_cast<std::size_t>(series)].points.size());
}

/// The first one from there on, forwards or backwards, that has a point; -1: none has.
int FigureView::series_with_points(int from, int by) const {
  for (int at = from; at >= 0 && at < static_cast<int>(figure_.series.size()); at += by) {
    if (point_count(at) > 0) return at;
  }
  return -1;
}

/// Along a curve.
void FigureView::step(int by) {
  const int series = hit_ ? hit_->series : series_with_points(0, 1);
  if (series < 0) return;
  const int before = by > 0 ? -1 : point_count(series);
  const int to = (hit_ ? hit_->point : before) + by;
  if (to >= 0 && to < point_count(series)) show_hit(app::FigureHit{series, to});
}

/// To the next curve.
void FigureView::step_over(int by) {
  if (!hit_) return step(1);
  const int to = series_with_points(hit_->series + by, by);
  if (to >= 0) show_hit(app::FigureHit{to, std::min(hit_->point, point_count(to) - 1)});
}

void FigureView::keyPressEvent(QKeyEvent* event) {
  if (figure_.series.empty()) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Right:
      return step(1);
    case Qt::Key_Left:
      return step(-1);
    case Qt::Key_Up:
      return step_over(-1);
    case Qt::Key_Down:
      return step_over(1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      return click();
    case Qt::Key_Escape:
      if (!hit_) return QWidget::keyPressEvent(event);  // the page may have somewhere to go back to
      return show_hit({});
    default:
      return QWidget::keyPressEvent(event);
  }
}

bool FigureView::event(QEvent* event) {
  if (event->type() == QEvent::FocusOut) show_hit({});
  return QWidget::event(event);
}

}  // namespace n2nq::ui
