// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/figure_painter.h"

#include <QFontMetricsF>
#include <QGuiApplication>
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/figure/figure_doubts.h"
#include "app/figure/figure_marks.h"
#include "app/figure/figure_words.h"

namespace n2nq::app {

namespace {

constexpr double gap_px = 6;
constexpr double sample_px = 26;   // a curve's piece in the legend
constexpr int tick_every_px = 70;  // along x
constexpr int number_every_px = 24;
constexpr double name_px_max = 2 * tick_every_px;
constexpr int names_told_max = 24;
constexpr int y_ticks = 5;
constexpr double reference_room = 1.05;  // so that a value from elsewhere has room for its mark and number
constexpr double low_room = 0.1;         // × value: down to this an interval is drawn whole on a logarithmic axis
constexpr double bound_room = 2;         // × value: up to this what the clocks leave open is drawn whole
constexpr double edge_px = 10;           // beside the outermost points, so that their marks are clear of the numbers at the axes
constexpr double below_axis_px = 7;      // likewise of a mark that stands on it
const QString bound_words = QStringLiteral("clocks ±");  // as in the tables
constexpr int marked_told_max = 8;  // further ones are counted

double lesser(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::min(a, b);
}
double greater(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b);
}

struct Extent {
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  void take(double value, bool above_0) {
    if (!std::isfinite(value) || (above_0 && value <= 0)) return;
    low = lesser(low, value);
    high = greater(high, value);
  }
};

}  // namespace

const FigureInk& print_ink() {
  static const FigureInk ink{.paper = "#FFFFFF",
                             .text = "#1D2129",
                             .secondary = "#5B6270",
                             .grid = "#DDE0E5",
                             .warning = "#B36B00",
                             .bad = "#C62828",
                             .series = {"#124191", "#E08A00", "#C62828", "#2E9E5B", "#8A5CC2", "#00838F", "#6D4C41", "#5B6270"}};
  return ink;
}

FigurePainter::FigurePainter(Figure figure, FigureStyle style)
    : figure_(std::move(figure)), style_(std::move(style)), x_(figure_.x, 0, 1, false), y_(figure_.y, 0, 1, true) {
  if (style_.family.isEmpty()) style_.family = QFontInfo(QGuiApplication::font()).family();
  make_scales();
}

void FigurePainter::make_scales() {
  Extent x, y;
  double widest_bound = 0;
  const bool x_above_0 = figure_.x.logarithmic || figure_.x.percentiles, y_above_0 = figure_.y.logarithmic;
  for (const FigureSeries& series : figure_.series) {
    for (const FigurePoint& point : series.points) {
      x.take(point.x, x_above_0);
      // An interval that nearly reaches 0 would leave no room for what was measured.
      const double low = std::max(point.low.value_or(point.y), y_above_0 ? point.y * low_room : -std::numeric_limits<double>::infinity());
      for (const double value : {point.y, low, point.high.value_or(point.y)}) y.take(value, y_above_0);
      // Much more than the value itself is said in words: it would leave no room for what was measured.
      if (!is_heat() && point.clock_bound <= bound_room * std::abs(point.y)) y.take(point.y + point.clock_bound, y_above_0);
      widest_bound = std::max(widest_bound, point.clock_bound);
      if (point.box) y.take(point.box->low, y_above_0), y.take(point.box->high, y_above_0);
    }
  }
  if (!is_heat() && y.high == 0 && widest_bound > 0) y.take(widest_bound, y_above_0);  // all there is to see
  for (const FigureReference& reference : figure_.references) {
    if (reference.y) y.take(*reference.y * reference_room, y_above_0);
    if (reference.x) x.take(*reference.x, x_above_0);
  }
  if (figure_.kind == Figure::Kind::bars && !y_above_0) figure_.y.from_zero = true;
  if (is_heat()) {  // rows and columns have names; the values' scale is that of the colours
    y_ = FigureScale(figure_.y, y.low, y.high, false);
    x_ = FigureScale(figure_.x, x.low, x.high, false);
    return;
  }
  // Bars need room for their own width at both ends.
  if (figure_.kind == Figure::Kind::bars && figure_.x.names.isEmpty() && x.high > x.low && !x_above_0) {
    const double room = (x.high - x.low) * 0.06;
    x.low -= room, x.high += room;
  }
  x_ = FigureScale(figure_.x, x.low, x.high, false);
  y_ = FigureScale(figure_.y, y.low, y.high, true);
}

QFont FigurePainter::font(double px, bool strong) const {
  QFont font(style_.family);
  font.setPixelSize(std::max(1, static_cast<int>(std::lround(px))));
  font.setHintingPreference(QFont::PreferNoHinting);
  if (strong) font.setWeight(QFont::DemiBold);
  return font;
}

double FigurePainter::line_height(double px) const {
  return std::ceil(QFontMetricsF(font(px)).height());
}

int FigurePainter::look(int series) const {
  const int own = figure_.series[static_cast<std::size_t>(series)].look;
  return own < 0 ? series : own;
}

QColor FigurePainter::color(int series) const {
  return style_.ink.series[static_cast<std::size_t>(look(series)) % style_.ink.series.size()];
}

QString FigurePainter::legend_text(int series) const {
  const FigureSeries& of = figure_.series[static_cast<std::size_t>(series)];
  return of.not_run.isEmpty() ? of.name : of.name + " (not run)";
}

bool FigurePainter::has_marks(const FigureSeries& series) const {
  return figure_.kind != Figure::Kind::steps && series.points.size() <= marks_points_max;
}

/// Several would hide each other; how wide they are stands below the figure.
bool FigurePainter::has_band(const FigureSeries& series) const {
  return !has_marks(series) && figure_.series.size() == 1;
}

bool FigurePainter::shows_bound() const {
  if (is_heat() || figure_.kind == Figure::Kind::boxes) return false;
  return std::any_of(figure_.series.begin(), figure_.series.end(), [this](const FigureSeries& series) {
    const bool drawn = figure_.kind == Figure::Kind::bars || has_marks(series) || has_band(series);
    return drawn && std::any_of(series.points.begin(), series.points.end(),
                                [](const FigurePoint& point) { return point.clock_bound > 0 && !std::isnan(point.y); });
  });
}

bool FigurePainter::is_numbered(double width) const {
  if (is_heat() || !style_.notes || figure_.x.names.isEmpty()) return false;
  const QFontMetricsF metrics(font(style_.text_px - 1));
  double longest = 0;
  for (const QString& name : figure_.x.names) longest = std::max(longest, metrics.horizontalAdvance(name));
  return longest > std::max(name_px_max, (width - axis_width()) / static_cast<double>(figure_.x.names.size()) - gap_px);
}

QStringList FigurePainter::notes(double width) const {
  QStringList out;
  if (is_numbered(width) && figure_.x.names.size() <= names_told_max) {
    QStringList names;
    for (const QString& name : figure_.x.names) names += QString::number(names.size() + 1) + QChar(0x00A0) + name;
    out += names.join(QString::fromUtf8(" · "));
  } else if (is_numbered(width)) {
    out += QString("1 to %1: in the order of the table").arg(figure_.x.names.size());
  }
  out += not_run_notes(figure_) + marked_notes(figure_, marked_told_max);
  for (qsizetype i = 0; i < static_cast<qsizetype>(figure_.references.size()); ++i) {
    out += QString::fromUtf8("◇ %1 %2").arg(i + 1).arg(figure_.references[static_cast<std::size_t>(i)].text);
  }
  if (const QString words = grey_words(figure_); !words.isEmpty()) out += words;
  return out + figure_.remarks;
}

double FigurePainter::notes_height(double width) const {
  if (!style_.notes) return 0;
  double height = 0;
  const QFontMetricsF metrics(font(style_.text_px - 2));
  for (const QString& note : notes(width)) {
    height += std::ceil(metrics.boundingRect(QRectF(0, 0, width, 1e5), Qt::TextWordWrap, note).height()) + 2;
  }
  return height == 0 ? 0 : height + gap_px;
}

double FigurePainter::axis_width() const {
  const QFontMetricsF metrics(font(style_.text_px - 1));
  double width = 0;
  if (is_heat()) {
    for (const FigureSeries& series : figure_.series) width = std::max(width, metrics.horizontalAdvance(series.name));
  } else {
    for (const FigureScale::Tick& tick : y_.ticks(y_ticks)) width = std::max(width, metrics.horizontalAdvance(tick.text));
  }
  return std::ceil(width) + gap_px;
}

double FigurePainter::legend_rows(double width) const {
  return draw_legend_entries(nullptr, QRectF(0, 0, width, 1e5));
}

double FigurePainter::height_for(double width, double plot_height) const {
  double height = plot_height + line_height(style_.text_px) * 2 + line_height(style_.text_px - 1) + gap_px * 3 + below_axis_px;
  if (style_.heading) height += line_height(style_.text_px + 2) + gap_px;
  const double legend = legend_rows(width);
  if (legend > 0) height += legend;
  return std::ceil(height + notes_height(width));
}

void FigurePainter::paint(QPainter& painter, const QRectF& area) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  placed_.clear();
  double top = area.top();
  if (style_.heading) {
    const double height = line_height(style_.text_px + 2);
    painter.setFont(font(style_.text_px + 2, true));
    painter.setPen(style_.ink.text);
    painter.drawText(QRectF(area.left(), top, area.width(), height), Qt::AlignLeft | Qt::AlignVCenter, figure_.title);
    top += height + gap_px;
  }
  const double legend = legend_rows(area.width());
  draw_legend(painter, QRectF(area.left(), top, area.width(), legend));
  top += legend;
  const double title = line_height(style_.text_px);
  painter.setFont(font(style_.text_px));
  painter.setPen(style_.ink.secondary);
  painter.drawText(QRectF(area.left(), top, area.width(), title), Qt::AlignLeft | Qt::AlignVCenter, axis_title(figure_.y));
  if (is_heat()) draw_heat_scale(painter, QRectF(area.left() + area.width() / 2, top, area.width() / 2, title));
  const double labels = line_height(style_.text_px - 1);
  top += title + (gap_px + labels) / 2;  // half of the topmost number stands above the plot

  const double below = notes_height(area.width());
  const double right = QFontMetricsF(font(style_.text_px - 1)).horizontalAdvance("000");  // half a label may stand out
  edge_ = figure_.kind == Figure::Kind::lines || figure_.kind == Figure::Kind::steps ? edge_px : 0;
  const double left = area.left() + axis_width() + edge_;
  plot_ = QRectF(left, top, std::max(20.0, area.right() - right - left),
                 std::max(20.0, area.bottom() - below - title - labels - below_axis_px - gap_px - top));
  draw_axes(painter, is_numbered(area.width()));
  painter.save();
  painter.setClipRect(frame().adjusted(-9, -9, 9, 9));
  if (is_heat()) {
    draw_heat(painter);
  } else {
    for (int i = 0; i < static_cast<int>(figure_.series.size()); ++i) draw_series(painter, i);
  }
  draw_references(painter);
  painter.restore();
  painter.setFont(font(style_.text_px));
  painter.setPen(style_.ink.secondary);
  painter.drawText(QRectF(plot_.left(), plot_.bottom() + below_axis_px + labels + gap_px / 2, plot_.width(), title), Qt::AlignCenter,
                   axis_title(figure_.x));
  draw_notes(painter, QRectF(area.left(), area.bottom() - below + gap_px, area.width(), below));
  painter.restore();
}

// ---- legend -----------------------------------------------------------------------------------------------------------------------------

void FigurePainter::draw_legend(QPainter& painter, QRectF area) const {
  draw_legend_entries(&painter, area);
}

double FigurePainter::draw_legend_entries(QPainter* painter, QRectF area) const {
  const bool one_without_name = figure_.series.size() == 1 && figure_.series[0].name.isEmpty();
  const int curves = one_without_name ? 0 : static_cast<int>(figure_.series.size());
  if (is_heat() || (curves == 0 && !shows_bound())) return 0;
  const QFont used = font(style_.text_px - 1);
  const QFontMetricsF metrics(used);
  const double row = std::ceil(metrics.height()) + 2;
  double x = area.left(), y = area.top();
  if (!figure_.legend.isEmpty()) {
    const double width = metrics.horizontalAdvance(figure_.legend);
    if (painter != nullptr) {
      painter->setFont(used);
      painter->setPen(style_.ink.secondary);
      painter->drawText(QRectF(x, y, width, row), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, figure_.legend);
    }
    x += width + gap_px * 2;
  }
  const int entries = curves + (shows_bound() ? 1 : 0);
  for (int i = 0; i < entries; ++i) {
    const bool is_bound = i == curves;
    const QString text = is_bound ? bound_words : legend_text(i);
    const double width = sample_px + gap_px + metrics.horizontalAdvance(text) + gap_px * 2;
    if (x > area.left() && x + width > area.right()) x = area.left(), y += row;
    if (painter != nullptr) {
      const QRectF sample(x, y, sample_px, row);
      if (is_bound) draw_bound_sample(*painter, sample);
      if (!is_bound) draw_sample(*painter, i, sample);
      const bool was_run = is_bound || figure_.series[static_cast<std::size_t>(i)].not_run.isEmpty();
      painter->setFont(used);
      painter->setPen(was_run ? style_.ink.text : style_.ink.secondary);
      painter->drawText(QRectF(x + sample_px + gap_px, y, width, row), Qt::AlignLeft | Qt::AlignVCenter, text);
    }
    x += width;
  }
  return y + row - area.top() + gap_px / 2;
}

void FigurePainter::draw_sample(QPainter& painter, int series, QRectF box) const {
  const QColor ink = color(series);
  const bool as_line = figure_.kind == Figure::Kind::lines || figure_.kind == Figure::Kind::steps;
  if (!as_line) {
    painter.setPen(QPen(ink, 1));
    painter.setBrush(ink);
    painter.drawRect(QRectF(box.center().x() - 6, box.center().y() - 5, 12, 10));
    return;
  }
  painter.setPen(series_pen(look(series), ink, series_line_px));
  painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()));
  // A curve of many points has no mark at each of them.
  const FigureSeries& of = figure_.series[static_cast<std::size_t>(series)];
  if (!has_marks(of) && !of.hollow) return;
  painter.setPen(QPen(ink, 1.2));
  painter.setBrush(of.hollow ? style_.ink.paper : ink);
  draw_mark(painter, look(series), box.center(), 3.2);
}

// ---- axes -------------------------------------------------------------------------------------------------------------------------------

QPointF FigurePainter::position(double x, double y) const {
  return {plot_.left() + x_.place(x) * plot_.width(), plot_.bottom() - y_.place(y) * plot_.height()};
}

void FigurePainter::draw_axes(QPainter& painter, bool numbered) const {
  const QFont used = font(style_.text_px - 1);
  const QFontMetricsF metrics(used);
  painter.setFont(used);
  const QPen grid(style_.ink.grid, 1), text(style_.ink.secondary);
  if (!is_heat()) {
    for (const FigureScale::Tick& tick : y_.ticks(y_ticks)) {
      const double y = plot_.bottom() - y_.place(tick.value) * plot_.height();
      painter.setPen(grid);
      painter.drawLine(QPointF(frame().left(), y), QPointF(frame().right(), y));
      painter.setPen(text);
      painter.drawText(QRectF(frame().left() - 200, y - 10, 200 - gap_px, 20), Qt::AlignRight | Qt::AlignVCenter, tick.text);
    }
  }
  double free_from = -1e9;
  for (FigureScale::Tick tick : x_.ticks(std::max(2, static_cast<int>(plot_.width() / (numbered ? number_every_px : tick_every_px))))) {
    if (numbered) tick.text = QString::number(std::lround(tick.value) + 1);
    const double x = plot_.left() + x_.place(tick.value) * plot_.width();
    painter.setPen(QPen(style_.ink.secondary, 1));
    painter.drawLine(QPointF(x, plot_.bottom()), QPointF(x, plot_.bottom() + 3));
    const double width = metrics.horizontalAdvance(tick.text);
    if (x - width / 2 < free_from) continue;
    free_from = x + width / 2 + gap_px;
    painter.setPen(text);
    painter.drawText(QRectF(x - 100, plot_.bottom() + below_axis_px, 200, metrics.height()), Qt::AlignCenter, tick.text);
  }
  painter.setPen(QPen(style_.ink.secondary, 1));
  painter.drawLine(frame().bottomLeft(), frame().bottomRight());
}

void FigurePainter::draw_references(QPainter& painter) const {
  const QFont used = font(style_.text_px - 2);
  const QFontMetricsF metrics(used);
  painter.setFont(used);
  std::vector<QRectF> taken;  // by numbers that are written
  for (std::size_t i = 0; i < figure_.references.size(); ++i) {
    const FigureReference& reference = figure_.references[i];
    QColor ink = style_.ink.text;
    for (int s = 0; s < static_cast<int>(figure_.series.size()); ++s) {
      if (!reference.series.isEmpty() && figure_.series[static_cast<std::size_t>(s)].name == reference.series) ink = color(s);
    }
    const QString number = QString::number(i + 1);
    painter.setPen(QPen(ink, 1, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    const double x = reference.x ? position(*reference.x, 0).x() : plot_.right() - 14;
    if (reference.y) {
      const double y = position(x_.from(), *reference.y).y();
      if (std::isnan(y)) continue;
      if (!reference.x) painter.drawLine(QPointF(frame().left(), y), QPointF(frame().right(), y));
      painter.setPen(QPen(ink, 1.4));
      draw_mark(painter, 3, QPointF(x, y), 5);
      painter.drawText(QPointF(x - 16, y - 5), number);
    } else if (reference.x) {
      painter.drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom()));
      const QString label = QString::fromUtf8("◇ ") + number;
      const QSizeF size(metrics.horizontalAdvance(label), metrics.height());
      // Before the line where there is no room behind it; below what stands there already.
      const bool fits = x + gap_px / 2 + size.width() <= frame().right();
      QRectF at(QPointF(fits ? x + gap_px / 2 : x - gap_px / 2 - size.width(), plot_.top()), size);
      while (at.bottom() + size.height() <= plot_.bottom() &&
             std::any_of(taken.begin(), taken.end(), [&at](const QRectF& other) { return other.intersects(at); })) {
        at.translate(0, size.height());
      }
      taken.push_back(at);
      painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, label);
    }
  }
}

void FigurePainter::draw_notes(QPainter& painter, QRectF area) const {
  if (!style_.notes) return;
  painter.setFont(font(style_.text_px - 2));
  painter.setPen(style_.ink.secondary);
  double y = area.top();
  for (const QString& note : notes(area.width())) {
    QRectF taken;
    painter.drawText(QRectF(area.left(), y, area.width(), 1e5), Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, note, &taken);
    y += std::ceil(taken.height()) + 2;
  }
}

// ---- where things are -------------------------------------------------------------------------------------------------------------------

void FigurePainter::remember(int series, int point, QPointF at) {
  placed_.push_back({{series, point}, QRectF(at, QSizeF(0, 0))});
}

std::optional<FigureHit> FigurePainter::hit(QPointF at, double reach) const {
  std::optional<FigureHit> nearest;
  double least = reach;
  for (const Placed& placed : placed_) {
    const double dx = std::max({placed.spot.left() - at.x(), 0.0, at.x() - placed.spot.right()});
    const double dy = std::max({placed.spot.top() - at.y(), 0.0, at.y() - placed.spot.bottom()});
    const double away = std::hypot(dx, dy);
    if (away < least || (away == 0 && !nearest)) nearest = placed.hit, least = away;
  }
  return nearest;
}

QPointF FigurePainter::place_of(const FigureHit& hit) const {
  for (const Placed& placed : placed_) {
    if (placed.hit == hit) return placed.spot.center();
  }
  return {};
}

}  // namespace n2nq::app
