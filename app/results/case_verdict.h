// SPDX-License-Identifier: GPL-3.0-or-later
// The verdict of a test case, made of those of its runs.
#pragma once

#include <QString>
#include <QStringList>
#include <algorithm>

namespace n2nq::app {

/// The worst of them, and "unfinished" where none is worse than that and `to_come` more are to be made, or none is there.
inline QString case_verdict(const QStringList& verdicts, int to_come) {
  static const QStringList mildest_first = {"clean", "stopped", "unfinished", "degraded", "broken"};
  const auto badness = [](const QString& verdict) { return mildest_first.indexOf(verdict); };
  QString worst = to_come > 0 || verdicts.isEmpty() ? QString("unfinished") : verdicts.front();
  for (const QString& verdict : verdicts) worst = badness(verdict) > badness(worst) ? verdict : worst;
  return worst;
}

}  // namespace n2nq::app
