// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/taint.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace n2nq::ui {

std::int64_t unannounced_duplicates(const app::RunControl& run, const app::LiveFigures& figures) {
  if (figures.duplicated == 0) return 0;
  // Whatever arrived again and said so is counted as redelivered too.
  const std::int64_t at_least = std::max<std::int64_t>(0, figures.duplicated - figures.redelivered);
  if (run.state() != app::RunState::finished) return at_least;
  const QJsonObject summary = QJsonDocument::fromJson(QByteArray::fromStdString(run.outcome().summary)).object();
  const QJsonValue told = summary[QLatin1String("ledger")][QLatin1String("total")][QLatin1String("duplicated_unflagged")];
  return told.toInteger(at_least);
}

Taint taint_so_far(const app::RunControl& run, const app::LiveFigures& f) {
  if (f.unexpected > 0 || f.lost > 0) return Taint::breaks;
  const bool degraded = f.expired > 0 || f.parked > 0 || f.cut_off > 0 || f.out_of_order > 0 || f.negative > 0;
  return degraded || unannounced_duplicates(run, f) > 0 ? Taint::degrades : Taint::none;
}

}  // namespace n2nq::ui
