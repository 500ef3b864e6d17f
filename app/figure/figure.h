// SPDX-License-Identifier: GPL-3.0-or-later
// A figure as values: what is drawn, written into tables and compared is this, so that all of them say the same numbers. Knows no file, no
// painter and no widget. Values stay in the unit that the axis names; whoever prints them rounds.
#pragma once

#include <QString>
#include <QStringList>
#include <limits>
#include <optional>
#include <vector>

namespace n2nq::app {

struct FigureAxis {
  QString title;  // without the unit: "Latency", "Services"
  QString unit;   // "µs", "s", "kB"; empty: a number of things
  bool logarithmic = false;
  bool from_zero = false;  // linear only
  QStringList names;       // an axis of categories: x is a place in it, from 0
};

/// One measured value with what speaks about its trust. Never left out of a figure, however it came about.
struct FigurePoint {
  double x = 0;
  double y = std::numeric_limits<double>::quiet_NaN();  // NaN: it was run and gave no such figure; `why` says so
  std::optional<double> low, high;                      // 95 % interval over repeats; none with fewer than three
  double clock_bound = 0;                               // ±, in the unit of y: stamps of two clocks
  int repeats = 1;
  QString why;          // why it is marked (disturbed, ledger not clean, host busy, …), a sentence; empty: nothing is wrong with it
  QStringList folders;  // absolute paths of its run folders
};

/// A value that a publication gives in its text, to be marked beside the measured ones.
struct FigureReference {
  QString text;  // what it says, with the place: "thesis, p. 61: …"
  std::optional<double> x, y;
  QString series;  // name of the curve it speaks about; empty: of all
};

struct FigureSeries {
  QString name;
  std::vector<FigurePoint> points;  // by rising x
  QString not_run;                  // why none of it was run; empty: it was
};

struct Figure {
  enum class Kind { lines, bars, boxes };
  QString id;     // "fig-14", unique in its report, fit for a file name
  QString title;  // "Latency by message size"
  Kind kind = Kind::lines;
  FigureAxis x, y;
  std::vector<FigureSeries> series;
  std::vector<FigureReference> references;
  QStringList remarks;  // sentences below it: machine, warnings, what differs from the source
};

}  // namespace n2nq::app
