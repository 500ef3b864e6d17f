// SPDX-License-Identifier: GPL-3.0-or-later
// messages.tsv: the lines of all receivers' logs in one file, ordered by receive time, up to a stated size.
#pragma once

#include <QString>
#include <atomic>
#include <cstdint>

namespace n2nq::app {

struct MasterFile {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  bool cut = false;              // the size was reached before the last line
  std::uint64_t unreadable = 0;  // lines that are no log lines: a killed process may leave half a line
  QString error;                 // empty: written
};

/// Merges `folder`/R*.log into `path`. Each log is in the order of receiving already, so memory stays at one line per receiver.
/// Ends early, with nothing written, once `cancelled` is set.
MasterFile write_master_file(const QString& receivers_folder, const QString& path, std::uint64_t bytes_max,
                             const std::atomic<bool>& cancelled);

}  // namespace n2nq::app
