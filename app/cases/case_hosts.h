// SPDX-License-Identifier: GPL-3.0-or-later
// Which lab machines a test case's external sets use.
#pragma once

#include <QString>
#include <optional>

#include "app/cases/case_file.h"
#include "app/host/host_book.h"

namespace n2nq::app {

/// Whether it names hosts by settings: then a hosts file is of use to it also without external sets.
bool sets_hosts(const CaseFile& file);

/// `chosen` ones, else those that the case names. Empty result: `problem` says which machine the book does not know, that none is named, or that the
/// case has no external sets.
std::optional<CaseHosts> hosts_for(const CaseFile& file, const std::optional<CaseHosts>& chosen, const HostBook& book, QString& problem);

}  // namespace n2nq::app
