// SPDX-License-Identifier: GPL-3.0-or-later
// Folders of runs that were never made, with just enough in them to be listed.
#pragma once

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/settings/settings_file.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {

struct MadeRun {
  const char* started = "2026-11-20T10:00:00.000Z";
  const char* mode = "broadcaster";
  const char* verdict = "clean";
  double p50_us = 100;
  const char* disturbed = nullptr;
};

inline void make_settings(const QString& folder, const Settings& settings = {}) {
  QDir().mkpath(folder);
  QFile file(folder + "/settings.yaml");
  if (file.open(QIODevice::WriteOnly)) file.write(QByteArray::fromStdString(settings_yaml(settings)));
}

inline void make_run(const QString& folder, const MadeRun& run) {
  make_settings(folder);
  nlohmann::json summary = {{"format", 1},
                            {"run", QDir(folder).dirName().toStdString()},
                            {"verdict", run.verdict},
                            {"started", run.started},
                            {"ended", run.started}};
  for (const char* part : {"ledger", "stages", "rates", "logs", "services", "messages_tsv", "delay_ms", "lag_us", "latency_from_plan_us"}) {
    summary[part] = nlohmann::json::object();
  }
  summary["ledger"]["total"]["delivered"] = 1000;
  summary["logs"]["mode"] = "off";
  summary["services"] = {{"senders", nlohmann::json::array()}, {"receivers", nlohmann::json::array()}};
  summary["reasons"] = summary["events"] = nlohmann::json::array();
  summary["environment"] = {{"versions", {{"bench", "0.1.0"}}}, {"disturbed", nlohmann::json::array()}};
  summary["environment"]["floor"]["receivers"]["loopback_echo_p50_ns"] = 20'000;
  if (run.disturbed) summary["environment"]["disturbed"].push_back(run.disturbed);
  summary["settings"] = {
      {"title", "Made"}, {"queue", {{"mode", run.mode}}}, {"senders", {{"amount", 10}}}, {"receivers", {{"amount", 20}}}};
  summary["latency_us"] = {{"count", 1000}, {"p50", run.p50_us}, {"p99", run.p50_us * 5}, {"mean_lowest_95", run.p50_us * 1.1}};
  QFile file(folder + "/summary.json");
  if (file.open(QIODevice::WriteOnly)) file.write(QByteArray::fromStdString(summary.dump(1)));
}

/// Changes the summary of a run's folder: `change` is given it as JSON.
template <class Change>
void change_summary(const QString& folder, Change&& change) {
  QFile file(folder + "/summary.json");
  if (!file.open(QIODevice::ReadOnly)) return;
  auto summary = nlohmann::json::parse(file.readAll().toStdString());
  file.close();
  change(summary);
  if (file.open(QIODevice::WriteOnly)) file.write(QByteArray::fromStdString(summary.dump(1)));
}

/// The log of a service, without a head but the columns.
template <class Line>
void make_log(const QString& path, std::string_view columns, const std::vector<Line>& lines) {
  QDir().mkpath(QFileInfo(path).path());
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return;
  std::string text = "# " + std::string(columns) + "\n";
  for (const Line& line : lines) {
    char written[measure::line_bytes_max];
    text.append(written, measure::format_line(written, line));
  }
  file.write(QByteArray::fromStdString(text));
}

}  // namespace n2nq::app
