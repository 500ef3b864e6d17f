// SPDX-License-Identifier: GPL-3.0-or-later
// Results that are deleted and taken back, beside benches that work there.
#include "app/results/deleted_results.h"

#include <gtest/gtest.h>

#include <QDirIterator>
#include <QFileInfo>

#include "app/results/folder_lock.h"
#include "tests/app/results/results_folder.h"

namespace n2nq::app {
namespace {

using DeletedResultsTest = ResultsFolder;

TEST_F(DeletedResultsTest, NothingIsMovedAwayFromUnderACaseThatRuns) {
  const QString test_case = folder + "/a-case";
  make_case_state(test_case, 4);
  auto lock = FolderLock::take(test_case + "/case.lock");
  ASSERT_TRUE(lock);
  DeletedResults results(folder);
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
  EXPECT_TRUE(results.remove(test_case).contains("pause or stop it first"));
  EXPECT_TRUE(results.remove(test_case + "/runs/0001-x").contains("pause or stop it first"));
  EXPECT_EQ(results.remove(folder + "/first"), QString());
  lock.reset();
  EXPECT_EQ(being_made(), QStringList());
  EXPECT_EQ(results.remove(test_case), QString());
  EXPECT_FALSE(names(list()).contains("0001-x"));
  EXPECT_EQ(results.restore(test_case), QString());
  EXPECT_TRUE(names(list()).contains("0001-x"));
  EXPECT_FALSE(QFile::exists(test_case + "/case.lock"));
}

TEST_F(DeletedResultsTest, NorIsARunThatAnotherBenchIsMaking) {
  auto lock = FolderLock::take(folder + "/first/run.lock");
  ASSERT_TRUE(lock);
  DeletedResults results(folder);
  EXPECT_EQ(results.remove(folder + "/first"), "A bench is making the run first: stop it first");
  lock.reset();
  // What cannot be locked for another reason, as on a file system without locks, is held by nobody.
  QFile(folder + "/empty").open(QIODevice::WriteOnly);
  ASSERT_TRUE(QFile::link(folder + "/empty", folder + "/first/run.lock"));
  EXPECT_EQ(results.remove(folder + "/first"), QString());
}

TEST_F(DeletedResultsTest, WhoOnlyAsksWhetherABenchWorksThereIsTakenForNone) {
  const QString test_case = folder + "/a-case", file = test_case + "/case.lock";
  make_case_state(test_case, 4);
  // What a killed bench has left.
  QFile left(file);
  ASSERT_TRUE(left.open(QIODevice::ReadWrite) && left.write("1\n") == 2 && left.flush());
  DeletedResults results(folder);
  EXPECT_EQ(results.remove(test_case + "/runs/0001-x"), QString());
  EXPECT_EQ(results.restore(test_case + "/runs/0001-x"), QString());
  EXPECT_TRUE(left.seek(0) && left.readAll() == "1\n") << "nobody has taken it";
  EXPECT_TRUE(QFile::exists(file));
  left.close();

  // One that found no room to say who it is works there all the same.
  const auto lock = FolderLock::take(file);
  ASSERT_TRUE(lock && QFile::resize(file, 0));
  EXPECT_TRUE(results.remove(test_case).contains("pause or stop it first"));
}

TEST_F(DeletedResultsTest, ADeletedRunCanBeTakenBackUntilTheNextStart) {
  DeletedResults results(folder);
  EXPECT_EQ(results.remove(folder + "/first"), QString());
  EXPECT_FALSE(names(list()).contains("first"));
  EXPECT_EQ(results.restore(folder + "/first"), QString());
  EXPECT_TRUE(names(list()).contains("first"));
  EXPECT_EQ(results.remove(folder + "/a-case/runs/0001-x"), QString());
  EXPECT_TRUE(results.can_be_restored(folder + "/a-case/runs/0001-x"));
  results.forget();
  EXPECT_FALSE(results.can_be_restored(folder + "/a-case/runs/0001-x"));
  EXPECT_NE(results.restore(folder + "/a-case/runs/0001-x"), QString());
  EXPECT_NE(results.remove("/etc"), QString());
}

TEST_F(DeletedResultsTest, WhatCannotBeTakenBackIntoItsPlaceIsNotForgotten) {
  DeletedResults results(folder);
  const QString first = folder + "/first", second = folder + "/second", of_case = folder + "/a-case/runs/0001-x";
  for (const QString& removed : {first, second, of_case}) EXPECT_EQ(results.remove(removed), QString());
  // In the place of two of them stands what is no result.
  for (const QString& taken : {first, of_case}) ASSERT_TRUE(QDir().mkpath(taken + "/charts"));
  EXPECT_TRUE(results.restore(first).contains("is there again"));
  ASSERT_TRUE(QDir().mkpath(first + "-2"));
  results.forget();
  std::atomic<bool> cancelled = false;
  results.delete_forgotten(cancelled);
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

TEST_F(DeletedResultsTest, WhatIsForgottenIsDeletedApartAndAsFarAsThereIsTime) {
  DeletedResults results(folder);
  const QString outside = place.filePath("outside");
  QDir().mkpath(outside);
  QFile(outside + "/kept").open(QIODevice::WriteOnly);
  ASSERT_TRUE(QFile::link(outside, folder + "/first/link"));
  QFile(folder + "/first/.hidden").open(QIODevice::WriteOnly);
  EXPECT_EQ(results.remove(folder + "/first"), QString());
  const qsizetype removed = files_in(folder + "/.deleted");
  ASSERT_GT(removed, 2);
  results.forget();
  EXPECT_EQ(files_in(folder + "/.forgotten"), removed) << "none is deleted before the list is there";
  EXPECT_EQ(names(list()), QStringList({"under-way", "second", "0001-x"}));
  std::atomic<bool> cancelled = true;
  results.delete_forgotten(cancelled);
  EXPECT_EQ(files_in(folder + "/.forgotten"), removed);
  // The next start goes on, with what was removed since; what is removed then is none of its business.
  EXPECT_EQ(results.remove(folder + "/a-case/runs/0001-x"), QString());
  results.forget();
  EXPECT_GT(files_in(folder + "/.forgotten"), removed);
  EXPECT_EQ(results.remove(folder + "/second"), QString());
  cancelled = false;
  results.delete_forgotten(cancelled);
  EXPECT_FALSE(QFileInfo::exists(folder + "/.forgotten"));
  EXPECT_TRUE(QFile::exists(outside + "/kept")) << "a link is not followed";
  EXPECT_EQ(results.restore(folder + "/second"), QString());
  EXPECT_TRUE(names(list()).contains("second"));
}

}  // namespace
}  // namespace n2nq::app
