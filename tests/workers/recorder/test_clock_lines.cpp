// SPDX-License-Identifier: GPL-3.0-or-later
// No line of a log stands behind other clocks' lines than those it was written by: neither behind a full ring nor in a run of days.
#include "workers/recorder/clock_lines.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/workers/support/temporary_folder.h"
#include "workers/recorder/recorder.h"

namespace n2nq::worker {
namespace {

namespace fs = std::filesystem;

ClockNote note_of(ClockNote::Whose whose, std::int64_t from_ns) {
  return {.whose = whose, .from_ns = from_ns, .line = {from_ns, 5, -7}, .bound = {8, 9}};
}

Record received(std::int64_t index) {
  Record record;
  record.service = 1;
  record.index = index;
  record.sender = 9;
  record.intended_ns = 1000;
  record.sent_ns = 1500;
  record.other_ns = 4000;
  record.attempt = 1;
  return record;
}

class ClockLinesInLogs : public testing::InTemporaryFolder {
 protected:
  void SetUp() override {
    InTemporaryFolder::SetUp();
    fs::create_directory(folder_ + "/logs");
    const LogOptions options{.mode = LogMode::all, .folder = folder_ + "/logs", .head = {}};
    recorder_ = std::make_unique<Recorder>(WorkerRole::receivers, 1, 1, options, folder_);
  }
  void TearDown() override {
    recorder_.reset();
    InTemporaryFolder::TearDown();
  }
  std::string log() const { return folder_ + "/logs/R001.log"; }
  /// What stands right before the line of this message.
  static std::string before(const std::vector<std::string>& lines, std::int64_t index) {
    for (std::size_t i = 1; i < lines.size(); ++i) {
      if (lines[i].starts_with(std::to_string(index) + "\t")) return lines[i - 1];
    }
    return "no such line";
  }

  std::unique_ptr<Recorder> recorder_;
};

TEST_F(ClockLinesInLogs, wait_while_the_ring_is_full) {
  // A log that nobody reads holds up its writer, and so the ring fills.
  ASSERT_EQ(mkfifo(log().c_str(), 0600), 0);
  recorder_->begin_log(1, 4711, 0);
  std::int64_t index = 0;
  while (recorder_->counts().dropped == 0) recorder_->note(received(index++));
  recorder_->note_clock(note_of(ClockNote::Whose::own, 100));
  recorder_->note_clock(note_of(ClockNote::Whose::senders, 200));
  const ClockNote own = note_of(ClockNote::Whose::own, 300);
  recorder_->note_clock(own);
  EXPECT_EQ(recorder_->counts().dropped, 1u) << "they are no lines of messages";
  recorder_->note(received(index++));
  EXPECT_EQ(recorder_->counts().dropped, 2u) << "not before its clocks";
  std::vector<std::string> lines;
  std::thread reader([&] { lines = lines_of(log()); });
  // Until there is room again.
  for (std::uint64_t dropped = 0; dropped != recorder_->counts().dropped; ++index) {
    dropped = recorder_->counts().dropped;
    recorder_->note(received(index));
    usleep(1000);
  }
  recorder_->finish();
  reader.join();
  const std::string senders = "# " + note_of(ClockNote::Whose::senders, 200).text();
  EXPECT_EQ(before(lines, index - 1), senders);
  const auto found = std::find(lines.begin(), lines.end(), senders);
  ASSERT_NE(found, lines.end());
  EXPECT_EQ(*(found - 1), "# " + own.text());
}

TEST_F(ClockLinesInLogs, are_there_however_many_came_before) {
  recorder_->begin_log(1, 4711, 0);
  constexpr std::int64_t many = 100'001;
  for (std::int64_t i = 0; i < many; ++i) recorder_->note_clock(note_of(ClockNote::Whose::own, i));
  recorder_->note(received(7));
  recorder_->finish();
  EXPECT_EQ(before(lines_of(log()), 7), "# " + note_of(ClockNote::Whose::own, many - 1).text());
}

TEST(ClockLines, forget_only_what_later_ones_replace) {
  ClockLines lines;
  lines.add(note_of(ClockNote::Whose::senders, 1));
  for (std::int64_t i = 0; i < 200'000; ++i) lines.add(note_of(ClockNote::Whose::own, i));
  std::vector<std::string> told;
  lines.each_from(0, [&told](const std::string& line) { told.push_back(line); });
  ASSERT_EQ(told.size(), ClockLines::kept_max);
  EXPECT_EQ(told.front(), note_of(ClockNote::Whose::senders, 1).text());
  EXPECT_EQ(told.back(), note_of(ClockNote::Whose::own, 199'999).text());
  told.clear();
  lines.each_from(lines.end() - 1, [&told](const std::string& line) { told.push_back(line); });
  EXPECT_EQ(told, std::vector<std::string>{note_of(ClockNote::Whose::own, 199'999).text()});
}

}  // namespace
}  // namespace n2nq::worker
