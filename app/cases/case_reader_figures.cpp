// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a test case's document: CaseReader, third part.
#include <algorithm>
#include <iterator>

#include "app/cases/case_reader.h"
#include "app/results/assertion.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

// What else a report of a case, or of several over each other, has under such a name: tables, and figures by point.
constexpr std::string_view ids_of_reports[] = {"runs",        "knees",       "case",          "comparison",      "settings",
                                               "environment", "latency-us-mean-lowest-95", "latency-us-p50", "latency-us-p99",
                                               "rates-received-per-s"};

}  // namespace

void CaseReader::figure(const std::string& path, const Node& node) {
  CaseFigure figure;
  document_.each(node, path, {"id", "title", "kind", "x", "y", "y_title", "y_axis", "series", "where", "known", "remarks"},
                 [&](const std::string& name, const std::string& whole, const Node&, const Node& value) { figure_key(name, whole, value, figure); });
  if (node.IsMap()) check_figure(path, node, figure);
  file_.figures.push_back(std::move(figure));
}

void CaseReader::figure_key(const std::string& name, const std::string& path, const Node& value, CaseFigure& out) {
  std::size_t place = 0;
  if (name == "id" && document_.text(value, path, out.id)) {
    if (!is_id(out.id, "-")) document_.add(value, path, "must be a word of a–z 0–9 -, such as fig-14: files are named by it");
    if (!file_.begun && std::ranges::find(ids_of_reports, out.id) != std::end(ids_of_reports))
      document_.add(value, path, in_quotes(out.id) + " is what reports call a table or figure of their own: choose another word, such as fig-14");
    for (const CaseFigure& other : file_.figures) {
      if (other.id == out.id) document_.add(value, path, in_quotes(out.id) + " is another figure's already");
    }
  }
  if (name == "title") document_.text(value, path, out.title);
  if (name == "y_title") document_.text(value, path, out.y_title);
  if (name == "kind" && document_.word(value, path, {"lines", "percentiles"}, place)) {
    out.kind = place == 0 ? CaseFigure::Kind::lines : CaseFigure::Kind::percentiles;
  }
  if (name == "y_axis" && document_.word(value, path, {"linear", "logarithmic"}, place)) out.y_logarithmic = place == 1;
  if (name == "x" && document_.text(value, path, out.x)) is_axis(path, value, out.x);
  if (name == "y" && document_.text(value, path, out.y)) {
    if (const auto problem = check_path({.text = out.y, .path = out.y})) document_.add(value, path, *problem);
  }
  if (name == "series" && document_.texts(value, path, out.series)) {
    for (const std::string& axis : out.series) is_axis(path, value, axis);
  }
  if (name == "where") where(path, value, out);
  if (name == "known") known(path, value, out);
  if (name == "remarks") document_.texts(value, path, out.remarks);
}

bool CaseReader::is_axis(const std::string& path, const Node& node, const std::string& id) {
  if (file_.find_axis(id)) return true;
  std::vector<std::string_view> ids;
  for (const CaseAxis& axis : file_.axes) ids.push_back(axis.id);
  document_.add(node, path, in_quotes(id) + " is not an axis of this case" + (ids.empty() ? "" : "; there are " + one_of(ids)));
  return false;
}

void CaseReader::where(const std::string& path, const Node& node, CaseFigure& out) {
  document_.each(node, path, {}, [&](const std::string& id, const std::string& whole, const Node& at, const Node& value) {
    std::vector<std::string> names;
    if (!is_axis(whole, at, id) || !document_.texts(value, whole, names)) return;
    const CaseAxis& axis = *file_.find_axis(id);
    std::array<bool, all_scales.size()> any{};
    for (std::string& name : names) {
      bool found_at_all = false;
      for (const Scale scale : all_scales) {
        const CaseValue* found = axis.find(scale, name);
        if (!found) continue;
        any[static_cast<std::size_t>(scale)] = found_at_all = true;
        name = found->name;
      }
      if (found_at_all) continue;
      std::vector<std::string_view> all;
      for (const CaseValue& value_of_axis : axis.at(Scale::thesis)) all.push_back(value_of_axis.name);
      return document_.add(value, whole, in_quotes(name) + " is not a value of " + id + "; the nearest one is " + in_quotes(nearest_word(name, all)));
    }
    for (const Scale scale : {Scale::quick, Scale::thesis}) {
      if (!any[static_cast<std::size_t>(scale)]) document_.add(value, whole, "names no value that " + id + " has at scale " + std::string(scale_word(scale)));
    }
    out.where[id] = names;
  });
}

void CaseReader::known(const std::string& path, const Node& node, CaseFigure& out) {
  const auto one = [&](const Node& entry) {
    CaseKnown& known = out.known.emplace_back();
    if (entry.IsScalar()) {
      document_.text(entry, path, known.text);
      return;
    }
    document_.each(entry, path, {"text", "x", "y", "series"}, [&](const std::string& name, const std::string& whole, const Node&, const Node& value) {
      double number = 0;
      if (name == "text") document_.text(value, whole, known.text);
      if (name == "series") document_.text(value, whole, known.series);
      if (name == "x" && document_.decimal(value, whole, -1e12, 1e12, number)) known.x = number;
      if (name == "y" && document_.decimal(value, whole, -1e12, 1e12, number)) known.y = number;
    });
    if (entry.IsMap() && known.text.empty()) document_.add(entry, path, "has an entry without a text that says what is known, and where it stands");
  };
  if (!node.IsSequence()) return one(node);
  for (const Node& entry : node) one(entry);
}

void CaseReader::check_figure(const std::string& path, const Node& node, const CaseFigure& figure) {
  const bool lines = figure.kind == CaseFigure::Kind::lines;
  if (figure.id.empty()) document_.add(node, path + ".id", "is missing");
  if (figure.title.empty()) document_.add(node, path + ".title", "is missing");
  if (lines && figure.x.empty()) document_.add(node, path + ".x", "is missing: say which axis lies along it");
  if (lines && figure.y.empty()) document_.add(node, path + ".y", "is missing: say which figure is drawn, such as latency_us.mean_lowest_95");
  if (!lines && !figure.x.empty()) document_.add(node, path + ".x", "has no place in a figure of percentiles: they lie along it");
  if (!lines && !figure.y.empty() && !file_.begun) document_.add(node, path + ".y", "has no place in a figure of percentiles: it draws the latency's");
  if (!document_.is_clean()) return;
  // One point for each place in the figure: every axis is x, a series or held.
  for (const CaseAxis& axis : file_.axes) {
    const bool is_series = std::find(figure.series.begin(), figure.series.end(), axis.id) != figure.series.end();
    const auto held = figure.where.find(axis.id);
    if (axis.id == figure.x || is_series || (held != figure.where.end() && held->second.size() == 1)) continue;
    document_.add(node, path + ".where", "must hold axis " + axis.id + " at one value, or it must be x or one of the series");
  }
}

}  // namespace n2nq::app
