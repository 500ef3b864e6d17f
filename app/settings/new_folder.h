// SPDX-License-Identifier: GPL-3.0-or-later
// Folders that were not there before, so that nothing of another run or test case is mixed in. Any thread.
#pragma once

#include <QString>

namespace n2nq::app {

/// One below `parent` that nobody else has, however many begin at once: `name`, or with a number behind it where that is taken. The result is
/// absolute; empty: `error` says why.
QString make_own_folder(const QString& parent, const QString& name, QString& error);
/// Exactly this one, which must not exist or be empty. Of one that is neither, `error` says "…: name one that does not exist yet, " and
/// `or_else`. The result is absolute; empty: `error` says why.
QString make_exact_folder(const QString& path, const QString& or_else, QString& error);

}  // namespace n2nq::app
