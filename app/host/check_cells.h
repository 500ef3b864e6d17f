// SPDX-License-Identifier: GPL-3.0-or-later
// How what a check found out is put into a cell, and how what processes say is read for it.
#pragma once

#include <QString>
#include <nlohmann/json.hpp>

#include "app/host/clock_ways.h"
#include "app/host/host_report.h"

namespace n2nq::app {

/// What to do where a detail ends with what helps, as that of a program that could not be started does.
inline constexpr const char* mend_what_is_said = "Mend what that says, and check again";

CheckCell good_cell(const QString& text, const nlohmann::json& value, const QString& detail = {});
/// `what_to_do` empty: the detail says it, and the cell points there.
CheckCell not_good_cell(CheckState state, const QString& text, const QString& detail, const QString& what_to_do,
                        const nlohmann::json& value = {});
CheckCell not_known_cell(const QString& why);
/// How far a machine's clock is ahead of this machine's.
CheckCell clock_cell(const ClockOffset& clock);
/// Of what a worker there found at its start (docs/control-protocol.md, floor).
CheckCell floor_cell(const nlohmann::json& floor);

/// The time of the check is over: what was still going on at these machines, or at one that they wait for.
CheckCell too_long_cell(std::vector<std::string> machines, const HostReports& reports);

/// "850 µs", "2.1 ms".
QString text_of_us(double us);
/// Of an object that a process wrote: "unknown" and `otherwise` where it has no such text or number.
QString text_in(const nlohmann::json& object, const char* key);
double number_in(const nlohmann::json& object, const char* key, double otherwise);

}  // namespace n2nq::app
