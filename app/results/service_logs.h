// SPDX-License-Identifier: GPL-3.0-or-later
// The service logs of a run folder read back: their lines as values, and what their heads and feet say. Any thread; may take seconds.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "app/results/stored_run.h"
#include "workers/measure/clock_line.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {

/// The straight lines between clocks that a receiver's latencies were worked out with (docs/measuring.md, "In the logs"). A clock that went
/// back says the same instants twice: which line was in force then, its place among the messages' lines tells.
class LogClocks {
 public:
  /// A "# clock: …" line, behind so many messages' lines; to be given in the file's order. False when it is none, or none that can be read.
  bool take(std::string_view line, std::size_t messages_before);
  /// To be added to received - sent of the message behind so many others. 0 where all stamps are of one clock.
  std::int64_t between(std::int64_t sent_ns, std::int64_t received_ns, std::size_t messages_before) const;

 private:
  struct Entry {
    std::size_t messages_before;
    std::int64_t from_ns;
    std::optional<measure::ClockLine> line;  // none, of the senders: their clock is our own
  };
  /// Null: there is none.
  static const Entry* in_force(const std::vector<Entry>& entries, std::int64_t received_ns, std::size_t messages_before);
  std::vector<Entry> own_, senders_;
};

/// What both kinds of logs have.
struct LogFrame {
  QString path;
  int number = 0;
  std::map<std::string, std::string> words;  // "# key: value" of head and foot, but the clocks'
  bool named_columns = false;                // the head's last line, with the columns' names as they should be
  LogClocks clocks;
  std::vector<QString> unreadable;  // what is wrong, with the line's number; at most ten, the rest is counted
  std::int64_t unreadable_count = 0;
};

struct SenderLog : LogFrame {
  std::vector<measure::SentLine> lines;  // warm-up and all, in the file's order
};
struct ReceiverLog : LogFrame {
  std::vector<measure::ReceivedLine> lines;
  std::vector<measure::SkippedLine> skipped;  // what it was told that it will not get, in the file's order; with `log: all` only
};

inline bool is_warm_up(const measure::SentLine& line) {
  return line.flags & measure::line_warm_up;
}
inline bool is_warm_up(const measure::ReceivedLine& line) {
  return line.flags & measure::line_warm_up;
}
/// Whether its receiver measured it. What nobody sent, or came damaged, is counted as such alone; nothing it says can be relied on.
inline bool is_measured(const measure::ReceivedLine& line) {
  return (line.flags & (measure::line_warm_up | measure::line_unexpected | measure::line_bad_checksum)) == 0;
}

struct ServiceLogs {
  /// Together they take about 1 GiB.
  static constexpr std::int64_t lines_max = 16'000'000;

  std::vector<SenderLog> senders;  // by rising number
  std::vector<ReceiverLog> receivers;
};

/// Empty result: `error` says why (unreadable file, more lines than are held, cancelled).
std::optional<ServiceLogs> read_logs(const QString& run_folder, QString& error, const std::atomic<bool>* cancelled = nullptr);
/// The same without what only an earlier start of a group had: one that is stopped before traffic, and started again with fewer services,
/// leaves the logs of the others, without a line. Their heads say how many services that start had.
std::optional<ServiceLogs> read_logs(const StoredRun& run, QString& error, const std::atomic<bool>* cancelled = nullptr);

}  // namespace n2nq::app
