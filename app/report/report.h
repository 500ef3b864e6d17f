// SPDX-License-Identifier: GPL-3.0-or-later
// A report as values: what is written into files is this and nothing else.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "app/figure/figure.h"
#include "app/report/table.h"
#include "app/results/comparison.h"
#include "app/results/run_figures.h"

namespace n2nq::app {

struct Report {
  QString title;     // the run's name, or those of the compared ones
  QString verdict;   // "clean" …; empty: of no single run or test case
  bool is_disturbed = false;  // others used the machine meanwhile, in some run
  QStringList lead;  // sentences on top: verdict's reasons, what differs, what is not shown and why
  std::vector<Figure> figures;
  std::vector<Table> tables;    // of the results themselves
  std::vector<Table> appendix;  // settings, environment
  QString hgrm;                 // path of a latency.hgrm to go with it; empty: none
};

/// What a side is called in tables and legends, which stay narrow so: A, B, …
QString side_letter(std::size_t side);

/// Of sides that hold several runs each: the latency by what the runs differ in, with intervals over repeats, and the table.
Report report_of(const Comparison& comparison);
/// Of one run with everything, of two to eight overlaid and compared.
Report report_of(const std::vector<DrawnRun>& runs);

}  // namespace n2nq::app
