// SPDX-License-Identifier: GPL-3.0-or-later
// The broker's log where the disk does not keep up: a pipe that nobody empties.
#include "broker/server/event_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace n2nq {
namespace {

class SlowDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    reader_.reset(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(reader_.valid());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// Until the writer has closed it.
  std::string read_to_the_end() {
    ::fcntl(reader_.get(), F_SETFL, 0);
    std::string all(1 << 16, '\0');
    size_t bytes = 0;
    for (ssize_t more = 1; more > 0; bytes += static_cast<size_t>(more)) {
      all.resize(bytes + (1 << 16));
      more = ::read(reader_.get(), all.data() + bytes, 1 << 16);
      if (more <= 0) break;
    }
    all.resize(bytes);
    return all;
  }

  const std::string path_ = (std::filesystem::temp_directory_path() / ("n2nq-slow-disk-" + std::to_string(getpid()))).string();
  net::Fd reader_;
};

TEST_F(SlowDisk, WhatWaitsForItIsBoundedInBytesAndWhatIsMissingIsSaid) {
  constexpr uint64_t events = 20'000;
  const std::string event(1000, 'x');
  std::vector<std::string> faults;
  std::string all;
  std::thread reading;
  {
    EventLog log(path_);
    for (uint64_t i = 0; i < events; ++i) log.write(event);
    faults = log.faults();
    log.write("the last one");  // there is no room for it either
    reading = std::thread([&] { all = read_to_the_end(); });
  }
  reading.join();
  ASSERT_EQ(faults.size(), 1u);
  std::istringstream lines(all);
  uint64_t whole = 0, missing = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t said = line.find(" lines are missing here");
    if (said != std::string::npos) {
      missing += std::stoull(line.substr(0, said).substr(12));
    } else {
      ++whole;
    }
  }
  EXPECT_EQ(whole + missing, events + 1) << "what is not there is said";
  EXPECT_GT(missing, 0u);
  EXPECT_LE(all.size(), 2 * EventLog::bytes_waiting_max + (1 << 20)) << "no more was kept for it, beside what the pipe holds";
  EXPECT_EQ(faults.front(), "broker log incomplete: " + std::to_string(missing - (all.find("the last one") == std::string::npos)) +
                                " lines dropped, the disk was too slow");
}

TEST_F(SlowDisk, ItTakesUpAgainWhenThereIsRoom) {
  std::string all;
  std::thread reading;
  {
    EventLog log(path_);
    for (int i = 0; i < 5000; ++i) log.write(std::string(1000, 'x'));
    reading = std::thread([&] { all = read_to_the_end(); });
    log.flush(INT64_MAX / 2);
    log.write("later");
  }
  reading.join();
  const size_t missing = all.find("lines are missing here");
  ASSERT_NE(missing, std::string::npos);
  EXPECT_GT(all.find("later"), missing);
  EXPECT_NE(all.find("later"), std::string::npos);
}

/// Written to a file of its own, which is there as long as this is.
struct LogFile {
  LogFile() : path((std::filesystem::temp_directory_path() / ("n2nq-event-log-" + std::to_string(getpid()))).string()) {}
  ~LogFile() { std::filesystem::remove(path); }
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
  const std::string path;
};

TEST(EventLogTest, ItEndsWhereItIsAsLongAsItMayBeAndSaysSo) {
  const LogFile file;
  constexpr uint64_t bytes_max = 10'000;
  const std::string event(1000, 'x');
  for (int start = 0; start < 2; ++start) {  // one that is started again has no more room
    EventLog log(file.path, bytes_max);
    for (int i = 0; i < 30; ++i) log.write(event);
    log.flush(INT64_MAX / 2);
    const std::string text = file.text();
    EXPECT_LE(text.size(), bytes_max + 200) << "the line that says so comes behind it";
    EXPECT_TRUE(text.ends_with("this log is full: from here on nothing is written\n")) << text.substr(text.size() - 100);
    const std::string lines = start == 0 ? "21" : "30";
    EXPECT_EQ(log.faults(), std::vector<std::string>{"broker log incomplete: " + lines + " lines dropped, it may have 10000 bytes"});
  }
}

TEST(EventLogTest, OneThatIsStartedAgainGoesOnBehindWhatWasDoneBefore) {
  const LogFile file;
  { EventLog(file.path).write("R001 is cut off"); }
  { EventLog(file.path).write("started again"); }
  const std::string text = file.text();
  const size_t before = text.find("R001 is cut off\n"), after = text.find("started again\n");
  EXPECT_NE(before, std::string::npos) << text;
  EXPECT_NE(after, std::string::npos) << text;
  EXPECT_LT(before, after);
}

}  // namespace
}  // namespace n2nq
