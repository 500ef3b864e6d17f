// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/charts_card.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "app/control/recovery.h"
#include "ui/widget/chart_legend.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {

constexpr const char* latency_title = "Latency, all receivers";
constexpr int draw_after_ms = 25;
constexpr int minimum_height_px = 24;

LiveChart::Spec latency_spec() {
  return {QStringLiteral("chart_latency"),
          QStringLiteral("Latency of all receivers over time"),
          {{QStringLiteral("p50"), 0, MarkerShape::circle},
           {QStringLiteral("p95"), 1, MarkerShape::square},
           {QStringLiteral("p99"), 2, MarkerShape::triangle}},
          true,
          {},
          {},
          100};
}

constexpr const char* rate_title = "Rates";
constexpr std::size_t in_flight_series = 2, in_flight_bound_series = 3;

LiveChart::Spec rate_spec() {
  return {QStringLiteral("chart_rates"),
          QStringLiteral("Rates over time"),
          {{QStringLiteral("sent × copies"), 3, MarkerShape::circle},
           {QStringLiteral("received"), 0, MarkerShape::square},
           {QStringLiteral("in flight"), 4, MarkerShape::triangle, true, in_flight_bound_series}},
          false,
          QStringLiteral("msg/s"),
          QStringLiteral("in flight"),
          100};
}

}  // namespace

ChartsCard::ChartsCard(const Theme& theme, QWidget* parent) : QFrame(parent), theme_(theme) {
  setProperty("card", true);
  setObjectName(QStringLiteral("charts_card"));
  setAccessibleName(QStringLiteral("Charts"));
  latency_chart_ = new LiveChart(theme, latency_spec(), latency_);
  rate_chart_ = new LiveChart(theme, rate_spec(), rates_);
  log_ = small_button("button_log_axis", QStringLiteral("Log axis"),
                      QStringLiteral("Logarithmic axis for the latency, where tails are long; it has no place for 0 and less"));
  log_->setCheckable(true);
  pause_ = small_button("button_pause", QStringLiteral("Pause"),
                        QStringLiteral("Holds both charts still; the run goes on and is recorded. Charts keep the last ten minutes, and "
                                       "what is looked at while they are held, ten minutes more at most, until they go on"));
  pause_->setCheckable(true);
  back_ = small_button("button_zoom_back", QStringLiteral("Zoom back"), QStringLiteral("Back to the newest, live"));

  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(space::card, space::between, space::card, space::between);
  grid->setHorizontalSpacing(2 * space::card);
  grid->setVerticalSpacing(space::in_row);
  latency_title_ = make_label(QString::fromUtf8(latency_title), "strong");
  auto* latency_head = make_head(latency_title_, *latency_chart_);
  latency_head->addWidget(log_);
  rate_title_ = make_label(QString::fromUtf8(rate_title), "strong");
  auto* rate_head = make_head(rate_title_, *rate_chart_);
  rate_head->addWidget(pause_);
  rate_head->addWidget(back_);
  grid->addLayout(latency_head, 0, 0);
  grid->addLayout(rate_head, 0, 1);
  grid->addWidget(latency_chart_, 1, 0);
  grid->addWidget(rate_chart_, 1, 1);
  grid->setColumnStretch(0, 1);
  grid->setColumnStretch(1, 1);
  grid->setRowStretch(1, 1);

  connect_chart(latency_chart_);
  connect_chart(rate_chart_);
  connect(log_, &QPushButton::toggled, latency_chart_, &LiveChart::set_logarithmic);
  connect(pause_, &QPushButton::clicked, this, &ChartsCard::set_paused);
  connect(back_, &QPushButton::clicked, this, [this] {
    window_.reset();
    window_changed();
  });
  connect(&theme, &Theme::changed, this, &ChartsCard::restyle);
  draw_timer_.setSingleShot(true);
  draw_timer_.setInterval(draw_after_ms);
  connect(&draw_timer_, &QTimer::timeout, this, &ChartsCard::draw_next);
  restyle();
  window_changed();
}

QHBoxLayout* ChartsCard::make_head(QLabel* title, const LiveChart& chart) {
  auto* head = new QHBoxLayout;
  head->setSpacing(space::between);
  head->addWidget(title);
  head->addStretch(1);
  head->addWidget(new ChartLegend(theme_, chart));
  return head;
}

void ChartsCard::connect_chart(LiveChart* chart) {
  connect(chart, &LiveChart::pan_requested, this, [this](double seconds) {
    window_.pan(seconds);
    window_changed();
  });
  connect(chart, &LiveChart::zoom_requested, this, [this](double factor, double anchor_s) {
    window_.zoom(factor, anchor_s);
    window_changed();
  });
  connect(chart, &LiveChart::reset_requested, this, [this] {
    window_.reset();
    window_changed();
  });
  for (LiveChart* other : {latency_chart_, rate_chart_}) connect(chart, &LiveChart::reading_requested, other, &LiveChart::set_reading);
}

void ChartsCard::restyle() {
  pause_->setIcon(theme_.icon(window_.is_live() ? Glyph::pause : Glyph::live, theme_.tokens().secondary));
}

/// In the title: how far all of the curves may be off, where clocks of two hosts are behind them; and whether that is more than the newest
/// median they draw.
void ChartsCard::show_bound(const app::ClockBound& bound, double median_us) {
  QString text = QString::fromUtf8(latency_title);
  if (bound.apart) text += QStringLiteral(", ") + bound_words(bound, median_us);
  if (latency_title_->text() != text) latency_title_->setText(text);
  const QString explained = bound_explained(bound, median_us);
  if (latency_title_->toolTip() != explained) latency_title_->setToolTip(explained);
}

/// The same for the newest of the counts in flight.
void ChartsCard::show_in_flight_bound(double bound, bool is_below) {
  const QString text = count_bound_text(bound);
  rate_title_->setText(QString::fromUtf8(rate_title) + (text.isEmpty() ? text : QStringLiteral(", in flight") + text));
  rate_title_->setToolTip(text.isEmpty() ? text : in_flight_bound_explained(is_below));
}

void ChartsCard::add_sample(const app::LiveFigures& figures) {
  const app::Percentiles& now = figures.latency_now;
  if (!std::isnan(now.p50_us)) newest_p50_us_ = now.p50_us;
  show_bound(figures.clocks.latency, newest_p50_us_);  // the result's, too, which is no sample
  if (figures.t_s < 0 || figures.round == 0) return;
  rate_chart_->name_series(in_flight_series,
                           figures.in_flight_at_most ? QStringLiteral("in flight, at most") : QStringLiteral("in flight"));
  const bool silent = figures.senders_silent || figures.receivers_silent;
  if (figures.round == round_ && !silent) return;  // an answer that is only late leaves no gap
  // A sample stands where its answers came, not where the window got round to showing them.
  const double t_s = figures.round == round_ ? figures.t_s : figures.heard_s;
  round_ = figures.round;
  if (t_s < 0) return;
  latency_.add(t_s, {now.p50_us, now.p95_us, now.p99_us});
  rates_.add(t_s, {figures.sent_copies_per_s, figures.received_per_s, silent ? app::unknown : static_cast<double>(figures.in_flight),
                   figures.in_flight_bound});
  show_in_flight_bound(silent ? 0 : figures.in_flight_bound, figures.in_flight_is_below_bound());
  const bool still = !window_.is_live();
  const auto axis = [this] { return std::tuple(window_.span_s(), window_.shows_newest(), window_.begins_with_run()); };
  const auto before = axis();
  window_.set_limits(latency_.first_time(), latency_.last_time());
  const bool scaled = axis() != before;
  if (scaled && isVisible()) return window_changed();  // both axes in one moment
  if (still || !isVisible()) return;
  if (!draw_timer_.isActive()) draw_timer_.start();
}

// The tables and tiles are painted in the same moment as a sample comes; the charts follow one after the other, so that no single turn of
// the event loop has all the work.
void ChartsCard::draw_next() {
  (rates_due_ ? rate_chart_ : latency_chart_)->show_window(window_);
  rates_due_ = !rates_due_;
  if (rates_due_) draw_timer_.start();
}

void ChartsCard::mark(const QString& word) {
  if (latency_.empty()) return;
  latency_.mark(latency_.last_time(), word);
  rates_.mark(rates_.last_time(), word);
  window_changed();
}

void ChartsCard::set_events(const std::vector<app::RunEvent>& events) {
  std::vector<ChartMark> marks;
  // No more of them than are shown.
  for (const app::RunEvent& event : std::span(events).last(std::min(events.size(), ChartHistory::events_max))) {
    QString what = event.what;
    if (!what.isEmpty()) what[0] = what[0].toUpper();
    QString detail = QStringLiteral("%1 s: %2").arg(fixed_text(event.at_s, 1), what);
    if (event.recovered_after_s) detail += QStringLiteral("; ") + app::recovery_text(*event.recovered_after_s);
    marks.push_back({event.at_s, what, detail, event.kind == app::RunEvent::Kind::fault});
  }
  latency_.set_events(marks);
  rates_.set_events(std::move(marks));
  window_changed();
}

void ChartsCard::clear() {
  latency_.clear();
  rates_.clear();
  newest_p50_us_ = app::unknown;
  show_bound({}, newest_p50_us_);
  show_in_flight_bound(0, false);
  round_ = 0;
  window_ = TimeWindow();
  window_changed();
}

void ChartsCard::set_running(bool running) {
  const QString word = running || latency_.empty() ? QStringLiteral("now") : QStringLiteral("end");
  latency_chart_->set_newest_word(word);
  rate_chart_->set_newest_word(word);
  window_.set_over(!running && !latency_.empty());
  window_changed();
}

void ChartsCard::set_paused(bool paused) {
  if (paused) {
    window_.pause();
  } else {
    window_.resume();
  }
  window_changed();
}

QSize ChartsCard::minimumSizeHint() const {
  return {QFrame::minimumSizeHint().width(), minimum_height_px};
}

// Samples that came while the charts were out of sight were recorded, but not drawn.
void ChartsCard::showEvent(QShowEvent* event) {
  QFrame::showEvent(event);
  window_changed();
}

void ChartsCard::window_changed() {
  for (ChartHistory* history : {&latency_, &rates_}) history->keep(window_.seen_from_s(), window_.seen_to_s());
  if (!latency_.empty()) window_.set_limits(latency_.first_time(), latency_.last_time());  // what was kept may be gone
  pause_->setChecked(!window_.is_live());
  pause_->setText(window_.is_live() ? QStringLiteral("Pause") : QStringLiteral("Resume"));
  pause_->setAccessibleName(pause_->text());
  back_->setEnabled(!window_.is_default());
  restyle();
  latency_chart_->show_window(window_);
  rate_chart_->show_window(window_);
}

}  // namespace n2nq::ui
