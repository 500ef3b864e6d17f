// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a test case: its file's figures, and every run with what is to be known about it.
#pragma once

#include <QString>
#include <optional>

#include "app/report/report.h"

namespace n2nq::app {

/// Of the folder of a test case, finished or not. Empty result: `error` says why. Any thread; takes a moment for each run.
std::optional<Report> report_of_case(const QString& folder, QString& error);

}  // namespace n2nq::app
