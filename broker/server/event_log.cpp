// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "broker/net/clock.h"
#include "broker/wire/printable.h"

namespace n2nq {

EventLog::EventLog(const std::string& path, uint64_t bytes_max) : path_(path), started_ns_(net::now_ns()), bytes_max_(bytes_max) {
  if (path_.empty()) return;
  file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file_.valid()) {
    add_fault(std::strerror(errno));
    return;
  }
  struct stat file {};
  if (::fstat(file_.get(), &file) == 0) bytes_ = static_cast<uint64_t>(file.st_size);
  thread_ = std::thread([this] { run(); });
}

EventLog::~EventLog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_.notify_one();
  thread_.join();
}

std::string EventLog::time() const {
  char time[32];
  std::snprintf(time, sizeof time, "%12.6f  ", static_cast<double>(net::now_ns() - started_ns_) / 1e9);
  return time;
}

void EventLog::write(const std::string& event) {
  if (!file_.valid()) return;
  std::string line = time() + wire::printable(event) + "\n";
  {
    const std::lock_guard lock(mutex_);
    if (over_limit_ > 0 || bytes_ + line.size() > bytes_max_) {
      if (over_limit_++ > 0) return;
      line = time() + "this log is full: from here on nothing is written\n";
    }
    if (waiting_.size() + line.size() > bytes_waiting_max) {
      ++dropped_;
      ++dropped_untold_;
      return;
    }
    waiting_ += line;
    bytes_ += line.size();
  }
  work_.notify_one();
}

bool EventLog::flush(int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  if (!file_.valid()) return true;
  late_ = !done_.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(deadline_ns - net::now_ns(), 0)),
                          [this] { return waiting_.empty() && !busy_; });
  return !late_;
}

std::vector<std::string> EventLog::faults() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> faults;
  if (!fault_.empty()) faults.push_back("broker log incomplete: " + path_ + ": " + fault_);
  if (dropped_ > 0) faults.push_back("broker log incomplete: " + std::to_string(dropped_) + " lines dropped, the disk was too slow");
  if (late_) faults.push_back("broker log incomplete: " + path_ + ": the disk has not taken its last lines yet");
  if (over_limit_ > 0) {
    faults.push_back("broker log incomplete: " + std::to_string(over_limit_) + " lines dropped, it may have " +
                     std::to_string(bytes_max_) + " bytes");
  }
  return faults;
}

void EventLog::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::string lines = std::exchange(waiting_, {});
    // They came behind these.
    if (const uint64_t dropped = std::exchange(dropped_untold_, 0); dropped > 0) {
      lines += time() + std::to_string(dropped) + " lines are missing here: the disk was too slow\n";
    }
    busy_ = true;
    lock.unlock();
    write_out(lines);
    lock.lock();
    busy_ = false;
    done_.notify_all();
  }
}

void EventLog::write_out(const std::string& lines) {
  for (size_t written = 0; written < lines.size();) {
    const ssize_t bytes = ::write(file_.get(), lines.data() + written, lines.size() - written);
    if (bytes > 0) {
      written += static_cast<size_t>(bytes);
    } else if (errno != EINTR) {
      add_fault(std::strerror(errno));
      return;
    }
  }
}

void EventLog::add_fault(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  if (fault_.empty()) fault_ = fault;
}

}  // namespace n2nq
