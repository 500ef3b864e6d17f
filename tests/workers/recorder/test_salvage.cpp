// SPDX-License-Identifier: GPL-3.0-or-later
// What a killed group had noted, read back from its logs and its staging file.
#include "workers/recorder/salvage.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "tests/workers/support/recorder_kit.h"

namespace n2nq::worker {
namespace {

namespace fs = std::filesystem;

using testing::received;
using testing::told;

struct SalvageTest : testing::RecorderTest {
  /// The staging file of receivers that were killed with these records in it; `more`: what else they had done with it.
  std::string leave(const std::vector<Record>& records, const std::function<void(StagingRing&)>& more = [](StagingRing&) {}) const {
    StagingRing ring = StagingRing::create(staging(), "killed", WorkerRole::receivers, StagingRing::bytes_min);
    for (const Record& record : records) ring.push(record);
    more(ring);
    return ring.path();
  }
};

TEST_F(SalvageTest, a_process_that_ends_in_order_meanwhile_has_left_whole_logs) {
  auto recorder = std::make_unique<Recorder>(WorkerRole::receivers, 1, 1, options(), staging());
  recorder->begin_log(1, 51234, 0);
  const std::string staging_file = recorder->staging_file();
  for (std::uint64_t index = 0; index < 3; ++index) recorder->note(received(1, index));
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // so that who reads back is there first, mostly
    recorder.reset();
  });
  std::uint64_t records = 0;
  const LogCounts counts =
      salvage_logs(staging_file, WorkerRole::receivers, 1, 1, options(), LogsGoOn::no, [&](const Record&) { ++records; });
  end.join();
  EXPECT_EQ(records, 3u);
  EXPECT_EQ(counts.lines, 3u);
  EXPECT_EQ(counts.error, "");
  EXPECT_EQ(read(log_path("R001")).first.back(), "# complete: yes");
  EXPECT_EQ(read(log_path("R001")).second.size(), 3u) << "nothing twice";
}

TEST_F(SalvageTest, ALogThatTheKilledProcessHadNotBegunGetsItsHead) {
  const std::string path = leave({received(1, 0), received(1, 1)});
  LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  std::ofstream(log_path("R001")) << "# format: 1\n# serv";  // killed in the middle of it
  std::uint64_t records = 0;
  const LogCounts counts = salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, LogsGoOn::yes, [&](const Record&) { ++records; });
  EXPECT_EQ(counts.error, "");
  EXPECT_EQ(counts.dropped, 0u);
  EXPECT_EQ(counts.lines, 2u);
  EXPECT_EQ(records, 2u);
  const auto [marks, lines] = read(log_path("R001"));
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_NE(std::ranges::find(marks, "# " + std::string(measure::received_columns)), marks.end());
  EXPECT_FALSE(fs::exists(log_path("R002"))) << "nothing came of it";
}

TEST_F(SalvageTest, ALogThatCannotBeReadIsNamedAndAllIsLeftToALaterAttempt) {
  const std::string path = leave({received(1, 0), received(2, 0)});
  const LogOptions wanted = options();
  fs::create_directories(log_path("R002"));  // no file can be opened there
  const auto read_back = [&] {
    std::uint64_t records = 0;
    salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, LogsGoOn::no, [&](const Record&) { ++records; });
    return records;
  };
  try {
    read_back();
    FAIL() << "a part of it is taken for the whole";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(log_path("R002")), std::string::npos) << error.what();
  }
  EXPECT_TRUE(fs::exists(path));
  fs::remove(log_path("R002"));
  EXPECT_EQ(read_back(), 2u);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(SalvageTest, ALogThatSomebodyHasRemovedIsMissed) {
  const std::string path = leave({received(1, 7), received(2, 7)});
  const LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  ServiceLog log(wanted.folder, WorkerRole::receivers, 1);
  ASSERT_EQ(log.open(head_of_log(WorkerRole::receivers, 1, wanted, "4711", "0")), "");
  const LogCounts counts = salvage_logs(path, WorkerRole::receivers, 1, 3, wanted, LogsGoOn::no, [](const Record&) {});
  EXPECT_EQ(counts.error, log_path("R002") + " is missing: somebody removed it");
}

TEST_F(SalvageTest, WhatAKilledProcessWasToldIsReadBackOnceAndInItsPlace) {
  const LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  // Killed between writing and giving up: of the five in its staging file three stand in the log already.
  std::string path;
  const std::vector<Record> all = {received(1, 0), told(1, 1, 7), told(1, 8, 8), received(1, 9), told(1, 10, 11)};
  {
    StagingRing ring = StagingRing::create(staging(), "killed", WorkerRole::receivers, StagingRing::bytes_min);
    for (const Record& record : all) ring.push(record);
    path = ring.path();
    ServiceLog log(wanted.folder, WorkerRole::receivers, 1);
    ASSERT_EQ(log.open(head_of_log(WorkerRole::receivers, 1, wanted, "4711", "0")), "");
    for (std::size_t i = 0; i < 3; ++i) log.add(all[i]);
    ASSERT_EQ(log.flush(), "");
  }
  std::vector<std::string> seen;
  const auto see = [&seen](const Record& record) {
    char line[measure::line_bytes_max];
    seen.emplace_back(line, format_record(line, WorkerRole::receivers, record));
  };
  const LogCounts counts = salvage_logs(path, WorkerRole::receivers, 1, 1, wanted, LogsGoOn::yes, see);
  EXPECT_EQ(counts.lines, 2u);
  EXPECT_EQ(counts.dropped, 0u);
  const std::vector<std::string> once = std::exchange(seen, {});
  ASSERT_EQ(once.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    char line[measure::line_bytes_max];
    EXPECT_EQ(once[i], std::string(line, format_record(line, WorkerRole::receivers, all[i])));
  }
  // And once more from the logs alone.
  salvage_logs(path, WorkerRole::receivers, 1, 1, wanted, LogsGoOn::no, see);
  EXPECT_EQ(seen, once);
}

TEST_F(SalvageTest, ByWhichClocksAKilledProcessHadWrittenStandsInItsLogs) {
  const LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  const auto note = [](std::int64_t from_ns) {
    return ClockNote{.whose = ClockNote::Whose::own, .from_ns = from_ns, .line = {from_ns, 5, -7}, .bound = {8, 9}};
  };
  const ClockNote drained = note(100), first = note(200), second = note(300);
  std::string path;
  {
    StagingRing ring = StagingRing::create(staging(), "killed", WorkerRole::receivers, StagingRing::bytes_min);
    for (const Record& record : {first.record(), received(1, 1), received(2, 1), second.record(), received(1, 2), received(2, 2)})
      ring.push(record);
    path = ring.path();
    // The first has what was there before, and one of what waits; the second needed neither until now.
    ServiceLog one(wanted.folder, WorkerRole::receivers, 1), two(wanted.folder, WorkerRole::receivers, 2);
    for (ServiceLog* log : {&one, &two}) {
      ASSERT_EQ(log->open(head_of_log(WorkerRole::receivers, log->number(), wanted, "4711", "0")), "");
      log->add_remark("clock: of the process before");
      log->add_remark("remark: the process was killed here and started again");
    }
    one.add_remark(drained.text());
    one.add(received(1, 0));
    one.add_remark(first.text());
    one.add(received(1, 1));
    for (ServiceLog* log : {&one, &two}) ASSERT_EQ(log->flush(), "");
  }
  std::size_t seen = 0;
  salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, LogsGoOn::no, [&seen](const Record& record) {
    EXPECT_FALSE(record.is_clock());
    ++seen;
  });
  EXPECT_EQ(seen, 5u);
  const auto told = [&](const char* name) {
    std::vector<std::string> out;
    std::ifstream file(log_path(name));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(clock_line_begins)) out.push_back(line.substr(2));
      if (!line.starts_with('#')) out.push_back(line.substr(0, line.find('\t')));
    }
    return out;
  };
  const std::string before = "clock: of the process before";
  EXPECT_EQ(told("R001"), (std::vector<std::string>{before, drained.text(), "0", first.text(), "1", second.text(), "2"}));
  EXPECT_EQ(told("R002"), (std::vector<std::string>{before, drained.text(), first.text(), "1", second.text(), "2"}));
}

TEST_F(SalvageTest, WhatWasReadBackByAProcessThatWasKilledBeforeItSaidSoIsReadBackAgain) {
  const std::string path = leave({received(1, 0), received(1, 1)});
  const LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  std::uint64_t records = 0;
  const auto read_back = [&](LogsGoOn go_on) {
    return salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, go_on, [&](const Record&) { ++records; });
  };
  read_back(LogsGoOn::yes);
  ASSERT_FALSE(fs::exists(path));
  const LogCounts counts = read_back(LogsGoOn::yes);
  EXPECT_EQ(counts.lines, 2u);
  EXPECT_EQ(records, 4u);
  // So it is when nobody goes on any more; then the logs get their foot.
  EXPECT_EQ(read_back(LogsGoOn::no).lines, 2u);
  EXPECT_EQ(records, 6u);
  EXPECT_EQ(read(log_path("R001")).first.back(), "# remark: the process ended before its time; this log was completed from its staging file");
  // Lines behind that point were written by somebody whose staging file is missing.
  std::ofstream(log_path("R001"), std::ios::app) << read(log_path("R001")).second.back() << "\n";
  EXPECT_THROW(read_back(LogsGoOn::yes), std::runtime_error);
  EXPECT_THROW(read_back(LogsGoOn::no), std::runtime_error);
}

TEST_F(SalvageTest, WhatWasMovedToTheLogsMeanwhileIsReadBackThere) {
  const LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  const std::string path = leave({received(1, 0)});
  fs::rename(path, wanted.folder + "/killed");
  const LogCounts counts = salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, LogsGoOn::no, [](const Record&) {});
  EXPECT_EQ(counts.lines, 1u);
  EXPECT_FALSE(fs::exists(wanted.folder + "/killed"));
}

TEST_F(SalvageTest, WhatIsBeingMovedToTheLogsIsReadBackWhereItWasAndLeavesNoCopy) {
  const LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  const std::string path = leave({received(1, 0)});
  std::ofstream(wanted.folder + "/killed") << "half of it";
  const LogCounts counts = salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, LogsGoOn::no, [](const Record&) {});
  EXPECT_EQ(counts.lines, 1u);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(wanted.folder + "/killed"));
}

TEST_F(SalvageTest, WhatWasDroppedIsKnownToWhoReadsBackAgain) {
  for (const LogsGoOn first : {LogsGoOn::yes, LogsGoOn::no}) {
    const std::string path = leave({received(1, 0), received(2, 0)}, [](StagingRing& ring) {
      ring.count_dropped();
      ring.add_unwritten(2);
    });
    const LogOptions wanted = options();
    fs::remove_all(wanted.folder);
    fs::create_directories(wanted.folder);
    const auto read_back = [&](LogsGoOn go_on) {
      return salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, go_on, [](const Record&) {}).dropped;
    };
    EXPECT_EQ(read_back(first), 3u);
    ASSERT_FALSE(fs::exists(path));
    EXPECT_EQ(read_back(first), 3u) << "killed before it said a hello: there are the logs alone";
    EXPECT_EQ(read_back(LogsGoOn::no), 3u);
  }
}

TEST_F(SalvageTest, WhoIsKilledWhileReadingBackLeavesAllOfItToTheNext) {
  const std::string path = leave({received(1, 0), received(2, 0), received(1, 1), received(2, 1), received(1, 2)});
  const LogOptions wanted = options();
  fs::create_directories(wanted.folder);
  for (int killed_at = 0; killed_at < 5; ++killed_at) {
    int seen = 0;
    const auto dies = [&](const Record&) {
      if (seen++ == killed_at) throw std::runtime_error("killed");
    };
    EXPECT_THROW(salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, LogsGoOn::yes, dies), std::runtime_error);
  }
  std::uint64_t records = 0;
  const LogCounts counts = salvage_logs(path, WorkerRole::receivers, 1, 2, wanted, LogsGoOn::yes, [&](const Record&) { ++records; });
  EXPECT_EQ(records, 5u);
  EXPECT_EQ(counts.lines, 5u);
}

}  // namespace
}  // namespace n2nq::worker
