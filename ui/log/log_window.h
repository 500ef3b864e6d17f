// SPDX-License-Identifier: GPL-3.0-or-later
// A window with one log file that follows it while it grows: search, copy, open in the system's viewer.
#pragma once

#include <QElapsedTimer>
#include <QThread>
#include <QWidget>

#include "ui/theme/theme.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace n2nq::ui {

class ElidedLabel;
class LogHeading;
class LogTail;

class LogWindow : public QWidget {
  Q_OBJECT
 public:
  /// Text shown at most; beyond it the view goes on near the end of the file, or no longer follows it where a person reads.
  static constexpr qint64 shown_bytes_max = 8 * 1024 * 1024;

  /// `thread`: where the file is read; must outlive the window.
  LogWindow(const QString& title, const QString& path, const Theme& theme, QThread& thread, QWidget* parent = nullptr);
  ~LogWindow() override;

  const QString& path() const { return path_; }
  QString text() const;
  bool is_following() const;
  /// While more is expected the window says how long nothing has come, and of a file that is not there what it waits for.
  void set_awaited(bool awaited) { awaited_ = awaited; }
  bool is_awaited() const { return awaited_; }
  /// Goes to a place of `text` as soon as it is loaded; loads what stands before until it is there, or no more can be shown.
  void look_for(const QString& text);
  void find_next();
  void find_previous();

 signals:
  /// The window is gone for the person; it may live on for a moment.
  void closed(const QString& path);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* make_tools();
  void connect_tail();
  void append(const QString& text);
  void prepend(const QString& text);
  void show_position(qint64 first, qint64 next, qint64 size);
  bool shows_end() const;
  bool is_read() const;
  void go_on_near_end();
  bool has_room_before() const;
  void load_before(qint64 bytes);
  void look_further();
  void set_following(bool following);
  void find(bool backwards);
  void restyle();
  void set_stops();
  void copy();
  void open_outside();

  QString path_;
  const Theme& theme_;
  LogTail* tail_;
  QPlainTextEdit* view_;
  LogHeading* heading_;
  QLineEdit* search_;
  QLabel* found_;
  ElidedLabel* position_;
  QPushButton *next_, *previous_, *follow_, *copy_, *outside_, *earlier_;
  qint64 shown_bytes_ = 0;
  bool all_loaded_ = true;
  bool awaited_ = false;
  qint64 size_ = -1;  // as far as it was read
  QElapsedTimer since_growth_;
  bool looking_ = false;           // for what was asked with look_for()
  qint64 wanted_before_bytes_ = 0;  // of what stands before
  bool loads_before_ = false;       // a piece of it is on its way
  bool stopped_for_reader_ = false;
};

}  // namespace n2nq::ui
