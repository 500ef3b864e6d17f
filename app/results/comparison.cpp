// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/comparison.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/results/is_denied.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;
using Texts = std::map<QString, QString>;  // path → value

constexpr int runs_max = 5000;  // below one folder
constexpr int values_told_max = 3;

void flatten(const Json& from, const QString& path, Texts& out) {
  if (from.is_object()) {
    for (const auto& [key, value] : from.items()) {
      const QString name = QString::fromStdString(key);
      flatten(value, path.isEmpty() ? name : path + '.' + name, out);
    }
  } else {
    out[path] = json_words(from);
  }
}

Texts settings_of(const StoredRun& run) {
  Texts out;
  flatten(run.summary.at("settings"), {}, out);
  for (const char* words : {"title", "description"}) out.erase(words);
  return out;
}

/// What stays as it is while a machine does; load, floor and offsets are measured anew each time.
Texts environment_of(const StoredRun& run) {
  Texts out;
  const Json& environment = run.summary.at("environment");
  for (const char* part : {"versions", "hosts"}) {
    if (environment.contains(part)) flatten(environment.at(part), part, out);
  }
  std::erase_if(out, [](const auto& entry) { return entry.first.endsWith("load_1min") || entry.first.endsWith("time_namespace"); });
  return out;
}

/// The values of a side's runs, each once.
QString together(const std::set<QString>& values) {
  if (values.empty()) return QString::fromUtf8("–");
  if (values.size() == 1) return *values.begin();
  QStringList told(values.begin(), values.end());
  const auto more = told.size() - values_told_max;
  if (more > 0) told = told.first(values_told_max) + QStringList{QString("%1 more").arg(more)};
  return "several: " + told.join(", ");
}

template <class Of>
std::vector<ComparedText> differing(const std::vector<ComparedSide>& sides, const std::set<QString>& but, Of&& texts_of) {
  std::map<QString, std::vector<std::set<QString>>> all;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const StoredRun& run : sides[side].runs) {
      for (const auto& [path, text] : texts_of(run)) {
        auto& values = all[path];
        values.resize(sides.size());
        values[side].insert(text);
      }
    }
  }
  std::vector<ComparedText> out;
  for (const auto& [path, values] : all) {
    if (but.contains(path)) continue;
    bool same = true;
    for (const auto& value : values) same = same && value == values.front();
    if (same) continue;
    ComparedText row{path, {}};
    for (const auto& value : values) row.texts += together(value);
    out.push_back(std::move(row));
  }
  return out;
}

/// The settings that vary within a side: what its points differ in.
std::set<QString> varying(const std::vector<ComparedSide>& sides) {
  std::set<QString> out;
  for (const ComparedSide& side : sides) {
    std::map<QString, std::set<QString>> values;
    for (const StoredRun& run : side.runs) {
      for (const auto& [path, text] : settings_of(run)) values[path].insert(text);
    }
    for (const auto& [path, texts] : values) {
      if (texts.size() > 1) out.insert(path);
    }
  }
  out.erase("seed");  // repeats may well have seeds of their own
  return out;
}

/// Numbers by their size, so that 10 does not come before 2.
struct PointKey {
  std::vector<QString> values;
  bool operator<(const PointKey& other) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == other.values[i]) continue;
      bool a_number = false, b_number = false;
      const double a = values[i].toDouble(&a_number), b = other.values[i].toDouble(&b_number);
      return a_number && b_number && a != b ? a < b : values[i] < other.values[i];
    }
    return false;
  }
};

PointKey key_of(const StoredRun& run, const std::set<QString>& axes) {
  const Texts settings = settings_of(run);
  PointKey key;
  for (const QString& axis : axes) {
    const auto found = settings.find(axis);
    key.values.push_back(found == settings.end() ? QString() : found->second);
  }
  return key;
}

void tell_settings(ComparedPoint& point, const PointKey& key, const std::set<QString>& axes) {
  QStringList parts;
  std::size_t i = 0;
  for (const QString& axis : axes) {
    parts += axis + ' ' + key.values[i];
    point.at.emplace_back(axis, key.values[i++]);
  }
  point.label = parts.join(", ");
}

/// By label, in the order of the case. Nothing: some run has no place.
std::optional<std::map<QString, QString>> orders_of_places(const std::vector<ComparedSide>& sides) {
  std::map<QString, int> orders;  // of two sides whose files differ the first one's
  for (const ComparedSide& side : sides) {
    for (const StoredRun& run : side.runs) {
      const auto place = side.places.find(run.folder);
      if (place == side.places.end()) return {};
      for (const PlaceInCase& one : place->second) orders.try_emplace(one.label, one.order);
    }
  }
  std::set<std::pair<int, QString>> sorted;
  for (const auto& [label, order] : orders) sorted.emplace(order, label);
  std::map<QString, QString> out;
  for (const auto& [order, label] : sorted) out.emplace(label, QString::number(out.size()));
  return out;
}

ComparedFigure figure_of(const std::string& path, const std::vector<std::vector<const StoredRun*>>& runs) {
  ComparedFigure figure;
  figure.path = path;
  figure.unit = unit_of_path(path);
  for (const auto& side : runs) {
    auto& samples = figure.samples.emplace_back();
    auto& bound = figure.clock_bounds.emplace_back(std::nan(""));
    auto& floor_us = figure.floors_us.emplace_back(std::nan(""));
    bool few = true;
    for (const StoredRun* run : side) {
      const auto value = figure_at(run->summary, path);
      if (!value || std::isnan(*value)) continue;  // and nothing that could be off
      samples.push_back(*value);
      bound = std::fmax(bound, clock_limit_at(run->summary, path));
      floor_us = std::fmax(floor_us, floor_us_at(run->summary, path));
      few = few && has_few_samples(run->summary, path);
    }
    figure.few_samples.push_back(few && !samples.empty());
    figure.values.push_back(trimmed_mean(samples));
    Difference& difference = figure.differences.emplace_back(difference_of(figure.samples.front(), samples));
    const double base = figure.clock_bounds.front();
    if (difference.kind != Difference::Kind::no_value && (!std::isnan(bound) || !std::isnan(base)))
      difference.limit_by_clocks((std::isnan(bound) ? 0 : bound) + (std::isnan(base) ? 0 : base));
  }
  return figure;
}

/// The last parts of the folders, with as much before them as makes them different.
void name_sides(std::vector<ComparedSide>& sides) {
  for (int parts = 1; parts <= 4; ++parts) {
    std::set<QString> names;
    for (ComparedSide& side : sides) {
      side.name = side.folder.section('/', -parts);
      names.insert(side.name);
    }
    if (names.size() == sides.size()) break;
  }
  for (ComparedSide& side : sides) {
    if (side.is_group && side.runs.size() > 1) side.name += QString(" and %1 more like it").arg(side.runs.size() - 1);
  }
}

/// Of the runs of a test case: those that somebody stopped, or that sent nothing, are none, and one that was made again takes the place of
/// the first.
void keep_what_counts(ComparedSide& side) {
  std::map<Texts, std::size_t> place_of;
  std::vector<StoredRun> counting;
  for (StoredRun& run : side.runs) {
    if (!run.counts_in_case()) continue;
    const auto [place, fresh] = place_of.emplace(settings_of(run), counting.size());
    if (fresh) {
      counting.push_back(std::move(run));
    } else {
      counting[place->second] = std::move(run);
    }
  }
  side.runs = std::move(counting);
}

/// What runs have to share to be repeats of one another.
std::string likeness_of(const StoredRun& run) {
  Json like = {{"settings", run.summary.at("settings")}};
  for (const char* words : {"title", "description", "seed"}) like["settings"].erase(words);
  like["build"] = run.summary.value("/environment/versions/bench"_json_pointer, Json());
  const QString parent = QFileInfo(QFileInfo(run.folder).path()).path();
  like["case"] = QFileInfo::exists(parent + "/case.yaml") ? parent.toStdString() : std::string();
  return like.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

const std::vector<std::string>& compared_figures() {
  static const std::vector<std::string> paths = {"latency_us.mean_lowest_95",
                                                 "latency_us.mean",
                                                 "latency_us.p50",
                                                 "latency_us.p90",
                                                 "latency_us.p99",
                                                 "latency_us.p99_9",
                                                 "latency_us.max",
                                                 "latency_from_plan_us.p50",
                                                 "latency_from_plan_us.p99",
                                                 "delay_ms.mean",
                                                 "lag_us.p99",
                                                 "stages.lag_us.mean",
                                                 "stages.to_broker_us.mean",
                                                 "stages.in_queue_us.mean",
                                                 "stages.to_receiver_us.mean",
                                                 "rates.sent_per_s",
                                                 "rates.received_per_s",
                                                 "ledger.total.lost",
                                                 "ledger.total.unexplained",
                                                 "ledger.total.expired",
                                                 "ledger.total.duplicated"};
  return paths;
}

QString ComparedPoint::verdict_text(std::size_t side) const {
  QStringList parts;
  const bool alike = verdicts[side].size() == 1;
  for (const auto& [verdict, count] : verdicts[side]) parts += alike ? verdict : QString("%1 %2").arg(count).arg(verdict);
  if (parts.isEmpty()) return QString::fromUtf8("–");
  const QString others = disturbed[side] == repeats[side] ? QString("disturbed") : QString("%1 disturbed").arg(disturbed[side]);
  return parts.join(", ") + (disturbed[side] > 0 ? QString::fromUtf8(" · ") + others : QString());
}

std::vector<ComparedSide> sides_of_runs(std::vector<StoredRun> runs, QString& error) {
  std::map<std::string, std::size_t> place_of;
  std::vector<ComparedSide> sides;
  const auto count = runs.size();
  for (StoredRun& run : runs) {
    const auto [place, fresh] = place_of.emplace(likeness_of(run), sides.size());
    if (fresh) sides.push_back({.name = {}, .folder = run.folder, .runs = {}, .left_out = {}, .is_group = true});
    sides[place->second].runs.push_back(std::move(run));
  }
  if (sides.size() == 1) {
    std::vector<StoredRun> alike = std::move(sides.front().runs);
    sides.clear();
    for (StoredRun& run : alike) {
      const QString folder = run.folder;
      sides.push_back({.name = {}, .folder = folder, .runs = {std::move(run)}, .left_out = {}, .is_group = true});
    }
  }
  if (sides.size() <= Comparison::sides_max) return sides;
  error = place_of.size() == 1
              ? QString("These %1 runs are repeats of one another: choose at most %2, or runs with other settings as well")
                    .arg(count)
                    .arg(Comparison::sides_max)
              : QString("These runs have %1 different settings: at most %2 are compared").arg(sides.size()).arg(Comparison::sides_max);
  return {};
}

std::optional<ComparedSide> read_side(const QString& folder, QString& error) {
  ComparedSide side;
  side.folder = QDir::cleanPath(QDir(folder).absolutePath());
  if (is_denied(side.folder)) return error = denied_words(folder), std::nullopt;
  if (!QFileInfo(side.folder).isDir()) return error = QString("%1: there is no such folder").arg(folder), std::nullopt;
  // Of a folder that may be searched and not read, a run's file can be read all the same.
  if (is_denied(side.folder + "/summary.json")) return error = denied_words(folder), std::nullopt;
  if (QFileInfo::exists(side.folder + "/summary.json")) {
    auto run = read_run(side.folder, error);
    if (!run) return {};
    side.runs.push_back(std::move(*run));
    return side;
  }
  if (is_denied_folder(side.folder)) return error = denied_words(folder), std::nullopt;
  QDirIterator below(side.folder, {"settings.yaml"}, QDir::Files, QDirIterator::Subdirectories);
  QStringList folders;
  while (below.hasNext()) {
    folders += QFileInfo(below.next()).absolutePath();
    if (folders.size() > runs_max) return error = QString("%1 holds more than %2 runs").arg(folder, QString::number(runs_max)), std::nullopt;
  }
  std::sort(folders.begin(), folders.end(), [](const QString& a, const QString& b) {
    return is_earlier_run(QFileInfo(a).fileName(), QFileInfo(b).fileName());
  });
  for (const QString& path : folders) {
    QString problem;
    if (auto run = read_run(path, problem)) {
      side.runs.push_back(std::move(*run));
    } else {
      side.left_out += problem;
    }
  }
  if (QFileInfo::exists(side.folder + "/case.yaml")) keep_what_counts(side);
  if (side.runs.empty()) {
    error = QString("%1 holds no finished run%2").arg(folder, side.left_out.isEmpty() ? QString() : ": " + side.left_out.first());
    return {};
  }
  return side;
}

Comparison compare(std::vector<ComparedSide> sides) {
  Comparison out;
  out.sides = std::move(sides);
  name_sides(out.sides);
  const std::set<QString> axes = varying(out.sides);
  out.settings = differing(out.sides, axes, settings_of);
  out.environment = differing(out.sides, {}, environment_of);

  const auto placed = orders_of_places(out.sides);
  struct At {
    const PlaceInCase* place = nullptr;  // or by settings
    std::vector<std::vector<const StoredRun*>> runs;
  };
  std::map<PointKey, At> points;
  const auto take = [&](const PointKey& key, const PlaceInCase* place, std::size_t side, const StoredRun& run) {
    At& at = points[key];
    if (at.place == nullptr) at.place = place;
    at.runs.resize(out.sides.size());
    at.runs[side].push_back(&run);
  };
  for (std::size_t side = 0; side < out.sides.size(); ++side) {
    for (const StoredRun& run : out.sides[side].runs) {
      if (!placed) take(key_of(run, axes), nullptr, side, run);
      else for (const PlaceInCase& place : out.sides[side].places.at(run.folder)) take({{placed->at(place.label)}}, &place, side, run);
    }
  }
  for (const auto& [key, at] : points) {
    const auto& runs = at.runs;
    ComparedPoint point;
    if (at.place != nullptr) {
      point.label = at.place->label;
      point.at = at.place->at;
    } else {
      tell_settings(point, key, axes);
    }
    for (const auto& side : runs) {
      point.repeats.push_back(static_cast<int>(side.size()));
      QStringList& folders = point.folders.emplace_back();
      auto& verdicts = point.verdicts.emplace_back();
      int& disturbed = point.disturbed.emplace_back(0);
      for (const StoredRun* run : side) {
        folders += run->folder;
        ++verdicts[QString::fromStdString(run->verdict())];
        disturbed += run->disturbances().isEmpty() ? 0 : 1;
      }
    }
    for (const std::string& path : compared_figures()) point.figures.push_back(figure_of(path, runs));
    out.points.push_back(std::move(point));
  }
  return out;
}

}  // namespace n2nq::app
