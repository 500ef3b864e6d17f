// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/runs_again.h"

#include <numeric>

#include "app/cases/case_plan.h"

namespace n2nq::app {

RunsAgain::RunsAgain(const CaseResults& results, const std::optional<QStringList>& folders) {
  const double overhead_s = results.overhead_s(CasePlan::overhead_first_s);
  for (const CaseRunResult* run : results.all()) {
    const bool wanted = !folders || folders->contains(run->folder);
    if (wanted && !results.why(*run).isEmpty()) to_come_.push_back({run->folder, run->planned_s + overhead_s});
  }
  all_ = static_cast<int>(to_come_.size());
}

QString RunsAgain::next() {
  const QString folder = to_come_.front().folder;
  to_come_.pop_front();
  ++begun_;
  return folder;
}

double RunsAgain::seconds_to_come() const {
  return std::accumulate(to_come_.begin(), to_come_.end(), 0.0, [](double seconds, const Run& run) { return seconds + run.seconds; });
}

}  // namespace n2nq::app
