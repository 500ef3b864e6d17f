// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of files on a real host: its connection for them, and what lies there.
#pragma once

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <memory>
#include <optional>

#include "app/host/host_pool.h"
#include "app/host/ssh_files.h"
#include "tests/app/support/lab_test.h"

namespace n2nq::app::testing {

inline constexpr qint64 big_bytes = 100 << 20;
inline const QString there = "/home/lab/.cache/n2nq-bench";

struct SshFilesTest : LabTest {
  QTemporaryDir folder;
  std::unique_ptr<HostPool> pool;
  std::shared_ptr<LabHost> host;

  static void SetUpTestSuite() { take_up(1); }
  void SetUp() override {
    LabTest::SetUp();
    if (IsSkipped()) return;
    pool = std::make_unique<HostPool>(person, folder.path());
    host = pool->host(lab->host(1));
    sh("rm -rf " + there);
  }
  static QString sh(const QString& script) {
    return lab->inside(1, {"setpriv", "--reuid=lab", "--regid=lab", "--clear-groups", "sh", "-c", "cd /home/lab; " + script}).trimmed();
  }
  QString write(const QString& name, const QByteArray& bytes) {
    QFile file(folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
    return file.fileName();
  }
  static QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  static QByteArray random_bytes(qint64 size) {
    QByteArray out(size, Qt::Uninitialized);
    quint32 state = 1;
    for (char& byte : out) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    return out;
  }
  SshFiles* files() {
    SshFiles* found = nullptr;
    bool told = false;
    host->with_files(host.get(), [&](const SshProblem& problem, SshFiles* given) {
      EXPECT_TRUE(problem.none()) << problem.why.toStdString();
      found = given;
      told = true;
    });
    EXPECT_TRUE(wait_until([&] { return told; }));
    return found;
  }
  std::optional<SshProblem> outcome;
  void begin(const std::shared_ptr<SshTask>& task) {
    outcome.reset();
    files()->run(task, host.get(), [this](const SshProblem& problem) { outcome = problem; });
  }
  bool ends() {
    return wait_until([this] { return outcome.has_value(); });
  }
};

}  // namespace n2nq::app::testing
