// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a test case: its file's figures, and every run with what is to be known about it.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <optional>
#include <vector>

#include "app/report/report.h"

namespace n2nq::app {

/// Of the folder of a test case, finished or not. Empty result: `error` says why (empty as well: it was cancelled). Any thread; takes a
/// moment for each run, and stops behind the one that is being read once `cancelled` is set.
std::optional<Report> report_of_case(const QString& folder, QString& error, const std::atomic<bool>* cancelled = nullptr);
/// The figures that several test cases of one kind share, with the curves of each as "A: …", "B: …". Empty where they are of several kinds,
/// one of them cannot be read, or it was cancelled, as above.
std::vector<Figure> figures_of_cases(const QStringList& folders, const std::atomic<bool>* cancelled = nullptr);

}  // namespace n2nq::app
