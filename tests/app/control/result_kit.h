// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of what becomes of a run: what its processes said last, of one sender and one receiver.
#pragma once

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <atomic>
#include <string>
#include <vector>

#include "app/control/result.h"
#include "app/settings/whole_file.h"
#include "workers/measure/figures.h"
#include "workers/measure/histogram.h"

namespace n2nq::app::testing {

using Json = nlohmann::json;

inline measure::Histogram samples(std::initializer_list<std::int64_t> values_ns) {
  measure::Histogram out;
  for (const auto value : values_ns) out.add(value);
  return out;
}

inline Json figures(const measure::Histogram& histogram) {
  return measure::figures_of(histogram);
}

/// One sender, one receiver, two messages that took 100 µs and 300 µs.
struct ResultTest : ::testing::Test {
  QTemporaryDir folder;
  RunRecord record;
  Json senders, receivers, broker;
  std::atomic<bool> cancelled{false};

  ResultTest() {
    record.settings.senders.amount = 1;
    record.settings.senders.messages = 2;
    record.settings.receivers.amount = 1;
    record.traffic_started = true;
    for (const Role role : {Role::senders, Role::receivers}) record.processes[index_of(role)].told_start = true;
    record.started = QDateTime(QDate(2026, 11, 20), QTime(14, 2, 11), Qt::UTC);
    record.ended = record.started.addSecs(3);
    QString error;
    record.folder = RunFolder::make(folder.filePath("runs"), "", record.settings, record.started, error);
    for (const Role role : all_roles) {
      QDir().mkpath(record.folder->part(role));
      EXPECT_EQ(write_whole(record.folder->log_path(role, 1), "# as the processes wrote it\n"), "");
    }
    const auto lag = samples({1'000, 3'000}), delay = samples({500'000'000});
    senders = {{"type", "bye"},
               {"attempted", 2},
               {"accepted", 2},
               {"bytes", 100},
               {"started_ns", 1'000'000'000},
               {"ended_ns", 3'000'000'000},
               {"last_lag_ns", 3000},
               {"totals", {{"delay", delay.to_json()}, {"lag", lag.to_json()}}},
               {"figures", {{"delay", figures(delay)}, {"lag", figures(lag)}}},
               {"log", {{"lines", 2}, {"dropped", 0}, {"error", ""}}},
               {"faults", Json::array()},
               {"services",
                {{{"number", 1},
                  {"port", 5},
                  {"attempted", 2},
                  {"accepted", 2},
                  {"refused", 0},
                  {"lost_before_queue", 0},
                  {"bytes", 100},
                  {"accepted_set", "0-1"},
                  {"figures", {{"delay", figures(delay)}, {"lag", figures(lag)}}}}}}};
    Json all, all_figures;
    const std::pair<const char*, measure::Histogram> kinds[] = {{"latency", samples({100'000, 300'000})},
                                                                {"latency_from_plan", samples({101'000, 303'000})},
                                                                {"lag", lag},
                                                                {"to_broker", samples({40'000, 140'000})},
                                                                {"in_queue", samples({20'000, 20'000})},
                                                                {"to_receiver", samples({40'000, 140'000})}};
    for (const auto& [name, histogram] : kinds) all[name] = histogram.to_json(), all_figures[name] = figures(histogram);
    receivers = {{"type", "bye"},
                 {"received", 2},
                 {"bytes", 100},
                 {"totals", all},
                 {"figures", all_figures},
                 {"faults", Json::array()},
                 {"log", {{"lines", 2}, {"dropped", 0}, {"error", ""}}},
                 {"services",
                  {{{"number", 1},
                    {"received", 2},
                    {"duplicated", 0},
                    {"redelivered", 0},
                    {"out_of_order", 0},
                    {"unexpected", 0},
                    {"negative", 0},
                    {"bad_checksum", 0},
                    {"bytes", 100},
                    {"delivered_sets", {{1, 1, "0-1"}}},
                    {"handed_over", 2},
                    {"figures", all_figures}}}}};
    broker = {{"type", "bye"},
              {"senders", {{{"number", 1}, {"accepted", 2}}}},
              {"receivers", {{{"number", 1}, {"handed_over", 2}}}},
              {"faults", Json::array()}};
  }

  /// Nobody knows of these messages but the senders.
  void send_every_half_second(const std::vector<int>& messages_of_each) {
    record.settings.senders.amount = static_cast<int>(messages_of_each.size());
    const Json one = senders["services"][0];
    senders["services"] = Json::array();
    measure::Histogram all;
    int attempted = 0;
    for (const int messages : messages_of_each) {
      measure::Histogram own;
      for (int gap = 1; gap < messages; ++gap) own.add(500'000'000), all.add(500'000'000);
      Json& service = senders["services"].emplace_back(one);
      service.update({{"number", senders["services"].size()}, {"attempted", messages}, {"accepted", 0}, {"accepted_set", ""}});
      service["figures"]["delay"] = figures(own);
      attempted += messages;
    }
    senders.update({{"attempted", attempted}, {"accepted", 0}});
    senders["figures"]["delay"] = figures(all);
  }

  void take() {
    const std::pair<Role, Json*> byes[] = {{Role::senders, &senders}, {Role::receivers, &receivers}, {Role::broker, &broker}};
    for (const auto& [role, bye] : byes) {
      record.processes[index_of(role)].bye = bye->is_null() ? nullptr : std::make_shared<const Json>(*bye);
    }
  }
  RunResult finish() {
    take();
    return finish_run(record, cancelled);
  }
  Json summary() const {
    QFile file(record.folder->file("summary.json"));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return Json::parse(file.readAll().toStdString());
  }
  static std::string text(const RunOutcome& outcome) { return outcome.reasons.join("\n").toStdString(); }
};

}  // namespace n2nq::app::testing
