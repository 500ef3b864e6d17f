// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/verify.h"

#include <QBuffer>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "app/control/hgrm.h"
#include "app/control/master_file.h"
#include "app/control/summary.h"
#include "app/figure/time_units.h"
#include "app/results/service_logs.h"
#include "app/results/verify_parts.h"
#include "app/settings/qt_text.h"
#include "app/settings/whole_file.h"
#include "broker/wire/limits.h"
#include "workers/measure/figures.h"
#include "workers/measure/histogram.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;
using measure::ReceivedLine;
using measure::SentLine;

constexpr double read_back = 1e-6;  // of what the summary gives to six or three decimals

constexpr qint64 piece_bytes = 1 << 20;  // of two files that are compared, in memory at a time

/// Empty: `why` says what cannot be read of them.
std::optional<bool> hold_the_same(QIODevice& mine, QFile& theirs, QString& why) {
  if (mine.size() != theirs.size()) return false;
  while (!mine.atEnd()) {
    const QByteArray wanted = mine.read(piece_bytes);
    if (wanted.isEmpty()) return why = "what it is compared with: " + mine.errorString(), std::nullopt;
    const QByteArray found = theirs.read(wanted.size());
    if (theirs.error() != QFileDevice::NoError) return why = theirs.errorString(), std::nullopt;
    if (found != wanted) return false;
  }
  return true;
}

class Verifier {
 public:
  Verifier(const StoredRun& run, const ServiceLogs& logs) : run_(run), summary_(run.summary), logs_(logs) {
    some_unnoted_ = std::ranges::any_of(summary_.at("services").at("senders"), [](const Json& row) { return row.contains("unnoted"); });
    planned_ = run.has_plan();
  }

  void check_all() {
    verify_lines(run_, logs_, tally_);
    check_figures();
    check_counts();
    check_rates();
    verify_ledger(run_, logs_, some_unnoted_, tally_);
    check_files();
  }
  VerifyTally& tally() { return tally_; }

 private:
  const Json* service(const char* group, int number) const {
    return row_of(summary_.at("services").at(group), number);
  }

  // ---- figures --------------------------------------------------------------------------------------------------------------------------

  template <class Log, class Samples>
  void check_figure(const char* key, double unit_ns, const std::vector<Log>& logs, const char* group, bool of_plan, Samples&& samples) {
    if (of_plan && !planned_) return tally_.equal(QString("%1.count").arg(key), 0, summary_.at(key).at("count"));
    measure::Histogram all(measure::fine_layout);
    for (const Log& log : logs) {
      measure::Histogram own(measure::coarse_layout);
      samples(log, [&](std::int64_t value) { all.add(value), own.add(value); });
      const Json* row = service(group, log.number);
      if (row == nullptr) {
        tally_.differ(QString("%1.log: the summary knows no such service").arg(name_of(log)));
        continue;
      }
      compare_figures(QString("%1 %2").arg(name_of(log), key), own, unit_ns, row->at(key));
    }
    tally_.equal(QString("services with %1").arg(key), logs.size(), summary_.at("services").at(group).size());
    compare_figures(key, all, unit_ns, summary_.at(key));
    if (std::string_view(key) == "latency_us") latencies_ = all;
  }

  void compare_figures(const QString& what, const measure::Histogram& mine, double unit_ns, const Json& theirs) {
    const auto wanted = figures_json(measure::figures_of(mine), unit_ns);
    for (const auto& [key, value] : wanted.items()) {
      const QString name = what + '.' + QString::fromStdString(key);
      const auto found = theirs.find(key);
      if (found == theirs.end()) {
        tally_.differ(name + " is missing in the summary");
      } else {
        tally_.equal(name, value, *found);
      }
    }
  }

  void check_figures() {
    check_figure("latency_us", ns_in_us, logs_.receivers, "receivers", false, [](const ReceiverLog& log, auto&& take) {
      for (const ReceivedLine& line : log.lines) {
        if (is_measured(line)) take(line.latency_ns);
      }
    });
    check_figure("latency_from_plan_us", ns_in_us, logs_.receivers, "receivers", true, [](const ReceiverLog& log, auto&& take) {
      for (const ReceivedLine& line : log.lines) {
        if (is_measured(line)) take(line.latency_ns + line.sent_ns - line.intended_ns);
      }
    });
    check_figure("delay_ms", ns_in_ms, logs_.senders, "senders", false, [](const SenderLog& log, auto&& take) { each_gap(log, take); });
    check_figure("lag_us", ns_in_us, logs_.senders, "senders", true, [](const SenderLog& log, auto&& take) {
      for (const SentLine& line : log.lines) {
        if (!is_warm_up(line)) take(line.sent_ns - line.intended_ns);
      }
    });
    check_stage("lag_us", [](const ReceivedLine& line) { return line.sent_ns - line.intended_ns; });
    check_stage("to_broker_us", [](const ReceivedLine& line) { return line.to_broker_ns; });
    check_stage("in_queue_us", [](const ReceivedLine& line) { return line.in_queue_ns; });
    check_stage("to_receiver_us", [](const ReceivedLine& line) { return line.to_receiver_ns; });
  }

  template <class Duration>
  void check_stage(const char* key, Duration&& duration) {
    const bool is_lag = std::string_view(key) == "lag_us";
    measure::Histogram all(measure::fine_layout);
    for (const ReceiverLog& log : logs_.receivers) {
      measure::Histogram own(measure::coarse_layout);
      for (const ReceivedLine& line : log.lines) {
        if (!is_measured(line) || (is_lag && !planned_)) continue;
        all.add(duration(line)), own.add(duration(line));
      }
      if (const Json* row = service("receivers", log.number)) {
        compare_figures(QString("%1 stages.%2").arg(name_of(log), key), own, ns_in_us, row->at("stages").at(key));
      }
    }
    compare_figures(QString("stages.%1").arg(key), all, ns_in_us, summary_.at("stages").at(key));
  }

  /// Behind messages that a killed process did not note it is what that line says, if it was known.
  template <class Take>
  static void each_gap(const SenderLog& log, Take&& take) {
    const SentLine* before = nullptr;
    for (const SentLine& line : log.lines) {
      if (is_warm_up(line)) continue;
      if (before != nullptr && line.delay_ns) take(line.index == before->index + 1 ? line.sent_ns - before->sent_ns : *line.delay_ns);
      before = &line;
    }
  }

  void check_counts() {
    constexpr std::pair<const char*, std::uint16_t> tags[] = {
        {"duplicated", measure::line_duplicate},      {"redelivered", measure::line_redelivered},
        {"out_of_order", measure::line_out_of_order}, {"unexpected", measure::line_unexpected},
        {"negative", measure::line_negative},         {"bad_checksum", measure::line_bad_checksum},
        {"confirmed", measure::line_confirmed},       {"answered_negatively", measure::line_refused}};
    for (const ReceiverLog& log : logs_.receivers) {
      const Json* row = service("receivers", log.number);
      if (row == nullptr) continue;
      for (const auto& [key, flag] : tags) {
        std::int64_t count = 0;
        const bool is_damage = (flag & (measure::line_unexpected | measure::line_bad_checksum)) != 0;
        const bool is_answer = (flag & (measure::line_confirmed | measure::line_refused)) != 0;
        for (const ReceivedLine& line : log.lines) {
          // What its receiver did not measure is answered all the same, by its index.
          count += (line.flags & flag) && (is_damage || (is_answer ? line.index >= 0 : is_measured(line)));
        }
        tally_.equal(name_of(log) + ' ' + key, count, row->at(key));
      }
      std::int64_t bytes = 0, received = 0;
      for (const ReceivedLine& line : log.lines) {
        if (is_measured(line)) bytes += line.size, ++received;
      }
      tally_.equal(name_of(log) + " received", received, row->at("received"));
      tally_.equal(name_of(log) + " bytes", bytes, row->at("bytes"));
    }
    for (const SenderLog& log : logs_.senders) {
      const Json* row = service("senders", log.number);
      if (row == nullptr || some_unnoted_) continue;
      std::int64_t bytes = 0, count = 0;
      for (const SentLine& line : log.lines) {
        if (!is_warm_up(line)) bytes += line.size, ++count;
      }
      tally_.equal(name_of(log) + " attempted", count, row->at("attempted"));
      tally_.equal(name_of(log) + " bytes", bytes, row->at("bytes"));
    }
  }

  struct Sending {
    std::int64_t sent = 0, gaps = 0, gap_sum_ns = 0;
    double still_s = 0;  // until it was stopped, of which no log tells
  };

  /// The mean over those whose sending, and a gap of theirs, is at most one and a half gaps shorter than the longest.
  static double those_that_sent_longest_s(const std::vector<Sending>& of_each, double mean_gap_s) {
    std::vector<std::pair<double, double>> took_and_gap_s;
    double longest_s = 0;
    for (const Sending& own : of_each) {
      if (own.sent == 0) continue;
      const double own_s = static_cast<double>(own.gap_sum_ns) / ns_in_s;
      const double gap_s = own.gaps == 0 ? mean_gap_s : std::min(own_s / static_cast<double>(own.gaps), mean_gap_s);
      const double took_s = own_s + std::max(gap_s, own.still_s);
      took_and_gap_s.emplace_back(took_s, gap_s);
      longest_s = std::max(longest_s, took_s);
    }
    std::erase_if(took_and_gap_s, [&](const auto& own) { return longest_s - own.first > 1.5 * own.second; });
    double sum_s = 0;
    for (const auto& [took_s, gap_s] : took_and_gap_s) sum_s += took_s;
    return took_and_gap_s.empty() ? 0 : sum_s / static_cast<double>(took_and_gap_s.size());
  }

  struct Amount {
    std::int64_t lines = 0, bytes = 0;
  };
  template <class Log, class Counts>
  static Amount amount_of(const std::vector<Log>& logs, Counts&& counts) {
    Amount amount;
    for (const Log& log : logs) {
      for (const auto& line : log.lines) {
        if (counts(line)) ++amount.lines, amount.bytes += line.size;
      }
    }
    return amount;
  }

  void check_rates() {
    std::int64_t gaps = 0, gap_sum = 0;
    std::vector<Sending> of_each;
    for (const SenderLog& log : logs_.senders) {
      Sending& own = of_each.emplace_back();
      each_gap(log, [&](std::int64_t gap) { ++own.gaps, own.gap_sum_ns += gap; });
      for (const SentLine& line : log.lines) own.sent += !is_warm_up(line);
      if (const Json* row = service("senders", log.number)) own.still_s = row->value("stood_still_ns", 0.0) / ns_in_s;
      gaps += own.gaps, gap_sum += own.gap_sum_ns;
    }
    if (some_unnoted_ || logs_.senders.empty()) return;
    const Json& rates = summary_.at("rates");
    if (gap_sum <= 0) {  // nobody sent twice, or all in one instant
      for (const auto& [key, value] : rates.items()) tally_.equal("rates." + QString::fromStdString(key), nullptr, value);
      return;
    }
    const Amount sent = amount_of(logs_.senders, [](const SentLine& line) { return !is_warm_up(line); });
    const Amount received = amount_of(logs_.receivers, [](const ReceivedLine& line) { return is_measured(line); });
    const double mean_gap_s = static_cast<double>(gap_sum) / static_cast<double>(gaps) / ns_in_s;
    const double over_s = std::max(mean_gap_s * static_cast<double>(sent.lines) / static_cast<double>(logs_.senders.size()),
                                   those_that_sent_longest_s(of_each, mean_gap_s));
    tally_.near("rates.over_s", over_s, rates.at("over_s"), std::max(read_back, 1e-6 / over_s));
    check_rate("sent_per_s", sent.lines, over_s, read_back);
    check_rate("sent_bytes_per_s", sent.bytes, over_s, read_back);
    const double received_over_s = rates.at("received_over_s").is_number() ? rates.at("received_over_s").get<double>() : 0;
    tally_.equal("rates.received_over_s is at least over_s", true, received_over_s >= over_s - 1e-6);
    if (received_over_s <= 0) return;
    check_rate("received_per_s", received.lines, received_over_s, std::max(read_back, 1e-6 / received_over_s));
    check_rate("received_bytes_per_s", received.bytes, received_over_s, std::max(read_back, 1e-6 / received_over_s));
  }

  /// `relative`: what the time may be off.
  void check_rate(const char* key, std::int64_t count, double over_s, double relative) {
    const double per_s = static_cast<double>(count) / over_s;
    tally_.near(QString("rates.%1").arg(key), per_s, summary_.at("rates").at(key), std::max(relative, count == 0 ? 0 : 0.001 / per_s));
  }

  // ---- the other files ------------------------------------------------------------------------------------------------------------------

  /// What cannot be read says nothing about the run.
  void not_compared(const QString& why) { tally_.result.not_possible += (tally_.result.not_possible.isEmpty() ? "" : "; ") + why; }

  void check_file(const QString& name, QIODevice& mine, const QString& otherwise) {
    const QString path = run_.folder + '/' + name;
    QFile theirs(path);
    if (!theirs.exists()) return tally_.compared(1), tally_.differ(name + " is missing");
    QString why = open_regular(theirs);
    const auto same = why.isEmpty() ? hold_the_same(mine, theirs, why) : std::nullopt;
    if (!same) return not_compared(QString("Cannot read %1: %2").arg(path, why));
    tally_.compared(1);
    if (!*same) tally_.differ(otherwise);
  }

  void check_files() {
    QByteArray histogram = hgrm_text(latencies_);
    QBuffer of_latencies(&histogram);
    of_latencies.open(QIODevice::ReadOnly);
    check_file("latency.hgrm", of_latencies, "latency.hgrm is not the histogram of the latencies in the logs");
    const Json& master = summary_.at("messages_tsv");
    if (master.at("limit_mib") == 0) return;
    // Qt takes the root folder where TMPDIR names what is not there.
    const QString temporary = qEnvironmentVariableIsEmpty("TMPDIR") ? QString("/tmp") : qEnvironmentVariable("TMPDIR");
    const QTemporaryDir beside(temporary + "/n2nq-bench-XXXXXX");
    if (!beside.isValid())
      return not_compared(QString("messages.tsv cannot be made again: no folder can be made in %1: %2").arg(temporary, beside.errorString()));
    const std::atomic<bool> never{false};
    const auto bytes_max = static_cast<std::uint64_t>(master.at("limit_mib").get<double>() * static_cast<double>(limits::bytes_per_mib));
    const MasterFile mine = write_master_file(run_.folder + "/receivers", beside.filePath("messages.tsv"), bytes_max, never);
    if (!mine.error.isEmpty()) return not_compared("messages.tsv cannot be made again: " + mine.error);
    tally_.equal("messages_tsv.lines", mine.lines, master.at("lines"));
    tally_.equal("messages_tsv.bytes", mine.bytes, master.at("bytes"));
    tally_.equal("messages_tsv.cut", mine.cut, master.at("cut"));
    QFile made(beside.filePath("messages.tsv"));
    if (!made.open(QIODevice::ReadOnly)) return not_compared(QString("Cannot read %1: %2").arg(made.fileName(), made.errorString()));
    check_file("messages.tsv", made, "messages.tsv does not hold the lines of the receivers' logs in the order of receiving");
  }

  const StoredRun& run_;
  const Json& summary_;
  const ServiceLogs& logs_;
  bool some_unnoted_ = false, planned_ = true;
  VerifyTally tally_;
  measure::Histogram latencies_;
};

/// What the run says of logs that are not whole or lie elsewhere; empty: nothing. Somebody may have fetched them since.
QStringList incomplete_logs(const StoredRun& run) {
  QStringList out;
  const Json reasons = run.summary.value("reasons", Json::array());
  for (const Json& reason : reasons) {
    const QString text = reason.is_string() ? qt_text(reason.get<std::string>()) : QString();
    if (text.startsWith("log incomplete: ")) out += text.section(": ", 1);
  }
  return out;
}

/// Of a run with `log: all` that does not have every line: by its reasons, and by what its groups said at their end.
QString why_not_every_line(const StoredRun& run) {
  QStringList why = incomplete_logs(run);
  const bool told = !why.isEmpty();
  for (const char* group : {"senders", "receivers"}) {
    const Json log = run.summary.at("logs").value(group, Json());
    const auto dropped = log.is_object() ? log.find("dropped") : log.end();
    if (dropped == log.end()) {
      why += QString("the %1 gave no final account").arg(group);
    } else if (!told && *dropped != 0) {
      why += QString("%1 lines of the %2' logs were not written").arg(dropped->get<std::int64_t>()).arg(group);
    }
  }
  return why.join("; ");
}

}  // namespace

Verification verify_run(const StoredRun& run, const std::atomic<bool>* cancelled) {
  Verification none;
  if (!run.has_every_line()) {
    const QString mode = QString::fromStdString(run.summary.at("logs").value("mode", "?"));
    none.not_possible = mode == "all" ? "the logs are not complete: " + why_not_every_line(run)
                                      : QString("the logs do not hold every message (log: %1)").arg(mode);
    return none;
  }
  const auto logs = read_logs(run, none.not_possible, cancelled);
  const QString elsewhere = incomplete_logs(run).join("; ");
  if (!logs && !elsewhere.isEmpty()) none.not_possible += "; " + elsewhere;
  if (!logs) return none;
  Verifier verifier(run, *logs);
  try {
    verifier.check_all();
  } catch (const Json::exception& problem) {
    ++verifier.tally().result.differing;
    const QString why = QString::fromUtf8(problem.what()).section("] ", 1);  // behind nlohmann's number of it
    verifier.tally().result.differences += "summary.json is not as n2nq-bench writes it: " + why;
  }
  const Verification& found = verifier.tally().result;
  if (found.differing == 0 || elsewhere.isEmpty()) return found;
  none.not_possible = QString("not all logs are here, and what is here does not make up the summary: %1").arg(elsewhere);
  return none;
}

}  // namespace n2nq::app
