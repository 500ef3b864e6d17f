// SPDX-License-Identifier: GPL-3.0-or-later
// The report of any results, by their folders: one run, one test case, or several of them beside each other.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <functional>
#include <optional>

#include "app/report/report.h"

namespace n2nq::app {

struct ResultReport {
  Report report;
  std::optional<RunDigest> digest{};  // of one run alone
  int sides = 1;                      // how many are compared; repeats of one another are one side
};

/// Folders of runs, of test cases, and others that hold runs. Runs alone are overlaid; those with the same settings are repeats, where
/// there are others to compare them with. Test cases of one kind are drawn by their own figures, over each other. `progress` is told what
/// is read. Empty result: `error` says why (empty as well: it was cancelled). Any thread; may take seconds.
std::optional<ResultReport> report_of_results(const QStringList& folders, QString& error,
                                              const std::function<void(const QString&)>& progress = {},
                                              const std::atomic<bool>* cancelled = nullptr);

}  // namespace n2nq::app
