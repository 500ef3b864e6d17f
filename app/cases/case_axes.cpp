// SPDX-License-Identifier: GPL-3.0-or-later
// The axes of a test case's document: CaseReader, second part.
#include <algorithm>

#include "app/cases/case_reader.h"
#include "app/settings/key_table.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

bool is_scale(std::string_view word) {
  return std::find(scale_words().begin(), scale_words().end(), word) != scale_words().end();
}

}  // namespace

void CaseReader::axis(const std::string& id, const std::string& path, const Node& at, const Node& node) {
  if (!is_id(id, "-_")) return document_.add(at, path, "must be a word of a–z 0–9 - _, such as services");
  if (file_.axes.size() == case_axes_max) return document_.add(at, path, "is one too many: a case has at most " + std::to_string(case_axes_max) + " axes");
  CaseAxis axis;
  axis.id = axis.title = id;
  Node values;
  std::string unit;
  bool has_unit = false, keys_known = true;
  document_.each(node, path, {"title", "key", "keys", "unit", "divide", "values"},
                 [&](const std::string& name, const std::string& whole, const Node&, const Node& value) {
                   if (name == "title") document_.text(value, whole, axis.title);
                   if (name == "key" || name == "keys") keys_known = axis_keys(whole, value, axis);
                   if (name == "unit") has_unit = document_.text(value, whole, unit);
                   if (name == "divide") document_.decimal(value, whole, 1e-9, 1e12, axis.divide);
                   if (name == "values") values.reset(value);
                 });
  if (axis.divide != 1 && !has_unit && !file_.begun) {
    document_.add(at, path + ".unit", "is missing: its values are shown over " + decimal_text(axis.divide) + "; say as what, such as unit: kB");
  }
  if (has_unit) axis.unit = unit;
  if (!values.IsDefined() || values.IsNull()) return document_.add(at, path + ".values", "is missing: say which values the axis has");
  if (keys_known) axis_values(path + ".values", values, axis);
  file_.axes.push_back(std::move(axis));
}

bool CaseReader::axis_keys(const std::string& path, const Node& node, CaseAxis& axis) {
  std::vector<std::string> keys;
  if (!document_.texts(node, path, keys)) return false;
  for (const std::string& key : keys) {
    if (find_table_key(key)) continue;
    document_.add(node, path, in_quotes(key) + " is not a setting; the nearest one is " + std::string(nearest_key(key)));
    return false;
  }
  axis.keys = keys;
  if (axis.unit.empty()) axis.unit = find_table_key(keys.front())->info.unit;
  return true;
}

void CaseReader::axis_values(const std::string& path, const Node& node, CaseAxis& axis) {
  const bool by_scale = node.IsMap() && node.size() > 0 && node.begin()->first.IsScalar() && is_scale(node.begin()->first.Scalar());
  if (!by_scale) {
    axis.values.fill(values(path, node, axis));
    return;
  }
  document_.each(node, path, scale_words(), [&](const std::string& scale, const std::string& whole, const Node&, const Node& list) {
    const auto place = std::find(scale_words().begin(), scale_words().end(), scale) - scale_words().begin();
    axis.values[static_cast<std::size_t>(place)] = values(whole, list, axis);
  });
  // A scale that is not named has the values of the one before it, the first one those of the next.
  auto& all = axis.values;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].empty()) all[i] = all[i - 1];
  }
  for (std::size_t i = all.size() - 1; i > 0; --i) {
    if (all[i - 1].empty()) all[i - 1] = all[i];
  }
}

std::vector<CaseValue> CaseReader::values(const std::string& path, const Node& node, const CaseAxis& axis) {
  std::vector<CaseValue> out;
  if (node.IsMap() && node["from"].IsDefined()) {
    numbers(path, node, axis, out);
    return out;
  }
  if (!node.IsSequence() || node.size() == 0) {
    document_.add(node, path, "must be a list of values, such as [1, 10, {from: 20, to: 100, step: 20}]");
    return out;
  }
  for (const Node& entry : node) {
    if (out.size() > case_values_max) break;
    if (entry.IsMap() && entry["from"].IsDefined()) {
      numbers(path, entry, axis, out);
    } else if (entry.IsMap()) {
      out.push_back(value_with_settings(path, entry, axis));
    } else if (entry.IsScalar()) {
      value_of_keys(path, entry, entry.Scalar(), axis, out);
    } else {
      document_.add(entry, path,
                    "has an entry that is neither a value, nor a range, nor {name: …, set: …}; a range of sizes stands in quotes: "
                    "\"[20, 100]\"");
    }
  }
  if (out.size() > case_values_max) document_.add(node, path, "has more than " + std::to_string(case_values_max) + " values");
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (out[i].name == out[j].name) document_.add(node, path, "has " + in_quotes(out[i].name) + " twice; keep one of them");
    }
  }
  return out;
}

void CaseReader::numbers(const std::string& path, const Node& node, const CaseAxis& axis, std::vector<CaseValue>& out) {
  double from = 0, to = 0, step = 0;
  document_.each(node, path, {"from", "to", "step"}, [&](const std::string& name, const std::string& whole, const Node&, const Node& value) {
    document_.decimal(value, whole, 0, 1e12, name == "from" ? from : name == "to" ? to : step);
  });
  const double last = step > 0 ? (to - from) / step + 1e-9 : 0;  // its place among them, from 0
  const double last_max = static_cast<double>(case_values_max) + (file_.begun ? 1 : 0);
  if (step <= 0 || to < from || last >= last_max) {
    return document_.add(node, path, "must be a range that rises by a step, such as {from: 10, to: 100, step: 10}, of at most " +
                                         std::to_string(case_values_max) + " values");
  }
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    // Nine decimal places, as they can be written: 0.1 + 0.2 is 0.3.
    const double value = from + i * step;
    value_of_keys(path, node, decimal_text(static_cast<double>(static_cast<std::int64_t>(value * 1e9 + 0.5)) / 1e9), axis, out);
  }
}

void CaseReader::value_of_keys(const std::string& path, const Node& node, const std::string& text, const CaseAxis& axis, std::vector<CaseValue>& out) {
  if (axis.keys.empty()) {
    return document_.add(node, path, in_quotes(text) + " stands alone, so the axis needs a key: say which setting takes it, or give {name: …, set: …}");
  }
  for (const std::string& key : axis.keys) {
    Settings scratch;
    if (const auto problem = find_table_key(key)->set(scratch, trimmed(text))) return document_.add(node, path, "of " + key + " " + *problem);
  }
  out.push_back(axis.of_keys(text));
}

CaseValue CaseReader::value_with_settings(const std::string& path, const Node& node, const CaseAxis& axis) {
  CaseValue value;
  bool named = false;
  document_.each(node, path, {"name", "value", "number", "set", "place"}, [&](const std::string& name, const std::string& whole, const Node&, const Node& inner) {
    double number = 0;
    if (name == "name") named = document_.text(inner, whole, value.name);
    if (name == "number" && document_.decimal(inner, whole, -1e12, 1e12, number)) value.number = number;
    if (name == "set") value.settings = settings(whole, inner);
    if (name == "place") place(whole, inner, value);
    if (name == "value") {
      if (!inner.IsScalar() && file_.begun) return;
      if (!inner.IsScalar()) return document_.add(inner, whole, "must be one value, such as 50 or \"[20, 100]\"");
      std::vector<CaseValue> one;
      value_of_keys(whole, inner, inner.Scalar(), axis, one);
      if (one.empty()) return;
      if (!named) value.name = one.front().name;
      value.plain = one.front().plain;
      if (!value.number) value.number = one.front().number;
      value.settings.insert(value.settings.begin(), one.front().settings.begin(), one.front().settings.end());
    }
  });
  if (value.name.empty()) document_.add(node, path, "has an entry without a name: {name: …, set: …}");
  if (value.plain.empty()) value.plain = value.name;
  return value;
}

void CaseReader::place(const std::string& path, const Node& node, CaseValue& out) {
  document_.each(node, path, {"senders", "receivers"}, [&](const std::string& name, const std::string& whole, const Node&, const Node& value) {
    std::size_t where = 0;
    if (!document_.word(value, whole, {"internal", "external"}, where)) return;
    (name == "senders" ? out.senders : out.receivers) = where == 0 ? Place::internal : Place::external;
  });
}

}  // namespace n2nq::app
