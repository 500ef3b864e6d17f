// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_sides.h"

#include <QFileInfo>
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "app/cases/case_folder.h"
#include "app/settings/all_digits.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

namespace {

/// One side's test case, with what was measured in it.
struct SideCase {
  explicit SideCase(CasePlan made, const QString& folder, const std::atomic<bool>* cancelled)
      : planned(std::move(made)), results(CaseFolder::read_results(folder, planned.plan, nullptr, cancelled)), points(planned.schedule.points(results)) {}
  SideCase(const SideCase&) = delete;
  SideCase& operator=(const SideCase&) = delete;
  const std::vector<CaseAxis>& axes() const { return planned.plan.file().axes; }
  bool is_empty() const { return std::ranges::all_of(points, [](const MeasuredPoint& point) { return point.repeats.empty(); }); }

  PlannedCase planned;
  CaseResults results;
  std::vector<MeasuredPoint> points;  // all, also those that were not run
};

using Cases = std::vector<std::unique_ptr<SideCase>>;

/// "broadcaster", "0.1 s", "services 50": a bare number says what it counts.
QStringList parts_of(const SideCase& of, const CasePoint& point, const std::set<std::string>& axes) {
  QStringList parts;
  for (std::size_t i = 0; i < of.axes().size(); ++i) {
    if (!axes.contains(of.axes()[i].id)) continue;
    bool bare = false;
    const QString name = qt_text(point.values[i].name);
    name.toDouble(&bare);
    parts += bare ? qt_text(of.axes()[i].id) + ' ' + name : name;
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
std::vector<std::pair<QString, QString>> place_of(const SideCase& of, const CasePoint& point, const std::set<std::string>& varying) {
  std::vector<std::pair<QString, QString>> out;
  for (std::size_t i = 0; i < of.axes().size(); ++i) {
    const CaseAxis& axis = of.axes()[i];
    if (!varying.contains(axis.id)) continue;
    const CaseValue& value = point.values[i];
    const QString title = axis.unit.empty() ? qt_text(axis.title) : QString("%1 (%2)").arg(qt_text(axis.title), qt_text(axis.unit));
    out.emplace_back(title, value.number ? all_digits(*value.number) : qt_text(value.name));
  }
  return out;
}

/// Of what was run, on any side: what all points of one side have in common may be what tells them from another's.
std::set<std::string> varying_axes(const Cases& cases) {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& of : cases) {
    for (const MeasuredPoint& point : of->points) {
      if (point.repeats.empty()) continue;
      for (std::size_t i = 0; i < of->axes().size(); ++i) names[of->axes()[i].id].insert(point.point.values[i].name);
    }
  }
  std::set<std::string> out;
  for (const auto& [id, of_axis] : names) {
    if (of_axis.size() > 1) out.insert(id);
  }
  return out;
}

std::set<std::string> all_axes(const Cases& cases) {
  std::set<std::string> out;
  for (const auto& of : cases) {
    for (const CaseAxis& axis : of->axes()) out.insert(axis.id);
  }
  return out;
}

/// A point of the file, as the sides have it.
struct SharedPoint {
  int order = 0;  // that of the first side that has it
  std::size_t first = 0;
  const CasePoint* point = nullptr;      // the first's
  std::vector<std::set<QString>> runs;   // per side, their folders' names
};

/// By their values on the axes, in the order of the first side's file.
std::vector<SharedPoint> shared_points(const Cases& cases, const std::set<std::string>& axes) {
  std::map<std::vector<QString>, std::size_t> known;
  std::vector<SharedPoint> out;
  for (std::size_t side = 0; side < cases.size(); ++side) {
    int order = -1;
    for (const MeasuredPoint& point : cases[side]->points) {
      ++order;
      if (point.repeats.empty()) continue;
      const QStringList parts = parts_of(*cases[side], point.point, axes);
      const auto [at, is_new] = known.try_emplace({parts.begin(), parts.end()}, out.size());
      if (is_new) out.push_back({order, side, &point.point, std::vector<std::set<QString>>(cases.size())});
      for (const CaseRunResult* run : point.repeats) out[at->second].runs[side].insert(QFileInfo(run->folder).fileName());
    }
  }
  return out;
}

using Places = std::map<QString, std::vector<PlaceInCase>>;  // by the run folders' names

/// Points that share their runs on all sides are told together; one that has others on some side stands by itself.
std::vector<Places> places_in(const Cases& cases) {
  const std::set<std::string> varying = varying_axes(cases), told = varying.empty() ? all_axes(cases) : varying;
  std::map<std::vector<std::set<QString>>, std::vector<SharedPoint>> together;
  for (SharedPoint& point : shared_points(cases, told)) together[point.runs].push_back(point);
  std::vector<Places> out(cases.size());
  for (const auto& [runs, points] : together) {
    QList<QStringList> parts;
    for (const SharedPoint& point : points) parts += parts_of(*cases[point.first], *point.point, told);
    const SharedPoint& first = points.front();
    const PlaceInCase place{first.order, label_of(parts), place_of(*cases[first.first], *first.point, varying)};
    for (std::size_t side = 0; side < runs.size(); ++side) {
      for (const QString& name : runs[side]) out[side][name].push_back(place);
    }
  }
  return out;
}

}  // namespace

void place_in_cases(std::vector<ComparedSide>& sides, const std::atomic<bool>* cancelled) {
  Cases cases;
  std::string kind;
  for (const ComparedSide& side : sides) {
    QString ignored;
    const auto folder = !side.is_group && CaseFolder::is_one(side.folder) ? CaseFolder::open(side.folder, ignored) : std::nullopt;
    if (!folder || (!cases.empty() && folder->name() != kind)) return;
    kind = folder->name();
    QStringList errors;
    auto plan = CasePlan::make(folder->file(), folder->choice(), errors);
    if (!plan) return;
    cases.push_back(std::make_unique<SideCase>(std::move(*plan), folder->path(), cancelled));
    if (cases.back()->is_empty()) return;
  }
  std::vector<Places> places = places_in(cases);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto name = [](const StoredRun& run) { return QFileInfo(run.folder).fileName(); };
    std::erase_if(sides[i].runs, [&](const StoredRun& run) { return !places[i].contains(name(run)); });
    for (const StoredRun& run : sides[i].runs) sides[i].places[run.folder] = places[i].at(name(run));
  }
}

}  // namespace n2nq::app
