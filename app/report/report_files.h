// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a report: report.html alone says everything; beside it figures, tables and the histogram as files of their own.
//
//   DIR/report.html        figures inside, opens without network, prints well
//   DIR/report.json        all tables
//   DIR/report.xlsx        all tables, with native charts
//   DIR/charts/ID.svg, .png (300 dpi), .pdf
//   DIR/tables/ID.csv
//   DIR/latency.hgrm       of a single run
#pragma once

#include <QString>
#include <atomic>
#include <functional>

#include "app/report/report.h"

namespace n2nq::app {

QString report_html(const Report& report);
nlohmann::ordered_json report_json(const Report& report);

/// Makes the folder where it is missing; overwrites a report that is there. Empty result: done; otherwise what went wrong, with the path.
/// `progress` is told what is being written. Needs a QGuiApplication; any thread. Stops early once `cancelled` is set.
QString write_report(const QString& folder, const Report& report, const std::function<void(const QString&)>& progress = {},
                     const std::atomic<bool>* cancelled = nullptr);

}  // namespace n2nq::app
