// SPDX-License-Identifier: GPL-3.0-or-later
// A small case, and results of runs of it that were never made.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "app/cases/case_results.h"
#include "app/cases/case_schedule.h"

namespace n2nq::app {

/// Of a small case with these amounts of services; `rest` is what stands behind the axis.
inline CasePlan small_plan(const std::string& services, const std::string& rest, Scale scale = Scale::thesis) {
  const ReadCase read = read_case_text(R"(format: 1
title: Small
settings: { senders: { messages: 4, delay_ms: 1 } }
axes:
  services: { title: Services, keys: [senders.amount, receivers.amount], values: [)" +
                                           services + "] }\n" + rest,
                                       "small.yaml");
  EXPECT_TRUE(read.file) << (read.errors.empty() ? "" : read.errors.front().text());
  QStringList errors;
  return *CasePlan::make(*read.file, {.scale = scale}, errors);
}

inline const char* const until_tight = R"(repeats: 3
stop: { interval_percent: 5, repeats_max: 8 }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.p50 }
)";

inline CaseRunResult finished(const ScheduledRun& run, double p50_us) {
  CaseRunResult out;
  out.sha256 = run.sha256;
  out.verdict = "clean";
  out.values = {{"latency_us.p50", p50_us}, {"latency_us.mean_lowest_95", p50_us}};
  out.counts = true;
  return out;
}

}  // namespace n2nq::app
