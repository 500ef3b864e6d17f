// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "broker/net/clock.h"
#include "tests/workers/support/recorder_kit.h"
#include "workers/recorder/salvage.h"

namespace n2nq::worker {
namespace {

namespace fs = std::filesystem;

using testing::received;
using testing::RecorderTest;
using testing::told;

/// Waits until `done` says so; false when it does not within 20 s.
template <typename Done>
bool wait_for(Done&& done) {
  const std::int64_t deadline_ns = net::now_ns() + 20 * net::ns_per_s;
  while (!done()) {
    if (net::now_ns() > deadline_ns) return false;
    usleep(1000);
  }
  return true;
}

TEST_F(RecorderTest, staging_files_that_nobody_touched_for_long_are_removed) {
  fs::create_directories(staging());
  const auto make = [this](const char* name, std::chrono::minutes untouched_for) {
    const fs::path path = fs::path(staging()) / name;
    std::ofstream(path) << "left behind";
    fs::last_write_time(path, fs::file_time_type::clock::now() - untouched_for);
    return path;
  };
  const auto abandoned = make("n2nq-senders-1-1.staging", std::chrono::minutes(11));
  const auto in_use = make("n2nq-senders-2-2.staging", std::chrono::minutes(9));
  const auto foreign = make("other.staging", std::chrono::minutes(11));
  StagingRing ring = StagingRing::create(staging(), "n2nq-senders-3-3.staging", WorkerRole::senders, StagingRing::bytes_min);
  fs::last_write_time(ring.path(), fs::file_time_type::clock::now() - std::chrono::minutes(11));  // its process was paused
  {
    StagingRing touched = StagingRing::create(staging(), "n2nq-senders-4-4.staging", WorkerRole::senders, StagingRing::bytes_min);
    fs::last_write_time(touched.path(), fs::file_time_type::clock::now() - std::chrono::minutes(11));
    touched.touch();  // and killed: somebody is about to read it
  }
  const auto start_a_group = [this] { const Recorder recorder(WorkerRole::receivers, 1, 1, options(), staging()); };
  start_a_group();
  EXPECT_TRUE(fs::exists(abandoned)) << "it was seen so for the first time";
  start_a_group();
  EXPECT_TRUE(fs::exists(abandoned)) << "not long ago";
  fs::last_write_time(abandoned, fs::file_time_type::clock::now() - std::chrono::minutes(11));
  start_a_group();
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(in_use));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(ring.path())) << "its process lives";
  EXPECT_TRUE(fs::exists(staging() + "/n2nq-senders-4-4.staging"));
}

TEST_F(RecorderTest, a_staging_file_is_not_taken_from_who_reads_back_a_process_that_stood_still_for_long_and_was_killed) {
  fs::create_directories(staging());
  fs::path path;
  const auto is_untouched_for_long = [&] { fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(60)); };
  const auto start_a_group = [this] { const Recorder recorder(WorkerRole::receivers, 1, 1, options(), staging()); };
  {
    StagingRing stopped = StagingRing::create(staging(), "n2nq-senders-5-5.staging", WorkerRole::senders, StagingRing::bytes_min);
    path = stopped.path();
    for (int i = 0; i < 3; ++i) {
      is_untouched_for_long();
      start_a_group();
      ASSERT_TRUE(fs::exists(path)) << "its process lives";
    }
    is_untouched_for_long();
  }
  start_a_group();
  ASSERT_TRUE(fs::exists(path)) << "its process was killed a moment ago";
  {
    const auto read_back = StagingRing::open(path);
    ASSERT_TRUE(read_back);
    is_untouched_for_long();
  }
  start_a_group();
  EXPECT_TRUE(fs::exists(path)) << "who read it back was killed, too, and the next one is about to come";
  is_untouched_for_long();
  start_a_group();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RecorderTest, a_staging_file_is_touched_while_more_comes_than_is_written) {
  LogOptions often = options();
  often.touch_every_ns = net::ns_per_ms;
  Recorder recorder(WorkerRole::receivers, 1, 1, often, staging());
  recorder.begin_log(1, 51234, 0);
  const fs::path path = recorder.staging_file();
  std::uint64_t index = 0;
  const auto fill = [&] {
    while (recorder.counts().dropped == 0) recorder.note(received(1, index++));
  };
  fill();
  const auto before = fs::file_time_type::clock::now() - std::chrono::minutes(11);
  fs::last_write_time(path, before);
  EXPECT_TRUE(wait_for([&] {
    for (int more = 0; more < 100'000; ++more) recorder.note(received(1, index++));
    return fs::last_write_time(path) > before + std::chrono::minutes(1);
  }));
}

TEST_F(RecorderTest, what_its_process_still_writes_is_waited_for_and_then_refused) {
  const Recorder recorder(WorkerRole::receivers, 1, 1, options(), staging());
  try {
    StagingRing::open(recorder.staging_file(), std::chrono::milliseconds(100));
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "staging file " + recorder.staging_file() + ": the process that it belongs to still runs");
  }
}

TEST_F(RecorderTest, WritesAFilePerServiceWithHeadLinesAndFoot) {
  Recorder recorder(WorkerRole::receivers, 1, 2, options(), staging());
  recorder.begin_log(1, 51234, 0);
  recorder.begin_log(2, 51235, -77);
  for (std::uint64_t index = 0; index < 3; ++index) recorder.note(received(1, index));
  recorder.note(received(2, 0));
  recorder.finish();

  const auto [marks, lines] = read(log_path("R001"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2], "2\t9\t50\t1000\t1500\t4000\t2.500\t0.500\t0.800\t1.200\t1\t-");
  EXPECT_EQ(marks.front(), "# format: 1");
  EXPECT_EQ(marks[marks.size() - 4], "# " + std::string(measure::received_columns)) << "the last line of the head";
  EXPECT_EQ(marks.back(), "# complete: yes");
  EXPECT_NE(std::ranges::find(marks, "# queue.mode: broadcaster"), marks.end());
  EXPECT_NE(std::ranges::find(marks, "# source_port: 51234"), marks.end());
  EXPECT_EQ(read(log_path("R002")).second.size(), 1u);
  EXPECT_EQ(recorder.counts().lines, 4u);
  EXPECT_EQ(recorder.counts().dropped, 0u);
  EXPECT_TRUE(fs::is_empty(staging())) << "the staging file is gone";
}

TEST_F(RecorderTest, ALogCanBeFollowedWhileItGrows) {
  Recorder recorder(WorkerRole::receivers, 1, 1, options(), staging());
  recorder.begin_log(1, 51234, 0);
  EXPECT_TRUE(wait_for([&] { return !read(log_path("R001")).first.empty(); })) << "the head is there before the first line";
  recorder.note(received(1, 0));
  EXPECT_TRUE(wait_for([&] { return read(log_path("R001")).second.size() == 1; }));
  recorder.note(received(1, 1));
  EXPECT_TRUE(wait_for([&] { return read(log_path("R001")).second.size() == 2; }));
}

TEST_F(RecorderTest, AServiceThatNeverConnectedHasALogToo) {
  Recorder recorder(WorkerRole::senders, 7, 7, options(), staging());
  recorder.finish();
  const auto [marks, lines] = read(log_path("S007"));
  EXPECT_TRUE(lines.empty());
  EXPECT_NE(std::ranges::find(marks, "# source_port: none"), marks.end());
}

TEST_F(RecorderTest, SampledKeepsEveryNth) {
  LogOptions sampled = options();
  sampled.mode = LogMode::sampled;
  sampled.sample_every = 10;
  Recorder recorder(WorkerRole::receivers, 1, 1, sampled, staging());
  for (std::uint64_t index = 0; index < 100; ++index) recorder.note(received(1, index));
  recorder.finish();
  const auto [marks, lines] = read(log_path("R001"));
  EXPECT_EQ(lines.size(), 10u);
  EXPECT_NE(std::ranges::find(marks, "# log: every 10th message"), marks.end());
  EXPECT_EQ(recorder.counts().dropped, 0u);
}

TEST_F(RecorderTest, WhatWillNotComeIsNoMessageAndIsReadBack) {
  Recorder recorder(WorkerRole::receivers, 1, 1, options(), staging());
  recorder.begin_log(1, 4711, 0);
  recorder.note(received(1, 0));
  recorder.note(told(1, 1, 7));
  recorder.note(received(1, 8));
  recorder.finish();
  const auto [marks, lines] = read(log_path("R001"));
  EXPECT_EQ(recorder.counts().lines, 2u);
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_EQ(std::ranges::count(marks, "# skipped: senders=9-11 from=1 to=7 reason=expired told_ns=5001"), 1);
  EXPECT_EQ(std::ranges::count(marks, "# lines: 2"), 1);
}

TEST_F(RecorderTest, OffHasNoFilesAtAll) {
  Recorder recorder(WorkerRole::receivers, 1, 1, {.mode = LogMode::off, .sample_every = 1, .folder = "", .head = {}}, "");
  recorder.begin_log(1, 1, 0);
  recorder.note(received(1, 0));
  recorder.finish();
  EXPECT_EQ(recorder.counts().lines, 0u);
  EXPECT_EQ(recorder.staging_file(), "");
}

TEST_F(RecorderTest, SaysWhichFolderIsImpossible) {
  LogOptions impossible = options();
  impossible.folder = "/proc/nowhere";
  try {
    Recorder recorder(WorkerRole::receivers, 1, 1, impossible, staging());
    FAIL() << "nothing was refused";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/proc/nowhere"), std::string::npos);
  }
}

TEST_F(RecorderTest, AFullDiskCostsLinesAndIsSaid) {
  // RLIMIT_FSIZE stands in for a full disk: write() fails in the same place, after part of it was written. The staging file must not be
  // hit.
  Recorder recorder(WorkerRole::receivers, 1, 2, options(), staging());
  recorder.begin_log(1, 51234, 0);
  recorder.begin_log(2, 51235, 0);
  ASSERT_TRUE(wait_for([&] { return !read(log_path("R001")).first.empty() && !read(log_path("R002")).first.empty(); }));
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = 5'000;
  setrlimit(RLIMIT_FSIZE, &tight);
  for (std::uint64_t index = 0; index < 1000; ++index) recorder.note(received(1, index));
  recorder.note(received(2, 0));
  const bool said = wait_for([&] { return recorder.counts().dropped > 0; });
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(said);
  EXPECT_GT(unwritten_of(recorder), 0u) << "who goes on for a killed process has to know";
  recorder.note(received(1, 1000));
  recorder.finish();

  const LogCounts counts = recorder.counts();
  EXPECT_NE(counts.error.find(log_path("R001")), std::string::npos) << counts.error;
  EXPECT_NE(counts.error.find("File too large"), std::string::npos) << counts.error;
  EXPECT_EQ(counts.lines + counts.dropped, 1002u);
  const auto [marks, lines] = read(log_path("R001"));
  EXPECT_EQ(marks.back(), "# complete: no");
  EXPECT_EQ(lines.size() + counts.dropped, 1001u);
  for (const std::string& line : lines) EXPECT_TRUE(measure::parse_received_line(line)) << line;
  EXPECT_EQ(read(log_path("R002")).second.size(), 1u) << "the others notice nothing";

  // Killed behind that, and before it gave its account: who reads back knows of them, and so do the logs of who goes on.
  const auto read_back = [&](LogsGoOn go_on) {
    return salvage_logs(staging() + "/gone", WorkerRole::receivers, 1, 2, options(), go_on, [](const Record&) {});
  };
  EXPECT_EQ(read_back(LogsGoOn::no).dropped, counts.dropped);
  LogOptions going_on = options();
  going_on.go_on = true;
  Recorder another(WorkerRole::receivers, 1, 2, going_on, staging());
  another.go_on_from(read_back(LogsGoOn::yes));
  another.begin_log(1, 51236, 0);
  another.note(received(1, 1001));
  another.finish();
  EXPECT_EQ(another.counts().dropped, counts.dropped);
  const auto all_marks = read(log_path("R001")).first;
  EXPECT_EQ(std::count(all_marks.begin(), all_marks.end(), "# complete: no"), 2);
  EXPECT_EQ(read_back(LogsGoOn::no).dropped, counts.dropped) << "by the remark of the one, not by the feet of both";
}

TEST_F(RecorderTest, WhereNoFileMayBeAsLargeTheStagingFileIsSmaller) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = 4 << 20;
  setrlimit(RLIMIT_FSIZE, &tight);
  Recorder recorder(WorkerRole::receivers, 1, 1, options(), staging());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(fs::file_size(recorder.staging_file()), 4u << 20);
  recorder.begin_log(1, 51234, 0);
  recorder.note(received(1, 0));
  recorder.finish();
  EXPECT_EQ(recorder.counts().lines, 1u);
}

TEST_F(RecorderTest, AFullDiskThatTakesNoLineOfWhatWasSkippedIsSaidToo) {
  // Of a receiver that asks for nothing there are no others.
  Recorder recorder(WorkerRole::receivers, 1, 1, options(), staging());
  recorder.begin_log(1, 51234, 0);
  ASSERT_TRUE(wait_for([&] { return !read(log_path("R001")).first.empty(); }));
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = fs::file_size(log_path("R001"));
  setrlimit(RLIMIT_FSIZE, &tight);
  recorder.note(told(1, 0, 99));
  const bool said = wait_for([&] { return !recorder.counts().error.empty(); });
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(said);
  EXPECT_TRUE(wait_for([&] { return unwritten_of(recorder) == 1; }))
      << "who goes on for a killed process has to know";
  recorder.note(told(1, 100, 199));
  recorder.finish();

  EXPECT_EQ(recorder.counts().lines, 0u);
  EXPECT_EQ(recorder.counts().dropped, 1u);
  EXPECT_EQ(read(log_path("R001")).first.back(), "# complete: no");
}

TEST_F(RecorderTest, ManyLinesFromOneThreadAllArrive) {
  Recorder recorder(WorkerRole::receivers, 1, 50, options(), staging());
  for (std::uint32_t service = 1; service <= 50; ++service) recorder.begin_log(service, 1, 0);
  for (std::uint64_t index = 0; index < 4000; ++index) {
    for (std::uint32_t service = 1; service <= 50; ++service) recorder.note(received(service, index));
  }
  recorder.finish();
  EXPECT_EQ(recorder.counts().lines + recorder.counts().dropped, 200'000u);
  EXPECT_EQ(recorder.counts().dropped, 0u) << "the ring holds more than that";
  const auto lines = read(log_path("R050")).second;
  ASSERT_EQ(lines.size(), 4000u);
  for (std::uint64_t index = 0; index < 4000; ++index) ASSERT_EQ(measure::parse_received_line(lines[index])->index, index);
}

TEST_F(RecorderTest, AFullRingDropsAndKeepsWhatItHas) {
  StagingRing ring = StagingRing::create(staging(), "small", WorkerRole::receivers, StagingRing::bytes_min);
  std::uint64_t kept = 0;
  while (ring.push(received(1, kept))) ++kept;
  EXPECT_EQ(kept, ring.capacity());
  EXPECT_FALSE(ring.push(received(1, kept)));
  EXPECT_EQ(ring.waiting(10).size(), 10u);
  EXPECT_EQ(ring.waiting(10)[9].index, 9u);
  ring.drop(10);
  for (std::uint64_t more = 0; more < 10; ++more) EXPECT_TRUE(ring.push(received(1, kept + more)));
  EXPECT_FALSE(ring.push(received(1, 0)));
  std::uint64_t expected = 10;
  while (ring.fill() > 0) {
    const auto records = ring.waiting(1'000'000);
    for (const Record& record : records) ASSERT_EQ(record.index, expected++);
    ring.drop(records.size());
  }
  EXPECT_EQ(expected, kept + 10);
}

TEST_F(RecorderTest, RecordsOutliveAKilledProcess) {
  const pid_t child = fork();
  if (child == 0) {
    StagingRing ring = StagingRing::create(staging(), "killed", WorkerRole::receivers, StagingRing::bytes_min);
    for (std::uint64_t index = 0; index < 1234; ++index) ring.push(received(1, index));
    ring.drop(34);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto left = StagingRing::open(staging() + "/killed");
  ASSERT_TRUE(left);
  const StagingRing& ring = *left;
  EXPECT_EQ(ring.role(), WorkerRole::receivers);
  const auto records = ring.waiting(10'000);
  ASSERT_EQ(records.size(), 1200u);
  EXPECT_EQ(records.front().index, 34u);
  EXPECT_EQ(records.back().index, 1233u);
}

TEST_F(RecorderTest, RefusesWhatIsNoStagingFile) {
  std::ofstream(staging() + "/junk") << std::string(100'000, 'x');
  EXPECT_THROW(StagingRing::open(staging() + "/junk"), std::runtime_error);
  EXPECT_FALSE(StagingRing::open(staging() + "/absent"));
  EXPECT_THROW(StagingRing::create("/proc/nowhere", "x", WorkerRole::senders), std::runtime_error);
}

}  // namespace
}  // namespace n2nq::worker
