// SPDX-License-Identifier: GPL-3.0-or-later
// A run's summary as a page of text for a person at a terminal.
#pragma once

#include <QString>
#include <nlohmann/json.hpp>

namespace n2nq::app {

/// `summary`: the content of summary.json. Throws nlohmann::json::exception when it is something else.
QString result_table(const nlohmann::json& summary, const QString& folder);

/// Thousands apart by a space: "125 000".
QString grouped(std::int64_t number);
/// Three significant digits at least: "0.512", "94.8", "1 402", "1.23e-07"; "–" for what is not known; "?" of a ± that nobody knows.
QString figure_text(double value);
/// What stands behind "±" of clocks, written the same but rounded up. `value`: what it stands directly behind, as figure_text() writes it;
/// what that left out is in it.
QString clock_bound_text(double bound, double value = 0);
/// "below twice the floor, an echo over loopback (40.0 µs)".
QString below_floor_text(double floor_us);

}  // namespace n2nq::app
