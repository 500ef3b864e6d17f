// SPDX-License-Identifier: GPL-3.0-or-later
// The list of results: the folders are the truth, whatever the index says.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <algorithm>
#include <climits>
#include <cmath>

#include "app/results/result_index.h"
#include "app/results/result_note.h"
#include "app/results/stored_run.h"
#include "tests/app/results/results_folder.h"

namespace n2nq::app {
namespace {

using ResultIndexTest = ResultsFolder;

TEST_F(ResultIndexTest, EveryRunIsListedNewestFirstAndOthersAreNot) {
  const auto entries = list();
  EXPECT_EQ(remark, QString());
  EXPECT_EQ(names(entries), QStringList({"under-way", "second", "first", "0001-x"}));
  EXPECT_EQ(entries[0].verdict, "unfinished");
  EXPECT_EQ(entries[1].mode, "load-balancer");
  EXPECT_EQ(entries[1].p50_us, 100);
  EXPECT_EQ(entries[1].floor_us, 20);
  EXPECT_EQ(entries[1].disturbed, "others ran");
  EXPECT_EQ(entries[2].disturbed, "");
  EXPECT_EQ(entries[3].test_case, "a-case");
}

TEST_F(ResultIndexTest, WhatChangedIsReadAgainAndWhatIsGoneIsGone) {
  list();
  make_run(folder + "/first", {.started = "2026-11-20T10:00:00.000Z", .verdict = "broken and longer"});
  QDir(folder + "/second").removeRecursively();
  const auto entries = list();
  EXPECT_EQ(names(entries), QStringList({"under-way", "first", "0001-x"}));
  EXPECT_EQ(entries[1].verdict, "broken and longer");
}

void replace_in_file(const QString& path, const QByteArray& what, const QByteArray& with) {
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  QByteArray text = file.readAll();
  file.close();
  ASSERT_TRUE(text.contains(what));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
  file.write(text.replace(what, with));
}

TEST_F(ResultIndexTest, SummariesThatSayNonsenseUpsetNobody) {
  replace_in_file(folder + "/first/summary.json", "\"amount\": 10", "\"amount\": 1e300");
  replace_in_file(folder + "/second/summary.json", "\"mode\": \"off\"", "\"mode\": [7]");
  change_summary(folder + "/first", [](nlohmann::json& summary) {
    summary["settings"]["broker"] = nlohmann::json::array({7});
    summary["settings"]["senders"]["host"] = 7;
  });
  const auto entries = list();
  EXPECT_EQ(names(entries).count("first"), 1);
  for (const ResultEntry& entry : entries) {
    if (entry.name == "first") {
      EXPECT_EQ(entry.senders, INT_MAX);
      EXPECT_EQ(entry.machines, "local");
    } else if (entry.name == "second") {
      EXPECT_EQ(entry.verdict, "unfinished");
    }
  }
  QString error;
  EXPECT_FALSE(read_run(folder + "/second", error).has_value());
  EXPECT_TRUE(error.endsWith("is not what n2nq-bench writes: \"logs.mode\" has to be text")) << error.toStdString();
}

TEST_F(ResultIndexTest, AMissingOrDamagedIndexIsMadeAnew) {
  const auto before = names(list());
  QFile::remove(folder + "/.index.sqlite");
  EXPECT_EQ(names(list()), before);
  QFile damaged(folder + "/.index.sqlite");
  ASSERT_TRUE(damaged.open(QIODevice::WriteOnly | QIODevice::Truncate));
  damaged.write("this is no database at all, and it is longer than a page's head would be, so that it is looked at");
  damaged.close();
  EXPECT_EQ(names(list()), before);
  EXPECT_EQ(remark, QString());
}

/// In a made run's summary, which else says nothing of hosts.
void put_on(const QString& run, const char* broker, const char* senders, const char* receivers) {
  change_summary(run, [&](nlohmann::json& summary) {
    summary["settings"]["broker"]["host"] = broker;
    summary["settings"]["senders"]["host"] = senders;
    summary["settings"]["receivers"]["host"] = receivers;
  });
}

QString machines_of(const std::vector<ResultEntry>& entries, const char* name) {
  for (const ResultEntry& entry : entries) {
    if (entry.name == name) return entry.machines;
  }
  return "not listed";
}

TEST_F(ResultIndexTest, SaysOnWhichMachinesARunWasAndFindsItByThem) {
  put_on(folder + "/second", "lab-1", "lab-2", "lab-3");
  put_on(folder + "/a-case/runs/0001-x", "lab-2", "lab-2", "lab-2");
  Settings settings;
  settings.receivers.host = "lab-3";
  make_settings(folder + "/under-way", settings);
  const auto entries = list();
  EXPECT_EQ(machines_of(entries, "first"), "local");
  EXPECT_EQ(machines_of(entries, "second"), "lab-1, lab-2, lab-3");
  EXPECT_EQ(machines_of(entries, "0001-x"), "lab-2");
  EXPECT_EQ(machines_of(entries, "under-way"), "local, local, lab-3");
  ResultFilter filter;
  filter.text = "LAB-3";
  QStringList found;
  for (const ResultEntry& entry : entries) {
    if (filter.matches(entry)) found += entry.name;
  }
  EXPECT_EQ(found, QStringList({"under-way", "second"}));
}

TEST_F(ResultIndexTest, MachinesAreKeptInTheIndexAndReadAgainFromOneOfAnotherFormat) {
  const QString index = folder + "/.index.sqlite";
  put_on(folder + "/second", "lab-1", "lab-2", "lab-3");
  list();
  replace_in_file(index, "lab-1, lab-2, lab-3", "lab-7, lab-8, lab-9");
  EXPECT_EQ(machines_of(list(), "second"), "lab-7, lab-8, lab-9");
  // As an earlier version left it: its number is the last byte of the four from the 60th on.
  QFile file(index);
  char format = 0;
  ASSERT_TRUE(file.open(QIODevice::ReadWrite) && file.seek(63) && file.getChar(&format));
  ASSERT_TRUE(file.seek(63) && file.putChar(static_cast<char>(format - 1)));
  file.close();
  EXPECT_EQ(machines_of(list(), "second"), "lab-1, lab-2, lab-3");
  EXPECT_EQ(remark, QString());
}

TEST_F(ResultIndexTest, DeliveriesAreThoseOfTheLedgerWithoutDuplicates) {
  change_summary(folder + "/first", [](nlohmann::json& summary) {
    summary["ledger"]["total"] = {{"delivered", 719}, {"duplicated", 26}};
    summary["latency_us"]["count"] = 745;
  });
  for (const char* from : {"the folder", "the index"}) {
    const auto entries = list();
    const auto first = std::ranges::find(entries, QString("first"), &ResultEntry::name);
    ASSERT_TRUE(first != entries.end());
    EXPECT_EQ(first->deliveries, 719) << from;
    EXPECT_EQ(first->samples, 745) << from;
  }
}

TEST_F(ResultIndexTest, NotesAndTagsAreKeptInTheFolderAndFound) {
  EXPECT_EQ(write_note(folder + "/first", {.note = "before the new disk", .tags = tags_from("slow disk, Before,before")}), QString());
  auto entries = list();
  const ResultFilter by_tag{.text = {}, .tag = "SLOW DISK", .mode = {}, .verdict = {}, .from = {}, .to = {}};
  const ResultFilter by_words{.text = "disk new", .tag = {}, .mode = {}, .verdict = {}, .from = {}, .to = {}};
  for (const ResultFilter& filter : {by_tag, by_words}) {
    QStringList found;
    for (const ResultEntry& entry : entries) {
      if (filter.matches(entry)) found += entry.name;
    }
    EXPECT_EQ(found, QStringList({"first"}));
  }
  EXPECT_EQ(read_note(folder + "/first").tags, QStringList({"slow disk", "Before"}));
  EXPECT_EQ(write_note(folder + "/first", {}), QString());
  EXPECT_FALSE(QFile::exists(folder + "/first/note.json"));
}

TEST_F(ResultIndexTest, FiltersByModeVerdictAndDay) {
  const auto entries = list();
  const auto found = [&entries](const ResultFilter& filter) {
    QStringList out;
    for (const ResultEntry& entry : entries) {
      if (filter.matches(entry)) out += entry.name;
    }
    return out;
  };
  ResultFilter filter;
  filter.mode = "load-balancer";
  EXPECT_EQ(found(filter), QStringList({"second"}));
  filter = {};
  filter.verdict = "unfinished";
  EXPECT_EQ(found(filter), QStringList({"under-way"}));
  filter = {};
  filter.from = QDate(2026, 11, 20);
  filter.to = QDate(2026, 11, 20);
  EXPECT_TRUE(found(filter).contains("first"));
  EXPECT_FALSE(found(filter).contains("0001-x"));
}

TEST_F(ResultIndexTest, ATestCaseIsAnEntryThatItsRunsMake) {
  const QString test_case = folder + "/a-case";
  make_case_state(test_case, 4);
  make_run(test_case + "/runs/0002-y", {.started = "2026-11-19T09:01:00.000Z", .mode = "load-balancer", .verdict = "broken"});
  make_run(test_case + "/runs/0004-z", {.started = "2026-11-19T09:02:00.000Z", .verdict = "stopped"});
  const auto entry = [this] {
    for (const ResultEntry& each : list()) {
      if (each.is_case) return each;
    }
    return ResultEntry{};
  };
  ResultEntry first = entry();
  EXPECT_EQ(names(list()), QStringList({"under-way", "second", "first", "a-case", "0004-z", "0002-y", "0001-x"}));
  EXPECT_EQ(first.folder, test_case);
  EXPECT_EQ(first.title, "Delay");
  EXPECT_EQ(first.scale, "quick");
  EXPECT_EQ(first.started, QDateTime::fromString("2026-11-19T08:00:00Z", Qt::ISODate));
  EXPECT_EQ(first.runs_done, 2);
  EXPECT_EQ(first.runs_planned, 4);
  EXPECT_EQ(first.mode, "broadcaster, load-balancer");
  EXPECT_EQ(first.verdict, "broken");
  EXPECT_EQ(first.reason, "runs: 1 broken, 1 clean, 2 to come");
  EXPECT_TRUE(std::isnan(first.p50_us));
  // Made again: the later one counts.
  make_run(test_case + "/runs/0005-y", {.started = "2026-11-19T09:03:00.000Z", .mode = "load-balancer", .verdict = "degraded"});
  EXPECT_EQ(write_note(test_case, {.note = "before lunch", .tags = {}}), QString());
  const ResultEntry again = entry();
  EXPECT_EQ(again.runs_done, 2);
  EXPECT_EQ(again.verdict, "degraded");
  EXPECT_EQ(again.note, "before lunch");
  // What is there is clean, and not all of it is there.
  make_run(test_case + "/runs/0006-y",
           {.started = "2026-11-19T09:04:00.000Z", .mode = "load-balancer", .verdict = "clean", .disturbed = "others ran"});
  const ResultEntry halfway = entry();
  EXPECT_EQ(halfway.verdict, "unfinished");
  EXPECT_EQ(halfway.reason, "runs: 2 clean, 2 to come");
  EXPECT_EQ(halfway.disturbed, "others disturbed 1 of them");
  EXPECT_TRUE(halfway.finished()) << "it can be opened";
  make_case_state(test_case, 2);
  EXPECT_EQ(entry().verdict, "clean");
  make_case_state(test_case, std::nullopt);
  EXPECT_EQ(entry().verdict, "unfinished");
  EXPECT_EQ(entry().reason, "runs: 2 clean, more to come");
  ResultFilter filter;
  filter.mode = "broadcaster";
  filter.kind = ResultFilter::Kind::cases;
  EXPECT_TRUE(filter.matches(again));
  filter.kind = ResultFilter::Kind::single_runs;
  EXPECT_FALSE(filter.matches(again));
}

TEST_F(ResultIndexTest, ACaseWasOnEachMachineOfItsRunsOnce) {
  const QString test_case = folder + "/a-case";
  make_case_state(test_case, 3);
  EXPECT_EQ(machines_of(list(), "a-case"), "local");
  for (const char* run : {"/runs/0002-y", "/runs/0003-z"}) make_run(test_case + run, {.mode = "load-balancer"});
  put_on(test_case + "/runs/0002-y", "lab-1", "lab-3", "lab-1");
  put_on(test_case + "/runs/0003-z", "lab-1", "lab-2", "lab-3");
  EXPECT_EQ(machines_of(list(), "a-case"), "local, lab-1, lab-3, lab-2");
  QDir(test_case + "/runs").removeRecursively();
  EXPECT_EQ(machines_of(list(), "a-case"), "");
}

}  // namespace
}  // namespace n2nq::app
