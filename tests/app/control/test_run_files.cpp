// SPDX-License-Identifier: GPL-3.0-or-later
// The files of a run folder: its name, the master file, the percentile lines.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <map>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include "app/control/hgrm.h"
#include "app/control/master_file.h"
#include "app/control/role.h"
#include "app/control/run_folder.h"
#include "app/host/hosts_file.h"
#include "app/settings/presets.h"
#include "app/settings/settings_file.h"
#include "app/settings/whole_file.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {
namespace {

struct RunFiles : ::testing::Test {
  QTemporaryDir folder;
  std::atomic<bool> cancelled{false};

  void write(const QString& name, const std::string& text) const {
    QFile file(folder.filePath(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text.data(), static_cast<qint64>(text.size()));
  }
  std::vector<std::string> lines(const QString& name) const {
    QFile file(folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    std::vector<std::string> out;
    for (const auto& line : file.readAll().split('\n')) {
      if (!line.isEmpty()) out.push_back(line.toStdString());
    }
    return out;
  }
  static std::string line(std::uint64_t index, std::int64_t received_ns) {
    char buffer[measure::line_bytes_max];
    measure::ReceivedLine values;
    values.index = index, values.sender = 1, values.size = 50, values.received_ns = received_ns;
    return std::string(buffer, measure::format_line(buffer, values));
  }
};

TEST_F(RunFiles, a_folder_says_when_and_what) {
  Settings settings;
  settings.queue.mode = QueueMode::load_balancer;
  settings.senders.amount = 7;
  EXPECT_EQ(RunFolder::name_for(settings, QDateTime(QDate(2026, 11, 20), QTime(14, 2, 11))), "2026-11-20T14-02-11-load-balancer-7x50");
}

TEST_F(RunFiles, two_runs_of_one_second_have_two_folders) {
  const QDateTime now = QDateTime::currentDateTime();
  QString error;
  const auto first = RunFolder::make(folder.filePath("runs"), "", Settings(), now, error);
  const auto second = RunFolder::make(folder.filePath("runs"), "", Settings(), now, error);
  ASSERT_TRUE(first && second) << error.toStdString();
  EXPECT_EQ(second->path(), first->path() + "-2");
  EXPECT_TRUE(read_settings_file(second->file("settings.yaml").toStdString()).settings);
}

TEST_F(RunFiles, an_exact_folder_is_used_when_it_is_missing_or_empty) {
  QString error;
  EXPECT_TRUE(RunFolder::make("", folder.filePath("a/b/c"), Settings(), {}, error)) << error.toStdString();
  EXPECT_FALSE(RunFolder::make("", folder.filePath("a/b/c"), Settings(), {}, error));
  EXPECT_TRUE(error.contains("is not empty")) << error.toStdString();
  ASSERT_TRUE(QDir(folder.path()).mkdir("empty"));
  EXPECT_TRUE(RunFolder::make("", folder.filePath("empty"), Settings(), {}, error)) << error.toStdString();
}

TEST_F(RunFiles, a_folder_that_cannot_be_made_is_named) {
  write("file", "");
  QString error;
  EXPECT_FALSE(RunFolder::make(folder.filePath("file/runs"), "", Settings(), {}, error));
  EXPECT_TRUE(error.contains(folder.filePath("file/runs"))) << error.toStdString();
  EXPECT_TRUE(write_whole("/nonexistent/file", "x").startsWith("Cannot write /nonexistent/file"));
}

TEST_F(RunFiles, what_a_disk_takes_in_part_says_why) {
  const auto ignored = signal(SIGXFSZ, SIG_IGN);  // a limit in place of a full disk
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = 1000;
  std::string many;
  for (int i = 1; i <= 100; ++i) many += line(static_cast<std::uint64_t>(i), i);
  write("R001.log", many);
  Settings settings;
  settings.senders.amount = 7;
  setrlimit(RLIMIT_FSIZE, &tight);
  const QString error = write_whole(folder.filePath("summary.json"), QByteArray(3000, 'x'));
  const QString master = write_master_file(folder.path(), folder.filePath("messages.tsv"), 1 << 20, cancelled).error;
  tight.rlim_cur = 10;
  setrlimit(RLIMIT_FSIZE, &tight);
  const auto preset = Presets(folder.path()).save("mine", settings);
  const auto hosts = write_hosts_file(folder.filePath("hosts.yaml").toStdString(), Hosts());
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, ignored);
  EXPECT_EQ(preset, "Cannot write " + folder.filePath("mine.yaml").toStdString() + ": File too large");
  EXPECT_EQ(hosts, "Cannot write " + folder.filePath("hosts.yaml").toStdString() + ": File too large");
  EXPECT_EQ(error, QString("Cannot write %1: File too large").arg(folder.filePath("summary.json")));
  EXPECT_EQ(master, QString("Cannot write %1: File too large").arg(folder.filePath("messages.tsv")));
  EXPECT_EQ(QDir(folder.path()).entryList(QDir::Files), QStringList("R001.log"));
}

TEST_F(RunFiles, the_master_file_orders_all_receivers_lines_by_receive_time) {
  write("R001.log", "# head\n# index\tsender\n" + line(0, 10) + line(1, 40) + "# foot\n");
  write("R002.log", "# head\n" + line(0, 20) + line(1, 30) + line(2, 40));
  write("R003.log", "");
  write("S001.log", line(9, 1));
  const MasterFile master = write_master_file(folder.path(), folder.filePath("messages.tsv"), 1 << 20, cancelled);
  EXPECT_EQ(master.error, "");
  EXPECT_EQ(master.lines, 5u);
  EXPECT_FALSE(master.cut);
  const auto written = lines("messages.tsv");
  std::vector<std::string> who;
  std::size_t bytes = 0;
  for (const auto& text : written) {
    bytes += text.size() + 1;
    if (text.starts_with('R')) who.push_back(text.substr(0, 4));
  }
  EXPECT_EQ(who, (std::vector<std::string>{"R001", "R002", "R002", "R001", "R002"}));
  EXPECT_EQ(master.bytes, bytes);
  EXPECT_EQ(written[2], "receiver\t" + std::string(measure::received_columns)) << "the columns stand above the lines";
}

TEST_F(RunFiles, the_master_file_ends_at_its_limit_and_says_so) {
  write("R001.log", line(0, 10) + line(1, 20) + line(2, 30));
  const MasterFile whole = write_master_file(folder.path(), folder.filePath("messages.tsv"), 1 << 20, cancelled);
  const MasterFile cut = write_master_file(folder.path(), folder.filePath("messages.tsv"), whole.bytes - 1, cancelled);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.lines, 2u);
  EXPECT_LT(cut.bytes, whole.bytes);
}

TEST_F(RunFiles, half_a_line_of_a_killed_process_is_counted_and_left_out) {
  write("R001.log", line(0, 10) + line(1, 20).substr(0, 9));
  const MasterFile master = write_master_file(folder.path(), folder.filePath("messages.tsv"), 1 << 20, cancelled);
  EXPECT_EQ(master.lines, 1u);
  EXPECT_EQ(master.unreadable, 1u);
}

TEST_F(RunFiles, a_cancelled_master_file_leaves_nothing) {
  write("R001.log", line(0, 10));
  cancelled = true;
  write_master_file(folder.path(), folder.filePath("messages.tsv"), 1 << 20, cancelled);
  EXPECT_FALSE(QFile::exists(folder.filePath("messages.tsv")));
}

TEST_F(RunFiles, percentile_lines_are_what_common_viewers_read) {
  measure::Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.add(i * 1000);
  const auto text = QString::fromUtf8(hgrm_text(histogram)).split('\n');
  EXPECT_EQ(text[0], "       Value     Percentile TotalCount 1/(1-Percentile)");
  double last_value = 0, last_percentile = -1;
  int rows = 0;
  for (const QString& row : text.mid(2)) {
    const auto cells = row.split(' ', Qt::SkipEmptyParts);
    if (row.startsWith('#') || cells.size() < 3) continue;
    const double value = cells[0].toDouble(), percentile = cells[1].toDouble();
    EXPECT_GE(value, last_value);
    EXPECT_GT(percentile, last_percentile);
    EXPECT_NEAR(value, std::max(1.0, percentile * 1000), 1.5) << row.toStdString();
    EXPECT_EQ(cells.size(), percentile < 1 ? 4 : 3);
    last_value = value, last_percentile = percentile;
    ++rows;
  }
  EXPECT_GT(rows, 20);
  EXPECT_EQ(last_percentile, 1);
  EXPECT_EQ(last_value, 1000);
  EXPECT_EQ(text[text.size() - 3], "#[Max     =     1000.000, Total count    =         1000]");
  EXPECT_FALSE(hgrm_text(measure::Histogram()).contains("nan"));
}

TEST_F(RunFiles, percentile_lines_have_the_ranks_that_percentiles_have) {
  for (const int samples : {20, 100, 1000}) {
    measure::Histogram histogram;
    for (int i = 1; i <= samples; ++i) histogram.add(i);  // below 2,048 ns each has a bucket of its own
    std::map<std::uint64_t, std::string> values;          // by tenths of a percent
    for (const QByteArray& row : hgrm_text(histogram).split('\n').mid(2)) {
      const auto cells = row.simplified().split(' ');
      if (cells.size() != 4 || row.startsWith('#')) continue;
      values[static_cast<std::uint64_t>(std::llround(cells[1].toDouble() * 1000))] = cells[0].toStdString();
    }
    for (const std::uint64_t tenths : {100, 300, 500, 600, 650, 700, 750, 800, 850, 900, 925, 950}) {
      const QByteArray expected = QByteArray::number(static_cast<double>(histogram.percentile(tenths, 1000)) / 1e3, 'f', 3);
      EXPECT_EQ(values[tenths], expected.toStdString()) << tenths << " tenths of a percent of " << samples;
    }
  }
}

}  // namespace
}  // namespace n2nq::app
