// SPDX-License-Identifier: GPL-3.0-or-later
// All open log windows: one per file, all reading on one thread beside the window's.
#pragma once

#include <QHash>
#include <QObject>
#include <QPointer>
#include <QThread>

#include "ui/log/log_window.h"

namespace n2nq::ui {

class LogViewers : public QObject {
  Q_OBJECT
 public:
  /// More windows than this are not opened; the oldest makes room.
  static constexpr int windows_max = 12;

  explicit LogViewers(const Theme& theme, QObject* parent = nullptr);
  ~LogViewers() override;

  /// Opens the file's window, or brings it to the front.
  LogWindow* open(const QString& title, const QString& path);
  void close_all();

 private:
  const Theme& theme_;
  QThread thread_;
  QList<QPointer<LogWindow>> windows_;  // in the order of opening
};

}  // namespace n2nq::ui
