// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/service_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace n2nq::worker {

std::string dropped_before(std::uint64_t lines) {
  return std::string(dropped_before_begins) + std::to_string(lines) + " lines of its services; whether any of this log is not known";
}

ServiceLog::ServiceLog(const std::string& folder, WorkerRole role, std::uint32_t number)
    : role_(role), number_(number), path_(folder + "/" + measure::service_name(role == WorkerRole::senders ? 'S' : 'R', number) + ".log") {}

std::string ServiceLog::open(const HeadLines& head) {
  fd_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  whole_bytes_ = 0;
  if (!fd_.valid()) return failed("open");
  head_.clear();
  for (const auto& [key, value] : head) head_ += "# " + key + ": " + value + "\n";
  head_ += "# ";
  head_ += role_ == WorkerRole::senders ? measure::sent_columns : measure::received_columns;
  head_ += "\n";
  write_all({});  // a disk that is full now may take it later: what comes behind it says when that fails
  return {};
}

std::string ServiceLog::open_again(const std::function<void(std::string_view)>& each_line) {
  fd_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd_.valid()) return failed("open");
  std::string rest;  // of a line whose end was not read yet
  std::array<char, 256 * 1024> bytes;
  ssize_t count = 0;
  while ((count = ::read(fd_.get(), bytes.data(), bytes.size())) > 0) {
    rest.append(bytes.data(), static_cast<std::size_t>(count));
    std::size_t from = 0;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', from)) {
      const std::string_view line = std::string_view(rest).substr(from, end - from);
      if (!line.starts_with('#')) ++lines_;
      each_line(line);
      whole_bytes_ += static_cast<std::int64_t>(line.size() + 1);
      from = end + 1;
    }
    rest.erase(0, from);
  }
  if (count < 0 || ftruncate(fd_.get(), whole_bytes_) != 0 || lseek(fd_.get(), whole_bytes_, SEEK_SET) < 0) return failed("read");
  return {};
}

void ServiceLog::add(const Record& record) {
  const std::size_t used = waiting_.size();
  waiting_.resize(used + measure::line_bytes_max);
  waiting_.resize(used + format_record(waiting_.data() + used, role_, record));
  ++(record.is_skipped() ? skipped_waiting_ : lines_waiting_);
}

std::string ServiceLog::flush() {
  std::string error = is_open() ? write_all(waiting_) : failed("write");
  if (error.empty()) {
    lines_ += lines_waiting_;
  } else {
    dropped_ += lines_waiting_ + skipped_waiting_;  // what goes on for a killed process misses both
  }
  waiting_.clear();
  lines_waiting_ = skipped_waiting_ = 0;
  return error;
}

std::string ServiceLog::close(std::uint64_t dropped_before, const std::string& remark) {
  std::string error = has_waiting() ? flush() : "";
  if (!is_open()) return error;
  const std::uint64_t dropped = dropped_ + dropped_before;
  const std::string foot_error = write_all("# lines: " + std::to_string(lines_) + "\n# dropped: " + std::to_string(dropped) +
                                           (dropped == 0 && remark.empty() ? "\n# complete: yes\n" : "\n# complete: no\n") +
                                           (remark.empty() ? "" : "# remark: " + remark + "\n"));
  fd_.reset();
  return error.empty() ? foot_error : error;
}

std::string ServiceLog::break_off(const std::string& remark) {
  std::string error = has_waiting() ? flush() : "";
  if (!is_open()) return error;
  const std::string remark_error = write_all("# remark: " + remark + "\n");
  fd_.reset();
  return error.empty() ? remark_error : error;
}

std::string ServiceLog::write_all(const std::string& behind_head) {
  const std::string text = head_ + behind_head;
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t bytes = ::write(fd_.get(), text.data() + written, text.size() - written);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      const std::string error = failed("write");
      // All of a batch or nothing: the file ends with a whole line, and what is counted is what is there.
      if (ftruncate(fd_.get(), whole_bytes_) == 0) lseek(fd_.get(), whole_bytes_, SEEK_SET);
      return error;
    }
    written += static_cast<std::size_t>(bytes);
  }
  whole_bytes_ += static_cast<std::int64_t>(text.size());
  head_.clear();
  return {};
}

std::string ServiceLog::failed(const char* action) const {
  return std::string("cannot ") + action + " " + path_ + ": " + (is_open() || errno != 0 ? std::strerror(errno) : "not open");
}

}  // namespace n2nq::worker
