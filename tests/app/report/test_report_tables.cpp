// SPDX-License-Identifier: GPL-3.0-or-later
// What a report's tables say of numbers that tell little: in files, where no mouse asks a grey cell why, it stands in words.
#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <algorithm>
#include <map>
#include <vector>

#include "app/report/report.h"
#include "app/report/report_files.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

using Json = nlohmann::json;

/// A row of a table as files have it, by its columns' names.
std::map<QString, QString> row_of(const Report& report, const QString& id, const QString& name) {
  const auto found = std::ranges::find(report.tables, id, &Table::id);
  if (found == report.tables.end()) return {};
  const Table table = with_remarks(*found);
  EXPECT_TRUE(csv(*found).startsWith(table.columns.first().toUtf8() + ',')) << csv(*found).toStdString();
  EXPECT_EQ(table_json(*found).at("columns").size(), static_cast<std::size_t>(table.columns.size()));
  std::map<QString, QString> out;
  for (const auto& row : table.rows) {
    EXPECT_EQ(row.size(), static_cast<std::size_t>(table.columns.size()));
    if (cell_text(row.front()) != name) continue;
    for (std::size_t c = 0; c < row.size(); ++c) out[table.columns[static_cast<qsizetype>(c)]] = cell_text(row[c]);
  }
  return out;
}

const QString hidden_words = QString::fromUtf8("less than its ±: the clocks tell nothing finer"),
              clocks_column = QString::fromUtf8("clocks ±"),
              unknown_words = "between two clocks, and not known how far they are apart";

class ReportTables : public testing::Test {
 protected:
  /// Of a run whose median is 50 µs, and its 99th percentile 250 µs.
  template <class Change>
  Report report(Change&& change) {
    const QString run_folder = folder.filePath("run");
    make_run(run_folder, {.p50_us = 50});
    change_summary(run_folder, change);
    QString error;
    auto run = read_run(run_folder, error);
    EXPECT_TRUE(run) << error.toStdString();
    return run ? report_of(std::vector{DrawnRun{.run = std::move(*run), .no_digest = "it is made up"}}) : Report();
  }
  const QTemporaryDir folder;
};

TEST_F(ReportTables, SayInWordsWhichFiguresAreLessThanWhatTheClocksLeaveOpen) {
  const auto bounded = [](double bound_us) { return [=](Json& summary) { summary["latency_us"]["bound_us"] = bound_us; }; };
  const Report of_71 = report(bounded(71));
  auto latency = row_of(of_71, "figures", "latency");
  EXPECT_EQ(latency[clocks_column], "71");
  EXPECT_EQ(latency["remarks"], "mean_lowest_95, p50: " + hidden_words);
  const QString file = QString::fromUtf8(csv(of_71.tables.front())).split('\n').value(1);
  EXPECT_TRUE(file.endsWith(",\"mean_lowest_95, p50: " + hidden_words + '"')) << file.toStdString();
  EXPECT_EQ(row_of(of_71, "figures", "lag")["remarks"], "") << "of one clock";
  EXPECT_FALSE(row_of(report(bounded(49)), "figures", "latency").contains("remarks")) << "no column where nothing is to be said";
}

TEST_F(ReportTables, SayThatNobodyKnowsHowFarClocksAreApart) {
  const Report told = report([](Json& summary) {
    summary["latency_us"]["bound_us"] = nullptr;
    summary["services"]["receivers"] = {{{"number", 1}, {"latency_us", summary["latency_us"]}},
                                        {{"number", 2}, {"latency_us", {{"count", 1000}, {"p50", 50}, {"p99", 250}, {"bound_us", 71}}}}};
  });
  auto latency = row_of(told, "figures", "latency");
  EXPECT_EQ(latency[clocks_column], "?");
  EXPECT_EQ(latency["remarks"], "mean_lowest_95, p50, p99: " + unknown_words);
  EXPECT_EQ(row_of(told, "figures", "lag")[clocks_column], "") << "of one clock";
  const QString p50 = QString::fromUtf8("latency_us.p50 (µs)"), p99 = QString::fromUtf8("latency_us.p99 (µs)"),
                bound = QString::fromUtf8("latency_us, clocks ± (µs)");
  auto first = row_of(told, "receivers-table", "R001"), second = row_of(told, "receivers-table", "R002");
  EXPECT_EQ(first[bound], "?");
  EXPECT_EQ(first["remarks"], p50 + ", " + p99 + ": " + unknown_words);
  EXPECT_EQ(second[bound], "71");
  EXPECT_EQ(second["remarks"], p50 + ": " + hidden_words);
}

TEST_F(ReportTables, SayEachDoubtOnceWithAllThatItIsAbout) {
  const Report told = report([](Json& summary) { summary["latency_us"].update({{"count", 900}, {"p99", 60}, {"bound_us", 71}}); });
  EXPECT_EQ(row_of(told, "figures", "latency")["remarks"],
            "mean_lowest_95, p50, p99: " + hidden_words + "; p99: fewer than 10 samples above it");
}

TEST_F(ReportTables, AreReadInWordsAndInTheOrderInWhichTheyAddUp) {
  const Report told = report([](Json& summary) {
    summary["rates"] = {{"over_s", 5}, {"received_over_s", 6}, {"received_per_s", 1000}, {"sent_per_s", 100}};
    summary["plan"] = {{"achieved_per_s", 100}, {"kept", false}, {"lag_growth_ms", nullptr}, {"a_new_one", 1}, {"offered_messages", 500}};
    summary["ledger"]["total"] = {{"a_new_one", 1}, {"accepted", 9}, {"attempted", 9}, {"delivered", 9}, {"lost", 0},
                                  {"received", 9},  {"refused", 0},  {"duplicated", 0}};
  });
  const auto read = [&told](const QString& id) {
    const auto table = std::ranges::find(told.tables, id, &Table::id);
    QStringList lines;
    for (const auto& row : table->rows) lines += table->read(cell_text(row[0]));
    return lines.join('|');
  };
  EXPECT_EQ(read("rates"), "time of sending, s|messages sent per second|time of receiving, s|deliveries per second");
  EXPECT_EQ(read("plan"), "plan kept|messages planned|messages attempted per second|growth of the lag, ms|a_new_one");
  EXPECT_EQ(read("ledger"), "attempted|accepted|refused|delivered|lost|duplicated|received|a new one");
  const QString page = html(*std::ranges::find(told.tables, "plan", &Table::id));
  EXPECT_TRUE(page.contains("<td title=\"kept\">plan kept</td><td title=\"false\">no</td>")) << page.toStdString();
  EXPECT_EQ(row_of(told, "plan", "kept")["value"], "false") << "files have what the summary has";
}

TEST_F(ReportTables, SayHowFinePercentilesOfOneServiceAre) {
  const QString words = "p50 and p99 of one service are known to 0.8 %.";
  Report told = report([](Json& summary) {
    summary["services"]["receivers"] = Json::array({Json{{"number", 1}, {"latency_us", summary["latency_us"]}, {"received", 1000}}});
    summary["services"]["senders"] = Json::array({Json{{"number", 1}, {"attempted", 1000}}});
  });
  for (const Table& table : told.tables) EXPECT_EQ(table.remark, table.id == "receivers-table" ? words : "") << table.id.toStdString();
  told.figures.clear();  // nothing is drawn here
  EXPECT_EQ(report_html(told).count(words), 1);
}

class ComparedReport : public testing::Test {
 protected:
  /// Of two runs of 1,000 deliveries, of which the second asked for this, or has so many.
  Report report(const Json& requests, int deliveries = 1000) {
    std::vector<DrawnRun> runs;
    for (const char* name : {"first", "second"}) {
      const QString run_folder = folder.filePath(name);
      make_run(run_folder, {});
      change_summary(run_folder, [&](Json& summary) {
        summary["settings"]["queue"]["requests"] = runs.empty() ? Json(false) : requests;
        summary["latency_us"]["count"] = runs.empty() ? 1000 : deliveries;
      });
      QString error;
      auto run = read_run(run_folder, error);
      EXPECT_TRUE(run) << error.toStdString();
      if (!run) return {};
      runs.push_back({.run = std::move(*run), .no_digest = "it is made up"});
    }
    return report_of(runs);
  }
  static Json request(const char* receivers) {
    return {{"receivers", receivers}, {"senders", "S1-S3"}, {"sizes", "20-100"}, {"prefetch", 1}};
  }
  const QTemporaryDir folder;
};

TEST_F(ComparedReport, TellsRequestsInWordsAndKeepsThemAsTheyAreInFiles) {
  const Json requests = Json::array({request("R1-R5")});
  const Report told = report(requests);
  const QString words = QString::fromUtf8("R001–R005: S001–S003, 20–100\u202fB, prefetch 1"), raw = QString::fromStdString(requests.dump());
  EXPECT_TRUE(told.lead.contains("Settings that differ: queue.requests false / " + words)) << told.lead.join('\n').toStdString();
  const Table& settings = told.appendix.at(0);
  ASSERT_EQ(settings.rows.size(), 1u);
  EXPECT_EQ(cell_text(settings.rows[0].at(1)), "false");
  EXPECT_EQ(cell_text(settings.rows[0].at(2)), raw);
  EXPECT_EQ(settings.read(raw), words);
  EXPECT_TRUE(html(settings).contains("<td title=\"" + raw.toHtmlEscaped() + "\">" + words + "</td>")) << html(settings).toStdString();
  EXPECT_TRUE(csv(settings).contains("R1-R5")) << csv(settings).toStdString();
}

TEST_F(ComparedReport, TellsOfManyRequestsTheFirstOnesAndAllInTheTable) {
  const Json requests = Json::array({request("R1"), request("R2"), request("any"), request("none")});
  const Report told = report(requests);
  const QString above = told.lead.join('\n'), all = told.appendix.at(0).read(QString::fromStdString(requests.dump()));
  EXPECT_TRUE(above.contains(", prefetch 1 and R002: S001") && above.contains(", prefetch 1 and 2 more")) << above.toStdString();
  EXPECT_FALSE(above.contains("all receivers")) << above.toStdString();
  EXPECT_TRUE(all.contains(" and all receivers: S001") && all.contains(" and nobody: S001")) << all.toStdString();
}

TEST_F(ComparedReport, SaysOfDifferencesToThatFewSamplesAreBehindThem) {
  const QString few = "fewer than 10 samples above ", difference = QString::fromUtf8("B − A");
  const Report told = report(false, 900);
  auto p99 = row_of(told, "comparison", "latency_us.p99");
  EXPECT_EQ(p99["remarks"], "B: " + few + "it; " + difference + ", " + difference + " (%): " + few + "one of the two");
  EXPECT_EQ(row_of(told, "comparison", "latency_us.p50")["remarks"], "");
  EXPECT_EQ(html(told.tables.front()).count("class=\"number few\""), 3);
  EXPECT_FALSE(row_of(report(false), "comparison", "latency_us.p99").contains("remarks"));
}

TEST_F(ComparedReport, SaysWhereNothingDiffers) {
  const Report told = report(true);
  EXPECT_TRUE(told.lead.contains("Settings that differ: queue.requests false / true")) << told.lead.join('\n').toStdString();
  EXPECT_TRUE(told.lead.contains("Environment: the same")) << told.lead.join('\n').toStdString();
  const Table& environment = told.appendix.at(1);
  EXPECT_TRUE(environment.rows.empty());
  EXPECT_EQ(environment.remark, "All of it is the same.");
  EXPECT_EQ(told.appendix.at(0).remark, "");
}

TEST(FigureTable, SaysInWordsWhichPointsAreLessThanWhatTheClocksLeaveOpen) {
  Figure figure;
  figure.x = {.title = "Services"};
  figure.y = {.title = "Latency", .unit = QString::fromUtf8("µs")};
  figure.series = {{.name = "a", .points = {{.x = 1, .y = 50, .clock_bound = 71}, {.x = 2, .y = 80, .clock_bound = 71}}},
                   {.name = "b", .points = {{.x = 1, .y = 50}, {.x = 2, .y = 80, .clock_bound_unknown = true}}}};
  EXPECT_EQ(QString::fromUtf8(csv(figure_table(figure))),
            QString::fromUtf8("Services,a (µs),\"a, clocks ± (µs)\",b (µs),\"b, clocks ± (µs)\",remarks\n"
                              "1,50,71,50,,a (µs): ") +
                hidden_words + "\n2,80,71,80,?,\"b (µs): " + unknown_words + "\"\n");
}

}  // namespace
}  // namespace n2nq::app
