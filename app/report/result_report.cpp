// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/result_report.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/cases/case_folder.h"
#include "app/cases/case_sides.h"
#include "app/report/case_report.h"

namespace n2nq::app {

namespace {

class ResultReading {
 public:
  ResultReading(const QStringList& folders, QString& error, const std::function<void(const QString&)>& progress,
                const std::atomic<bool>* cancelled)
      : folders_(folders), error_(error), progress_(progress), cancelled_(cancelled) {}

  std::optional<ResultReport> report() {
    if (folders_.size() == 1 && CaseFolder::is_one(folders_.first())) {
      tell(folders_.first());
      auto report = report_of_case(folders_.first(), error_, cancelled_);
      return report && !is_cancelled() ? std::optional(ResultReport{std::move(*report)}) : std::nullopt;
    }
    const bool runs_alone = std::all_of(folders_.begin(), folders_.end(), [](const QString& folder) { return !holds_runs(folder); });
    return runs_alone ? of_runs() : of_sides();
  }

 private:
  static bool holds_runs(const QString& folder) {
    QString ignored;
    return !QFileInfo::exists(folder + "/summary.json") && (CaseFolder::is_one(folder) || read_side(folder, ignored).has_value());
  }
  void tell(const QString& folder) const {
    if (progress_) progress_("reading " + folder);
  }
  bool is_cancelled() const { return cancelled_ != nullptr && *cancelled_; }

  std::optional<ResultReport> of_runs() {
    std::vector<StoredRun> runs;
    for (const QString& folder : folders_) {
      tell(folder);
      auto run = read_run(folder, error_);
      if (!run || is_cancelled()) return {};
      runs.push_back(std::move(*run));
    }
    const auto count = runs.size();
    if (count == 1) return of_each(std::move(runs));
    auto sides = sides_of_runs(runs, error_);
    if (sides.empty()) return {};
    if (sides.size() != count) return of_repeats(std::move(sides));
    for (std::size_t i = 0; i < count; ++i) runs[i] = std::move(sides[i].runs.front());
    return of_each(std::move(runs));
  }

  std::optional<ResultReport> of_each(std::vector<StoredRun> runs) {
    std::vector<DrawnRun> drawn;
    for (StoredRun& run : runs) {
      drawn.push_back(drawn_run(std::move(run), cancelled_));
      if (is_cancelled()) return {};
    }
    ResultReport out{report_of(drawn)};
    out.sides = static_cast<int>(drawn.size());
    if (drawn.size() == 1) out.digest = std::move(drawn.front().digest);
    return out;
  }

  /// Values with their spread over the repeats, and of each side the middle run in full.
  std::optional<ResultReport> of_repeats(std::vector<ComparedSide> sides) {
    const Comparison comparison = compare(std::move(sides));
    ResultReport out{report_of(comparison)};
    out.sides = static_cast<int>(comparison.sides.size());
    std::vector<DrawnRun> middle;
    for (std::size_t i = 0; i < comparison.sides.size(); ++i) {
      middle.push_back(drawn_run(middle_of(comparison.sides[i].runs), cancelled_));
      if (is_cancelled()) return {};
      middle.back().name = side_letter(i);
    }
    for (Figure& figure : run_figures(middle)) {
      figure.remarks += "Of several repeats the middle one is drawn, by the mean of its lowest 95 %.";
      out.report.figures.push_back(std::move(figure));
    }
    return out;
  }

  /// The first one where none has a latency.
  static StoredRun middle_of(const std::vector<StoredRun>& runs) {
    std::vector<double> means;
    for (const StoredRun& run : runs) means.push_back(figure_at(run.summary, "latency_us.mean_lowest_95").value_or(std::nan("")));
    return runs[place_of_middle(means).value_or(0)];
  }

  std::optional<ResultReport> of_sides() {
    std::vector<ComparedSide> sides;
    for (const QString& folder : folders_) {
      tell(folder);
      auto side = read_side(folder, error_);
      if (!side || is_cancelled()) return {};
      sides.push_back(std::move(*side));
    }
    ResultReport out;
    out.sides = static_cast<int>(sides.size());
    if (sides.size() > Comparison::sides_max) {
      error_ = QString("These are %1 results: at most %2 are compared").arg(sides.size()).arg(Comparison::sides_max);
      return {};
    }
    place_in_cases(sides, cancelled_);
    if (is_cancelled()) return {};
    out.report = report_of(compare(std::move(sides)));
    auto own = figures_of_cases(folders_, cancelled_);
    own.insert(own.end(), std::make_move_iterator(out.report.figures.begin()), std::make_move_iterator(out.report.figures.end()));
    out.report.figures = std::move(own);
    return is_cancelled() ? std::nullopt : std::optional(std::move(out));
  }

  const QStringList& folders_;
  QString& error_;
  const std::function<void(const QString&)>& progress_;
  const std::atomic<bool>* cancelled_;
};

}  // namespace

std::optional<ResultReport> report_of_results(const QStringList& folders, QString& error,
                                              const std::function<void(const QString&)>& progress, const std::atomic<bool>* cancelled) {
  return ResultReading(folders, error, progress, cancelled).report();
}

}  // namespace n2nq::app
