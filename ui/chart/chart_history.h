// SPDX-License-Identifier: GPL-3.0-or-later
// The last minutes of a run as samples of several series, and words for what happened when. Values only; no widget.
//
// Bounded: the oldest samples and marks go, but for samples that are kept; with these there are at most twice samples_max (a history of
// four series takes half a MiB then). A figure that was not known is NaN and leaves a gap, never a zero.
#pragma once

#include <QString>
#include <cstddef>
#include <deque>
#include <limits>
#include <vector>

namespace n2nq::ui {

struct ChartMark {
  double t_s = 0;
  QString word;          // stands beside the line
  QString detail;        // all there is to say
  bool is_fault = true;  // else a setting
};

class ChartHistory {
 public:
  static constexpr std::size_t samples_default = 6000;  // ten minutes at ten a second
  static constexpr std::size_t marks_max = 64;
  static constexpr std::size_t events_max = 1000;

  explicit ChartHistory(std::size_t series, std::size_t samples_max = samples_default);

  std::size_t size() const { return times_.size(); }
  bool empty() const { return times_.empty(); }
  double time(std::size_t at) const { return times_[at]; }
  double value(std::size_t series, std::size_t at) const { return values_[series][at]; }
  const std::deque<ChartMark>& marks() const { return marks_; }

  /// `t_s` not before the last sample's (one that is, is ignored); one value per series.
  void add(double t_s, const std::vector<double>& values);
  void mark(double t_s, const QString& word);
  /// From now on samples from `from_s` to `to_s`, with one before them, do not go for being old: at most samples_max, the latest of them.
  /// NaN: none is kept.
  void keep(double from_s, double to_s);
  /// What was done in the run, in place of what was given before; beside the marks of mark().
  void set_events(std::vector<ChartMark> events);
  const std::vector<ChartMark>& events() const { return events_; }
  /// Marks and events from `from_s` to `to_s`.
  std::vector<ChartMark> marks_between(double from_s, double to_s) const;
  void clear();

  /// NaN when empty.
  double first_time() const;
  double last_time() const;
  /// First sample at or after `t_s`; size() when there is none.
  std::size_t index_from(double t_s) const;
  /// The sample nearest to `t_s`; size() when empty.
  std::size_t nearest(double t_s) const;

 private:
  void drop_oldest();

  std::size_t series_, samples_max_;
  double keep_from_s_ = std::numeric_limits<double>::quiet_NaN(), keep_to_s_ = keep_from_s_;
  std::deque<double> times_;
  std::vector<std::deque<double>> values_;
  std::deque<ChartMark> marks_;
  std::vector<ChartMark> events_;
};

}  // namespace n2nq::ui
