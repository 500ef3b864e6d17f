// SPDX-License-Identifier: GPL-3.0-or-later
// A figure as values: what is drawn, written into tables and compared is this, so that all of them say the same numbers. Knows no file, no
// painter and no widget. Values stay in the unit that the axis names; whoever prints them rounds.
#pragma once

#include <QString>
#include <QStringList>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace n2nq::app {

struct FigureAxis {
  QString title{};  // without the unit: "Latency", "Services"
  QString unit{};   // "µs", "s", "kB"; empty: a number of things
  bool logarithmic = false;
  bool from_zero = false;    // linear only
  bool percentiles = false;  // a value is 1 / (1 - q) of the percentile q: logarithmic, and told as 90 %, 99 %, …
  QStringList names{};       // an axis of categories: x is a place in it, from 0

  /// A value as people read it: of a percentile, in %.
  double told(double value) const { return percentiles ? 100 - 100 / value : value; }
};

/// What a box says beside its middle, which is the point's y.
struct FigureBox {
  double low = 0, quarter = 0, three_quarters = 0, high = 0;  // low and high: where the whiskers end
};

/// One measured value with what speaks about its trust. Never left out of a figure, however it came about.
struct FigurePoint {
  double x = 0;
  double y = std::numeric_limits<double>::quiet_NaN();  // NaN: it was run and gave no such figure; `why` says so
  std::optional<double> low{}, high{};                  // 95 % interval over repeats; none with fewer than three
  double clock_bound = 0;                               // ±, in the unit of y: stamps of two clocks. 0: of one clock, or not known
  bool clock_bound_unknown = false;                     // of two clocks, of some of its runs, and nobody knows how far they are apart
  int repeats = 1;
  std::optional<FigureBox> box{};  // figures of boxes
  bool few_samples = false;        // a percentile with few samples above it: told in grey
  double near_floor_us = 0;        // the floor of its runs, where y is a latency below twice of it: told in grey. 0: y is none
  QString why{};          // why it is marked (disturbed, ledger not clean, host busy, …), a sentence; empty: nothing is wrong with it
  QStringList folders{};  // absolute paths of its run folders

  /// What clocks leave open of one of its runs. NaN: it is of one clock; infinite: nobody knows.
  void add_clock_limit(double limit) {
    if (std::isinf(limit)) {
      clock_bound_unknown = true;
    } else {
      clock_bound = std::fmax(clock_bound, limit);
    }
  }
  /// Of all of them, likewise.
  double clock_limit() const {
    if (clock_bound_unknown) return std::numeric_limits<double>::infinity();
    return clock_bound > 0 ? clock_bound : std::numeric_limits<double>::quiet_NaN();
  }
  /// It tells less than it seems to: figure_doubts.h has the words.
  bool is_grey() const { return few_samples || near_floor_us > 0; }
};

/// A value that a publication gives in its text, to be marked beside the measured ones.
struct FigureReference {
  QString text{};  // what it says, with the place: "thesis, p. 61: …"
  std::optional<double> x{}, y{};
  QString series{};  // name of the curve it speaks about; empty: of all
};

struct FigureSeries {
  QString name{};
  std::vector<FigurePoint> points{};  // by rising x
  QString not_run{};                  // why none of it was run; empty: it was
  /// Colour, dash and mark are those of the curve of this number, so that one thing looks the same in several figures; below 0: of the
  /// curve's own place.
  int look = -1;
  /// A second curve of the same look: its marks are empty, and here and there it has some also where its points are many.
  bool hollow = false;
};

struct Figure {
  /// steps: each point holds up to the next one's x. heat: a row per series, a cell per x, y is told as a colour.
  enum class Kind { lines, steps, bars, boxes, heat };
  QString id{};     // "fig-14", unique in its report, fit for a file name
  QString title{};  // "Latency by message size"
  Kind kind = Kind::lines;
  FigureAxis x{}, y{};
  QString legend{};  // what the curves' names are where they are bare numbers: "Services"; empty: they speak for themselves
  std::vector<FigureSeries> series{};
  std::vector<FigureReference> references{};
  double clock_bound = 0;  // ±, in the unit of x (heat maps: of y), the same for all: stamps of two clocks
  QStringList remarks{};   // sentences below it: machine, warnings, what differs from the thesis
};

/// Which point: series[series].points[point].
struct FigureHit {
  int series = 0, point = 0;
  bool operator==(const FigureHit&) const = default;
};

}  // namespace n2nq::app
