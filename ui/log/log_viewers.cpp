// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/log/log_viewers.h"

namespace n2nq::ui {

LogViewers::LogViewers(const Theme& theme, QObject* parent) : QObject(parent), theme_(theme) {
  thread_.setObjectName(QStringLiteral("logs"));
  thread_.start(QThread::LowPriority);
}

LogViewers::~LogViewers() {
  close_all();
  thread_.quit();
  thread_.wait();
}

LogWindow* LogViewers::open(const QString& title, const QString& path) {
  windows_.removeAll(nullptr);
  for (const auto& window : windows_) {
    if (window->path() != path) continue;
    window->raise();
    window->activateWindow();
    return window;
  }
  if (windows_.size() >= windows_max) {
    const QPointer<LogWindow> oldest = windows_.takeFirst();
    oldest->close();  // who waits for its end hears of it
    delete oldest;
  }
  auto* window = new LogWindow(title, path, theme_, thread_);
  windows_ << window;
  window->show();
  return window;
}

void LogViewers::close_all() {
  for (const auto& window : windows_) delete window;
  windows_.clear();
}

}  // namespace n2nq::ui
