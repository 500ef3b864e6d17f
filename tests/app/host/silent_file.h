// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of what is read: a file that does not answer, as one on a file server that is away.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>

#include <QFile>
#include <cerrno>

#include "app/host/owned_fd.h"

namespace n2nq::app::testing {

/// Who opens a file waits for the one that has a lease on it.
struct SilentFile {
  explicit SilentFile(const QString& path) : fd(::open(QFile::encodeName(path).constData(), O_RDWR | O_CLOEXEC)) {
    ::signal(SIGIO, SIG_IGN);  // that somebody waits
    EXPECT_EQ(::fcntl(fd.get(), F_SETLEASE, F_WRLCK), 0) << ::strerror(errno);
  }
  const OwnedFd fd;
};

}  // namespace n2nq::app::testing
