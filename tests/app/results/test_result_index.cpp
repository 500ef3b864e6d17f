// SPDX-License-Identifier: GPL-3.0-or-later
// The list of results: the folders are the truth, whatever the index says.
#include <gtest/gtest.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <atomic>
#include <climits>
#include <cmath>

#include "app/results/folder_lock.h"
#include "app/results/result_index.h"
#include "app/results/result_note.h"
#include "app/results/stored_run.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

QStringList names(const std::vector<ResultEntry>& entries) {
  QStringList out;
  for (const ResultEntry& entry : entries) out += entry.name;
  return out;
}

struct ResultIndexTest : ::testing::Test {
  QTemporaryDir place;
  QString folder = place.filePath("runs");
  QString remark;
  void SetUp() override {
    make_run(folder + "/first", {.started = "2026-11-20T10:00:00.000Z", .verdict = "clean"});
    make_run(folder + "/second",
             {.started = "2026-11-20T11:00:00.000Z", .mode = "load-balancer", .verdict = "degraded", .disturbed = "others ran"});
    make_run(folder + "/a-case/runs/0001-x", {.started = "2026-11-19T09:00:00.000Z"});
    QFile(folder + "/a-case/case.yaml").open(QIODevice::WriteOnly);
    make_settings(folder + "/under-way");
    QDir().mkpath(folder + "/something-else");
  }
  std::vector<ResultEntry> list() { return ResultIndex(folder).list(remark); }
};

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

/// As the folder of a case has it.
void make_case_state(const QString& folder, std::optional<int> runs) {
  QFile state(folder + "/case.json");
  ASSERT_TRUE(state.open(QIODevice::WriteOnly | QIODevice::Truncate));
  const nlohmann::json text = {
      {"format", 1}, {"title", "Delay"}, {"scale", "quick"}, {"runs", runs ? nlohmann::json(*runs) : nlohmann::json()}, {"begun", "2026-11-19T08:00:00Z"}, {"build", "0.1.0 abc"}};
  state.write(QByteArray::fromStdString(text.dump()));
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

TEST_F(ResultIndexTest, NothingIsMovedAwayFromUnderACaseThatRuns) {
  const QString test_case = folder + "/a-case";
  make_case_state(test_case, 4);
  auto lock = FolderLock::take(test_case + "/case.lock");
  ASSERT_TRUE(lock);
  ResultIndex index(folder);
  const auto being_made = [this] {
    QStringList out;
    for (const ResultEntry& entry : list()) {
      if (entry.is_being_made) out += entry.name;
    }
    return out;
  };
  EXPECT_EQ(being_made(), QStringList("a-case")) << "of its four runs one is there; who made another one that is unfinished is gone";
  make_run(test_case + "/runs/0002-y", {.started = "2026-11-19T09:01:00.000Z", .verdict = "degraded"});
  EXPECT_EQ(being_made(), QStringList("a-case")) << "whatever its runs came to";
  EXPECT_TRUE(index.remove(test_case).contains("pause or stop it first"));
  EXPECT_TRUE(index.remove(test_case + "/runs/0001-x").contains("pause or stop it first"));
  EXPECT_EQ(index.remove(folder + "/first"), QString());
  lock.reset();
  EXPECT_EQ(being_made(), QStringList());
  EXPECT_EQ(index.remove(test_case), QString());
  EXPECT_FALSE(names(list()).contains("0001-x"));
  EXPECT_EQ(index.restore(test_case), QString());
  EXPECT_TRUE(names(list()).contains("0001-x"));
  EXPECT_FALSE(QFile::exists(test_case + "/case.lock"));
}

TEST_F(ResultIndexTest, NorIsARunThatAnotherBenchIsMaking) {
  auto lock = FolderLock::take(folder + "/first/run.lock");
  ASSERT_TRUE(lock);
  ResultIndex index(folder);
  EXPECT_EQ(index.remove(folder + "/first"), "A bench is making the run first: stop it first");
  lock.reset();
  // What cannot be locked for another reason, as on a file system without locks, is held by nobody.
  QFile(folder + "/empty").open(QIODevice::WriteOnly);
  ASSERT_TRUE(QFile::link(folder + "/empty", folder + "/first/run.lock"));
  EXPECT_EQ(index.remove(folder + "/first"), QString());
}

TEST_F(ResultIndexTest, WhoOnlyAsksWhetherABenchWorksThereIsTakenForNone) {
  const QString test_case = folder + "/a-case", file = test_case + "/case.lock";
  make_case_state(test_case, 4);
  // What a killed bench has left.
  QFile left(file);
  ASSERT_TRUE(left.open(QIODevice::ReadWrite) && left.write("1\n") == 2 && left.flush());
  ResultIndex index(folder);
  EXPECT_EQ(index.remove(test_case + "/runs/0001-x"), QString());
  EXPECT_EQ(index.restore(test_case + "/runs/0001-x"), QString());
  EXPECT_TRUE(left.seek(0) && left.readAll() == "1\n") << "nobody has taken it";
  EXPECT_TRUE(QFile::exists(file));
  left.close();

  // One that found no room to say who it is works there all the same.
  const auto lock = FolderLock::take(file);
  ASSERT_TRUE(lock && QFile::resize(file, 0));
  EXPECT_TRUE(index.remove(test_case).contains("pause or stop it first"));
}

TEST_F(ResultIndexTest, ADeletedRunCanBeTakenBackUntilTheNextStart) {
  ResultIndex index(folder);
  EXPECT_EQ(index.remove(folder + "/first"), QString());
  EXPECT_FALSE(names(list()).contains("first"));
  EXPECT_EQ(index.restore(folder + "/first"), QString());
  EXPECT_TRUE(names(list()).contains("first"));
  EXPECT_EQ(index.remove(folder + "/a-case/runs/0001-x"), QString());
  EXPECT_TRUE(index.can_be_restored(folder + "/a-case/runs/0001-x"));
  index.forget_removed();
  EXPECT_FALSE(index.can_be_restored(folder + "/a-case/runs/0001-x"));
  EXPECT_NE(index.restore(folder + "/a-case/runs/0001-x"), QString());
  EXPECT_NE(index.remove("/etc"), QString());
}

TEST_F(ResultIndexTest, WhatCannotBeTakenBackIntoItsPlaceIsNotForgotten) {
  ResultIndex index(folder);
  const QString first = folder + "/first", second = folder + "/second", of_case = folder + "/a-case/runs/0001-x";
  for (const QString& removed : {first, second, of_case}) EXPECT_EQ(index.remove(removed), QString());
  // In the place of two of them stands what is no result.
  for (const QString& taken : {first, of_case}) ASSERT_TRUE(QDir().mkpath(taken + "/charts"));
  EXPECT_TRUE(index.restore(first).contains("is there again"));
  ASSERT_TRUE(QDir().mkpath(first + "-2"));
  index.forget_removed();
  std::atomic<bool> cancelled = false;
  index.delete_forgotten(cancelled);
  const QStringList left = names(list());
  for (const char* back : {"first-3", "0001-x-2"}) EXPECT_TRUE(left.contains(back)) << left.join(' ').toStdString();
  EXPECT_FALSE(left.contains("second")) << "nothing is in its way";
  EXPECT_TRUE(QFileInfo(first + "/charts").isDir());
}

/// Files below a folder, whatever they are.
qsizetype files_in(const QString& folder) {
  qsizetype count = 0;
  QDirIterator each(folder, QDir::Files | QDir::Hidden | QDir::System, QDirIterator::Subdirectories);
  for (; each.hasNext(); each.next()) ++count;
  return count;
}

TEST_F(ResultIndexTest, WhatIsForgottenIsDeletedApartAndAsFarAsThereIsTime) {
  ResultIndex index(folder);
  const QString outside = place.filePath("outside");
  QDir().mkpath(outside);
  QFile(outside + "/kept").open(QIODevice::WriteOnly);
  ASSERT_TRUE(QFile::link(outside, folder + "/first/link"));
  QFile(folder + "/first/.hidden").open(QIODevice::WriteOnly);
  EXPECT_EQ(index.remove(folder + "/first"), QString());
  const qsizetype removed = files_in(folder + "/.deleted");
  ASSERT_GT(removed, 2);
  index.forget_removed();
  EXPECT_EQ(files_in(folder + "/.forgotten"), removed) << "none is deleted before the list is there";
  EXPECT_EQ(names(list()), QStringList({"under-way", "second", "0001-x"}));
  std::atomic<bool> cancelled = true;
  index.delete_forgotten(cancelled);
  EXPECT_EQ(files_in(folder + "/.forgotten"), removed);
  // The next start goes on, with what was removed since; what is removed then is none of its business.
  EXPECT_EQ(index.remove(folder + "/a-case/runs/0001-x"), QString());
  index.forget_removed();
  EXPECT_GT(files_in(folder + "/.forgotten"), removed);
  EXPECT_EQ(index.remove(folder + "/second"), QString());
  cancelled = false;
  index.delete_forgotten(cancelled);
  EXPECT_FALSE(QFileInfo::exists(folder + "/.forgotten"));
  EXPECT_TRUE(QFile::exists(outside + "/kept")) << "a link is not followed";
  EXPECT_EQ(index.restore(folder + "/second"), QString());
  EXPECT_TRUE(names(list()).contains("second"));
}

}  // namespace
}  // namespace n2nq::app
