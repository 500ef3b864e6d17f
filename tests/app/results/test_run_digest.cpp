// SPDX-License-Identifier: GPL-3.0-or-later
// Service logs as a run may leave them, and where what stands in them is drawn.
#include "app/results/run_digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include "app/control/hgrm.h"
#include "app/results/run_figures.h"
#include "app/results/service_logs.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

constexpr std::int64_t ms = 1'000'000, s = 1'000'000'000;

/// Ten messages, one each 103 ms. The receiver's clock is 7 s ahead, and what was sent in the first half second reached nobody.
TEST(RunDigest, BothSidesCountFromTheFirstThatWasSentWhoeverGotIt) {
  QTemporaryDir folder;
  std::vector<measure::SentLine> sent;
  std::vector<measure::ReceivedLine> received;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t due_ns = 1000 * s + i * 103 * ms;
    sent.push_back({.index = i, .size = 50, .intended_ns = due_ns, .sent_ns = due_ns, .lag_ns = 0, .delay_ns = {}});
    if (i < 5) continue;
    received.push_back({.index = i,
                        .sender = 1,
                        .size = 50,
                        .intended_ns = due_ns,
                        .sent_ns = due_ns,
                        .received_ns = due_ns + 7 * s + ms,
                        .latency_ns = ms,
                        .to_receiver_ns = ms});
  }
  // One that came damaged, with stamps of years ago.
  measure::ReceivedLine damaged = received.back();
  damaged.latency_ns = damaged.to_receiver_ns = 300'000'000 * s;
  damaged.flags = measure::line_bad_checksum;
  received.push_back(damaged);
  make_log(folder.filePath("senders/S001.log"), measure::sent_columns, sent);
  make_log(folder.filePath("receivers/R001.log"), measure::received_columns, received);

  StoredRun run{folder.path(), {{"logs", {{"mode", "all"}}}}};
  run.summary["settings"] = {{"queue", {{"mode", "broadcaster"}}}, {"senders", {{"delay_ms", 103}}}};
  run.summary["latency_us"] = {{"p50", 1000}, {"bound_us", 12.5}};
  run.summary["stages"] = {{"to_broker_us", {{"p50", 900}, {"bound_us", nullptr}}}, {"to_receiver_us", {{"p50", 100}}}};
  QString error;
  const auto digest = digest_of(run, error);
  ASSERT_TRUE(digest) << error.toStdString();
  EXPECT_EQ(digest->lines, 15);
  EXPECT_EQ(digest->latencies.count(), 5u);
  EXPECT_EQ(digest->slice_s, 0.01);
  EXPECT_EQ(digest->latency_limit_us, 12.5);
  EXPECT_TRUE(std::isinf(digest->to_broker_limit_us)) << "nobody knows it";
  EXPECT_TRUE(std::isnan(digest->to_receiver_limit_us)) << "of one clock";
  for (const TimeSlice& slice : digest->slices) {
    EXPECT_EQ(slice.received, slice.from_s < 0.5 ? 0 : slice.sent) << "at " << slice.from_s << " s; 1 ms later is in the same slice";
  }
}

/// Ten messages, one each ms, that one sender sent and so many receivers got.
StoredRun run_of_ten(const QTemporaryDir& folder, int receivers) {
  std::vector<measure::SentLine> sent;
  std::vector<measure::ReceivedLine> received;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t due_ns = 1000 * s + i * ms;
    sent.push_back({.index = i, .size = 50, .intended_ns = due_ns, .sent_ns = due_ns, .lag_ns = 0, .delay_ns = {}});
    received.push_back({.index = i, .sender = 1, .intended_ns = due_ns, .sent_ns = due_ns, .received_ns = due_ns + ms, .latency_ns = ms});
  }
  StoredRun run{folder.path(), {{"logs", {{"mode", "all"}, {"senders", {{"dropped", 0}}}, {"receivers", {{"dropped", 0}}}}}}};
  run.summary["settings"] = {{"queue", {{"mode", "broadcaster"}}}, {"senders", {{"delay_ms", 1}}}};
  nlohmann::json& services = run.summary["services"];
  make_log(folder.filePath("senders/S001.log"), measure::sent_columns, sent);
  services["senders"][0] = {{"number", 1}, {"attempted", 10}};
  for (int i = 0; i < receivers; ++i) {
    make_log(folder.filePath(QString("receivers/R00%1.log").arg(i + 1)), measure::received_columns, received);
    services["receivers"][i] = {{"number", i + 1}, {"received", 10}};
  }
  return run;
}

TEST(RunDigest, IsWholeOnlyWhereTheLogsThatAreHereMakeUpWhatTheSummaryCounts) {
  const QTemporaryDir folder;
  StoredRun run = run_of_ten(folder, 2);
  const auto is_whole = [&run] {
    QString error;
    const auto digest = digest_of(run, error);
    EXPECT_TRUE(digest) << error.toStdString();
    return digest && digest->whole;
  };
  EXPECT_TRUE(is_whole());
  run.summary["services"]["senders"][0]["unnoted"] = 3;
  EXPECT_FALSE(is_whole()) << "a sender was killed and had not noted all";
  run.summary["services"]["senders"][0]["unnoted"] = 0;
  run.summary["services"]["receivers"][1]["received"] = 11;
  EXPECT_FALSE(is_whole()) << "a line is missing";
  run.summary["services"]["receivers"][1]["received"] = 10;
  QFile::remove(folder.filePath("receivers/R002.log"));
  EXPECT_FALSE(is_whole()) << "one receiver's log lies elsewhere";
  ASSERT_TRUE(QFile::copy(folder.filePath("receivers/R001.log"), folder.filePath("receivers/R002.log")));
  EXPECT_TRUE(is_whole());
  // Half of the messages: the same at both ends.
  run.summary["logs"]["mode"] = "sampled";
  run.summary["services"]["senders"][0]["attempted"] = 20;
  EXPECT_FALSE(is_whole());
  QString error;
  EXPECT_TRUE(digest_of(run, error)->in_flight_known);
  run.summary["logs"]["receivers"]["dropped"] = 1;
  EXPECT_FALSE(digest_of(run, error)->in_flight_known);
  QDir(folder.filePath("senders")).removeRecursively();
  EXPECT_FALSE(is_whole()) << "the senders' logs lie elsewhere";
}

measure::ReceivedLine received_line(int index) {
  const std::int64_t due_ns = 1000 * s + index * ms;
  return {.index = index, .sender = 1, .intended_ns = due_ns, .sent_ns = due_ns, .received_ns = due_ns + ms, .latency_ns = ms};
}

/// The log of a receiver of run_of_ten() that got these of the ten, and was told that.
void make_log_of_told(const QString& path, int first, int last, const std::vector<measure::SkippedLine>& told) {
  std::vector<measure::ReceivedLine> received;
  for (int i = first; i <= last; ++i) received.push_back(received_line(i));
  make_log(path, measure::received_columns, received);
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::Append));
  for (const measure::SkippedLine& line : told) {
    char written[measure::line_bytes_max];
    file.write(written, static_cast<qint64>(measure::format_line(written, line)));
  }
}

measure::SkippedLine skipped_line(std::int64_t from, std::int64_t to, wire::SkipReason reason, std::int64_t told_ms) {
  return {.from = from, .to = to, .sender_first = 1, .sender_last = 9, .reason = reason, .told_ns = 1000 * s + told_ms * ms};
}

/// Ten messages within the first slice; the last of the first receiver comes in the second.
TEST(RunDigest, WhatAReceiverIsToldThatItWillNotGetIsUnderWayNoMore) {
  const QTemporaryDir folder;
  StoredRun run = run_of_ten(folder, 2);
  run.summary["services"]["receivers"][1]["received"] = 5;
  const auto digest_of_told = [&](const std::vector<measure::SkippedLine>& told) {
    make_log_of_told(folder.filePath("receivers/R002.log"), 0, 4, told);
    QString error;
    auto digest = digest_of(run, error);
    EXPECT_TRUE(digest) << error.toStdString();
    return digest.value_or(RunDigest());
  };
  const auto unrequested = wire::SkipReason::unrequested, expired = wire::SkipReason::expired;
  // More than was sent, once more, and one that came all the same.
  RunDigest digest = digest_of_told({skipped_line(5, 5, expired, 6), skipped_line(-3, 20, unrequested, 8),
                                     skipped_line(7, 8, unrequested, 9), skipped_line(2, 2, expired, 9)});
  ASSERT_EQ(digest.slices.size(), 2u);
  EXPECT_EQ(digest.slices[0].in_flight, 1);
  EXPECT_EQ(digest.slices[1].in_flight, 0);
  EXPECT_EQ(digest.never_came, 0);
  EXPECT_EQ(digest.skipped, (measure::SkippedCounts{.expired = 1, .unrequested = 4}));

  digest = digest_of_told({skipped_line(5, 9, unrequested, 1000)});
  ASSERT_EQ(digest.slices.size(), 2u) << "no time is added for it";
  EXPECT_EQ(digest.slices[1].in_flight, 5) << "it was told later";
  EXPECT_EQ(digest.never_came, 5);
  EXPECT_EQ(digest.skipped, measure::SkippedCounts());

  // Logs of a sample do not say it.
  run.summary["logs"]["mode"] = "sampled";
  EXPECT_TRUE(digest_of_told({}).in_flight_known);
  run.summary["ledger"]["total"]["unrequested"] = 5;
  EXPECT_FALSE(digest_of_told({}).in_flight_known);
}

TEST(RunDigest, InALoadBalancerWhatOneReceiverIsToldIsOverUnlessAnotherGotIt) {
  const QTemporaryDir folder;
  StoredRun run = run_of_ten(folder, 2);
  run.summary["settings"]["queue"]["mode"] = "load-balancer";
  run.summary["services"]["receivers"][0]["received"] = run.summary["services"]["receivers"][1]["received"] = 4;
  make_log_of_told(folder.filePath("receivers/R001.log"), 0, 3, {});
  make_log_of_told(folder.filePath("receivers/R002.log"), 5, 8, {skipped_line(3, 4, wire::SkipReason::parked, 8)});
  QString error;
  const auto digest = digest_of(run, error);
  ASSERT_TRUE(digest) << error.toStdString();
  EXPECT_EQ(digest->never_came, 1) << "the last one";
  EXPECT_EQ(digest->skipped, measure::SkippedCounts{.parked = 1});
  EXPECT_TRUE(digest->in_flight_known);
  run.summary["ledger"]["total"]["unrequested"] = 5;
  EXPECT_FALSE(digest_of(run, error)->in_flight_known) << "nobody is told of these";
}

TEST(RunDigest, ALineOfWhatWillNotComeThatCannotBeReadIsNamed) {
  const QTemporaryDir folder;
  run_of_ten(folder, 1);
  QFile file(folder.filePath("receivers/R001.log"));
  ASSERT_TRUE(file.open(QIODevice::Append));
  file.write("# skipped: senders=1-1 from=2 to=1 reason=expired told_ns=1\n");
  file.close();
  QString error;
  const auto logs = read_logs(folder.path(), error);
  ASSERT_TRUE(logs) << error.toStdString();
  EXPECT_EQ(logs->receivers.at(0).unreadable_count, 1);
  EXPECT_TRUE(logs->receivers.at(0).skipped.empty());
}

TEST(RunFigures, APercentileWithTenSamplesAboveItIsNotGrey) {
  const QTemporaryDir folder;
  make_run(folder.path(), {});
  QFile file(folder.filePath("latency.hgrm"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  measure::Histogram latencies;
  for (int i = 1; i <= 100; ++i) latencies.add(i * 1000);
  file.write(hgrm_text(latencies));
  file.close();
  QString error;
  const auto run = read_run(folder.path(), error);
  ASSERT_TRUE(run) << error.toStdString();
  const auto figures = run_figures({DrawnRun{.run = *run}});
  ASSERT_FALSE(figures.empty());
  ASSERT_EQ(figures[0].id, "percentiles");
  std::map<int, bool> grey;  // by percent
  for (const FigurePoint& point : figures[0].series.at(0).points)
    grey[static_cast<int>(std::lround(100 - 100 / point.x))] = point.few_samples;
  EXPECT_FALSE(grey.at(90));
  EXPECT_TRUE(grey.at(95));
}

TEST(RunFigures, WhatTheClocksLeaveOpenIsNeverToldLessThanItIs) {
  const QTemporaryDir folder;
  make_run(folder.path(), {});
  QString error;
  auto run = read_run(folder.path(), error);
  ASSERT_TRUE(run) << error.toStdString();
  run->summary["stages"] = {{"to_broker_us", {{"mean", 900}, {"bound_us", 12.44}}}, {"to_receiver_us", {{"mean", 90}, {"bound_us", 2226.2}}}};
  const auto figures = run_figures({DrawnRun{.run = *run}});
  const auto stages = std::find_if(figures.begin(), figures.end(), [](const Figure& each) { return each.id == "stages"; });
  ASSERT_TRUE(stages != figures.end());
  const QString told = stages->remarks.join('\n');
  EXPECT_TRUE(told.contains(QString::fromUtf8("to N2NQ ± 12.5 µs, to receiver ± 2\u202f227 µs (more than itself):"))) << told.toStdString();
}

TEST(RunFigures, APercentileBelowTwiceTheFloorOfTheRunIsGrey) {
  const QTemporaryDir folder;
  make_run(folder.path(), {});
  change_summary(folder.path(), [](nlohmann::json& summary) {
    summary["environment"]["floor"] = {{"senders", {{"loopback_echo_p50_ns", 20'000}}}, {"receivers", {{"loopback_echo_p50_ns", 30'000}}}};
  });
  QFile file(folder.filePath("latency.hgrm"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("Value Percentile TotalCount 1/(1-Percentile)\n\n50 0.5 50000 2\n61 0.9 90000 10\n70 0.99 99000 100\n");
  file.close();
  QString error;
  auto run = read_run(folder.path(), error);
  ASSERT_TRUE(run) << error.toStdString();
  const auto grey = [&run] {
    std::vector<bool> out;
    const auto figures = run_figures({DrawnRun{.run = *run}});
    for (const FigurePoint& point : figures.at(0).series.at(0).points) out.push_back(point.is_grey());
    return out;
  };
  EXPECT_EQ(run_figures({DrawnRun{.run = *run}}).at(0).series.at(0).points.at(0).near_floor_us, 30) << "of the slower host";
  EXPECT_EQ(grey(), (std::vector<bool>{true, false, false})) << "61 is more than twice 30";
  run->summary["environment"]["floor"] = {{"senders", "unknown"}, {"receivers", "unknown"}};
  EXPECT_EQ(grey(), (std::vector<bool>{false, false, false}));
}

/// A run that was never made, with a digest of nothing.
DrawnRun drawn_without_logs(const QString& folder) {
  make_run(folder, {});
  QString error;
  const auto run = read_run(folder, error);
  EXPECT_TRUE(run) << error.toStdString();
  return {.run = *run, .digest = RunDigest()};
}

/// Time counts from the first message that is measured, events from the common start.
TEST(RunFigures, MarksStandWhereTheMeasuredTimeWasBehindAWarmUpAsFastAsItGoes) {
  const QTemporaryDir folder;
  DrawnRun drawn = drawn_without_logs(folder.path());
  drawn.digest->slices.emplace_back(TimeSlice{});
  drawn.run.summary["events"].push_back({{"at_s", 3.5}, {"kind", "fault"}, {"what", "kill receivers"}});
  struct Told {
    std::vector<double> at_s;
    qsizetype remarks;
  };
  const auto told = [&](double delay_ms, int warmup_messages, const nlohmann::json& warmed_up_s) {
    drawn.run.summary["settings"]["senders"].update({{"delay_ms", delay_ms}, {"warmup_messages", warmup_messages}});
    drawn.run.summary["warmed_up_s"] = warmed_up_s;
    const auto figures = run_figures({drawn});
    const auto latency = std::find_if(figures.begin(), figures.end(), [](const Figure& each) { return each.id == "latency-over-time"; });
    Told out{{}, 0};
    if (latency == figures.end()) return out;
    for (const FigureReference& mark : latency->references) out.at_s.push_back(mark.x.value_or(-1));
    out.remarks = latency->remarks.filter("how long its warm-up took").size();
    return out;
  };
  EXPECT_EQ(told(0, 100, 1.25).at_s, std::vector<double>{2.25});
  EXPECT_EQ(told(0, 100, 1.25).remarks, 0);
  EXPECT_EQ(told(0, 100, nullptr).at_s, std::vector<double>{});
  EXPECT_EQ(told(0, 100, nullptr).remarks, 1);
  EXPECT_EQ(told(0, 0, nullptr).at_s, std::vector<double>{3.5}) << "without a warm-up";
  EXPECT_EQ(told(1, 100, nullptr).at_s, std::vector<double>{3.5}) << "by the plan it is over at the common start";
  drawn.run.summary["events"] = nlohmann::json::array();
  EXPECT_EQ(told(0, 100, nullptr).remarks, 0) << "nothing to mark";
}

TEST(RunFigures, WhatIsInFlightSaysWhatTheLedgerHasOfWhatNeverCameAndThatItIsAtMostSoMuch) {
  const QTemporaryDir folder;
  DrawnRun drawn = drawn_without_logs(folder.path());
  drawn.digest->slices.emplace_back(TimeSlice{});
  drawn.digest->never_came = 3;
  drawn.digest->skipped.unrequested = 7;
  drawn.run.summary["ledger"]["total"].update({{"expired", 0}, {"unrequested", 7}, {"lost_before_queue", 2}, {"lost", 1}});
  const auto in_flight = [&drawn] {
    const auto figures = run_figures({drawn});
    const auto found = std::find_if(figures.begin(), figures.end(), [](const Figure& each) { return each.id == "in-flight-over-time"; });
    return found == figures.end() ? Figure() : *found;
  };
  const Figure all = in_flight();
  EXPECT_EQ(all.y.title, "Copies under way");
  EXPECT_EQ(all.remarks, QStringList("3 copies never came (lost, lost before queue): here they are under way to the end."));
  drawn.run.summary["settings"]["queue"]["requests"] = false;
  EXPECT_EQ(in_flight().y.title, "Copies under way");
  drawn.run.summary["settings"]["queue"]["requests"] = true;
  EXPECT_EQ(in_flight().y.title, "Copies under way, at most");
  EXPECT_EQ(in_flight().remarks.filter("at most so many").size(), 1);
}

TEST(RunFigures, ComparedRunsLookTheSameInEveryFigure) {
  const QTemporaryDir folder;
  std::vector<DrawnRun> runs;
  for (const char* name : {"first", "without-logs", "last"}) {
    DrawnRun& drawn = runs.emplace_back(drawn_without_logs(folder.filePath(name)));
    drawn.name = name;
    TimeSlice& slice = drawn.digest->slices.emplace_back(TimeSlice{});
    slice.p50_us = 100, slice.p99_us = 300, slice.lag_p99_us = 20;
  }
  runs[1].digest.reset();
  const auto looks = [](const std::vector<Figure>& figures, const QString& id) {
    QStringList out;
    for (const Figure& figure : figures) {
      if (figure.id != id) continue;
      for (const FigureSeries& series : figure.series)
        out += series.name + ' ' + QString::number(series.look) + (series.hollow ? " hollow" : "");
    }
    return out;
  };
  const auto figures = run_figures(runs);
  EXPECT_EQ(looks(figures, "latency-over-time"), QStringList({"first, p50 0", "first, p99 0 hollow", "last, p50 2", "last, p99 2 hollow"}));
  EXPECT_EQ(looks(figures, "rates-over-time"), QStringList({"first, received 0", "last, received 2"}));
  EXPECT_EQ(looks(figures, "lag-over-time"), QStringList({"first 0", "last 2"}));
  EXPECT_EQ(looks(figures, "stages"), QStringList({"first 0", "without-logs 1", "last 2"}));
  runs.resize(1);
  EXPECT_EQ(looks(run_figures(runs), "latency-over-time"), QStringList({"p50 -1", "p99 -1", "slowest -1"})) << "each by its own place";
}

TEST(RunFigures, OneMessageInAShortSliceMakesNoPeakOfTheRate) {
  const QTemporaryDir folder;
  DrawnRun drawn = drawn_without_logs(folder.path());
  drawn.digest->slice_s = 0.02;
  // Ten messages per second, each to two receivers; the last one lies in a slice that is left over.
  for (int i = 0; i < 101; ++i) {
    TimeSlice& slice = drawn.digest->slices.emplace_back(TimeSlice{});
    slice.from_s = 0.02 * i;
    slice.sent = i % 5 == 0 ? 1 : 0;
    slice.received = 2 * slice.sent;
  }
  const auto figures = run_figures({drawn});
  const auto rates = std::find_if(figures.begin(), figures.end(), [](const Figure& each) { return each.id == "rates-over-time"; });
  ASSERT_TRUE(rates != figures.end());
  ASSERT_EQ(rates->series.size(), 2u);
  for (const auto& [curve, per_s] : {std::pair<std::size_t, double>{0, 10}, {1, 20}}) {
    const auto& points = rates->series[curve].points;
    ASSERT_EQ(points.size(), 2u);
    for (const FigurePoint& point : points) EXPECT_NEAR(point.y, per_s, per_s / 10);
    EXPECT_NEAR(points[0].x, 0.49, 1e-9);
    EXPECT_NEAR(points[1].x, 1.5, 1e-9);
  }
}

TEST(RunDigest, LeavesOutTheLogsOfServicesThatOnlyAnEarlierStartHad) {
  const QTemporaryDir folder;
  StoredRun run = run_of_ten(folder, 1);
  run.summary["run"] = "this";
  run.summary["settings"]["senders"]["amount"] = run.summary["settings"]["receivers"]["amount"] = 1;
  const auto receivers_with = [&](const QByteArray& head) {
    QFile file(folder.filePath("receivers/R002.log"));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(head + "# lines: 0\n");
    file.close();
    QString error;
    const auto digest = digest_of(run, error);
    EXPECT_TRUE(digest) << error.toStdString();
    if (!digest) return std::size_t{0};
    EXPECT_EQ(digest->whole, digest->receivers.size() == 1);
    EXPECT_EQ(digest->never_came, digest->receivers.size() == 1 ? 0 : 10);
    return digest->receivers.size();
  };
  EXPECT_EQ(receivers_with("# run: this\n# receivers.amount: 2\n"), 1u);
  EXPECT_EQ(receivers_with("# run: this\n# receivers.amount: 1\n"), 2u) << "no start of this run had it";
  EXPECT_EQ(receivers_with("# run: another\n# receivers.amount: 2\n"), 2u);
  run.summary["settings"]["receivers"]["amount"] = 2;
  EXPECT_EQ(receivers_with("# run: this\n# receivers.amount: 2\n"), 2u) << "the last start had it, too: it received nothing";
}

}  // namespace
}  // namespace n2nq::app
