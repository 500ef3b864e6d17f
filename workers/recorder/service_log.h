// SPDX-License-Identifier: GPL-3.0-or-later
// The text file of one service: `#` lines (what it is about, last of all the column names), a line per message, `#` lines at the end.
// Lines are collected and written together; a file never holds half a line, even when the disk is full. The log writer's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/net/fd.h"
#include "workers/recorder/record.h"

namespace n2nq::worker {

using HeadLines = std::vector<std::pair<std::string, std::string>>;  // "key", "value"

/// How dropped_before() begins; the number follows.
inline constexpr std::string_view dropped_before_begins = "the process before this one dropped ";
/// A remark of a log: what the processes before did not write of all their group's logs.
std::string dropped_before(std::uint64_t lines);

class ServiceLog {
 public:
  /// `folder`/S001.log or R001.log; nothing is opened yet.
  ServiceLog(const std::string& folder, WorkerRole role, std::uint32_t number);

  bool is_open() const { return fd_.valid(); }
  const std::string& path() const { return path_; }
  std::uint32_t number() const { return number_; }

  /// Creates the file (an older one is emptied) with its head. Empty: done; else what went wrong, with the path. A head that the disk does
  /// not take comes before the first line (or the foot) that it takes; no line ever stands without it.
  std::string open(const HeadLines& head);
  /// Opens a log that a killed process has left, without the half line that may be at its end, and gives its lines (`#` lines too) to
  /// `each_line`. What was there counts as lines. Empty: done.
  std::string open_again(const std::function<void(std::string_view)>& each_line);
  /// Collects a line; what was skipped is a `#` line, and counts as none unless it is dropped.
  void add(const Record& record);
  /// Collects a `#` line.
  void add_remark(const std::string& text) { waiting_ += "# " + text + "\n"; }
  bool has_waiting() const { return !waiting_.empty(); }
  /// Writes what was collected. Empty: done; else what went wrong, with the path; the lines are then counted as dropped.
  std::string flush();
  /// A remark in place of a foot: somebody else will open it again and go on.
  std::string break_off(const std::string& remark);
  /// The foot, and the end. `dropped_before` lines never reached this log; `remark`: one more line of the foot.
  std::string close(std::uint64_t dropped_before, const std::string& remark = {});

  std::uint64_t lines() const { return lines_; }      // in the file
  std::uint64_t dropped() const { return dropped_; }  // the disk did not take them

 private:
  /// What is left of the head first. All of it or nothing.
  std::string write_all(const std::string& behind_head);
  std::string failed(const char* action) const;

  WorkerRole role_;
  std::uint32_t number_;
  std::string path_;
  net::Fd fd_;
  std::string head_;  // as long as it is not in the file
  std::string waiting_;
  std::uint64_t lines_waiting_ = 0, skipped_waiting_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t dropped_ = 0;
  std::int64_t whole_bytes_ = 0;  // length of the file up to its last complete line
};

}  // namespace n2nq::worker
