// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/result_table.h"

#include <QStringList>
#include <cmath>
#include <iterator>
#include <string>

#include "app/cli/terminal.h"
#include "app/control/live_figures.h"
#include "app/figure/number_text.h"
#include "app/results/stored_run.h"
#include "app/results/unusual_settings.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr int name_width = 18;
constexpr int unit_width = 3;
constexpr int cell_width = 10;

struct Row {
  const char* key;
  const char* name;
  const char* unit;
};
constexpr Row figure_rows[] = {{"latency_us", "latency", "µs"},
                               {"latency_from_plan_us", "latency from plan", "µs"},
                               {"delay_ms", "delay", "ms"},
                               {"lag_us", "lag", "µs"}};
constexpr Row stage_rows[] = {
    {"lag_us", "lag", ""}, {"to_broker_us", "to N2NQ", ""}, {"in_queue_us", "in queue", ""}, {"to_receiver_us", "to receiver", ""}};
constexpr const char* table_columns[] = {"mean", "mean_lowest_95", "left_out", "p50", "p90", "p95", "p99", "p99_9", "max"};
constexpr const char* column_names[] = {"mean", "lowest 95%", "leaves out", "p50", "p90", "p95", "p99", "p99.9", "max"};

double number_of(const Json& value) {
  return value.is_number() ? value.get<double>() : std::nan("");
}

QString heading(const char* name) {
  return left_aligned(QString::fromUtf8(name), name_width + unit_width);
}

/// With a gap before it, also where it is longer than the others of its column.
QString cell(const QString& text) {
  return ' ' + right_aligned(text, cell_width);
}

QString figures_block(const Json& summary) {
  QString out = heading("") + right_aligned("count", cell_width);
  for (const char* name : column_names) out += cell(name);
  out += '\n';
  for (const Row& row : figure_rows) {
    const Json& figures = summary.at(row.key);
    out += left_aligned(row.name, name_width) + left_aligned(QString::fromUtf8(row.unit), unit_width);
    out += right_aligned(grouped(figures.at("count").get<std::int64_t>()), cell_width);
    QStringList near, below;  // columns that say more about the machine than about the queue, and that are less than their ±
    const double bound_us = clock_limit_at(summary, std::string(row.key) + ".p50");
    const double floor_us = floor_us_at(summary, std::string(row.key) + ".p50");
    for (std::size_t i = 0; i < std::size(table_columns); ++i) {
      const char* const column = table_columns[i];
      const Json& value = figures.at(column);
      // A trimmed mean never stands without the number of samples that the trimming hides.
      out += cell(value.is_number_integer() ? grouped(value.get<std::int64_t>()) : figure_text(number_of(value)));
      if (is_latency(std::string(row.key) + '.' + column) && is_near_floor(floor_us, number_of(value))) near += column_names[i];
      const double limit_us = clock_limit_at(summary, std::string(row.key) + '.' + column);
      if (std::isfinite(limit_us) && std::abs(number_of(value)) < limit_us) below += column_names[i];
    }
    if (!std::isnan(bound_us)) {
      out += QString::fromUtf8("  ± ") + clock_bound_text(bound_us);
      if (!below.isEmpty()) out += ", which is more than " + below.join(", ");
    }
    if (!near.isEmpty()) out += "  " + below_floor_text(floor_us) + ": " + near.join(", ");
    out += '\n';
  }
  return out;
}

QString stages_line(const Json& summary) {
  const Json& stages = summary.at("stages");
  QStringList parts;
  for (const Row& row : stage_rows) {
    const double mean = number_of(stages.at(row.key).at("mean"));
    if (std::isnan(mean)) continue;
    parts += QString("%1 %2").arg(row.name, figure_text(mean));
    if (const double bound_us = clock_limit_at(summary, std::string("stages.") + row.key + ".mean"); !std::isnan(bound_us)) {
      const bool is_below = std::isfinite(bound_us) && std::abs(mean) < bound_us;
      parts.back() += QString::fromUtf8(" ± ") + clock_bound_text(bound_us, mean) + (is_below ? " (more than itself)" : "");
    }
  }
  if (parts.isEmpty()) return {};
  return heading("stages, means") + parts.join(" + ") + QString::fromUtf8(" µs\n");
}

QString rate_line(const Json& rates, const char* name, const char* key, const char* bytes_key) {
  const double rate = number_of(rates.at(key)), bytes = number_of(rates.at(bytes_key));
  return heading(name) + figure_text(rate) + " /s, " + figure_text(bytes / 1000) + " kB/s\n";
}

QString ledger_block(const Json& summary) {
  const Json& ledger = summary.at("ledger");
  const Json& total = ledger.at("total");
  const auto count = [&](const char* key) { return total.at(key).get<std::int64_t>(); };
  const Json& planned = ledger.at("planned");
  QString out = heading("messages") + "sent " + grouped(count("attempted"));
  if (planned.is_number()) out += " of " + grouped(planned.get<std::int64_t>());
  out += ", accepted " + grouped(count("accepted")) + '\n';
  out += heading("deliveries") + grouped(count("delivered")) + " of " + grouped(ledger.at("expected").get<std::int64_t>()) + " expected";
  // What did not happen is left out; the summary has every count.
  constexpr std::pair<const char*, const char*> others[] = {{"refused", "refused"},
                                                            {"lost_before_queue", "lost before the queue"},
                                                            {"expired", "expired"},
                                                            {"unrequested", "unrequested"},
                                                            {"parked", "parked"},
                                                            {"parked_delivered", "parked though delivered"},
                                                            {"cut_off", "cut off"},
                                                            {"still_queued", "still queued"},
                                                            {"lost", "lost"},
                                                            {"unexplained", "unexplained"},
                                                            {"redelivered", "redelivered"},
                                                            {"duplicated", "duplicated"},
                                                            {"out_of_order", "out of order"},
                                                            {"unexpected", "unexpected"},
                                                            {"negative", "negative latencies"},
                                                            {"bad_checksum", "with a wrong checksum"},
                                                            {"unasked", "not asked for"}};
  QString rest;
  for (const auto& [key, name] : others) {
    if (count(key) != 0) rest += QString(", %1 %2").arg(grouped(count(key)), name);
  }
  if (rest.isEmpty() && ledger.at("expected") == total.at("delivered")) rest = ", nothing lost, late or twice";
  return out + rest + '\n';
}

/// Nothing without warm-up.
QString warm_up_line(const Json& ledger) {
  const auto found = ledger.find("warmup");
  if (found == ledger.end()) return {};
  const auto count = [&](const char* key) { return found->at(key).get<std::int64_t>(); };
  QString out =
      heading("warm-up") +
      QString("sent %1 of %2, received %3").arg(grouped(count("attempted")), grouped(count("planned")), grouped(count("received")));
  if (count("lost") != 0) out += QString(", %1 lost").arg(grouped(count("lost")));
  return out + ", in none of the figures\n";
}

QString unusual_line(const Json& settings) {
  QStringList parts;
  for (const UnusualSetting& unusual : unusual_settings(settings)) parts += unusual.words;
  return parts.isEmpty() ? QString() : heading("made with") + parts.join(", ") + '\n';
}

}  // namespace

QString grouped(std::int64_t number) {
  return grouped_digits(QString::number(number), ' ');
}

QString figure_text(double value) {
  if (std::isnan(value)) return QString::fromUtf8("–");
  if (std::isinf(value)) return "?";
  const double size = std::abs(value);
  if (size >= 999.5) return grouped(std::llround(value));
  if (size == 0) return "0.000";
  return three_digits(value);
}

QString clock_bound_text(double bound, double value) {
  return figure_text(shown_bound(bound, three_digit_decimals, value));
}

QString below_floor_text(double floor_us) {
  return QString::fromUtf8("below twice the floor, an echo over loopback (%1 µs)").arg(figure_text(floor_us));
}

QString result_table(const Json& summary, const QString& folder) {
  QString out = "\n";
  if (summary.value("traffic_started", true)) {  // else there is nothing to tell of
    out += figures_block(summary) + stages_line(summary);
    out += rate_line(summary.at("rates"), "sent", "sent_per_s", "sent_bytes_per_s");
    out += rate_line(summary.at("rates"), "received", "received_per_s", "received_bytes_per_s");
    out += ledger_block(summary) + warm_up_line(summary.at("ledger")) + unusual_line(summary.at("settings"));
  }
  out += heading("verdict") + QString::fromStdString(summary.at("verdict").get<std::string>()) + '\n';
  for (const Json& reason : summary.at("reasons"))
    out += heading("") + "- " + one_line(grouped_in(QString::fromStdString(reason.get<std::string>()), ' ')) + '\n';
  const Json disturbed = summary.at("environment").value("disturbed", Json::array());  // older results have none
  for (const Json& sentence : disturbed) out += heading("disturbed") + one_line(QString::fromStdString(sentence.get<std::string>())) + '\n';
  return out + heading("folder") + folder + '\n';
}

}  // namespace n2nq::app
