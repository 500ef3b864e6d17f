// SPDX-License-Identifier: GPL-3.0-or-later
// A test case's figures for a person at a terminal, and for machines.
#pragma once

#include <QString>
#include <nlohmann/json.hpp>

#include "app/figure/figure.h"

namespace n2nq::app {

/// A row for each x, a column for each curve; marked points with a sign, and what they are below.
QString figure_page(const Figure& figure);
nlohmann::ordered_json figure_json(const Figure& figure);

/// "2 h 05 min", "1 min 34 s", "12 s".
QString duration_text(double seconds);

}  // namespace n2nq::app
