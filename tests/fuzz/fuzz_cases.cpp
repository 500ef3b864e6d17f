// SPDX-License-Identifier: GPL-3.0-or-later
// Test case files that somebody brings along: what is wrong is named, and what is right can be planned, or it is said which runs cannot.
//   the whole input is the file
#include "app/cases/case_file.h"
#include "app/cases/case_plan.h"
#include "tests/fuzz/fuzz.h"

namespace {

/// Every point is made out with all its settings: of those with many, only that they can be read.
constexpr std::size_t points_looked_at_max = 50;

std::size_t points_of(const n2nq::app::CaseFile& file, n2nq::app::Scale scale) {
  std::size_t points = 1;
  for (const n2nq::app::CaseAxis& axis : file.axes) points *= axis.at(scale).size();
  return points;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace n2nq;
  const app::ReadCase read = app::read_case_text(fuzz::text_of({data, size}), "input");
  fuzz::require(read.file.has_value() == read.errors.empty(), "a case, or errors");
  const bool only = read.errors.size() == 1;
  for (const app::FileError& error : read.errors) {
    fuzz::require(!error.message.empty(), "an error says what is wrong");
    const bool says_where = fuzz::says_where(error.text(), "input", error.line, error.key, {data, size}, only);
    fuzz::require(says_where, "an error names file, and line or key");
  }
  if (!read.file) return 0;
  for (const app::Scale scale : app::all_scales) {
    const std::size_t points = points_of(*read.file, scale);
    fuzz::require(points <= app::case_points_max, "no more points than it may have");
    if (points > points_looked_at_max) continue;
    QStringList errors;
    const auto plan = app::CasePlan::make(*read.file, {.scale = scale}, errors);
    fuzz::require(plan.has_value() == errors.isEmpty(), "a plan, or what cannot be run");
    if (!plan) continue;
    fuzz::require(plan->seeks_knee() || plan->points().size() == points, "each combination is a point");
    plan->seconds_expected();
    plan->distinct_points();
  }
  return 0;
}
