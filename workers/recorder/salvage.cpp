// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/salvage.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

namespace n2nq::worker {

namespace {

constexpr const char* ended_early = "the process ended before its time; this log was completed from its staging file";
constexpr const char* killed_and_started = "the process was killed here and started again";

std::string text_of(WorkerRole role, const Record& record) {
  char line[measure::line_bytes_max];
  return {line, format_record(line, role, record) - 1};
}

/// A record of the ring, and how many notes about clocks lie there before it.
struct Staged {
  Record record;
  std::size_t notes_before;
};

struct StagedRecords {
  std::vector<std::vector<Staged>> by_service;
  std::vector<std::string> clock_lines;  // of all
};

/// What is in the ring, by service from `first`. Whose service is none of these is left out. All stays in it: who reads it back may be
/// killed before it has written it, and the next one needs it all.
StagedRecords staged_in(const StagingRing& ring, std::uint32_t first, std::uint32_t last) {
  StagedRecords out;
  out.by_service.resize(last - first + 1);
  for (std::size_t seen = 0; seen < ring.fill();) {
    const std::span<const Record> waiting = ring.waiting(ring.capacity(), seen);
    for (const Record& record : waiting) {
      if (record.is_clock()) {
        out.clock_lines.push_back(ClockNote::of(record).text());
      } else if (record.service >= first && record.service <= last) {
        out.by_service[record.service - first].push_back({record, out.clock_lines.size()});
      }
    }
    seen += waiting.size();
  }
  return out;
}

/// A log that the killed process has left.
struct Left {
  ServiceLog log;
  std::string last_line = {}, error = {};  // the last with a record
  bool has_head = false;
  std::size_t clock_lines = 0;                  // by that process, and none before it
  std::string last_clock_line = {};
};

/// `longest`: the clock lines of the log that has most of them. The others have some of the same: a thousand logs of a long run would
/// fill the memory with copies.
Left read_left(WorkerRole role, std::uint32_t number, const LogOptions& log_options, std::vector<std::string>& longest,
               const std::function<void(const Record&)>& each_record) {
  Left left{ServiceLog(log_options.folder, role, number)};
  const std::string read_back = std::string("# remark: ") + killed_and_started;
  std::vector<std::string> clock_lines;
  left.error = left.log.open_again([&](std::string_view line) {
    left.has_head = left.has_head || line.ends_with(role == WorkerRole::senders ? measure::sent_columns : measure::received_columns);
    if (line == read_back) clock_lines.clear();
    if (line.starts_with(clock_line_begins)) clock_lines.emplace_back(line.substr(2));
    const auto record = parse_record(role, number, line);
    if (!record) return;
    left.last_line = line;
    each_record(*record);
  });
  left.clock_lines = clock_lines.size();
  if (!clock_lines.empty()) left.last_clock_line = clock_lines.back();
  if (clock_lines.size() > longest.size()) longest = std::move(clock_lines);
  return left;
}

/// All that the killed process had noted about clocks, and how many of these are not among the staged ones. Logs have as many of them as
/// they needed until their last line; what was written may be staged still.
std::pair<std::vector<std::string>, std::size_t> clock_lines_of(std::vector<std::string> lines, const std::vector<std::string>& staged) {
  if (!staged.empty()) lines.erase(std::find(lines.begin(), lines.end(), staged.front()), lines.end());
  const std::size_t not_staged = lines.size();
  lines.insert(lines.end(), staged.begin(), staged.end());
  return {std::move(lines), not_staged};
}

/// Behind the last that a log has. It need not have all before that: a log without lines for long is spared what later ones replace.
std::size_t place_behind(const std::vector<std::string>& all, const Left& left) {
  if (left.clock_lines == 0) return 0;
  const auto found = std::find(all.rbegin(), all.rend(), left.last_clock_line);
  return found == all.rend() ? std::min(left.clock_lines, all.size()) : static_cast<std::size_t>(all.rend() - found);
}

/// Lines are written before their records are given up, so the first records may be in the log already: up to the one that is its last
/// line.
std::size_t written_already(WorkerRole role, const std::vector<Staged>& records, const std::string& last_line) {
  for (std::size_t i = records.size(); i > 0; --i) {
    if (text_of(role, records[i - 1].record) == last_line) return i;
  }
  return 0;
}

/// What a log says of lines that are in none: each foot counts what its own process dropped of it, and a remark what all before that did of
/// the whole group.
struct DroppedByFeet {
  std::uint64_t all = 0, last = 0, before = 0;

  void take(std::string_view line) {
    if (const auto dropped = number_behind("# dropped: ", line)) all += last = *dropped;
    if (const auto dropped = number_behind(dropped_before_begins, line.substr(std::min(line.size(), remark_begins.size())))) before = *dropped;
  }

 private:
  static constexpr std::string_view remark_begins = "# remark: ";
  static std::optional<std::uint64_t> number_behind(std::string_view begins, std::string_view line) {
    std::uint64_t number = 0;
    if (!line.starts_with(begins)) return {};
    std::from_chars(line.data() + begins.size(), line.data() + line.size(), number);
    return number;
  }
};

bool is_missing(const ServiceLog& log) {
  return access(log.path().c_str(), F_OK) != 0 && errno == ENOENT;
}

/// `error`: as the log said it.
[[noreturn]] void fail_to_open(const ServiceLog& log, const std::string& error) {
  if (access(log.path().c_str(), W_OK) != 0 && errno == EROFS) throw std::system_error(errno, std::generic_category(), log.path());
  throw std::runtime_error(error);
}

/// Without a staging file the logs are everything, if each says how it ended: the process was killed behind its last line and before it
/// could say so; or the one that was to go on for it had read everything back, and was killed before it noted anything.
LogCounts read_whole_logs(const std::string& staging_file, WorkerRole role, std::uint32_t first, std::uint32_t last,
                          const LogOptions& log_options, LogsGoOn go_on, const std::function<void(const Record&)>& each_record) {
  const std::string read_back = std::string("# remark: ") + killed_and_started;
  LogCounts counts;
  std::uint64_t dropped_by_all = 0, dropped_by_last = 0, dropped_before = 0;
  std::string missing;
  bool was_read_back = go_on == LogsGoOn::yes;
  for (std::uint32_t number = first; number <= last; ++number) {
    ServiceLog log(log_options.folder, role, number);
    if (is_missing(log)) {
      missing = log.path();
      continue;
    }
    bool whole = false, has_foot = false;
    DroppedByFeet dropped;
    const std::string error = log.open_again([&](std::string_view line) {
      dropped.take(line);
      const auto record = parse_record(role, number, line);
      if (record) each_record(*record);
      has_foot = has_foot || line.starts_with("# complete: ");
      was_read_back = was_read_back || line == read_back;
      if (record || !whole) whole = line.starts_with("# complete: ") || line == read_back;
    });
    if (!error.empty()) fail_to_open(log, error);
    if (!whole) throw StagingFileGone("staging file " + staging_file + " is gone, and " + log.path() + " has no end");
    counts.lines += log.lines();
    dropped_by_all += dropped.all;
    dropped_by_last += dropped.last;
    dropped_before = std::max(dropped_before, dropped.before);
    if (go_on == LogsGoOn::no && !has_foot) {
      if (const std::string problem = log.close(0, ended_early); counts.error.empty()) counts.error = problem;
    }
  }
  // Whoever reads back leaves out a log of which nothing has come; otherwise each service has one.
  if (!missing.empty() && !was_read_back)
    throw StagingFileGone("staging file " + staging_file + " is gone, and " + missing + " is missing");
  counts.dropped = dropped_before > 0 ? dropped_before + dropped_by_last : dropped_by_all;
  return counts;
}

/// Where it is moved to for a bench that may not live to have it read back.
std::string place_beside_logs(const std::string& staging_file, const std::string& logs_folder) {
  const std::size_t slash = staging_file.rfind('/');
  return logs_folder + '/' + (slash == std::string::npos ? staging_file : staging_file.substr(slash + 1));
}

std::optional<StagingRing> open_where_it_is(const std::string& staging_file, const std::string& logs_folder) {
  std::optional<StagingRing> found = StagingRing::open(staging_file);
  return found ? std::move(found) : StagingRing::open(place_beside_logs(staging_file, logs_folder));
}

}  // namespace

LogCounts salvage_logs(const std::string& staging_file, WorkerRole role, std::uint32_t first, std::uint32_t last,
                       const LogOptions& log_options, LogsGoOn go_on, const std::function<void(const Record&)>& each_record) {
  std::optional<StagingRing> found = open_where_it_is(staging_file, log_options.folder);
  if (!found) return read_whole_logs(staging_file, role, first, last, log_options, go_on, each_record);
  StagingRing& ring = *found;
  if (ring.role() != role) throw std::runtime_error("staging file " + staging_file + ": it was written by " + name_of(ring.role()));
  LogCounts counts;
  const std::uint64_t dropped_there = ring.dropped() + ring.unwritten();
  counts.dropped = dropped_there;
  const auto keep_error = [&](const std::string& error) {
    if (counts.error.empty()) counts.error = error;
  };
  const StagedRecords staged = staged_in(ring, first, last);
  std::vector<Left> logs;
  std::vector<std::string> longest;
  for (std::uint32_t number = first; number <= last; ++number) logs.push_back(read_left(role, number, log_options, longest, each_record));
  // What they hold would count as lost, and what is staged would be gone with the file. Nothing was written yet: it can be tried again.
  const bool any_begun = std::ranges::any_of(logs, [](const Left& left) { return left.has_head; });
  for (const Left& left : logs) {
    if (left.error.empty()) continue;
    if (!is_missing(left.log)) fail_to_open(left.log, left.error);
    // A service's log is begun before anything is noted of it.
    if (any_begun && !staged.by_service[left.log.number() - first].empty()) keep_error(left.log.path() + " is missing: somebody removed it");
  }
  const auto [clock_lines, not_staged] = clock_lines_of(std::move(longest), staged.clock_lines);
  for (Left& left : logs) {
    const std::vector<Staged>& records = staged.by_service[left.log.number() - first];
    if (!left.has_head) {
      if (records.empty()) continue;  // nothing came of it yet; whoever goes on begins it
      left.error = left.log.open(head_of_log(role, left.log.number(), log_options, "unknown", "unknown"));
    }
    keep_error(left.error);
    std::size_t clock_lines_there = place_behind(clock_lines, left);
    for (std::size_t i = written_already(role, records, left.last_line); i < records.size(); ++i) {
      for (; clock_lines_there < not_staged + records[i].notes_before; ++clock_lines_there)
        left.log.add_remark(clock_lines[clock_lines_there]);
      each_record(records[i].record);
      left.log.add(records[i].record);
    }
    // The staging file alone knows it, and whoever reads back after this has the logs alone.
    if (dropped_there > 0) left.log.add_remark("remark: " + dropped_before(dropped_there));
    keep_error(go_on == LogsGoOn::yes ? left.log.break_off(killed_and_started) : left.log.close(0, ended_early));
    counts.lines += left.log.lines();
    counts.dropped += left.log.dropped();
  }
  ring.remove_file();
  ::unlink(place_beside_logs(staging_file, log_options.folder).c_str());  // a copy that is being made there meanwhile
  return counts;
}

}  // namespace n2nq::worker
