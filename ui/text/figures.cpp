// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/figures.h"

#include <array>
#include <cmath>

#include "app/figure/figure_doubts.h"

namespace n2nq::ui {

namespace {

using app::narrow_space;

constexpr std::array<TimeScale, 4> scales = {TimeScale{"ns", 1e3}, TimeScale{"µs", 1}, TimeScale{"ms", 1e-3}, TimeScale{"s", 1e-6}};

/// As time_figure(), but of a limit, and so no less than it.
Figure limit_figure(double limit_us) {
  const double factor = time_scale(limit_us).factor;
  return time_figure(app::shown_bound(limit_us * factor, decimals_for) / factor);
}

}  // namespace

QString count_short(std::int64_t count) {
  if (std::abs(count) < 1'000'000) return count_text(count);
  const bool billions = std::abs(count) >= 1'000'000'000;
  const double value = static_cast<double>(count) / (billions ? 1e9 : 1e6);
  return QString::number(value, 'f', decimals_for(value)) + narrow_space + (billions ? u'G' : u'M');
}

QString count_tight(std::int64_t count) {
  if (count < counted_out || count >= 1'000'000) return count_short(count);
  return QString::number(count / 1000) + narrow_space + u'k';
}

TimeScale time_scale(double largest_us) {
  if (std::isnan(largest_us) || largest_us <= 0) return scales[1];
  for (const TimeScale& scale : scales) {
    if (largest_us * scale.factor < 999.5) return scale;
  }
  return scales.back();
}

TimeScale steady_time_scale(double largest_us, const TimeScale& present) {
  if (std::isnan(largest_us)) return present;
  const double shown = largest_us * present.factor;
  return shown >= 0.8 && shown < 1200 ? present : time_scale(largest_us);
}

Figure time_figure(double value_us, int extra_decimals) {
  if (std::isnan(value_us)) return {};
  const TimeScale scale = time_scale(std::abs(value_us));
  const double shown = value_us * scale.factor;
  return {fixed_text(shown, decimals_for(shown) + extra_decimals), QString::fromUtf8(scale.unit)};
}

QString bound_text(const app::ClockBound& bound) {
  if (!bound.apart) return {};
  return QString::fromUtf8("± ") + (std::isnan(bound.total_us()) ? QStringLiteral("?") : limit_figure(bound.total_us()).text());
}

bool is_below(const app::ClockBound& bound, double value_us) {
  return bound.apart && std::abs(value_us) < bound.total_us();
}

QString bound_words(const app::ClockBound& bound, double value_us) {
  return is_below(bound, value_us) ? bound_text(bound) + QStringLiteral(": no finer") : bound_text(bound);
}

QString bound_explained(const app::ClockBound& bound, double value_us, Ways ways) {
  if (!bound.apart) return {};
  if (std::isnan(bound.total_us())) return QStringLiteral("between the clocks of two hosts, and not known yet how far they are apart");
  // In lines, as tooltips have none of their own.
  return QStringLiteral(
             "%1, because it is between the clocks of two hosts:\nhalf of the shortest round trip to N2NQ%2 %3, and estimation %4%5")
      .arg(bound_text(bound), ways == Ways::all ? QStringLiteral(", of each group on another clock:\nin all") : QStringLiteral(","),
           time_figure(bound.asymmetry_us).text(), time_figure(bound.estimation_us).text(),
           is_below(bound, value_us) ? QStringLiteral(";\nthat is more than the figure itself, which tells nothing finer") : QString());
}

QString count_bound_text(double bound) {
  if (bound == 0) return {};
  return QString::fromUtf8(" ± ") + (std::isnan(bound) ? QStringLiteral("?") : count_text(std::llround(bound)));
}

QString in_flight_bound_explained(bool is_below) {
  return QStringLiteral("±: senders and receivers do not tell at one moment (hosts of their own have two clocks, and a slow one answers late), "
                        "and what was sent is not all told to be accepted yet") +
         (is_below ? QStringLiteral(";\nthat is more than the figure itself, which tells nothing finer") : QString());
}

QString floor_words(double floor_us, double latency_us) {
  if (!app::is_near_floor(floor_us, latency_us)) return {};
  return QStringLiteral("; grey, because it is ") +
         app::below_floor_words(QStringLiteral("what an echo over loopback takes here (%1)").arg(time_figure(floor_us).text()));
}

bool has_few_above(double share, std::int64_t samples) {
  return share > 0 && samples > 0 && app::are_few_samples_above(static_cast<double>(samples) * (1 - share));
}

QString percentile_doubt_words(double floor_us, double latency_us, double share, std::int64_t samples) {
  return (has_few_above(share, samples) ? QStringLiteral("; grey, because it has ") + app::few_samples_words() : QString()) +
         floor_words(floor_us, latency_us);
}

Figure rate_figure(double per_s) {
  if (std::isnan(per_s)) return {};
  const int decimals = per_s < 999.95 ? 1 : 0;
  return {fixed_text(per_s, decimals), QStringLiteral("/s")};
}

QString bytes_rate_text(double bytes_per_s) {
  if (std::isnan(bytes_per_s)) return dash();
  static constexpr std::array<const char*, 4> units = {"B/s", "kB/s", "MB/s", "GB/s"};
  std::size_t unit = 0;
  while (bytes_per_s >= 999.5 && unit + 1 < units.size()) {
    bytes_per_s /= 1000;
    ++unit;
  }
  return fixed_text(bytes_per_s, unit == 0 ? 0 : decimals_for(bytes_per_s)) + narrow_space + QString::fromLatin1(units[unit]);
}

QString span_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return QStringLiteral("%1 s").arg(whole);
  if (whole < 3600) return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60, 2, 10, QChar(u'0'));
  return QStringLiteral("%1 h %2 min").arg(whole / 3600).arg(whole % 3600 / 60, 2, 10, QChar(u'0'));
}

QString service_name(app::Role role, int number) {
  return (role == app::Role::senders ? QStringLiteral("S%1") : QStringLiteral("R%1")).arg(number, 3, 10, QChar(u'0'));
}

QString role_word(app::Role role) {
  switch (role) {
    case app::Role::broker:
      return QStringLiteral("N2NQ");
    case app::Role::senders:
      return QStringLiteral("senders");
    case app::Role::receivers:
      return QStringLiteral("receivers");
  }
  return {};
}

QString amount_text(app::Role role, std::int64_t amount) {
  const QString word = role_word(role);
  return count_text(amount) + u' ' + (amount == 1 ? word.chopped(1) : word);
}

QString rules_words(const app::RequestRules& rules) {
  return QString::fromStdString(rules.text()).replace(QStringLiteral(" B"), narrow_space + QStringLiteral("B"));
}

QString state_word(app::ProcessState state) {
  switch (state) {
    case app::ProcessState::not_started:
      return QStringLiteral("not started");
    case app::ProcessState::starting:
      return QStringLiteral("starting");
    case app::ProcessState::waiting:
      return QStringLiteral("waiting");
    case app::ProcessState::running:
      return QStringLiteral("running");
    case app::ProcessState::ending:
      return QStringLiteral("ending");
    case app::ProcessState::ended:
      return QStringLiteral("ended");
    case app::ProcessState::died:
      return QStringLiteral("died");
  }
  return {};
}

bool is_killed_on_purpose(const app::ProcessStatus& status) {
  return status.state == app::ProcessState::died && status.error.contains(QLatin1String("killed on purpose"));
}

QString state_word(const app::ProcessStatus& status) {
  if (is_killed_on_purpose(status)) return QStringLiteral("killed on purpose");
  if (status.state == app::ProcessState::died && status.never_ran) return QStringLiteral("not started");
  if (status.state == app::ProcessState::died && status.lost) return QStringLiteral("lost");
  if (status.state == app::ProcessState::starting && status.copied_percent >= 0)
    return QStringLiteral("copying, %1 %").arg(status.copied_percent);
  return status.paused ? QStringLiteral("paused") : state_word(status.state);
}

QString verdict_word(app::Verdict verdict) {
  switch (verdict) {
    case app::Verdict::clean:
      return QStringLiteral("clean");
    case app::Verdict::stopped:
      return QStringLiteral("stopped");
    case app::Verdict::degraded:
      return QStringLiteral("degraded");
    case app::Verdict::broken:
      return QStringLiteral("broken");
  }
  return {};
}

}  // namespace n2nq::ui
