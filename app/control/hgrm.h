// SPDX-License-Identifier: GPL-3.0-or-later
// A histogram as the percentile lines that common HdrHistogram viewers plot. Values in µs.
#pragma once

#include <QByteArray>

#include "workers/measure/histogram.h"

namespace n2nq::app {

/// Columns: value, percentile as a fraction, samples up to there, 1 / (1 − percentile); five steps per halving of the rest.
QByteArray hgrm_text(const measure::Histogram& histogram);

}  // namespace n2nq::app
