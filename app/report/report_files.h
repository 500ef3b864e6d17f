// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a report: report.html alone says everything; beside it figures, tables and the histogram as files of their own.
//
//   DIR/report.html        figures inside, opens without network, prints well; last: a folder without it has no whole report
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

/// Whose folder it is. One of its own is made where it is missing. That of a result is not: it was deleted or moved since it was read, and
/// would stand in the way when it is brought back.
enum class ReportFolder { of_its_own, of_a_result };

/// Overwrites a report that is there. Empty result: done; otherwise what went wrong, with the path. `progress` is told what is being
/// written. Needs a QGuiApplication where there are figures; any thread. Stops early once `cancelled` is set, and tells no error: nothing was
/// begun then, or report.html, .xlsx and .json of a former report are gone, and there are those of this one that were written.
QString write_report(const QString& folder, const Report& report, const std::function<void(const QString&)>& progress = {},
                     const std::atomic<bool>* cancelled = nullptr, ReportFolder which = ReportFolder::of_its_own);

}  // namespace n2nq::app
