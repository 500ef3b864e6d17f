// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of a case that are made once more, one after the other: which come, how many there were, and how long they take.
#pragma once

#include <QStringList>
#include <deque>
#include <optional>

#include "app/cases/case_results.h"

namespace n2nq::app {

class RunsAgain {
 public:
  /// None.
  RunsAgain() = default;
  /// Those of `results` that are marked, and in `folders` where they are given.
  explicit RunsAgain(const CaseResults& results, const std::optional<QStringList>& folders = {});

  bool any_to_come() const { return !to_come_.empty(); }
  /// The folder of the next one, which is begun then. Only where any is to come.
  QString next();
  /// None comes any more; what is begun goes on.
  void call_off() { to_come_.clear(); }
  /// With those that were called off.
  int all() const { return all_; }
  int begun() const { return begun_; }
  /// Of those that are to come, without the one that is begun.
  double seconds_to_come() const;

 private:
  struct Run {
    QString folder;
    double seconds = 0;
  };
  std::deque<Run> to_come_;
  int all_ = 0, begun_ = 0;
};

}  // namespace n2nq::app
