// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the end of a file and what is added to it, in small pieces, on a thread of its own.
//
// Promises: never more than piece_bytes per signal, so that showing it never holds up the window; a file that is not there yet, shrinks or
// is replaced is waited for resp. begun anew. Does not promise every byte: a file far larger than what is shown is entered near its end.
#pragma once

#include <QFile>
#include <QObject>
#include <QStringDecoder>
#include <QTimer>

namespace n2nq::ui {

class LogTail : public QObject {
  Q_OBJECT
 public:
  static constexpr qint64 piece_bytes = 64 * 1024;
  static constexpr qint64 tail_bytes = 512 * 1024;       // read at first
  static constexpr qint64 behind_max = 4 * 1024 * 1024;  // beyond it fell_behind

  explicit LogTail(const QString& path);

 public slots:
  /// Begins near the end of the file and follows it.
  void begin();
  /// Stops following; begin() starts anew.
  void pause();
  /// Reads a piece before what was read so far; answered by prepended, with nothing at the file's start, and position_changed.
  void load_earlier();

 signals:
  void begun();  // what was shown is void
  /// The names of the columns, tab-separated, as the file's head says them; empty for a file without.
  void columns_found(const QString& columns);
  void appended(const QString& text);
  void prepended(const QString& text);
  /// What was read goes from `first` to `next`; all of that was told. `size`, of the whole file, -1: there is no such file yet.
  void position_changed(qint64 first, qint64 next, qint64 size);
  /// The file grows faster than it is read here. That goes on; begin() is for who would rather see the end.
  void fell_behind();

 private:
  void poll();
  void enter(qint64 size);
  void look_for_columns();
  qint64 line_start_after(qint64 at);

  QFile file_;
  QTimer timer_;
  QStringDecoder decoder_{QStringDecoder::Utf8};
  qint64 first_ = 0, next_ = 0;
  bool entered_ = false;
  bool columns_known_ = false;  // or it is known that there are none
};

}  // namespace n2nq::ui
