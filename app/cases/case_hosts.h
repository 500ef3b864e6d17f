// SPDX-License-Identifier: GPL-3.0-or-later
// Which lab machines a test case's external sets use.
#pragma once

#include <QString>
#include <optional>

#include "app/cases/case_file.h"
#include "app/host/host_book.h"

namespace n2nq::app {

/// `chosen` ones, else those that the case names. Empty result: `problem` says which machine the book does not know, or that none is named.
std::optional<CaseHosts> hosts_for(const CaseFile& file, const std::optional<CaseHosts>& chosen, const HostBook& book, QString& problem);

}  // namespace n2nq::app
