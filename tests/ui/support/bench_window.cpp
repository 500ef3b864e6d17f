// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/support/bench_window.h"

#include <QAbstractButton>
#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QTest>
#include <QTimer>

#include "app/host/host_launchers.h"

#include "ui/widget/message_bar.h"

namespace n2nq::ui_test {

BenchWindow::BenchWindow(QString programs, bool may_be_maximized) : programs_(std::move(programs)), may_be_maximized_(may_be_maximized) {
  open();
}

BenchWindow::~BenchWindow() {
  end_run();
}

void BenchWindow::open() {
  ui::MainWindow::Parts parts;
  parts.runs_folder = folder_.filePath(QStringLiteral("runs"));
  parts.presets_folder = folder_.filePath(QStringLiteral("presets"));
  parts.memory = std::make_unique<QSettings>(memory_file(), QSettings::IniFormat);
  hosts_ = std::make_unique<app::HostBook>(folder_.filePath(QStringLiteral("hosts.yaml")));
  parts.hosts = hosts_.get();
  parts.checker = &checker_;
  parts.ssh_offer = [this] { return ssh_offer; };
  parts.launchers = std::make_unique<app::HostLaunchers>(
      *hosts_, [](const app::Host&) { return std::unique_ptr<app::Launcher>(); }, programs_);
  parts.case_launchers = [this] {
    return std::make_unique<app::HostLaunchers>(
        *hosts_, [](const app::Host&) { return std::unique_ptr<app::Launcher>(); }, programs_);
  };
  parts.cases_folder = folder_.filePath(QStringLiteral("cases"));
  parts.programs_folder = programs_;
  window_ = std::make_unique<ui::MainWindow>(std::move(parts));
  if (!may_be_maximized_) window_->setWindowState(Qt::WindowNoState);
  window_->show();
}

void BenchWindow::reopen() {
  window_->close();
  window_.reset();
  open();
}

QString BenchWindow::messages() {
  return window_->findChild<ui::MessageBar*>()->messages().join(u'\n');
}

bool BenchWindow::click(const QString& object_name) {
  auto* button = find<QAbstractButton>(object_name);
  if (button == nullptr || !button->isVisible() || !button->isEnabled()) return false;
  QTest::mouseClick(button, Qt::LeftButton);
  return true;
}

bool BenchWindow::type(const QString& object_name, const QString& text) {
  auto* field = find<QLineEdit>(object_name);
  if (field == nullptr || !field->isVisible() || field->isReadOnly()) return false;
  field->setFocus();
  field->selectAll();
  if (text.isEmpty()) {
    QTest::keyClick(field, Qt::Key_Delete);
  } else {
    QTest::keyClicks(field, text);
  }
  return true;
}

void BenchWindow::set(std::initializer_list<std::pair<const char*, const char*>> values) {
  for (const auto& [key, value] : values) form().set(QString::fromLatin1(key), QString::fromLatin1(value));
}

// An event loop instead of a sleep: it wakes with each event, and a timer only covers conditions that no event announces.
bool BenchWindow::wait_for(const std::function<bool()>& condition, int deadline) {
  constexpr int look_every_ms = 20;
  const QDeadlineTimer until(deadline);
  while (!condition()) {
    if (until.hasExpired()) return false;
    QEventLoop loop;
    QTimer::singleShot(look_every_ms, &loop, &QEventLoop::quit);
    loop.exec();
  }
  return true;
}

bool BenchWindow::wait_for_state(app::RunState state) {
  return wait_for([this, state] { return run().state() == state; });
}

bool BenchWindow::come_back() {
  QWidget editor;
  editor.show();
  for (QWidget* each : {&editor, static_cast<QWidget*>(window_.get())}) {
    each->activateWindow();
    if (!QTest::qWaitForWindowActive(each, deadline_ms)) return false;
  }
  return true;
}

void BenchWindow::end_run() {
  if (!window_) return;
  const auto over = [this] { return run().state() == app::RunState::idle || run().state() == app::RunState::finished; };
  if (!over()) {
    run().stop_all();
    run().stop_all();
    wait_for(over);
  }
}

// By /proc, because nothing in the window tells process numbers.
int child_pid(const char* program) {
  for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
    bool is_number = false;
    const int pid = entry.toInt(&is_number);
    if (!is_number) continue;
    const QByteArray stat = file_text(QStringLiteral("/proc/%1/stat").arg(pid));
    const qsizetype name_end = stat.lastIndexOf(')');
    if (name_end < 0 || stat.mid(stat.indexOf('(') + 1, name_end - stat.indexOf('(') - 1) != QByteArray(program).left(15)) continue;
    const QList<QByteArray> fields = stat.mid(name_end + 2).split(' ');
    if (fields.size() > 1 && fields[0] != "Z" && fields[1].toLongLong() == QCoreApplication::applicationPid()) return pid;
  }
  return 0;
}

QByteArray file_text(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool write_text(const QString& path, const QByteArray& text) {
  QFile file(path);
  return QDir().mkpath(QFileInfo(path).path()) && file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

}  // namespace n2nq::ui_test
