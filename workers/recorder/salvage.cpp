// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/salvage.h"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <vector>

namespace n2nq::worker {

namespace {

constexpr const char* killed = "the process was killed; this log was completed from its staging file";
constexpr const char* killed_and_started = "the process was killed here and started again";

std::string text_of(WorkerRole role, const Record& record) {
  char line[measure::line_bytes_max];
  return {line, format_record(line, role, record) - 1};
}

/// The records of the ring, by service from `first`. Whose service is none of these is left out. They stay in it: who reads them back may
/// be killed before it has written them, and the next one needs them all.
std::vector<std::vector<Record>> records_by_service(const StagingRing& ring, std::uint32_t first, std::uint32_t last) {
  std::vector<std::vector<Record>> records(last - first + 1);
  for (std::size_t seen = 0; seen < ring.fill();) {
    const std::span<const Record> waiting = ring.waiting(ring.capacity(), seen);
    for (const Record& record : waiting) {
      if (record.service >= first && record.service <= last) records[record.service - first].push_back(record);
    }
    seen += waiting.size();
  }
  return records;
}

/// Lines are written before their records are given up, so the first records may be in the log already: up to the one that is its last
/// line.
std::size_t written_already(WorkerRole role, const std::vector<Record>& records, const std::string& last_line) {
  for (std::size_t i = records.size(); i > 0; --i) {
    if (text_of(role, records[i - 1]) == last_line) return i;
  }
  return 0;
}

/// Without a staging file the logs are everything, if each says how it ended: the process was killed behind its last line and before it
/// could say so; or the one that was to go on for it had read everything back, and was killed before it noted anything.
LogCounts read_whole_logs(const std::string& staging_file, WorkerRole role, std::uint32_t first, std::uint32_t last,
                          const LogOptions& log_options, LogsGoOn go_on, const std::function<void(const Record&)>& each_record) {
  const std::string read_back = std::string("# remark: ") + killed_and_started;
  LogCounts counts;
  std::string missing;
  bool was_read_back = go_on == LogsGoOn::yes;
  for (std::uint32_t number = first; number <= last; ++number) {
    ServiceLog log(log_options.folder, role, number);
    if (access(log.path().c_str(), F_OK) != 0 && errno == ENOENT) {
      missing = log.path();
      continue;
    }
    bool whole = false, has_foot = false;
    const std::string error = log.open_again([&](std::string_view line) {
      const auto record = parse_record(role, number, line);
      if (record) each_record(*record);
      has_foot = has_foot || line.starts_with("# complete: ");
      was_read_back = was_read_back || line == read_back;
      if (record || !whole) whole = line.starts_with("# complete: ") || line == read_back;
    });
    if (!error.empty() || !whole) {
      throw std::runtime_error("staging file " + staging_file + " is gone, and " + (error.empty() ? log.path() + " has no end" : error));
    }
    counts.lines += log.lines();
    if (go_on == LogsGoOn::no && !has_foot) counts.error = log.close(0, killed);
  }
  // Whoever reads back leaves out a log of which nothing has come; otherwise each service has one.
  if (!missing.empty() && !was_read_back)
    throw std::runtime_error("staging file " + staging_file + " is gone, and " + missing + " is missing");
  return counts;
}

}  // namespace

LogCounts salvage_logs(const std::string& staging_file, WorkerRole role, std::uint32_t first, std::uint32_t last,
                       const LogOptions& log_options, LogsGoOn go_on, const std::function<void(const Record&)>& each_record) {
  if (access(staging_file.c_str(), F_OK) != 0 && errno == ENOENT) {
    return read_whole_logs(staging_file, role, first, last, log_options, go_on, each_record);
  }
  StagingRing ring = StagingRing::open(staging_file);
  if (ring.role() != role) throw std::runtime_error("staging file " + staging_file + ": it was written by " + name_of(ring.role()));
  LogCounts counts;
  counts.dropped = ring.dropped() + ring.unwritten();
  const auto keep_error = [&](const std::string& error) {
    if (counts.error.empty()) counts.error = error;
  };
  const auto records = records_by_service(ring, first, last);
  for (std::uint32_t number = first; number <= last; ++number) {
    const std::vector<Record>& staged = records[number - first];
    ServiceLog log(log_options.folder, role, number);
    std::string last_line;
    bool has_head = false;
    std::string error = log.open_again([&](std::string_view line) {
      has_head = has_head || line.ends_with(role == WorkerRole::senders ? measure::sent_columns : measure::received_columns);
      const auto record = parse_record(role, number, line);
      if (!record) return;
      last_line = line;
      each_record(*record);
    });
    if (!has_head) {
      if (staged.empty()) continue;  // nothing came of it yet; whoever goes on begins it
      error = log.open(head_of_log(role, number, log_options, "unknown", "unknown"));
    }
    keep_error(error);
    for (std::size_t i = written_already(role, staged, last_line); i < staged.size(); ++i) {
      each_record(staged[i]);
      log.add(staged[i]);
    }
    keep_error(go_on == LogsGoOn::yes ? log.break_off(killed_and_started) : log.close(0, killed));
    counts.lines += log.lines();
    counts.dropped += log.dropped();
  }
  ring.remove_file();
  return counts;
}

}  // namespace n2nq::worker
