// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of the folders of runs on a pretend host: what lies there, how old, and a bench that comes by and sweeps.
#pragma once

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <functional>

#include "app/host/host_pool.h"
#include "tests/app/support/lab_programs.h"
#include "tests/app/support/lab_test.h"

namespace n2nq::app::testing {

inline constexpr const char* last_staging_file = "n2nq-senders-9999999999-9.staging";  // no process has that number

struct RunFoldersTest : LabTest {
  QTemporaryDir folder;
  QObject context;

  static void SetUpTestSuite() { take_up(1); }
  void SetUp() override {
    LabTest::SetUp();
    if (IsSkipped()) return;
    sh("rm -rf runs /dev/shm/* /dev/shm/.now-* && mkdir -p runs");
  }
  /// In the folder of the bench on the host, as its user.
  static QString sh(const QString& script) {
    return lab->inside(1, {"setpriv", "--reuid=lab", "--regid=lab", "--clear-groups", "sh", "-c",
                           "export HOME=/home/lab && mkdir -p ~/.cache/n2nq-bench && cd ~/.cache/n2nq-bench && " + script});
  }
  static void make(const QString& name, const QString& age, const QString& file = "R001.log") {
    sh(QString("mkdir runs/%1 && cd runs/%1 && echo x >%2 && touch .process-999999 && touch -d '%3' %2 .process-999999 .").arg(name, file, age));
  }
  static QStringList runs() { return sh("ls -A runs").split('\n', Qt::SkipEmptyParts); }
  static QStringList left_in_memory() { return sh("ls -A /dev/shm").split('\n', Qt::SkipEmptyParts); }
  /// Lets this program run on the host. What it has said up to its hello.
  static QByteArray let_run(Launcher& launcher, const QString& program, const std::function<QByteArray()>& configure) {
    bool put = false, started = false;
    QByteArray output;
    const QObject here;
    QObject::connect(&launcher, &Launcher::file_put, &here, [&] { put = true; });
    QObject::connect(&launcher, &Launcher::started, &here, [&] { started = true; });
    QObject::connect(&launcher, &Launcher::output, &here, [&](const QByteArray& bytes) { output += bytes; });
    launcher.put_file(program);
    EXPECT_TRUE(wait_until([&] { return put; }));
    launcher.start(program);
    EXPECT_TRUE(wait_until([&] { return started; }));
    launcher.write(configure());
    EXPECT_TRUE(wait_until([&] { return output.contains("\"hello\"") && output.endsWith('\n'); }));
    return output;
  }
  /// The bench connects anew, and sweeps. What lies in memory, and all folders before the last in order of names, have been looked at when
  /// that is gone.
  void let_sweep(HostPool& pool) {
    make("zzz-0123456789ab", "2 days ago");
    sh(QString("touch -d '2 days ago' /dev/shm/%1").arg(last_staging_file));
    pool.connect_anew();
    bool connected = false;
    pool.host(lab->host(1))->with_files(&context, [&](const SshProblem& problem, SshFiles*) { connected = problem.none(); });
    ASSERT_TRUE(wait_until([&] { return connected; }));
    ASSERT_TRUE(wait_until([&] { return !runs().contains("zzz-0123456789ab"); }));
    ASSERT_TRUE(wait_until([&] { return !left_in_memory().contains(last_staging_file); }));
  }
  void let_another_bench_sweep() {
    HostPool other(person, programs_folder);
    let_sweep(other);
  }
};

}  // namespace n2nq::app::testing
