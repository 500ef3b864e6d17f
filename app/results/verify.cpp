// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/verify.h"

#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "app/control/hgrm.h"
#include "app/control/master_file.h"
#include "app/control/summary.h"
#include "app/results/service_logs.h"
#include "workers/measure/figures.h"
#include "workers/measure/histogram.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;
using measure::ReceivedLine;
using measure::SentLine;

constexpr double ns_per_us = 1e3, ns_per_ms = 1e6, ns_per_s = 1e9;
constexpr double bytes_per_mib = 1 << 20;
constexpr double same = 1e-9;       // of two doubles that were worked out alike
constexpr double read_back = 1e-6;  // of what the summary gives to six or three decimals

/// A message as one number, for sets.
std::uint64_t key_of(std::uint64_t sender, std::int64_t index) {
  constexpr std::int64_t warm_up_room = std::int64_t{1} << 40;
  return sender << 44 | static_cast<std::uint64_t>(index + warm_up_room);
}

using Keys = std::vector<std::uint64_t>;  // rising, each once

Keys unique(Keys keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}
Keys without(const Keys& from, const Keys& what) {
  Keys out;
  std::set_difference(from.begin(), from.end(), what.begin(), what.end(), std::back_inserter(out));
  return out;
}
Keys joined(const Keys& a, const Keys& b) {
  Keys out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
std::int64_t size_of(const Keys& keys) {
  return static_cast<std::int64_t>(keys.size());
}

QByteArray bytes_of(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QString text_of(const Json& value) {
  return QString::fromStdString(value.dump());
}

class Verifier {
 public:
  Verifier(const StoredRun& run, const ServiceLogs& logs) : run_(run), summary_(run.summary), logs_(logs) {
    some_unnoted_ = false;
    for (const Json& reason : summary_.at("reasons")) {
      some_unnoted_ = some_unnoted_ || reason.get<std::string>().find("were sent but not noted") != std::string::npos;
    }
    const Json& delay = summary_.at("settings").at("senders").at("delay_ms");
    planned_ = !(delay.is_number() && delay.get<double>() == 0);
  }

  void check_all() {
    check_frames();
    check_lines();
    check_figures();
    check_counts();
    check_rates();
    check_ledger();
    check_files();
  }
  Verification result;

 private:
  void differ(const QString& what) {
    ++result.differing;
    if (result.differences.size() < Verification::differences_max) result.differences += what;
  }
  template <class A, class B>
  void equal(const QString& what, const A& mine, const B& theirs) {
    ++result.compared;
    if (Json(mine) != Json(theirs)) differ(QString("%1: the logs say %2, the summary %3").arg(what, text_of(mine), text_of(theirs)));
  }
  void near(const QString& what, double mine, const Json& theirs, double relative) {
    ++result.compared;
    if (!theirs.is_number() || std::abs(mine - theirs.get<double>()) > std::abs(mine) * relative + 1e-9) {
      differ(QString("%1: the logs say %2, the summary %3").arg(what, text_of(mine), text_of(theirs)));
    }
  }

  static QString name_of(const SenderLog& log) {
    return QString::fromStdString(measure::service_name('S', static_cast<std::uint32_t>(log.number)));
  }
  static QString name_of(const ReceiverLog& log) {
    return QString::fromStdString(measure::service_name('R', static_cast<std::uint32_t>(log.number)));
  }

  // ---- heads, feet and single lines -----------------------------------------------------------------------------------------------------

  void check_frames() {
    for (const SenderLog& log : logs_.senders) check_frame(log);
    for (const ReceiverLog& log : logs_.receivers) check_frame(log);
  }

  template <class Log>
  void check_frame(const Log& log) {
    const QString name = name_of(log);
    ++result.compared;
    if (log.unreadable_count > 0) {
      differ(QString("%1.log: %2 line(s) that cannot be read (%3)").arg(name).arg(log.unreadable_count).arg(log.unreadable.front()));
    }
    ++result.compared;
    if (!log.named_columns) differ(QString("%1.log: the line with the columns' names is missing or wrong").arg(name));
    check_word(log, name, "format", "1");
    check_word(log, name, "service", name.toStdString());
    check_word(log, name, "run", summary_.at("run").template get<std::string>());
    // A killed process leaves no foot, or that of its salvaged log.
    if (log.words.contains("lines"))
      check_word(log, name, "lines", std::to_string(log.lines.size() + static_cast<std::size_t>(log.unreadable_count)));
    check_settings(log, name);
  }

  template <class Log>
  void check_word(const Log& log, const QString& name, const std::string& key, const std::string& wanted) {
    ++result.compared;
    const auto found = log.words.find(key);
    if (found != log.words.end() && found->second == wanted) return;
    differ(QString("%1.log: \"# %2\" says %3, it should say %4")
               .arg(name, QString::fromStdString(key), found == log.words.end() ? "nothing" : QString::fromStdString(found->second),
                    QString::fromStdString(wanted)));
  }

  /// "# senders.amount: 10", as the summary has it.
  template <class Log>
  void check_settings(const Log& log, const QString& name) {
    for (const auto& [key, value] : log.words) {
      std::string path = "/" + key;
      std::replace(path.begin(), path.end(), '.', '/');
      const Json::json_pointer pointer(path);
      if (!summary_.at("settings").contains(pointer)) continue;
      const Json& setting = summary_.at("settings").at(pointer);
      if (!setting.is_number() && !setting.is_boolean()) continue;
      ++result.compared;
      if (setting.dump() != value && !(setting.is_number() && std::to_string(setting.get<double>()) == value) &&
          !(setting.is_number() && Json::parse(value, nullptr, false) == setting)) {
        differ(QString("%1.log: \"# %2\" says %3, the summary %4")
                   .arg(name, QString::fromStdString(key), QString::fromStdString(value), text_of(setting)));
      }
    }
  }

  const Json* service(const char* group, int number) const {
    for (const Json& row : summary_.at("services").at(group)) {
      if (row.at("number") == number) return &row;
    }
    return nullptr;
  }

  void check_lines() {
    for (const SenderLog& log : logs_.senders) check_sent_lines(log);
    sent_by_index();
    for (const ReceiverLog& log : logs_.receivers) check_received_lines(log);
  }

  /// What is worked out within a line, or from the one before it.
  void check_sent_lines(const SenderLog& log) {
    std::optional<std::int64_t> before;
    bool before_warm_up = false;
    for (std::size_t i = 0; i < log.lines.size(); ++i) {
      const SentLine& line = log.lines[i];
      const QString where = QString("%1.log, message %2").arg(name_of(log)).arg(line.index);
      result.compared += 4;
      if (line.lag_ns && *line.lag_ns != line.sent_ns - line.intended_ns) differ(where + ": lag_us is not sent_ns - intended_ns");
      const bool first = !before || before_warm_up != is_warm_up(line);
      if (line.delay_ns && (first || *line.delay_ns != line.sent_ns - *before))
        differ(where + ": delay_us is not the gap to the line before");
      if (is_warm_up(line) != (line.index < 0)) differ(where + ": its flag and its index say different things about the warm-up");
      if (line.attempt != 1) differ(where + ": a line is written at the first offer only, so its attempt is 1");
      before = line.sent_ns;
      before_warm_up = is_warm_up(line);
    }
  }

  void sent_by_index() {
    for (const SenderLog& log : logs_.senders) {
      auto& lines = sent_[log.number];
      for (const SentLine& line : log.lines) lines.push_back(&line);
      std::sort(lines.begin(), lines.end(), [](const SentLine* a, const SentLine* b) { return a->index < b->index; });
    }
  }

  const SentLine* sent_line(int sender, std::int64_t index) const {
    const auto lines = sent_.find(sender);
    if (lines == sent_.end()) return nullptr;
    const auto found = std::lower_bound(lines->second.begin(), lines->second.end(), index,
                                        [](const SentLine* line, std::int64_t at) { return line->index < at; });
    return found != lines->second.end() && (*found)->index == index ? *found : nullptr;
  }

  void check_received_lines(const ReceiverLog& log) {
    bool back = log.clocks.went_back();
    for (std::size_t i = 1; i < log.lines.size(); ++i) back = back || log.lines[i].received_ns < log.lines[i - 1].received_ns;
    for (const ReceivedLine& line : log.lines) {
      const QString where = QString("%1.log, message %2 of S%3").arg(name_of(log)).arg(line.index).arg(line.sender, 3, 10, QChar('0'));
      result.compared += 3;
      if (!back && line.latency_ns != line.received_ns - line.sent_ns + log.clocks.between(line.sent_ns, line.received_ns)) {
        differ(where + ": latency_us is not what its stamps make");
      }
      if (is_warm_up(line) != (line.index < 0)) differ(where + ": its flag and its index say different things about the warm-up");
      const SentLine* sent = sent_line(static_cast<int>(line.sender), line.index);
      if (sent == nullptr || (line.flags & (measure::line_unexpected | measure::line_bad_checksum))) continue;
      if (sent->sent_ns != line.sent_ns || sent->intended_ns != line.intended_ns || sent->size != line.size) {
        differ(where + ": size or stamps are not those in the sender's log");
      }
    }
  }

  // ---- figures --------------------------------------------------------------------------------------------------------------------------

  template <class Log, class Samples>
  void check_figure(const char* key, double unit_ns, const std::vector<Log>& logs, const char* group, bool of_plan, Samples&& samples) {
    if (of_plan && !planned_) return equal(QString("%1.count").arg(key), 0, summary_.at(key).at("count"));
    measure::Histogram all(measure::fine_layout);
    for (const Log& log : logs) {
      measure::Histogram own(measure::coarse_layout);
      samples(log, [&](std::int64_t value) { all.add(value), own.add(value); });
      const Json* row = service(group, log.number);
      if (row == nullptr) {
        differ(QString("%1.log: the summary knows no such service").arg(name_of(log)));
        continue;
      }
      compare_figures(QString("%1 %2").arg(name_of(log), key), own, unit_ns, row->at(key));
    }
    equal(QString("services with %1").arg(key), logs.size(), summary_.at("services").at(group).size());
    compare_figures(key, all, unit_ns, summary_.at(key));
    if (std::string_view(key) == "latency_us") latencies_ = all;
  }

  void compare_figures(const QString& what, const measure::Histogram& mine, double unit_ns, const Json& theirs) {
    const auto wanted = figures_json(measure::figures_of(mine), unit_ns);
    for (const auto& [key, value] : wanted.items()) {
      const QString name = what + '.' + QString::fromStdString(key);
      const auto found = theirs.find(key);
      if (found == theirs.end()) {
        differ(name + " is missing in the summary");
      } else if (value.is_number_float()) {
        near(name, value.get<double>(), *found, same);
      } else {
        equal(name, value, *found);
      }
    }
  }

  void check_figures() {
    check_figure("latency_us", ns_per_us, logs_.receivers, "receivers", false, [](const ReceiverLog& log, auto&& take) {
      for (const ReceivedLine& line : log.lines) {
        if (!is_warm_up(line)) take(line.latency_ns);
      }
    });
    check_figure("latency_from_plan_us", ns_per_us, logs_.receivers, "receivers", true, [](const ReceiverLog& log, auto&& take) {
      for (const ReceivedLine& line : log.lines) {
        if (!is_warm_up(line)) take(line.latency_ns + line.sent_ns - line.intended_ns);
      }
    });
    check_figure("delay_ms", ns_per_ms, logs_.senders, "senders", false, [](const SenderLog& log, auto&& take) { each_gap(log, take); });
    check_figure("lag_us", ns_per_us, logs_.senders, "senders", true, [](const SenderLog& log, auto&& take) {
      for (const SentLine& line : log.lines) {
        if (!is_warm_up(line)) take(line.sent_ns - line.intended_ns);
      }
    });
    const Json& stages = summary_.at("stages");
    const Json& known = stages.at("in_queue_us").at("count");
    // What was read back from a killed group's logs has no stages.
    if (!planned_ || known == 0 || known != summary_.at("latency_from_plan_us").at("count")) return;
    double sum = 0;
    for (const char* stage : {"lag_us", "to_broker_us", "in_queue_us", "to_receiver_us"}) sum += stages.at(stage).at("mean").get<double>();
    near("the stages' means together, against the mean latency from plan", sum, summary_.at("latency_from_plan_us").at("mean"), read_back);
  }

  template <class Take>
  static void each_gap(const SenderLog& log, Take&& take) {
    const SentLine* before = nullptr;
    for (const SentLine& line : log.lines) {
      if (is_warm_up(line)) continue;
      if (before != nullptr) take(line.sent_ns - before->sent_ns);
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
        for (const ReceivedLine& line : log.lines) count += !is_warm_up(line) && (line.flags & flag);
        equal(name_of(log) + ' ' + key, count, row->at(key));
      }
      std::int64_t bytes = 0, received = 0;
      for (const ReceivedLine& line : log.lines) {
        if (!is_warm_up(line)) bytes += line.size, ++received;
      }
      equal(name_of(log) + " received", received, row->at("received"));
      equal(name_of(log) + " bytes", bytes, row->at("bytes"));
    }
    for (const SenderLog& log : logs_.senders) {
      const Json* row = service("senders", log.number);
      if (row == nullptr || some_unnoted_) continue;
      std::int64_t bytes = 0, count = 0;
      for (const SentLine& line : log.lines) {
        if (!is_warm_up(line)) bytes += line.size, ++count;
      }
      equal(name_of(log) + " attempted", count, row->at("attempted"));
      equal(name_of(log) + " bytes", bytes, row->at("bytes"));
    }
  }

  void check_rates() {
    std::int64_t gaps = 0, gap_sum = 0, sent = 0, received = 0;
    for (const SenderLog& log : logs_.senders) {
      each_gap(log, [&](std::int64_t gap) { ++gaps, gap_sum += gap; });
      for (const SentLine& line : log.lines) sent += !is_warm_up(line);
    }
    for (const ReceiverLog& log : logs_.receivers) {
      for (const ReceivedLine& line : log.lines) received += !is_warm_up(line);
    }
    if (gap_sum <= 0 || some_unnoted_ || logs_.senders.empty()) return;  // nobody sent twice, or all in one instant
    const double over_s = static_cast<double>(gap_sum) / static_cast<double>(gaps) / ns_per_s * static_cast<double>(sent) /
                          static_cast<double>(logs_.senders.size());
    const Json& rates = summary_.at("rates");
    near("rates.over_s", over_s, rates.at("over_s"), std::max(read_back, 1e-6 / over_s));
    near("rates.sent_per_s", static_cast<double>(sent) / over_s, rates.at("sent_per_s"),
         std::max(read_back, 0.001 * over_s / static_cast<double>(sent)));
    const double received_over_s = rates.at("received_over_s").is_number() ? rates.at("received_over_s").get<double>() : 0;
    if (received_over_s <= 0) return;
    near("rates.received_per_s", static_cast<double>(received) / received_over_s, rates.at("received_per_s"),
         std::max({read_back, 1e-6 / received_over_s, received == 0 ? 0 : 0.001 * received_over_s / static_cast<double>(received)}));
    equal("rates.received_over_s is at least over_s", true, received_over_s >= over_s - 1e-6);
  }

  // ---- ledger ---------------------------------------------------------------------------------------------------------------------------

  void check_ledger() {
    const Json& ledger = summary_.at("ledger");
    check_part("", false, ledger.at("total"));
    const bool asked = summary_.at("settings").at("senders").at("warmup_messages") > 0;
    equal("warm-up has an account", asked, ledger.contains("warmup"));
    if (asked && ledger.contains("warmup")) check_part("warm-up: ", true, ledger.at("warmup"));
  }

  void check_part(const QString& name, bool warm_up, const Json& total) {
    const auto count = [&total](const char* key) { return total.at(key).get<std::int64_t>(); };
    Keys sent;
    for (const SenderLog& log : logs_.senders) {
      Keys own;
      for (const SentLine& line : log.lines) {
        if (is_warm_up(line) == warm_up) own.push_back(key_of(static_cast<std::uint64_t>(log.number), line.index));
      }
      const std::int64_t lines = size_of(own);
      own = unique(std::move(own));
      equal(QString("%1messages that %2.log holds twice").arg(name, name_of(log)), lines - size_of(own), 0);
      sent.insert(sent.end(), own.begin(), own.end());
    }
    sent = unique(std::move(sent));
    std::vector<Keys> copies;
    Keys all_copies;
    std::int64_t rows = 0;
    for (const ReceiverLog& log : logs_.receivers) {
      Keys own;
      for (const ReceivedLine& line : log.lines) {
        if (is_warm_up(line) == warm_up) own.push_back(key_of(line.sender, line.index)), ++rows;
      }
      copies.push_back(unique(std::move(own)));
      all_copies.insert(all_copies.end(), copies.back().begin(), copies.back().end());
    }
    all_copies = unique(std::move(all_copies));

    // What a killed group of senders had sent and not noted yet stands in no log of its own; the receivers may know it.
    const std::int64_t unnoted = some_unnoted_ ? count("attempted") - size_of(sent) : 0;
    std::int64_t known = 0;
    if (unnoted > 0) {
      const Keys more = without(all_copies, sent);
      known = size_of(more);
      if (known <= unnoted) sent = joined(sent, more);
    }
    const std::int64_t unseen = unnoted - known;
    equal(name + "attempted", size_of(sent) + unseen, total.at("attempted"));
    equal(name + "delivered + duplicated", rows, count("delivered") + count("duplicated"));
    std::int64_t unexpected = 0, delivered = 0, missing = 0;
    for (const Keys& got : copies) {
      unexpected += size_of(without(got, sent));
      delivered += size_of(got);
      missing += size_of(without(sent, got)) + unseen;
    }
    if (!run_.broadcaster()) {
      delivered = size_of(all_copies);
      missing = size_of(without(sent, all_copies)) + unseen;
    }
    equal(name + "unexpected", unexpected, total.at("unexpected"));
    equal(name + "delivered", delivered, total.at("delivered"));
    std::int64_t explained = 0;
    for (const char* key : {"expired", "unrequested", "parked", "cut_off", "still_queued", "lost"}) explained += count(key);
    const std::int64_t receivers = run_.broadcaster() ? static_cast<std::int64_t>(copies.size()) : 1;
    equal(name + "copies that no receiver logged", missing, explained + (count("attempted") - count("accepted")) * receivers);
    equal(name + "unexplained", 0, total.at("unexplained"));
  }

  // ---- the other files ------------------------------------------------------------------------------------------------------------------

  void check_files() {
    ++result.compared;
    if (bytes_of(run_.folder + "/latency.hgrm") != hgrm_text(latencies_))
      differ("latency.hgrm is not the histogram of the latencies in the logs");
    const Json& master = summary_.at("messages_tsv");
    if (master.at("limit_mib") == 0) return;
    QTemporaryDir beside;
    const std::atomic<bool> never{false};
    const auto bytes_max = static_cast<std::uint64_t>(master.at("limit_mib").get<double>() * bytes_per_mib);
    const MasterFile mine = write_master_file(run_.folder + "/receivers", beside.filePath("messages.tsv"), bytes_max, never);
    if (!mine.error.isEmpty()) return differ("messages.tsv could not be made again: " + mine.error);
    equal("messages_tsv.lines", mine.lines, master.at("lines"));
    equal("messages_tsv.bytes", mine.bytes, master.at("bytes"));
    equal("messages_tsv.cut", mine.cut, master.at("cut"));
    ++result.compared;
    if (bytes_of(beside.filePath("messages.tsv")) != bytes_of(run_.folder + "/messages.tsv")) {
      differ("messages.tsv does not hold the lines of the receivers' logs in the order of receiving");
    }
  }

  const StoredRun& run_;
  const Json& summary_;
  const ServiceLogs& logs_;
  bool some_unnoted_ = false, planned_ = true;
  std::map<int, std::vector<const SentLine*>> sent_;
  measure::Histogram latencies_;
};

}  // namespace

Verification verify_run(const StoredRun& run, const std::atomic<bool>* cancelled) {
  Verification none;
  if (!run.has_every_line()) {
    const QString mode = QString::fromStdString(run.summary.at("logs").value("mode", "?"));
    none.not_possible = mode == "all" ? QString("the logs are not complete: lines were dropped, or a group left none")
                                      : QString("the logs do not hold every message (log: %1)").arg(mode);
    return none;
  }
  const auto logs = read_logs(run.folder, none.not_possible, cancelled);
  if (!logs) return none;
  Verifier verifier(run, *logs);
  try {
    verifier.check_all();
  } catch (const Json::exception& problem) {
    ++verifier.result.differing;
    verifier.result.differences += QString("summary.json is not as n2nq-bench writes it: %1").arg(problem.what());
  }
  return verifier.result;
}

}  // namespace n2nq::app
