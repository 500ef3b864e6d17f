// SPDX-License-Identifier: GPL-3.0-or-later
// What somebody has put into the folder of a run or of a test case: a pipe that nobody writes into, a device that never ends. Each of these
// would hang for ever, or take all memory, where it is read without being looked at.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include "app/cases/case_folder.h"
#include "app/control/master_file.h"
#include "app/results/comparison.h"
#include "app/results/folder_lock.h"
#include "app/results/result_index.h"
#include "app/results/result_note.h"
#include "app/results/run_figures.h"
#include "app/results/service_logs.h"
#include "app/results/stored_run.h"
#include "app/settings/whole_file.h"
#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

enum class Put { pipe, link_to_pipe, link_to_device };

struct ForeignFiles : ::testing::TestWithParam<Put> {
  QTemporaryDir place;
  QString folder = place.filePath("runs"), run = folder + "/run";

  /// In the place of whatever is there.
  void put(const QString& path) const {
    QDir().mkpath(QFileInfo(path).path());
    QFile::remove(path);
    const QString pipe = GetParam() == Put::pipe ? path : place.filePath("pipe");
    if (GetParam() != Put::link_to_device && !QFileInfo::exists(pipe)) {
      ASSERT_EQ(::mkfifo(QFile::encodeName(pipe).constData(), 0600), 0);
    }
    const QString target = GetParam() == Put::link_to_device ? QString("/dev/zero") : pipe;
    EXPECT_TRUE(GetParam() == Put::pipe || QFile::link(target, path));
  }
  QString words() const { return GetParam() == Put::link_to_device ? "it is a device, and no file" : "it is a pipe, and no file"; }
};

TEST_P(ForeignFiles, ASummaryThatIsNoneIsNamedByWhoeverReadsIt) {
  make_run(run, {});
  make_run(folder + "/other", {});
  put(run + "/summary.json");
  const QString wanted = QString("Cannot read %1/summary.json: %2").arg(run, words());
  QString error;
  EXPECT_FALSE(read_run(run, error));
  EXPECT_EQ(error, wanted);
  EXPECT_FALSE(read_side(run, error));
  EXPECT_EQ(error, wanted);
  const auto side = read_side(folder, error);
  ASSERT_TRUE(side);
  EXPECT_EQ(side->runs.size(), 1u);
  EXPECT_EQ(side->left_out, QStringList(wanted));
  QString remark;
  for (const ResultEntry& entry : ResultIndex(folder).list(remark)) {
    EXPECT_EQ(entry.reason, entry.name == "run" ? wanted : QString()) << entry.name.toStdString();
    EXPECT_EQ(entry.verdict, entry.name == "run" ? "unfinished" : "clean");
  }
}

TEST_P(ForeignFiles, NorDoesAnyOtherFileOfARunHoldUpTheList) {
  make_run(run, {});
  for (const char* name : {"/note.json", "/run.lock"}) put(run + name);
  put(folder + "/half/settings.yaml");
  put(folder + "/half/run.lock");
  QString remark;
  const auto entries = ResultIndex(folder).list(remark);
  ASSERT_EQ(entries.size(), 1u) << "what has no settings that can be read was never begun";
  EXPECT_EQ(entries[0].note, "");
  EXPECT_EQ(FolderLock::holder(run + "/run.lock"), 0);
  EXPECT_FALSE(FolderLock::take(run + "/run.lock"));
  if (GetParam() != Put::pipe) return;
  EXPECT_EQ(write_note(run, {.note = "mine", .tags = {}}), "") << "another file comes in its place";
  EXPECT_EQ(read_note(run).note, "mine");
}

TEST_P(ForeignFiles, NorDoesWhatStandsInATestCasesFolder) {
  const QString test_case = folder + "/case";
  make_run(test_case + "/runs/0001-x", {});
  QFile(test_case + "/case.yaml").open(QIODevice::WriteOnly);
  put(test_case + "/case.json");
  put(test_case + "/case.lock");
  QString remark, error;
  EXPECT_EQ(ResultIndex(folder).list(remark).size(), 1u);
  EXPECT_EQ(CaseFolder::newest(folder, "3-delay", {}), "");
  EXPECT_FALSE(CaseFolder::open(test_case, error));
  EXPECT_EQ(error, QString("Cannot read %1/case.json: %2").arg(test_case, words()));
  put(test_case + "/case.yaml");
  EXPECT_FALSE(CaseFolder::read_case(test_case).file);
}

TEST_P(ForeignFiles, NorDoLogsAndTheHistogram) {
  make_run(run, {});
  // A pipe itself is no log; a link is taken for one.
  const QString log = run + "/receivers/R001.log";
  put(log);
  put(run + "/latency.hgrm");
  EXPECT_TRUE(read_hgrm(run + "/latency.hgrm").empty());
  if (GetParam() == Put::pipe) return;
  QString error;
  EXPECT_FALSE(read_logs(run, error));
  EXPECT_EQ(error, QString("Cannot read %1: %2").arg(log, words()));
  const std::atomic<bool> never{false};
  EXPECT_EQ(write_master_file(run + "/receivers", place.filePath("messages.tsv"), 1000, never).error, error);
}

INSTANTIATE_TEST_SUITE_P(Each, ForeignFiles, ::testing::Values(Put::pipe, Put::link_to_pipe, Put::link_to_device));

TEST(WholeFile, IsReadUpToItsLimitAndNotBeyond) {
  QTemporaryDir place;
  const QString path = place.filePath("file");
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly) && file.write("12345") == 5);
  file.close();
  QString error;
  EXPECT_EQ(read_whole(path, 5, error), QByteArray("12345"));
  EXPECT_EQ(error, "");
  EXPECT_FALSE(read_whole(path, 4, error));
  EXPECT_EQ(error, "Cannot read " + path + ": it is larger than 4 B");
  // Its size is said to be 0.
  EXPECT_FALSE(read_whole("/proc/self/status", 10, error));
  EXPECT_EQ(error, "Cannot read /proc/self/status: it is larger than 10 B");
  EXPECT_FALSE(read_whole(place.path(), 10, error));
  EXPECT_EQ(error, QString("Cannot read %1: it is a folder, and no file").arg(place.path()));
  EXPECT_FALSE(read_whole(place.filePath("none"), 10, error));
  EXPECT_EQ(error, QString("Cannot read %1: No such file or directory").arg(place.filePath("none")));
}

}  // namespace
}  // namespace n2nq::app
