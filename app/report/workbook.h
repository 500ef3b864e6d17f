// SPDX-License-Identifier: GPL-3.0-or-later
// A report as an XLSX workbook: a sheet for each table, numbers as numbers, and a native chart beside each figure's table.
#pragma once

#include <QString>

#include "app/report/report.h"

namespace n2nq::app {

/// Empty result: done; otherwise what went wrong, with the path.
QString write_workbook(const QString& path, const Report& report);

}  // namespace n2nq::app
