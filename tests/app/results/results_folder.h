// SPDX-License-Identifier: GPL-3.0-or-later
// A folder with two runs, a test case with one, a run under way, and what is none.
#pragma once

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <optional>
#include <vector>

#include "app/results/result_index.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {

inline QStringList names(const std::vector<ResultEntry>& entries) {
  QStringList out;
  for (const ResultEntry& entry : entries) out += entry.name;
  return out;
}

/// As the folder of a case has it.
inline void make_case_state(const QString& folder, std::optional<int> runs) {
  QFile state(folder + "/case.json");
  ASSERT_TRUE(state.open(QIODevice::WriteOnly | QIODevice::Truncate));
  const nlohmann::json text = {
      {"format", 1}, {"title", "Delay"}, {"scale", "quick"}, {"runs", runs ? nlohmann::json(*runs) : nlohmann::json()}, {"begun", "2026-11-19T08:00:00Z"}, {"build", "0.1.0 abc"}};
  state.write(QByteArray::fromStdString(text.dump()));
}

struct ResultsFolder : ::testing::Test {
  QTemporaryDir place;
  QString folder = place.filePath("runs");
  QString remark;
  void SetUp() override {
    make_run(folder + "/first", {.started = "2026-11-20T10:00:00.000Z", .verdict = "clean"});
    make_run(folder + "/second",
             {.started = "2026-11-20T11:00:00.000Z", .mode = "load-balancer", .verdict = "degraded", .disturbed = "others ran"});
    make_run(folder + "/a-case/runs/0001-x", {.started = "2026-11-19T09:00:00.000Z"});
    QFile(folder + "/a-case/case.yaml").open(QIODevice::WriteOnly);
    make_settings(folder + "/under-way");
    QDir().mkpath(folder + "/something-else");
  }
  std::vector<ResultEntry> list() { return ResultIndex(folder).list(remark); }
};

}  // namespace n2nq::app
