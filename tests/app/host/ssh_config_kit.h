// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of what ssh's config files say: a home folder to write them into, and what ssh itself makes of them.
#pragma once

#include <gtest/gtest.h>

#include <QFile>
#include <QMap>
#include <QProcess>
#include <QTemporaryDir>
#include <optional>

#include "app/host/ssh_config.h"

namespace n2nq::app::testing {

struct SshConfigTest : ::testing::Test {
  QTemporaryDir home;
  QString path(const QString& name) const { return home.filePath(name); }
  void write(const QString& name, const QByteArray& text) {
    QFile file(path(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly)) << name.toStdString();
    file.write(text);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  }
  SshConfig read() const { return SshConfig::read(home.path(), path("config"), path("system")); }
  /// What ssh itself says of a name, by key in lower case. None: there is no ssh, or it refuses.
  std::optional<QMap<QString, QStringList>> of_ssh(const QString& name) const {
    QProcess ssh;
    ssh.start("ssh", {"-G", "-F", path("config"), name});
    if (!ssh.waitForFinished() || ssh.exitCode() != 0) return {};
    QMap<QString, QStringList> said;
    for (const QString& line : QString::fromUtf8(ssh.readAllStandardOutput()).split('\n'))
      said[line.section(' ', 0, 0)] += line.section(' ', 1);
    return said;
  }
};

}  // namespace n2nq::app::testing
