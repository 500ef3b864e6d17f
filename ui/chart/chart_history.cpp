// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/chart_history.h"

#include <algorithm>
#include <cmath>

namespace n2nq::ui {

ChartHistory::ChartHistory(std::size_t series, std::size_t samples_max) : series_(series), samples_max_(samples_max), values_(series) {}

void ChartHistory::add(double t_s, const std::vector<double>& values) {
  if (values.size() != series_ || (!empty() && t_s < times_.back())) return;
  times_.push_back(t_s);
  for (std::size_t i = 0; i < series_; ++i) values_[i].push_back(values[i]);
  drop_oldest();
}

void ChartHistory::keep(double from_s, double to_s) {
  keep_from_s_ = from_s;
  keep_to_s_ = to_s;
  drop_oldest();
}

void ChartHistory::drop_oldest() {
  if (size() <= samples_max_) return;
  std::size_t from = 0, to = 0;
  if (!std::isnan(keep_from_s_)) {
    to = std::min(index_from(keep_to_s_) + 1, size());
    from = std::max(index_from(keep_from_s_), std::size_t{1}) - 1;  // with the one from which a line runs into the picture
    from = std::clamp(from, to - std::min(to, samples_max_), to);
  }
  while (size() - (to - from) > samples_max_) {
    const auto at = static_cast<std::ptrdiff_t>(from > 0 ? 0 : to);
    times_.erase(times_.begin() + at);
    for (auto& series : values_) series.erase(series.begin() + at);
    if (from > 0) --from, --to;
  }
}

void ChartHistory::mark(double t_s, const QString& word) {
  marks_.push_back({t_s, word, word});
  if (marks_.size() > marks_max) marks_.pop_front();
}

void ChartHistory::set_events(std::vector<ChartMark> events) {
  if (events.size() > events_max) events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(events_max));
  events_ = std::move(events);
}

std::vector<ChartMark> ChartHistory::marks_between(double from_s, double to_s) const {
  std::vector<ChartMark> out;
  const auto note = [&](const ChartMark& mark) {
    if (mark.t_s >= from_s && mark.t_s <= to_s) out.push_back(mark);
  };
  std::for_each(marks_.begin(), marks_.end(), note);
  std::for_each(events_.begin(), events_.end(), note);
  std::stable_sort(out.begin(), out.end(), [](const ChartMark& a, const ChartMark& b) { return a.t_s < b.t_s; });
  return out;
}

void ChartHistory::clear() {
  times_.clear();
  for (auto& series : values_) series.clear();
  marks_.clear();
  events_.clear();
  keep_from_s_ = keep_to_s_ = std::numeric_limits<double>::quiet_NaN();
}

double ChartHistory::first_time() const {
  return empty() ? std::numeric_limits<double>::quiet_NaN() : times_.front();
}

double ChartHistory::last_time() const {
  return empty() ? std::numeric_limits<double>::quiet_NaN() : times_.back();
}

std::size_t ChartHistory::index_from(double t_s) const {
  return static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), t_s) - times_.begin());
}

std::size_t ChartHistory::nearest(double t_s) const {
  if (empty()) return size();
  const std::size_t after = index_from(t_s);
  if (after == size()) return after - 1;
  if (after == 0) return 0;
  return t_s - times_[after - 1] <= times_[after] - t_s ? after - 1 : after;
}

}  // namespace n2nq::ui
