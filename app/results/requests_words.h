// SPDX-License-Identifier: GPL-3.0-or-later
// What receivers ask for, where people read it.
#pragma once

#include <QString>
#include <limits>

namespace n2nq::app {

/// Of which setting.
inline constexpr const char* requests_path = "queue.requests";

/// As on the page Bench: "R001–R005: S001–S003, 20–100 B, prefetch 1". `text` is as files have it, and stays so where it is no list of that.
/// Of more lists than `told_max` it tells how many more there are.
QString requests_words(const QString& text, qsizetype told_max = std::numeric_limits<qsizetype>::max());

}  // namespace n2nq::app
