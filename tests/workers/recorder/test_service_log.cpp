// SPDX-License-Identifier: GPL-3.0-or-later
// A log on a disk that is full when it is begun, and has room later: a real file system of some kB.
#include "workers/recorder/service_log.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/workers/support/temporary_folder.h"
#include "workers/recorder/recorder.h"

namespace n2nq::worker {
namespace {

namespace fs = std::filesystem;

class ServiceLogOnAFullDisk : public testing::InTemporaryFolder {
 protected:
  void SetUp() override {
    InTemporaryFolder::SetUp();
    fs::create_directory(disk());
    mounted_ = mount("tmpfs", disk().c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!mounted_ && errno == EPERM) GTEST_SKIP() << "a disk that is full has to be made, and only root may mount one";
    ASSERT_TRUE(mounted_) << "no small tmpfs: " << std::strerror(errno);
  }
  void TearDown() override {
    if (mounted_) umount2(disk().c_str(), MNT_DETACH);
    InTemporaryFolder::TearDown();
  }

  std::string disk() const { return folder_ + "/disk"; }
  std::string filler() const { return disk() + "/filler"; }
  void fill() const {
    std::ofstream file(filler(), std::ios::binary);
    const std::string page(4096, 'x');
    while (file.write(page.data(), static_cast<std::streamsize>(page.size())) && file.flush()) {
    }
  }

  bool mounted_ = false;
};

Record sent(std::int64_t index) {
  Record record;
  record.service = 1;
  record.index = index;
  record.intended_ns = 1000;
  record.sent_ns = 1500;
  record.other_ns = 500;
  record.size = 50;
  record.attempt = 1;
  return record;
}

const std::string columns = "# " + std::string(measure::sent_columns);

TEST_F(ServiceLogOnAFullDisk, its_head_comes_when_there_is_room) {
  fill();
  ServiceLog log(disk(), WorkerRole::senders, 1);
  EXPECT_EQ(log.open({{"format", "1"}, {"service", "S001"}}), "");
  log.add(sent(0));
  EXPECT_NE(log.flush().find("No space left on device"), std::string::npos);
  EXPECT_EQ(log.dropped(), 1u);
  fs::remove(filler());
  log.add(sent(1));
  EXPECT_EQ(log.flush(), "");
  log.add(sent(2));
  EXPECT_EQ(log.close(0), "");
  const auto lines = lines_of(log.path());
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "# format: 1");
  EXPECT_EQ(lines[1], "# service: S001");
  EXPECT_EQ(lines[2], columns);
  EXPECT_TRUE(lines[3].starts_with("1\t")) << lines[3];
  EXPECT_TRUE(lines[4].starts_with("2\t")) << "once: " << lines[4];
  EXPECT_EQ(lines[7], "# complete: no");
}

TEST_F(ServiceLogOnAFullDisk, a_log_without_lines_has_its_head_before_its_foot) {
  fill();
  ServiceLog log(disk(), WorkerRole::senders, 1);
  EXPECT_EQ(log.open({{"format", "1"}}), "");
  fs::remove(filler());
  EXPECT_EQ(log.close(0), "");
  EXPECT_EQ(lines_of(log.path()), (std::vector<std::string>{"# format: 1", columns, "# lines: 0", "# dropped: 0", "# complete: yes"}));
}

TEST_F(ServiceLogOnAFullDisk, a_disk_that_stays_full_is_said) {
  fill();
  ServiceLog log(disk(), WorkerRole::senders, 1);
  EXPECT_EQ(log.open({{"format", "1"}}), "");
  EXPECT_NE(log.close(0).find("No space left on device"), std::string::npos);
}

TEST_F(ServiceLogOnAFullDisk, who_goes_on_for_a_killed_process_writes_the_head_that_this_one_could_not) {
  std::ofstream(disk() + "/S001.log").close();
  fs::create_directory(folder_ + "/staging");
  {
    Recorder recorder(WorkerRole::senders, 1, 1, {.mode = LogMode::all, .folder = disk(), .head = {}, .go_on = true}, folder_ + "/staging");
    recorder.begin_log(1, 4711, 0);
    recorder.note(sent(3));
  }
  const auto lines = lines_of(disk() + "/S001.log");
  ASSERT_GT(lines.size(), 4u);
  EXPECT_EQ(lines[0], "# format: 1");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), columns), 1);
  EXPECT_EQ(lines[lines.size() - 1], "# complete: yes");
}

}  // namespace
}  // namespace n2nq::worker
