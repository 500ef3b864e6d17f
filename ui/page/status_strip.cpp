// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/page/status_strip.h"

#include <QDir>
#include <QFontMetrics>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/control/fault.h"
#include "app/control/role.h"
#include "ui/model/taint.h"
#include "ui/text/check_text.h"
#include "ui/text/figures.h"
#include "ui/text/tabular.h"
#include "ui/text/verdict_text.h"

namespace n2nq::ui {

namespace {
constexpr int height_px = 26;
constexpr int gap_px = 24;
const QString cpu_meaning = QStringLiteral("\n\nbench CPU: of one core, in the last second");
}  // namespace

StatusStrip::StatusStrip(SettingsForm& form, RunActions& actions, const Theme& theme, QWidget* parent)
    : QWidget(parent), actions_(actions), theme_(theme), cpu_percent_(app::unknown) {
  setObjectName(QStringLiteral("status_strip"));
  setAccessibleName(QStringLiteral("Status"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&form, &SettingsForm::changed, this, &StatusStrip::refresh);
  connect(&actions_.run(), &app::RunControl::state_changed, this, &StatusStrip::refresh);
  connect(&actions_.run(), &app::RunControl::figures_changed, this, &StatusStrip::refresh);
  connect(&theme_, &Theme::changed, this, &StatusStrip::refresh);
  refresh();
}

void StatusStrip::set_bench_cpu(double percent) {
  cpu_percent_ = percent;
  refresh();
}

void StatusStrip::follow(const CasesDesk& cases) {
  cases_ = &cases;
  connect(cases_, &CasesDesk::on_changed, this, &StatusStrip::refresh);
  connect(cases_, &CasesDesk::progressed, this, &StatusStrip::refresh);
  refresh();
}

QString StatusStrip::ledger_words(const app::RunControl& run) {
  const app::LiveFigures& f = run.figures();
  switch (run.state()) {
    case app::RunState::idle:
      return QStringLiteral("no run yet");
    case app::RunState::preparing:
      return QStringLiteral("waiting for the start");
    case app::RunState::finished:
      return QStringLiteral("verdict: ") + verdict_word(run.outcome().verdict) + disturbed_sign(!run.outcome().disturbances.isEmpty());
    default:
      break;
  }
  if (!run.traffic_started()) return QStringLiteral("not started");
  if (run.draining() && f.in_flight > 0 && !f.senders_silent) {
    return QStringLiteral("draining: %1%2 still queued or in flight")
        .arg(f.in_flight_is_bound() ? QStringLiteral("at most ") : QString(), count_text(f.in_flight) + count_bound_text(f.in_flight_bound) +
                 (f.in_flight_is_below_bound() ? QStringLiteral(" (more than itself)") : QString()));
  }
  if (f.senders_silent || f.receivers_silent) {
    const QString who = f.senders_silent && f.receivers_silent ? QStringLiteral("senders and receivers do")
                        : f.senders_silent                     ? QStringLiteral("senders do")
                                                               : QStringLiteral("receivers do");
    return who + QStringLiteral(" not answer");
  }
  switch (taint_so_far(f)) {
    case Taint::breaks:
      return QStringLiteral("ledger broken so far");
    case Taint::degrades:
      return QStringLiteral("ledger degraded so far");
    case Taint::none:
      break;
  }
  // No ledger, however clean, makes such a run a clean one.
  const auto& events = run.events();
  const bool harmed =
      std::any_of(events.begin(), events.end(), [](const app::RunEvent& e) { return e.kind == app::RunEvent::Kind::fault && e.done; });
  return harmed ? QStringLiteral("degraded so far: harm on purpose, ledger clean") : QStringLiteral("ledger clean so far");
}

namespace {

/// How far a group's clock is from N2NQ's, `exactly` however far that is; empty where it is the same one, or nothing is known yet.
QString clock_words(double offset_us, const app::ClockBound& bound, bool exactly) {
  if (!bound.apart || std::isnan(offset_us)) return {};
  // The offset is N2NQ's minus theirs.
  const double ahead_us = -offset_us;
  if (std::isnan(bound.total_us())) {
    return QStringLiteral(" (clock %1%2 %3)")
        .arg(ahead_us < 0 ? QStringLiteral("−") : QStringLiteral("+"), time_figure(std::abs(ahead_us)).text(), bound_text(bound));
  }
  if (!exactly) return QStringLiteral(" (clock %1)").arg(app::offset_text(ahead_us, bound.total_us()));
  const auto [ahead, within, behind] = app::bounded_time_text(ahead_us, bound.total_us());
  return QStringLiteral(" (clock %1%2 ± %3)").arg(behind ? QStringLiteral("−") : QStringLiteral("+"), ahead, within);
}

}  // namespace

void StatusStrip::refresh() {
  const bool of_case = cases_ != nullptr && cases_->is_on();
  const app::RunControl* run = of_case ? cases_->run() : &actions_.run();
  right_ = QStringLiteral("bench CPU %1 %").arg(fixed_text(cpu_percent_, 0));
  if (run != nullptr) show_run(*run, of_case ? run->settings() : actions_.shown_settings());
  else show_no_run();
  setAccessibleDescription(text());
  update();
}

/// Of a case, between two of its runs.
void StatusStrip::show_no_run() {
  left_ = cases_->progress_text();
  counts_.clear();
  setToolTip(left_ + cpu_meaning);
}

void StatusStrip::show_run(const app::RunControl& run, const app::Settings& settings) {
  const app::LiveFigures& f = run.figures();
  const bool balancer = settings.queue.mode == app::QueueMode::load_balancer;
  left_ = QStringLiteral("%1 · %2").arg(balancer ? QStringLiteral("load balancer") : QStringLiteral("broadcaster"), ledger_words(run));
  if (&run != &actions_.run()) left_.prepend(cases_->progress_text() + QStringLiteral(" · "));
  counts_.clear();
  if (run.traffic_started() && run.state() != app::RunState::idle && run.state() != app::RunState::preparing) {
    const auto of_receivers = [&f](std::int64_t count) { return f.lacks_receivers() ? dash() : count_text(count); };
    // What is lost is known at the end only; until then nothing is said about it, rather than 0.
    counts_ = QStringLiteral("expired %1 · duplicated %2 · out of order %3")
                  .arg(count_text(f.expired), of_receivers(f.duplicated), of_receivers(f.out_of_order));
    if (f.lost >= 0)
      counts_ += QStringLiteral(" · lost %1").arg(f.lacks_senders() || f.lacks_receivers() ? dash() : count_text(f.lost));
    if (f.settled && f.settled->still_queued > 0) counts_ += QStringLiteral(" · still queued %1").arg(count_text(f.settled->still_queued));
    if (f.negative > 0) counts_ += QStringLiteral(" · negative latency %1").arg(count_text(f.negative));
    if (f.warm_up.planned > 0) {
      counts_ += QStringLiteral(" · warm-up: %1 sent, %2 received").arg(count_text(f.warm_up.sent), count_text(f.warm_up.received));
      if (f.warm_up.skipped > 0) counts_ += QStringLiteral(", %1 skipped").arg(count_text(f.warm_up.skipped));
      if (f.warm_up.lost > 0) counts_ += QStringLiteral(", %1 lost").arg(count_text(f.warm_up.lost));
    }
    if (f.log_lines_dropped > 0) counts_ += QStringLiteral(" · log incomplete: %1 lines dropped").arg(count_text(f.log_lines_dropped));
  }
  const bool all_local = std::all_of(app::all_roles.begin(), app::all_roles.end(),
                                     [&](app::Role role) { return app::host_of(role, settings) == app::local_host; });
  const auto places = [&](bool exactly) {
    if (all_local && !f.clocks.to_broker.apart && !f.clocks.to_receiver.apart) return QString();
    return QStringLiteral(" · N2NQ on %1, senders on %2%3, receivers on %4%5")
        .arg(host_words(settings.broker.host), host_words(settings.senders.host),
             clock_words(f.clocks.senders_offset_us, f.clocks.senders_offset, exactly), host_words(settings.receivers.host),
             clock_words(f.clocks.receivers_offset_us, f.clocks.receivers_offset, exactly));
  };
  // All of it: a narrow window has no room for long names of machines.
  setToolTip(QStringLiteral("What is known so far. Lost messages are found at the end, by comparing what was sent with what arrived.\n\n") +
             QStringList{left_ + places(true), counts_}.join(u'\n').trimmed() + cpu_meaning);
  left_ += places(false);
  if (!run.folder().isEmpty()) right_ += QStringLiteral(" · %1").arg(QDir(run.folder()).dirName());
}

QSize StatusStrip::sizeHint() const {
  return {0, height_px};
}

void StatusStrip::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  QPainter painter(this);
  painter.fillRect(rect(), t.surface);
  painter.fillRect(QRect(0, 0, width(), 1), t.border);
  const QFont font = theme_.font(TextStyle::caption);
  const QFontMetrics metrics(font);
  painter.setFont(font);
  painter.setPen(t.secondary);
  const int baseline = (height() + metrics.ascent() - metrics.descent()) / 2;
  const int right_width = static_cast<int>(tabular_width(metrics, right_));
  const int room = width() - 2 * space::card - right_width - gap_px;
  // Whole or not at all: the counts stand in the ledger, too.
  QString left = counts_.isEmpty() ? left_ : left_ + QString(6, u' ') + counts_;
  if (tabular_width(metrics, left) > room) left = left_;
  draw_tabular(painter, QPointF(space::card, baseline), metrics.elidedText(left, Qt::ElideRight, std::max(0, room)));
  draw_tabular(painter, QPointF(width() - space::card - right_width, baseline), right_);
}

}  // namespace n2nq::ui
