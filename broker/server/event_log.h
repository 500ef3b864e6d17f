// SPDX-License-Identifier: GPL-3.0-or-later
// The broker's readable log: one line per event, with seconds since the start.
//
// Promises that write() never waits for the disk: a thread of its own writes, from a short queue. When the queue is full a line is dropped
// and counted, and a line in its place says so; when the file cannot be written, or has become as long as it may, that is a fault, and the run
// goes on without a log.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "broker/net/fd.h"

namespace n2nq {

class EventLog {
 public:
  /// Of lines that are not on their way to the disk yet; and as many may be on their way.
  static constexpr size_t bytes_waiting_max = 1024 * 1024;

  /// Of the file: who comes and goes without end fills no disk. Some 500,000 lines.
  static constexpr uint64_t file_bytes_max = uint64_t{64} << 20;

  /// An empty path: nothing is written. An existing file is written on: it is that of the N2NQ before this one, in the same run.
  explicit EventLog(const std::string& path, uint64_t bytes_max = file_bytes_max);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Any thread. One line, whatever a client has said in it (wire/printable.h).
  void write(const std::string& event);
  /// Any thread: waits until all is on its way to the disk, at most until `deadline_ns`. False: it is not.
  bool flush(int64_t deadline_ns);
  /// Sentences; empty when the log is complete. What was not on its way to the disk at the last flush() is one.
  std::vector<std::string> faults();

 private:
  void run();
  std::string time() const;
  void write_out(const std::string& lines);
  void add_fault(const std::string& fault);

  const std::string path_;
  const int64_t started_ns_;
  const uint64_t bytes_max_;
  net::Fd file_;

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::string waiting_;      // whole lines
  uint64_t bytes_ = 0;       // of the file, with what is on its way there
  uint64_t over_limit_ = 0;  // lines that it had no room for
  uint64_t dropped_ = 0;
  uint64_t dropped_untold_ = 0;  // of them, since the last line that says so
  bool busy_ = false;
  bool late_ = false;  // something waited at the last flush()
  bool ending_ = false;
  std::string fault_;
  std::thread thread_;
};

}  // namespace n2nq
