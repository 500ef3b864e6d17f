// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_sides.h"

#include <QFileInfo>
#include <algorithm>
#include <optional>
#include <set>

#include "app/cases/case_folder.h"
#include "app/settings/all_digits.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

namespace {

/// "broadcaster", "0.1 s", "services 50": a bare number says what it counts.
QStringList parts_of(const CasePlan& plan, const CasePoint& point, const std::set<std::size_t>& axes) {
  QStringList parts;
  for (const std::size_t i : axes) {
    bool bare = false;
    const QString name = qt_text(point.values[i].name);
    name.toDouble(&bare);
    parts += bare ? qt_text(plan.file().axes[i].id) + ' ' + name : name;
  }
  return parts;
}

/// Of points that share their runs: "amount 1, senders / both" where one part tells them apart, else one behind the other.
QString label_of(const QList<QStringList>& points) {
  std::vector<QStringList> values(static_cast<std::size_t>(points.first().size()));
  for (const QStringList& point : points) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (const QString& part = point[static_cast<qsizetype>(i)]; !values[i].contains(part)) values[i] += part;
    }
  }
  QStringList out;
  const auto several = std::count_if(values.begin(), values.end(), [](const QStringList& of) { return of.size() > 1; });
  if (several <= 1) {
    for (const QStringList& of : values) out += of.join(" / ");
    return out.join(", ");
  }
  for (const QStringList& point : points) out += point.join(", ");
  return out.join(" = ");
}

/// What it differs in from the others.
std::vector<std::pair<QString, QString>> place_of(const CasePlan& plan, const CasePoint& point, const std::set<std::size_t>& varying) {
  std::vector<std::pair<QString, QString>> out;
  for (const std::size_t i : varying) {
    const CaseAxis& axis = plan.file().axes[i];
    const CaseValue& value = point.values[i];
    const QString title = axis.unit.empty() ? qt_text(axis.title) : QString("%1 (%2)").arg(qt_text(axis.title), qt_text(axis.unit));
    out.emplace_back(title, value.number ? all_digits(*value.number) : qt_text(value.name));
  }
  return out;
}

/// Of what was run.
std::set<std::size_t> varying_axes(const std::vector<MeasuredPoint>& points) {
  std::set<std::size_t> out;
  const MeasuredPoint* first = nullptr;
  for (const MeasuredPoint& point : points) {
    if (point.repeats.empty()) continue;
    if (first == nullptr) first = &point;
    for (std::size_t i = 0; i < point.point.values.size(); ++i) {
      if (point.point.values[i].name != first->point.values[i].name) out.insert(i);
    }
  }
  return out;
}

std::optional<std::map<QString, PlaceInCase>> places_in(const CaseFolder& folder, const std::atomic<bool>* cancelled) {
  QStringList ignored;
  const auto plan = CasePlan::make(folder.file(), folder.choice(), ignored);
  if (!plan) return {};
  const CaseSchedule schedule(*plan);
  const CaseResults results = CaseFolder::read_results(folder.path(), *plan, nullptr, cancelled);
  const auto points = schedule.points(results);
  const auto varying = varying_axes(points);
  std::map<QString, PlaceInCase> out;
  std::map<QString, QList<QStringList>> shared;  // by run: points with the same settings share theirs
  auto told = varying;
  if (told.empty()) {
    for (std::size_t i = 0; i < plan->file().axes.size(); ++i) told.insert(i);
  }
  int order = 0;
  for (const MeasuredPoint& point : points) {
    for (const CaseRunResult* run : point.repeats) {
      const QString name = QFileInfo(run->folder).fileName();
      shared[name] += parts_of(*plan, point.point, told);
      out.try_emplace(name, PlaceInCase{order, {}, place_of(*plan, point.point, varying)});
    }
    ++order;
  }
  for (auto& [name, place] : out) place.label = label_of(shared.at(name));
  return out;
}

}  // namespace

void place_in_cases(std::vector<ComparedSide>& sides, const std::atomic<bool>* cancelled) {
  std::vector<std::map<QString, PlaceInCase>> places;
  std::string kind;
  for (const ComparedSide& side : sides) {
    QString ignored;
    const auto folder = !side.is_group && CaseFolder::is_one(side.folder) ? CaseFolder::open(side.folder, ignored) : std::nullopt;
    if (!folder || (!places.empty() && folder->name() != kind)) return;
    kind = folder->name();
    auto of_side = places_in(*folder, cancelled);
    if (!of_side || of_side->empty()) return;
    places.push_back(std::move(*of_side));
  }
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto name = [](const StoredRun& run) { return QFileInfo(run.folder).fileName(); };
    std::erase_if(sides[i].runs, [&](const StoredRun& run) { return !places[i].contains(name(run)); });
    for (const StoredRun& run : sides[i].runs) sides[i].places[run.folder] = places[i].at(name(run));
  }
}

}  // namespace n2nq::app
