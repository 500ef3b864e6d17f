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
#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_lab.h"

namespace n2nq::app::testing {

inline QString programs_folder;
inline constexpr const char* configure_broker =
    R"({"type":"configure","control":1,"run":"test","role":"broker","token":"","listen":{"address":"127.0.0.1","port":0},"expect":{"senders":1,"receivers":1}})"
    "\n";

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

struct LauncherOnHosts : WithEventLoop {
  static inline std::unique_ptr<PretendLab> lab;
  QTemporaryDir folder;
  PretendPerson person;
  std::unique_ptr<HostPool> pool;
  std::unique_ptr<Launcher> launcher;
  QByteArray output;
  std::optional<ProcessExit> exit;
  QString failure, brought;
  bool put = false, started = false, back = false;

  static void SetUpTestSuite() {
    lab = PretendLab::take_up(3);
    if (lab) qputenv("HOME", lab->home().toLocal8Bit());
  }
  static void TearDownTestSuite() { lab.reset(); }
  void SetUp() override {
    if (!lab) GTEST_SKIP() << PretendLab::why_not.toStdString();
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

/// For main(): the only argument is the programs' folder.
inline int run_with_programs(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER-OF-THE-PROGRAMS\n", argv[0]);
    return 2;
  }
  programs_folder = QString::fromLocal8Bit(argv[1]);
  return PretendLab::exit_code(RUN_ALL_TESTS());
}

}  // namespace n2nq::app::testing
