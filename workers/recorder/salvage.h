// SPDX-License-Identifier: GPL-3.0-or-later
// What a killed group had noted: its logs as far as they were written, and the records that were still in its staging file. Both together
// are everything it had sent or received (with `log: all` and nothing dropped).
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "workers/recorder/recorder.h"

namespace n2nq::worker {

/// Whether another process writes on into the same logs.
enum class LogsGoOn { no, yes };

/// There is no staging file any more, and logs alone are not all.
struct StagingFileGone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The staging file may have been moved into the logs' folder meanwhile. Without one the logs are read alone, if they all have their end (the
/// process was killed behind its last line) or, where they go on, were read back before (by a process that was killed before it could say so).
/// Writes what is in the staging file into the logs, closes them with a foot that says so (or a remark, when they go on), and removes the
/// staging file. Calls `each_record` for every record, old and new, in the order of each service's log. Throws before
/// anything is written or removed, so that it can be tried again: StagingFileGone; std::system_error, with a file system that is read-only
/// as its code, where that is why; other std::runtime_error when the staging file is none of this role, or a log that is there cannot be
/// opened. One that cannot be written, or that somebody removed, is named in the result's error. A log that the killed process had not
/// begun gets the head that `log` says, with port and offset "unknown".
LogCounts salvage_logs(const std::string& staging_file, WorkerRole role, std::uint32_t first, std::uint32_t last,
                       const LogOptions& log_options, LogsGoOn go_on, const std::function<void(const Record&)>& each_record);

}  // namespace n2nq::worker
