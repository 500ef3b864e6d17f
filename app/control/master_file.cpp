// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/master_file.h"

#include <QDir>
#include <QFile>
#include <QSaveFile>
#include <memory>
#include <queue>
#include <string_view>
#include <vector>

#include "app/settings/whole_file.h"
#include "workers/measure/log_line.h"

namespace n2nq::app {

namespace {

constexpr qsizetype write_bytes = 1 << 20;

/// One receiver's log, line by line.
class LogCursor {
 public:
  explicit LogCursor(const QString& path) : file_(path), name_(QFileInfo(path).completeBaseName().toUtf8()) {
    const QString why = open_regular(file_);
    if (why.isEmpty() && file_.size() == 0) return;
    const uchar* memory = why.isEmpty() ? file_.map(0, file_.size()) : nullptr;
    if (memory == nullptr) trouble_ = QString("Cannot read %1: %2").arg(path, why.isEmpty() ? file_.errorString() : why);
    if (memory != nullptr) rest_ = std::string_view(reinterpret_cast<const char*>(memory), static_cast<std::size_t>(file_.size()));
    // The mapping outlives the descriptor: a thousand logs must not take a thousand of those.
    file_.close();
  }

  /// To the next message; false at the end.
  bool next() {
    while (!rest_.empty()) {
      const auto newline = rest_.find('\n');
      line_ = rest_.substr(0, newline);
      rest_.remove_prefix(newline == std::string_view::npos ? rest_.size() : newline + 1);
      if (line_.empty() || line_.front() == '#') continue;
      if (const auto parsed = measure::parse_received_line(line_)) {
        received_ns_ = parsed->received_ns;
        return true;
      }
      ++unreadable_;
    }
    return false;
  }

  std::int64_t received_ns() const { return received_ns_; }
  std::string_view line() const { return line_; }
  const QByteArray& name() const { return name_; }
  std::uint64_t unreadable() const { return unreadable_; }
  const QString& trouble() const { return trouble_; }

 private:
  QFile file_;
  QByteArray name_;
  QString trouble_;
  std::string_view rest_, line_;
  std::int64_t received_ns_ = 0;
  std::uint64_t unreadable_ = 0;
};

/// Earliest first; at the same nanosecond, the lower receiver first.
struct Later {
  bool operator()(const LogCursor* a, const LogCursor* b) const {
    return a->received_ns() != b->received_ns() ? a->received_ns() > b->received_ns() : a->name() > b->name();
  }
};

QByteArray head() {
  return QByteArray("# format: 1\n# all receivers' messages in the order of receiving\nreceiver\t") +
         QByteArray(measure::received_columns.data(), static_cast<qsizetype>(measure::received_columns.size())) + '\n';
}

}  // namespace

MasterFile write_master_file(const QString& receivers_folder, const QString& path, std::uint64_t bytes_max,
                             const std::atomic<bool>& cancelled) {
  MasterFile result;
  QSaveFile out(path);
  if (!out.open(QIODevice::WriteOnly | QIODevice::Unbuffered)) return result.error = QString("Cannot write %1: %2").arg(path, out.errorString()), result;

  std::vector<std::unique_ptr<LogCursor>> logs;
  std::priority_queue<LogCursor*, std::vector<LogCursor*>, Later> ahead;
  for (const QFileInfo& info : QDir(receivers_folder).entryInfoList({"R*.log"}, QDir::Files, QDir::Name)) {
    logs.push_back(std::make_unique<LogCursor>(info.filePath()));
    if (!logs.back()->trouble().isEmpty()) return result.error = logs.back()->trouble(), result;  // not one without it
    if (logs.back()->next()) ahead.push(logs.back().get());
  }

  QByteArray buffer = head();
  bool all_taken = true;
  while (!ahead.empty() && !cancelled && all_taken) {
    LogCursor* log = ahead.top();
    const auto line_bytes = static_cast<std::uint64_t>(log->name().size()) + log->line().size() + 2;
    if (result.bytes + static_cast<std::uint64_t>(buffer.size()) + line_bytes > bytes_max) {
      result.cut = true;
      break;
    }
    buffer += log->name() + '\t';
    buffer.append(log->line().data(), static_cast<qsizetype>(log->line().size())).append('\n');
    ++result.lines;
    if (buffer.size() >= write_bytes) {
      result.bytes += static_cast<std::uint64_t>(buffer.size());
      all_taken = write_all(out, buffer);
      buffer.clear();
    }
    ahead.pop();
    if (log->next()) ahead.push(log);
  }
  if (cancelled) return result;  // an uncommitted QSaveFile leaves nothing behind
  result.bytes += static_cast<std::uint64_t>(buffer.size());
  for (const auto& log : logs) result.unreadable += log->unreadable();
  if (all_taken && write_all(out, buffer) && out.commit()) return result;
  result.error = QString("Cannot write %1: %2").arg(path, out.errorString());
  result.lines = result.bytes = 0;
  return result;
}

}  // namespace n2nq::app
