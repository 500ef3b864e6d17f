// SPDX-License-Identifier: GPL-3.0-or-later
// What a person has to do after a check: the bad cells, then the warnings, then what stays unknown until somebody says it; each kind once
// however many machines it is about. Values only.
#pragma once

#include <string>
#include <vector>

#include "app/host/host_report.h"

namespace n2nq::app {

struct CheckAdvice {
  CheckState state = CheckState::bad;  // or warning, or not_known
  std::vector<std::string> machines;   // whose cell says it: names, "local" for this machine
  QString what;                        // "load", "way to h2"; of what is not known all that is so for one reason: "kernel, cores"
  QString why;                         // a sentence
  QString what_to_do;                  // a sentence
};

/// Whom there is a report of, in the order of the hosts file: a person knows it. This machine comes first.
std::vector<std::string> names_in_order(const Hosts& hosts, const HostReports& reports);
/// `names`: in which order.
std::vector<CheckAdvice> advice_of(const std::vector<std::string>& names, const HostReports& hosts, const PathReports& paths);
/// Whether something that was to be found out is not known.
bool something_is_unknown(const HostReports& hosts);
/// Whether the check was ended before each machine was looked at.
bool was_cancelled(const HostReports& hosts);

}  // namespace n2nq::app
