// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/log/log_tail.h"

#include <algorithm>

namespace n2nq::ui {

namespace {
constexpr int idle_ms = 200;
constexpr int busy_ms = 20;  // between two pieces while there is more
constexpr qint64 line_bytes_max = 4096;
constexpr qint64 head_bytes_max = 16 * 1024;
}  // namespace

LogTail::LogTail(const QString& path) : file_(path), timer_(this) {
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, &LogTail::poll);
}

void LogTail::begin() {
  entered_ = false;
  poll();
}

void LogTail::pause() {
  timer_.stop();
}

// A piece that begins within a line shows the rest of it as if it were one; so a piece begins behind the next end of line.
qint64 LogTail::line_start_after(qint64 at) {
  if (at <= 0) return 0;
  file_.seek(at - 1);
  const qint64 end = file_.read(line_bytes_max).indexOf('\n');
  return end < 0 ? at : at + end;
}

// The columns' names are the last line of the head that has tabs in it; the head is over when a line of another kind begins.
void LogTail::look_for_columns() {
  file_.seek(0);
  const QByteArray head = file_.read(head_bytes_max);
  QByteArray columns;
  for (qsizetype at = 0, end = head.indexOf('\n'); end >= 0; at = end + 1, end = head.indexOf('\n', at)) {
    const QByteArray line = head.mid(at, end - at);
    columns_known_ = !line.startsWith('#');
    if (columns_known_) break;
    if (line.contains('\t')) columns = line.mid(1).trimmed();
  }
  if (head.size() == head_bytes_max) columns_known_ = true;
  if (columns_known_ || !columns.isEmpty()) emit columns_found(QString::fromUtf8(columns));
}

void LogTail::enter(qint64 size) {
  entered_ = true;
  columns_known_ = false;
  first_ = next_ = line_start_after(std::max<qint64>(0, size - tail_bytes));
  decoder_.resetState();
  emit begun();
}

void LogTail::poll() {
  timer_.start(idle_ms);
  if (!file_.isOpen() && !file_.open(QIODevice::ReadOnly)) {
    emit position_changed(0, 0, -1);
    return;
  }
  const qint64 size = file_.size();
  if (!entered_ || size < next_) enter(size);
  if (size - next_ > behind_max) emit fell_behind();
  if (!columns_known_) look_for_columns();
  if (size > next_) {
    file_.seek(next_);
    const QByteArray piece = file_.read(std::min(piece_bytes, size - next_));
    next_ += piece.size();
    if (!piece.isEmpty()) emit appended(decoder_.decode(piece));
  }
  emit position_changed(first_, next_, size);
  if (size > next_) timer_.start(busy_ms);
}

void LogTail::load_earlier() {
  if (!entered_) return;  // begun comes first
  const qint64 from = line_start_after(std::max<qint64>(0, first_ - piece_bytes));
  file_.seek(from);
  const QByteArray piece = file_.read(first_ - from);
  first_ = from;
  emit prepended(QString::fromUtf8(piece));
  emit position_changed(first_, next_, file_.size());
}

}  // namespace n2nq::ui
