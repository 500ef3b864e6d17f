// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of one process on a pretend host: its launcher, and what that tells.
#pragma once

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <memory>
#include <optional>
#include <string>

#include "app/host/host_pool.h"
#include "app/host/lab_host.h"
#include "app/host/launcher.h"
#include "tests/app/support/lab_programs.h"
#include "tests/app/support/lab_test.h"

namespace n2nq::app::testing {

/// What is read at each log-in on a host of the lab, as a test has it: gone with this, also where the test ends early.
class LoginScript {
 public:
  /// `needs`: other files and folders in the home folder there that go with it.
  LoginScript(const PretendLab& lab, int host, const QStringList& needs = {}) : lab_(lab), host_(host) {
    for (const QString& name : QStringList(".bashrc") + needs) paths_ += "/home/lab/" + name;
  }
  ~LoginScript() { remove(); }
  LoginScript(const LoginScript&) = delete;
  LoginScript& operator=(const LoginScript&) = delete;

  void set(const QString& text) const { lab_.inside(host_, {"sh", "-c", "cat >/home/lab/.bashrc"}, text.toUtf8() + '\n'); }
  void remove() const { lab_.inside(host_, QStringList{"rm", "-rf"} + paths_); }

 private:
  const PretendLab& lab_;
  const int host_;
  QStringList paths_;
};

struct LauncherOnHosts : LabTest {
  QTemporaryDir folder;
  std::unique_ptr<HostPool> pool;
  std::unique_ptr<Launcher> launcher;
  QByteArray output;
  std::optional<ProcessExit> exit;
  QString failure, brought;
  bool put = false, started = false, back = false;

  static void SetUpTestSuite() { take_up(3); }
  void SetUp() override {
    LabTest::SetUp();
    if (IsSkipped()) return;
    pool = std::make_unique<HostPool>(person, programs_folder);
  }
  void make(const Host& host) {
    launcher = pool->launcher(host);
    put = started = back = false;
    failure.clear();
    output.clear();
    exit.reset();
    QObject::connect(launcher.get(), &Launcher::file_put, [this] { put = true; });
    QObject::connect(launcher.get(), &Launcher::started, [this] { started = true; });
    QObject::connect(launcher.get(), &Launcher::output, [this](const QByteArray& bytes) { output += bytes; });
    QObject::connect(launcher.get(), &Launcher::gone, [this](const ProcessExit& how) { exit = how; });
    QObject::connect(launcher.get(), &Launcher::failed, [this](const QString& why) { failure = why; });
    QObject::connect(launcher.get(), &Launcher::brought_back, [this](const QString& error) {
      brought = error;
      back = true;
    });
  }
  bool gets_put(const QString& program = "n2nq-broker") {
    launcher->put_file(program);
    EXPECT_TRUE(wait_until([this] { return put || !failure.isEmpty(); }));
    return put;
  }
  bool runs_broker(int host = 1) { return runs_broker(lab->host(host)); }
  bool runs_broker(const Host& host) {
    make(host);
    if (!gets_put()) return false;
    launcher->start("n2nq-broker");
    if (!wait_until([this] { return started || !failure.isEmpty(); }) || !started) return false;
    launcher->write(configure_broker);
    return wait_until([this] { return output.contains("\"hello\"") && output.contains('\n'); });
  }
  bool wait_gone() {
    return wait_until([this] { return exit.has_value(); });
  }
  std::string told() const { return failure.toStdString(); }
  static std::string home_of(int host) {
    return lab->inside(host, {"find", "/home/lab", "-type", "f", "-not", "-path", "*/.ssh/*"}).toStdString();
  }
};

}  // namespace n2nq::app::testing
