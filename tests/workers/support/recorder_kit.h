// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of what a group notes, and of what is read back of one that was killed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/workers/support/temporary_folder.h"
#include "workers/recorder/recorder.h"

namespace n2nq::worker::testing {

class RecorderTest : public InTemporaryFolder {
 protected:
  void SetUp() override {
    InTemporaryFolder::SetUp();
    std::filesystem::create_directory(staging());
  }

  std::string staging() const { return folder_ + "/staging"; }
  std::string log_path(const char* name) const { return folder_ + "/logs/" + name + ".log"; }
  LogOptions options() const {
    return {.mode = LogMode::all, .sample_every = 100, .folder = folder_ + "/logs", .head = {{"queue.mode", "broadcaster"}}};
  }

  /// `#` lines and the others of a file.
  static std::pair<std::vector<std::string>, std::vector<std::string>> read(const std::string& path) {
    std::pair<std::vector<std::string>, std::vector<std::string>> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) (line.starts_with("#") ? lines.first : lines.second).push_back(line);
    return lines;
  }
  /// As who reads it back will find it; the file itself is in use.
  std::uint64_t unwritten_of(const Recorder& recorder) const {
    const std::string copy = staging() + "/copy";
    std::filesystem::copy_file(recorder.staging_file(), copy, std::filesystem::copy_options::overwrite_existing);
    return StagingRing::open(copy)->unwritten();
  }
};

inline Record received(std::uint32_t service, std::uint64_t index) {
  Record record;
  record.service = service;
  record.index = index;
  record.sender = 9;
  record.size = 50;
  record.intended_ns = 1000;
  record.sent_ns = 1500;
  record.other_ns = 4000;
  record.to_broker_ns = 500;
  record.in_queue_ns = 800;
  record.attempt = 1;
  return record;
}

inline Record told(std::uint32_t service, std::int64_t from, std::int64_t to) {
  return Record::of_skipped(
      service, {.from = from, .to = to, .sender_first = 9, .sender_last = 11, .reason = wire::SkipReason::expired, .told_ns = 5000 + from});
}

}  // namespace n2nq::worker::testing
