// SPDX-License-Identifier: GPL-3.0-or-later
// What a test case's runs came to, as its file's figures. Points that are not there yet are left out; whatever was run is in, marked where
// something is wrong with it. Any thread; figures of percentiles read histograms.
#pragma once

#include <QString>
#include <vector>

#include "app/cases/case_schedule.h"
#include "app/figure/figure.h"

namespace n2nq::app {

/// In the order of the file. A point is the median over its repeats; from three repeats on with the 95 % interval.
std::vector<Figure> case_figures(const CasePlan& plan, const CaseSchedule& schedule, const CaseResults& results);
/// One of them, by its place in the file.
Figure case_figure(const CasePlan& plan, const CaseSchedule& schedule, const CaseResults& results, std::size_t which);
/// Of all its runs: "N2NQ spins for 50 µs, by Unix-domain sockets". Empty: all is as usual, or an axis's, whose values name it.
QString made_with(const CasePlan& plan);

}  // namespace n2nq::app
