// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/run_figures.h"

#include <QFile>
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/control/live_figures.h"
#include "app/figure/figure_doubts.h"
#include "app/figure/figure_scale.h"
#include "app/figure/number_text.h"
#include "app/settings/whole_file.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr double percentile_end = 10'000;  // 99.99 %
constexpr int bins_per_decade = 16;
constexpr double cdf_bins_per_decade = 200;  // 1.2 % each

const QString time_title = QStringLiteral("Time since the start"), microseconds = QStringLiteral("µs");

QString name_of(const DrawnRun& run) {
  return run.name.isEmpty() ? run.run.name() : run.name;
}

/// Why a point of this run is marked; empty: it is clean, or was stopped by the user.
QString why_of(const DrawnRun& run) {
  const std::string verdict = run.run.verdict();
  if (verdict == "clean" || verdict == "stopped") return {};
  const Json& reasons = run.run.summary.at("reasons");
  return QString::fromStdString(verdict) +
         (reasons.empty() ? QString() : ": " + QString::fromStdString(reasons.front().get<std::string>()));
}

double number_at(const Json& summary, const std::string& path) {
  return figure_at(summary, path).value_or(std::nan(""));
}

/// Before what is told of one run of several.
QString of_run(const DrawnRun& run) {
  return run.name.isEmpty() ? QString() : run.name + ": ";
}

constexpr const char* clocks_unknown = "between the clocks of two hosts, and not known how far they are apart.";

QString bound_text(double bound_us) {
  if (std::isinf(bound_us)) return QString::fromUtf8("± ?");
  return QString::fromUtf8("± %1 µs").arg(short_number(shown_bound(bound_us, three_digit_decimals)));
}

/// What two clocks leave open of the run's latencies: beside each point that is one, and in words below the figure.
void tell_clock_bound(Figure& out, const DrawnRun& run) {
  const bool up = out.y.title.startsWith("Latency");
  const double bound_us = clock_limit_at(run.run.summary, "latency_us.p50"), p50_us = number_at(run.run.summary, "latency_us.p50");
  if ((!up && out.x.title != "Latency") || std::isnan(bound_us)) return;
  const bool is_known = std::isfinite(bound_us);
  out.remarks +=
      of_run(run) +
      (is_known ? QString("latencies %1: between the clocks of two hosts%2.")
                      .arg(bound_text(bound_us), bound_us > std::abs(p50_us) ? ", and more than the median, which tells nothing finer" : "")
                : QString(clocks_unknown));
  if (is_known && (!up || out.kind == Figure::Kind::heat)) out.clock_bound = std::max(out.clock_bound, bound_us);
  if (!up) return;
  for (FigureSeries& series : out.series) {
    for (FigurePoint& point : series.points) {
      if (point.folders.contains(run.run.folder)) point.add_clock_limit(bound_us);
    }
  }
}

Figure figure(const char* id, const char* title, FigureAxis x, FigureAxis y, Figure::Kind kind = Figure::Kind::lines) {
  return {.id = id, .title = title, .kind = kind, .x = std::move(x), .y = std::move(y)};
}

Figure percentiles(const std::vector<DrawnRun>& runs) {
  Figure out = figure("percentiles", "Latency by percentile", {.title = "Percentile", .percentiles = true},
                      {.title = "Latency", .unit = microseconds, .logarithmic = true});
  for (const DrawnRun& run : runs) {
    FigureSeries series{.name = name_of(run)};
    const double floor_us = floor_us_at(run.run.summary, "latency_us.p50");  // one of all its latencies
    const auto rows = read_hgrm(run.run.folder + "/latency.hgrm");
    for (const PercentileRow& row : rows) {
      if (row.inverse_rest > percentile_end * 1.01) break;
      FigurePoint point{.x = row.inverse_rest, .y = row.value_us, .folders = {run.run.folder}};
      point.few_samples = has_few_samples(row, rows.back().count);
      if (is_near_floor(floor_us, point.y)) point.near_floor_us = floor_us;
      series.points.push_back(std::move(point));
    }
    out.series.push_back(std::move(series));
  }
  return out;
}

/// Where the logs are not all there: through the percentiles that were written, of which there are few below the median.
FigureSeries cdf_of_percentiles(const DrawnRun& run) {
  FigureSeries series{.name = name_of(run)};
  const auto rows = read_hgrm(run.run.folder + "/latency.hgrm");
  const double total = rows.empty() ? 0 : static_cast<double>(rows.back().count);
  for (const PercentileRow& row : rows) {
    if (row.value_us > 0)
      series.points.push_back({.x = row.value_us, .y = static_cast<double>(row.count) / total * 100, .folders = {run.run.folder}});
  }
  return series;
}

/// At both edges of each narrow bin, so that nothing is drawn to rise where nothing came.
FigureSeries cdf_series(const DrawnRun& run) {
  const measure::Histogram& all = run.digest->latencies;
  std::map<int, std::int64_t> bins;
  std::int64_t seen = 0, total = 0;
  all.each_bucket([&](int bucket, std::uint64_t count) {
    const double us = static_cast<double>(all.layout().middle_of(bucket)) / 1e3;
    total += static_cast<std::int64_t>(count);
    (us > 0 ? bins[static_cast<int>(std::floor(std::log10(us) * cdf_bins_per_decade))] : seen) += static_cast<std::int64_t>(count);
  });
  FigureSeries series{.name = name_of(run)};
  const auto add = [&](int edge) {
    series.points.push_back({.x = std::pow(10, static_cast<double>(edge) / cdf_bins_per_decade),
                             .y = static_cast<double>(seen) / static_cast<double>(total) * 100,
                             .folders = {run.run.folder}});
  };
  std::optional<int> end;
  for (const auto& [bin, count] : bins) {
    if (end != bin) add(bin);
    seen += count;
    add(bin + 1);
    end = bin + 1;
  }
  return series;
}

Figure cdf(const std::vector<DrawnRun>& runs) {
  Figure out = figure("cdf", "CDF of the latency", {.title = "Latency", .unit = microseconds, .logarithmic = true},
                      {.title = "Share of deliveries", .unit = "%", .from_zero = true});
  for (const DrawnRun& run : runs) {
    const bool whole = run.digest && run.digest->whole;
    out.series.push_back(whole ? cdf_series(run) : cdf_of_percentiles(run));
    if (!whole && !out.series.back().points.empty())
      out.remarks += QString("%1: a line between the percentiles that were written: without all logs nothing between them is known.").arg(name_of(run));
  }
  return out;
}

/// Bins of equal width on the logarithmic axis; what is 0 or less is in none and told.
FigureSeries histogram_series(const DrawnRun& run, QStringList& remarks) {
  FigureSeries series{.name = name_of(run)};
  const measure::Histogram& all = run.digest->latencies;
  std::map<int, std::int64_t> bins;
  std::int64_t outside = 0;
  all.each_bucket([&](int bucket, std::uint64_t count) {
    const double us = static_cast<double>(all.layout().middle_of(bucket)) / 1e3;
    if (us > 0) {
      bins[static_cast<int>(std::floor(std::log10(us) * bins_per_decade))] += static_cast<std::int64_t>(count);
    } else {
      outside += static_cast<std::int64_t>(count);
    }
  });
  if (bins.empty()) return series;
  for (int bin = bins.begin()->first; bin <= bins.rbegin()->first + 1; ++bin) {
    const auto found = bins.find(bin);
    const double count = found == bins.end() ? 0 : static_cast<double>(found->second);
    series.points.push_back({.x = std::pow(10, static_cast<double>(bin) / bins_per_decade), .y = count, .folders = {run.run.folder}});
  }
  if (outside > 0) remarks += QString("%1: %2 deliveries with a latency of 0 or less are in no bin.").arg(series.name, count_text(outside));
  if (!run.digest->whole) remarks += QString("%1: of those deliveries that the logs hold.").arg(series.name);
  return series;
}

Figure histogram(const std::vector<DrawnRun>& runs) {
  Figure out = figure("histogram", "Histogram of the latency", {.title = "Latency", .unit = microseconds, .logarithmic = true},
                      {.title = "Deliveries", .from_zero = true}, Figure::Kind::steps);
  for (const DrawnRun& run : runs) {
    if (run.digest) out.series.push_back(histogram_series(run, out.remarks));
  }
  return out;
}

Figure stages(const std::vector<DrawnRun>& runs) {
  Figure out = figure("stages", "Means of the stages", {.title = "Stage", .names = {"lag", "to N2NQ", "in queue", "to receiver"}},
                      {.title = "Mean time", .unit = microseconds}, Figure::Kind::bars);
  for (const DrawnRun& run : runs) {
    FigureSeries series{.name = name_of(run)};
    QStringList bounds;
    double x = 0;
    for (const char* stage : {"lag_us", "to_broker_us", "in_queue_us", "to_receiver_us"}) {
      const std::string path = std::string("stages.") + stage;
      FigurePoint point{.x = x++, .y = number_at(run.run.summary, path + ".mean"), .why = why_of(run), .folders = {run.run.folder}};
      const double bound = clock_limit_at(run.run.summary, path + ".mean");
      point.add_clock_limit(bound);
      if (bound > 0) {
        bounds += out.x.names[static_cast<qsizetype>(point.x)] + ' ' + bound_text(bound);
        if (std::isfinite(bound) && bound > std::abs(point.y)) bounds.back() += " (more than itself)";
      }
      if (std::isnan(point.y) && point.why.isEmpty()) point.why = "the run gave no such figure";
      series.points.push_back(point);
    }
    if (!bounds.isEmpty()) out.remarks += of_run(run) + bounds.join(", ") + ": between the clocks of two hosts.";
    out.series.push_back(std::move(series));
  }
  return out;
}

/// A curve over time of something that each slice has.
template <class Value>
FigureSeries over_time(const DrawnRun& run, const QString& name, Value&& value) {
  FigureSeries series{.name = name};
  for (const TimeSlice& slice : run.digest->slices) {
    series.points.push_back({.x = slice.from_s + run.digest->slice_s / 2, .y = value(slice), .folders = {run.run.folder}});
  }
  return series;
}

/// How many slices of a run a rate is made of, so that they hold ten messages on average: one message in a slice of 0.02 s is no rate of 50
/// per second.
std::size_t slices_of_a_rate(const RunDigest& digest) {
  constexpr double messages_min = 10;
  double sent = 0;
  for (const TimeSlice& slice : digest.slices) sent += static_cast<double>(slice.sent);
  const auto slices = static_cast<double>(digest.slices.size());
  return static_cast<std::size_t>(std::max(1.0, std::min(slices, std::ceil(messages_min * slices / std::max(sent, 1.0)))));
}

FigureSeries rate_over_time(const DrawnRun& run, const QString& name, std::int64_t TimeSlice::*counted) {
  FigureSeries series{.name = name};
  const auto& slices = run.digest->slices;
  const std::size_t together = slices_of_a_rate(*run.digest);
  for (std::size_t first = 0, end = 0; first < slices.size(); first = end) {
    // What is left over goes with the last ones: alone it could be a single slice.
    end = slices.size() - first < 2 * together ? slices.size() : first + together;
    double count = 0;
    for (std::size_t i = first; i < end; ++i) count += static_cast<double>(slices[i].*counted);
    const double width_s = static_cast<double>(end - first) * run.digest->slice_s;
    series.points.push_back({.x = slices[first].from_s + width_s / 2, .y = count / width_s, .folders = {run.run.folder}});
  }
  return series;
}

/// What was sent is counted by one clock and what was received by another: what is under way is wrong by what comes between their instants.
void bound_in_flight(FigureSeries& series, QStringList& remarks, const DrawnRun& run) {
  const double bound_us = clock_limit_at(run.run.summary, "latency_us.p50");
  if (std::isinf(bound_us)) {
    remarks += of_run(run) + clocks_unknown;
    for (FigurePoint& point : series.points) point.add_clock_limit(bound_us);
  }
  if (!std::isfinite(bound_us) || bound_us <= 0) return;
  std::int64_t most = 0;
  for (const TimeSlice& slice : run.digest->slices) most = std::max(most, slice.received);
  const double receivers = number_at(run.run.summary, "settings.receivers.amount");
  const double copies = run.run.broadcaster() && receivers > 1 ? receivers : 1;
  // A message's copies are sent at once, and one message more than the rate says may fall into that time.
  const double bound = std::ceil(static_cast<double>(most) / run.digest->slice_s * bound_us / 1e6 + copies);
  for (FigurePoint& point : series.points) point.clock_bound = bound;
  remarks += of_run(run) + QString::fromUtf8("copies ± %1: what is sent evenly in %2, between the clocks of two hosts.")
                               .arg(axis_number(bound), bound_text(bound_us));
}

bool has_requests(const DrawnRun& run) {
  const Json requests = run.run.summary.value(Json::json_pointer("/settings/queue/requests"), Json(false));
  return !requests.is_null() && requests != false;
}

/// What the ledger has of copies that did not come, where no log says when that was known; " (unrequested, lost)".
QString parts_that_never_came(const DrawnRun& run) {
  const measure::SkippedCounts& told = run.digest->skipped;
  const std::pair<const char*, std::uint64_t> parts[] = {{"expired", told.expired}, {"unrequested", told.unrequested},
                                                         {"parked", told.parked},   {"cut_off", told.cut_off},
                                                         {"still_queued", 0},       {"lost", 0},
                                                         {"refused", 0},            {"lost_before_queue", 0}};
  QStringList words;
  for (const auto& [part, count] : parts) {
    const std::string path = std::string("ledger.total.") + part;
    if (number_at(run.run.summary, path) > static_cast<double>(count)) words += words_of_path(path);
  }
  return words.isEmpty() ? QString() : QString(" (%1)").arg(words.join(", "));
}

/// What is in flight, as far as the curve does not say it.
void tell_in_flight(QStringList& remarks, const DrawnRun& run) {
  if (has_requests(run))
    remarks += of_run(run) + "at most so many: with requests what nobody asked for is under way " +
               (run.run.broadcaster() ? "until N2NQ tells that it was skipped." : "to the end: in the load balancer nobody is told of it.");
  if (run.digest->never_came > 0)
    remarks += of_run(run) + QString("%1 copies never came%2: here they are under way to the end.")
                                 .arg(count_text(run.digest->never_came), parts_that_never_came(run));
}

/// Where 0 of the figures over time is, in seconds since the common start, by which events are told. NaN: not known.
double zero_at_s(const StoredRun& run) {
  // Without a plan it is when the first message was sent that is measured, and that is behind the warm-up.
  const bool warms_up_at_will = !run.has_plan() && number_at(run.summary, "settings.senders.warmup_messages") > 0;
  return warms_up_at_will ? number_at(run.summary, "warmed_up_s") : 0;
}

/// Faults, changed settings and standstills.
void mark_events(std::span<Figure* const> figures, const StoredRun& run) {
  const double zero_s = zero_at_s(run);
  for (const Json& event : run.summary.at("events")) {
    if (!event.contains("at_s") || !event.at("at_s").is_number()) continue;
    if (std::isnan(zero_s)) {
      for (Figure* of : figures) of->remarks += "What happened in this run is not marked: it is not known how long its warm-up took.";
      return;
    }
    const FigureReference mark{.text = QString::fromStdString(event.value("what", "")), .x = event.at("at_s").get<double>() - zero_s};
    for (Figure* of : figures) of->references.push_back(mark);
  }
}

void add_times(std::vector<Figure>& out, const std::vector<DrawnRun>& runs) {
  const FigureAxis time{.title = time_title, .unit = "s", .from_zero = true};
  Figure latency = figure("latency-over-time", "Latency over time", time, {.title = "Latency", .unit = microseconds, .logarithmic = true});
  Figure rates = figure("rates-over-time", "Rates over time", time, {.title = "Messages or deliveries per second", .from_zero = true});
  Figure in_flight = figure("in-flight-over-time", "In flight over time", time, {.title = "Copies under way", .from_zero = true});
  Figure lag =
      figure("lag-over-time", "Lag of the senders over time", time, {.title = "Lag, p99", .unit = microseconds, .logarithmic = true});
  const bool one = runs.size() == 1;
  for (const DrawnRun& run : runs) {
    if (!run.digest) continue;
    const QString before = one ? QString() : name_of(run) + ", ";
    latency.series.push_back(over_time(run, before + "p50", [](const TimeSlice& slice) { return slice.p50_us; }));
    latency.series.push_back(over_time(run, before + "p99", [](const TimeSlice& slice) { return slice.p99_us; }));
    latency.series.back().hollow = !one;  // both look like their run
    if (one) latency.series.push_back(over_time(run, "slowest", [](const TimeSlice& slice) { return slice.max_us; }));
    if (run.digest->whole) {
      if (one) rates.series.push_back(rate_over_time(run, "sent", &TimeSlice::sent));
      rates.series.push_back(rate_over_time(run, before + "received", &TimeSlice::received));
      in_flight.series.push_back(
          over_time(run, one ? QString() : name_of(run), [](const TimeSlice& slice) { return static_cast<double>(slice.in_flight); }));
      bound_in_flight(in_flight.series.back(), in_flight.remarks, run);
      if (has_requests(run)) in_flight.y.title = "Copies under way, at most";
      tell_in_flight(in_flight.remarks, run);
    } else {
      latency.remarks += of_run(run) +
                         "of those deliveries that the logs hold; rates and copies under way are not drawn, because not every "
                         "message has a line.";
    }
    FigureSeries lags = over_time(run, one ? QString() : name_of(run), [](const TimeSlice& slice) { return slice.lag_p99_us; });
    if (std::any_of(lags.points.begin(), lags.points.end(), [](const FigurePoint& point) { return !std::isnan(point.y); }))
      lag.series.push_back(std::move(lags));
  }
  tell_values_below_clock_bounds(in_flight);
  const std::array all = {&latency, &rates, &in_flight, &lag};
  if (one && runs.front().digest) mark_events(all, runs.front().run);
  for (Figure* of : all) out.push_back(std::move(*of));
}

Figure boxes(const DrawnRun& run) {
  Figure out = figure("receivers", "Latency of each receiver", {.title = "Receiver"},
                      {.title = "Latency", .unit = microseconds, .logarithmic = true}, Figure::Kind::boxes);
  FigureSeries series;
  double x = 0;
  for (const ServiceBox& box : run.digest->receivers) {
    out.x.names += QString::fromStdString(measure::service_name('R', static_cast<std::uint32_t>(box.number)));
    FigurePoint point{.x = x++, .y = box.median_us, .folders = {run.run.folder}};
    if (box.count > 0) point.box = FigureBox{box.low_us, box.quarter_us, box.three_quarters_us, box.high_us};
    if (box.count == 0) point.why = "received nothing";
    series.points.push_back(point);
  }
  out.series.push_back(std::move(series));
  out.remarks += "Box: the middle half of the deliveries, with the median; whiskers: 1 % and 99 %.";
  return out;
}

template <class Value>
Figure heat(const DrawnRun& run, const char* id, const char* title, FigureAxis y, Value&& value) {
  Figure out = figure(id, title, {.title = "Sender"}, std::move(y), Figure::Kind::heat);
  const RunDigest& digest = *run.digest;
  for (const int number : digest.pair_senders)
    out.x.names += QString::fromStdString(measure::service_name('S', static_cast<std::uint32_t>(number)));
  for (std::size_t row = 0; row < digest.pair_receivers.size(); ++row) {
    FigureSeries series{.name = QString::fromStdString(measure::service_name('R', static_cast<std::uint32_t>(digest.pair_receivers[row])))};
    for (std::size_t i = 0; i < digest.pair_senders.size(); ++i) {
      series.points.push_back(
          {.x = static_cast<double>(i), .y = value(digest.pairs[row * digest.pair_senders.size() + i]), .folders = {run.run.folder}});
    }
    out.series.push_back(std::move(series));
  }
  return out;
}

void add_services(std::vector<Figure>& out, const DrawnRun& run) {
  out.push_back(boxes(run));
  if (run.digest->pairs.empty()) return;
  out.push_back(heat(run, "pairs-p50", "Median latency by pair", {.title = "Latency, p50", .unit = microseconds},
                     [](const PairCell& cell) { return cell.p50_us; }));
  out.push_back(heat(run, "pairs-p99", "99th percentile by pair", {.title = "Latency, p99", .unit = microseconds},
                     [](const PairCell& cell) { return cell.p99_us; }));
  out.push_back(heat(run, "pairs-count", "Deliveries by pair", {.title = "Deliveries", .from_zero = true},
                     [](const PairCell& cell) { return static_cast<double>(cell.count); }));
}

/// Compared runs look the same in all of their figures: also where one has several curves, or one before it is left out.
void look_like_runs(std::vector<Figure>& figures, const std::vector<DrawnRun>& runs) {
  for (Figure& of : figures) {
    for (FigureSeries& series : of.series) {
      // One without points has its run's name alone, which the legend shows.
      const auto is_of = [&series](const DrawnRun& run) {
        const QString name = name_of(run);
        return series.points.empty() ? series.name == name || series.name.startsWith(name + ", ")
                                     : series.points.front().folders.contains(run.run.folder);
      };
      const auto drawn = std::ranges::find_if(runs, is_of);
      if (drawn != runs.end()) series.look = static_cast<int>(drawn - runs.begin());
    }
  }
}

bool has_point(const Figure& of) {
  return std::any_of(of.series.begin(), of.series.end(), [](const FigureSeries& series) { return !series.points.empty(); });
}

}  // namespace

DrawnRun drawn_run(StoredRun run, const std::atomic<bool>* cancelled) {
  DrawnRun out{.run = std::move(run)};
  out.digest = digest_of(out.run, out.no_digest, cancelled);
  return out;
}

std::vector<Figure> run_figures(const std::vector<DrawnRun>& runs) {
  std::vector<Figure> out = {percentiles(runs), histogram(runs), cdf(runs), stages(runs)};
  add_times(out, runs);
  if (runs.size() == 1 && runs.front().digest) add_services(out, runs.front());
  std::erase_if(out, [](const Figure& of) { return !has_point(of); });
  for (Figure& of : out) {
    for (const DrawnRun& run : runs) tell_clock_bound(of, run);
  }
  if (runs.size() > 1) look_like_runs(out, runs);
  if (runs.size() == 1) {
    // One curve needs no name; what it is says the page it is on.
    for (Figure& of : out) {
      if (of.kind != Figure::Kind::heat && of.series.size() == 1) of.series.front().name.clear();
    }
  }
  return out;
}

std::vector<PercentileRow> read_hgrm(const QString& path) {
  std::vector<PercentileRow> out;
  QFile file(path);
  if (!open_regular(file).isEmpty()) return out;
  constexpr int rows_max = 10'000;
  while (!file.atEnd() && out.size() < rows_max) {
    const QList<QByteArray> words = file.readLine(200).simplified().split(' ');
    bool is_value = false, is_percentile = false, is_count = false;
    if (words.size() < 3) continue;
    const double value_us = words[0].toDouble(&is_value), percentile = words[1].toDouble(&is_percentile);
    const auto count = words[2].toLongLong(&is_count);
    if (!is_value || !is_percentile || !is_count) continue;
    out.push_back({value_us, percentile < 1 ? 1 / (1 - percentile) : std::numeric_limits<double>::infinity(), count});
  }
  return out;
}

bool has_few_samples(const PercentileRow& row, std::int64_t total) {
  return are_few_samples_above(static_cast<double>(total) / row.inverse_rest);
}

}  // namespace n2nq::app
