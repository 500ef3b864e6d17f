// SPDX-License-Identifier: GPL-3.0-or-later
// Comparing results: how runs become points and repeats, and what is said to differ.
#include <gtest/gtest.h>

#include <QFileInfo>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "app/cli/compare_command.h"
#include "app/report/report.h"
#include "app/results/assertion.h"
#include "app/results/comparison.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

StoredRun run(const QString& folder, int services, const char* mode, double p50, const char* kernel = "6.1") {
  StoredRun out;
  out.folder = folder;
  out.summary = {
      {"verdict", "clean"},
      {"settings", {{"title", folder.toStdString()}, {"seed", 1}, {"queue", {{"mode", mode}}}, {"senders", {{"amount", services}}}}},
      {"environment", {{"versions", {{"bench", "0.1.0"}}}, {"hosts", {{"broker", {{"kernel", kernel}, {"load_1min", p50}}}}}}},
      {"latency_us", {{"p50", p50}, {"p99", nullptr}}}};
  return out;
}

const ComparedFigure& figure(const ComparedPoint& point, const std::string& path) {
  for (const ComparedFigure& of : point.figures) {
    if (of.path == path) return of;
  }
  throw std::runtime_error("no figure " + path);
}

TEST(Comparison, RequestsAreInWordsOnTheTerminal) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  a.runs.push_back(run("/a/1", 10, "broadcaster", 100));
  b.runs.push_back(run("/b/1", 10, "broadcaster", 100));
  a.runs[0].summary["settings"]["queue"]["requests"] = false;
  const nlohmann::json asked = {{{"receivers", "R1-R5"}, {"senders", "S1-S3"}, {"sizes", "20-100"}, {"prefetch", 1}}};
  b.runs[0].summary["settings"]["queue"]["requests"] = asked;
  const Comparison comparison = compare({a, b});
  const QString text = comparison_text(comparison);
  EXPECT_TRUE(text.contains(QString::fromUtf8("R001–R005: S001–S003"))) << text.toStdString();
  EXPECT_FALSE(text.contains("\"receivers\"")) << text.toStdString();
  EXPECT_EQ(comparison_json(comparison)["settings"]["queue.requests"][1], asked.dump()) << "files keep the keys";
}

TEST(Comparison, RunsThatAgreeInWhatVariesAreRepeatsOfOnePoint) {
  ComparedSide a{.name = {}, .folder = "/one/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/two/a", .runs = {}, .left_out = {}};
  for (int repeat = 0; repeat < 6; ++repeat) {
    for (const int services : {100, 10}) {
      a.runs.push_back(run("/one/a/" + QString::number(repeat), services, "broadcaster", 100 + repeat));
      b.runs.push_back(run("/two/a/" + QString::number(repeat), services, "load-balancer", 150 + repeat, "6.2"));
    }
  }
  const Comparison comparison = compare({a, b});
  EXPECT_EQ(comparison.sides[0].name, "one/a");
  ASSERT_EQ(comparison.points.size(), 2u);
  EXPECT_EQ(comparison.points[0].label, "senders.amount 10");
  EXPECT_EQ(comparison.points[1].label, "senders.amount 100");
  EXPECT_EQ(comparison.points[0].repeats, (std::vector<int>{6, 6}));
  EXPECT_EQ(figure(comparison.points[0], "latency_us.p50").differences[1].kind, Difference::Kind::shown);
  EXPECT_TRUE(figure(comparison.points[0], "latency_us.p50").differences[1].words(true).startsWith("slower by 49 %"));
  EXPECT_EQ(figure(comparison.points[0], "latency_us.p99").differences[1].kind, Difference::Kind::no_value);
  // What the points differ in is no difference of the sides; neither is a title or the load.
  ASSERT_EQ(comparison.settings.size(), 1u);
  EXPECT_EQ(comparison.settings[0].path, "queue.mode");
  EXPECT_EQ(comparison.settings[0].texts, QStringList({"broadcaster", "load-balancer"}));
  ASSERT_EQ(comparison.environment.size(), 1u);
  EXPECT_EQ(comparison.environment[0].path, "hosts.broker.kernel");
}

TEST(Comparison, WhatTheClocksOfTwoMachinesLeaveOpenIsNoDifference) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  for (int repeat = 0; repeat < 6; ++repeat) {
    a.runs.push_back(run("/a/" + QString::number(repeat), 10, "broadcaster", 2000 + repeat));
    b.runs.push_back(run("/b/" + QString::number(repeat), 10, "broadcaster", 2600 + repeat));
    a.runs.back().summary["latency_us"]["bound_us"] = 300;
    b.runs.back().summary["latency_us"]["bound_us"] = 400 - repeat;
  }
  const Comparison comparison = compare({a, b});
  const ComparedFigure& p50 = figure(comparison.points[0], "latency_us.p50");
  EXPECT_EQ(p50.differences[1].kind, Difference::Kind::within_clocks);
  EXPECT_DOUBLE_EQ(p50.differences[1].clock_bound, 700) << "the larger of each side's, of both sides together";
  const QString text = comparison_text(comparison);
  EXPECT_TRUE(text.contains(QString::fromUtf8("+600 ± 700 (+30 %), within what the clocks may err (slower by 30 % ± ")))
      << text.toStdString();
  const auto said = comparison_json(comparison)["points"][0]["figures"]["latency_us.p50"]["sides"][1];
  EXPECT_EQ(said["difference_clock_bound_us"], 700);
  EXPECT_EQ(said["difference_clock_bound_unknown"], false);
  EXPECT_EQ(said["clock_bound_unknown"], false);
  EXPECT_EQ(said["percent_95"].size(), 2u);
}

TEST(Comparison, WhereNobodyKnowsHowFarTheClocksAreApartNoDifferenceIsShown) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  for (int repeat = 0; repeat < 6; ++repeat) {
    a.runs.push_back(run("/a/" + QString::number(repeat), 10, "broadcaster", 2000 + repeat));
    b.runs.push_back(run("/b/" + QString::number(repeat), 10, "broadcaster", 2600 + repeat));
    b.runs.back().summary["latency_us"]["bound_us"] = 100;
  }
  b.runs[3].summary["latency_us"]["bound_us"] = nullptr;  // one is enough
  const Comparison comparison = compare({a, b});
  const ComparedFigure& p50 = figure(comparison.points[0], "latency_us.p50");
  EXPECT_EQ(p50.differences[1].kind, Difference::Kind::within_clocks);
  const QString text = comparison_text(comparison);
  EXPECT_TRUE(text.contains(QString::fromUtf8("+600 ± ? (+30 %), within what the clocks may err"))) << text.toStdString();
  EXPECT_FALSE(text.contains(QString::fromUtf8("less than its ±"))) << text.toStdString();
  const auto said = comparison_json(comparison)["points"][0]["figures"]["latency_us.p50"]["sides"];
  EXPECT_TRUE(said[0]["clock_bound_us"].is_null());
  EXPECT_EQ(said[0]["clock_bound_unknown"], false) << "of one clock";
  EXPECT_TRUE(said[1]["clock_bound_us"].is_null());
  EXPECT_EQ(said[1]["clock_bound_unknown"], true);
  EXPECT_TRUE(said[1]["difference_clock_bound_us"].is_null());
  EXPECT_EQ(said[1]["difference_clock_bound_unknown"], true);
  const auto figures = report_of(comparison).figures;
  const auto drawn = std::find_if(figures.begin(), figures.end(), [](const Figure& each) { return each.id == "latency-us-p50"; });
  ASSERT_TRUE(drawn != figures.end());
  ASSERT_EQ(drawn->series.size(), 2u);
  for (const std::size_t side : {0u, 1u}) {
    const FigurePoint& point = drawn->series[side].points.at(0);
    EXPECT_EQ(point.clock_bound, 0);
    EXPECT_EQ(point.clock_bound_unknown, side == 1);
  }
  for (const Figure& each : figures) {
    EXPECT_EQ(each.remarks.filter("it is not known how far they are apart").size(), each.id == drawn->id ? 1 : 0) << each.id.toStdString();
  }
}

TEST(Comparison, OfACaseWhatSentNothingDoesNotTakeTheFirstOnesPlace) {
  const QTemporaryDir folder;
  QFile file(folder.filePath("case.yaml"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  for (const auto& [name, verdict, attempted] : {std::tuple("0003", "degraded", 100), {"0007", "broken", 0}}) {
    const QString path = folder.filePath(QString("runs/%1").arg(name));
    make_run(path, {.verdict = verdict});
    change_summary(path, [&, of = attempted](nlohmann::json& summary) { summary["plan"]["attempted_messages"] = of; });
  }
  QString error;
  const auto side = read_side(folder.path(), error);
  ASSERT_TRUE(side) << error.toStdString();
  ASSERT_EQ(side->runs.size(), 1u);
  EXPECT_EQ(side->runs.front().name(), "0003");
}

TEST(Comparison, APercentileOfFewSamplesIsToldToBeOne) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  a.runs.push_back(run("/a/0", 10, "broadcaster", 100));
  b.runs.push_back(run("/b/0", 10, "broadcaster", 100));
  for (ComparedSide* side : {&a, &b}) side->runs[0].summary["latency_us"]["p99"] = 500;
  a.runs[0].summary["latency_us"]["count"] = 999;
  b.runs[0].summary["latency_us"]["count"] = 1000;
  const Comparison comparison = compare({a, b});
  EXPECT_EQ(figure(comparison.points[0], "latency_us.p99").few_samples, (std::vector<bool>{true, false}));
  EXPECT_EQ(figure(comparison.points[0], "latency_us.p50").few_samples, (std::vector<bool>{false, false}));
}

TEST(Comparison, WhatMakesAFigureTellLittleIsToldInFull) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  a.runs.push_back(run("/a/0", 10, "broadcaster", 40));
  b.runs.push_back(run("/b/0", 10, "broadcaster", 400));
  nlohmann::json& summary = a.runs[0].summary;
  summary["latency_us"].update({{"p99", 50}, {"count", 999}, {"bound_us", 70}});
  summary["environment"]["floor"]["senders"]["loopback_echo_p50_ns"] = 30'000;
  const Report report = report_of(compare({a, b}));
  const Table& table = report.tables.at(0);
  QStringList doubts;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (cell_text(table.rows[row][0]) != "latency_us.p99") continue;
    for (std::size_t column = 0; column < table.rows[row].size(); ++column) {
      if (const QString doubt = table.doubt(row, column); !doubt.isEmpty()) doubts += doubt;
    }
  }
  const QString few = "fewer than 10 samples above it", below = QString::fromUtf8("less than its ±: the clocks tell nothing finer"),
                near = near_floor_words(30, 50);
  ASSERT_FALSE(near.isEmpty());
  EXPECT_EQ(doubts, QStringList(few + "; " + below + "; " + near)) << doubts.join('\n').toStdString();
  const QString all = grey_words(report.tables);
  for (const QString& each : {few, below, near}) EXPECT_EQ(all.count(each), 1) << all.toStdString();
}

TEST(Comparison, WhatOneRunOfSeveralLostIsTold) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  for (int repeat = 0; repeat < 6; ++repeat) {
    for (ComparedSide* side : {&a, &b}) {
      side->runs.push_back(run(side->folder + '/' + QString::number(repeat), 10, "broadcaster", 100));
      side->runs.back().summary["ledger"]["total"] = {{"lost", 0}, {"unexplained", 0}};
    }
  }
  b.runs[4].summary["ledger"]["total"]["lost"] = 100;
  const QStringList lines = comparison_text(compare({a, b})).split('\n');
  EXPECT_TRUE(lines.filter("ledger.total.lost").join('\n').endsWith("0 in most, up to 100 (was 0)")) << lines.join('\n').toStdString();
  EXPECT_TRUE(lines.filter("ledger.total.unexplained").join('\n').endsWith("both 0")) << lines.join('\n').toStdString();
}

TEST(Comparison, SaysOfEachSideWhatBecameOfItsRuns) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (ComparedSide* side : {&a, &b}) {
      side->runs.push_back(run(side->folder + '/' + QString::number(repeat), 10, "broadcaster", 100));
      side->runs.back().summary["ledger"]["total"] = {{"lost", 0}, {"unexplained", 0}};
    }
  }
  b.runs[1].summary["verdict"] = "broken";
  b.runs[1].summary["ledger"]["total"]["unexplained"] = 29'000;
  const Comparison comparison = compare({a, b});
  EXPECT_EQ(comparison.points[0].verdict_text(0), "clean");
  EXPECT_EQ(comparison.points[0].verdict_text(1), "1 broken, 2 clean");
  EXPECT_EQ(figure(comparison.points[0], "ledger.total.unexplained").samples[1], (std::vector<double>{0, 29'000, 0}));
  const QStringList lines = comparison_text(comparison).split('\n');
  EXPECT_EQ(lines.filter("verdict").join('\n').simplified(), "verdict clean 1 broken, 2 clean");
  EXPECT_EQ(lines.filter("unexplained").size(), 1);
  const auto told = comparison_json(comparison)["points"][0]["verdicts"];
  EXPECT_EQ(told[0], (nlohmann::ordered_json{{"clean", 3}}));
  EXPECT_EQ(told[1], (nlohmann::ordered_json{{"broken", 1}, {"clean", 2}}));
}

TEST(Comparison, AFigureThatARunDidNotGiveHasNoBoundEither) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  a.runs.push_back(run("/a/0", 10, "broadcaster", 2000));
  b.runs.push_back(run("/b/0", 10, "broadcaster", 2600));
  a.runs[0].summary["latency_us"]["bound_us"] = 300;
  b.runs[0].summary["latency_us"] = {{"p50", nullptr}, {"p99", nullptr}, {"bound_us", 16'053}};
  const Comparison comparison = compare({a, b});
  const ComparedFigure& p50 = figure(comparison.points[0], "latency_us.p50");
  EXPECT_EQ(p50.clock_bounds[0], 300);
  EXPECT_TRUE(std::isnan(p50.clock_bounds[1]));
  EXPECT_EQ(p50.differences[1].kind, Difference::Kind::no_value);
  EXPECT_TRUE(std::isnan(p50.differences[1].clock_bound));
  const QString text = comparison_text(comparison);
  EXPECT_TRUE(text.contains(QString::fromUtf8("± 300"))) << text.toStdString();
  EXPECT_FALSE(text.contains("16 053") || text.contains("16053")) << text.toStdString();
}

TEST(Comparison, ALatencyBelowTwiceTheFloorOfItsOwnSideSaysSo) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {}, .left_out = {}}, b{.name = {}, .folder = "/b", .runs = {}, .left_out = {}};
  for (int repeat = 0; repeat < 2; ++repeat) {
    a.runs.push_back(run("/a/" + QString::number(repeat), 10, "broadcaster", 79));
    b.runs.push_back(run("/b/" + QString::number(repeat), 10, "broadcaster", 79));
    a.runs.back().summary["environment"]["floor"]["senders"]["loopback_echo_p50_ns"] = 30'000 + 10'000 * repeat;
    b.runs.back().summary["environment"]["floor"]["senders"]["loopback_echo_p50_ns"] = 39'000;
  }
  const Comparison comparison = compare({a, b});
  const ComparedFigure& p50 = figure(comparison.points[0], "latency_us.p50");
  EXPECT_EQ(p50.floors_us, (std::vector<double>{40, 39})) << "the larger of each side's runs";
  EXPECT_TRUE(p50.is_near_floor(0));
  EXPECT_FALSE(p50.is_near_floor(1)) << "79 µs is more than twice 39 µs";
  EXPECT_TRUE(std::isnan(figure(comparison.points[0], "lag_us.p99").floors_us[0])) << "no latency";
  const QString text = comparison_text(comparison);
  EXPECT_TRUE(text.contains(QString::fromUtf8("  a, below twice the floor, an echo over loopback (40.0 µs): latency_us.p50\n")))
      << text.toStdString();
  EXPECT_FALSE(text.contains("  b, below twice")) << text.toStdString();
  EXPECT_EQ(comparison_json(comparison)["points"][0]["figures"]["latency_us.p50"]["sides"][0]["floor_us"], 40);
}

TEST(Assertion, SaysWhatTheClocksLeaveOpen) {
  StoredRun of = run("/a", 10, "broadcaster", 2000);
  const auto said = [&of](const char* text) {
    Assertion assertion;
    EXPECT_EQ(parse_assertion(text, assertion), std::nullopt);
    return check_assertion(assertion, of.summary).sentence().toStdString();
  };
  EXPECT_EQ(said("latency_us.p50 < 2500"), "latency_us.p50 < 2500: met: 2000 µs");
  of.summary["latency_us"]["bound_us"] = 300;
  of.summary["latency_us"]["count"] = 7;
  EXPECT_EQ(said("latency_us.p50 < 2500"), "latency_us.p50 < 2500: met: 2000 ± 300 µs");
  EXPECT_EQ(said("latency_us.p50 < 2300"), "latency_us.p50 < 2300: met: 2000 ± 300 µs, within what the clocks may err");
  EXPECT_EQ(said("latency_us.p50 < 1900"),
            "latency_us.p50 < 1900: not met: 2000 ± 300 µs, 100 µs (5.26 %) too much, within what the clocks may err");
  EXPECT_EQ(said("latency_us.count == 7"), "latency_us.count == 7: met: 7");
  of.summary["latency_us"]["bound_us"] = nullptr;
  EXPECT_EQ(said("latency_us.p50 < 2500"), "latency_us.p50 < 2500: met: 2000 ± ? µs, within what the clocks may err");
}

TEST(Assertion, LosesNoDigitOfACount) {
  StoredRun of = run("/a", 10, "broadcaster", 812.3);
  of.summary["ledger"]["total"]["delivered"] = 99'999'999;
  const auto said = [&of](const char* text) {
    Assertion assertion;
    EXPECT_EQ(parse_assertion(text, assertion), std::nullopt);
    return check_assertion(assertion, of.summary).sentence().toStdString();
  };
  EXPECT_EQ(said("ledger.total.delivered == 100000000"), "ledger.total.delivered == 100000000: not met: 99999999");
  EXPECT_EQ(said("ledger.total.delivered < 1000"), "ledger.total.delivered < 1000: not met: 99999999, 99998999 (9999900 %) too much");
  EXPECT_EQ(said("latency_us.p50 < 500"), "latency_us.p50 < 500: not met: 812.3 µs, 312.3 µs (62.5 %) too much");
}

TEST(Comparison, OneRunEachHasValuesAndNoStatement) {
  ComparedSide a{.name = {}, .folder = "/a", .runs = {run("/a", 10, "broadcaster", 100)}, .left_out = {}};
  ComparedSide b{.name = {}, .folder = "/b", .runs = {run("/b", 10, "broadcaster", 112)}, .left_out = {}};
  const Comparison comparison = compare({a, b});
  ASSERT_EQ(comparison.points.size(), 1u);
  const QString text = comparison_text(comparison);
  EXPECT_TRUE(text.contains("settings: the same")) << text.toStdString();
  EXPECT_TRUE(text.contains("+12.0 (+12 %), under 5 repeats: no statement")) << text.toStdString();
}

TEST(Comparison, RunsNamedOneByOneAreRepeatsWhereTheirSettingsAreTheSame) {
  std::vector<StoredRun> runs;
  for (int repeat = 0; repeat < 6; ++repeat) {
    for (const int services : {10, 50}) {
      runs.push_back(run(QString("/runs/%1-%2").arg(repeat).arg(services), services, "broadcaster", services + repeat));
      runs.back().summary["settings"]["seed"] = repeat + 1;
    }
  }
  QString error;
  auto sides = sides_of_runs(runs, error);
  ASSERT_EQ(sides.size(), 2u) << error.toStdString();
  EXPECT_EQ(sides[0].runs.size(), 6u);
  const Comparison comparison = compare(std::move(sides));
  EXPECT_EQ(comparison.sides[1].name, "0-50 and 5 more like it");
  ASSERT_EQ(comparison.points.size(), 1u);
  EXPECT_EQ(figure(comparison.points[0], "latency_us.p50").differences[1].kind, Difference::Kind::shown);
  // All alike: each for itself, as long as there are few.
  EXPECT_EQ(sides_of_runs({runs[0], runs[2], runs[4]}, error).size(), 3u);
  std::vector<StoredRun> alike(9, runs[0]);
  EXPECT_TRUE(sides_of_runs(alike, error).empty());
  EXPECT_TRUE(error.startsWith("These 9 runs are repeats of one another: choose at most 8")) << error.toStdString();
  std::vector<StoredRun> all_different;
  for (int services = 1; services <= 9; ++services) all_different.push_back(run("/x", services, "broadcaster", 1));
  EXPECT_TRUE(sides_of_runs(all_different, error).empty());
  EXPECT_EQ(error, "These runs have 9 different settings: at most 8 are compared");
}

TEST(Comparison, AFolderWithoutRunsIsNamed) {
  QString error;
  EXPECT_FALSE(read_side("/nowhere/at/all", error));
  EXPECT_EQ(error, "/nowhere/at/all: there is no such folder");
}

}  // namespace
}  // namespace n2nq::app
