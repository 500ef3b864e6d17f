// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/folder_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <atomic>
#include <stop_token>
#include <thread>

namespace n2nq::app {
namespace {

struct FolderLockTest : ::testing::Test {
  QTemporaryDir folder;
  QString file = folder.filePath("case.lock");

  void write(const QByteArray& text) const {
    QFile out(file);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly) && out.write(text) == text.size());
  }
};

TEST_F(FolderLockTest, OneHasItAndIsNamedAndItsFileGoesWithIt) {
  auto first = FolderLock::take(file);
  ASSERT_TRUE(first);
  EXPECT_FALSE(FolderLock::take(file));
  EXPECT_EQ(FolderLock::holder(file), ::getpid());
  FolderLock moved = std::move(*first);
  first.reset();
  EXPECT_FALSE(FolderLock::take(file)) << "it was moved, not let go";
  { const FolderLock gone = std::move(moved); }
  EXPECT_FALSE(QFile::exists(file));
  EXPECT_EQ(FolderLock::holder(file), 0);
  EXPECT_TRUE(FolderLock::take(file));
}

TEST_F(FolderLockTest, WhoOnlyAsksRefusesNobody) {
  write("");
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> asks{false};
    std::jthread asking([&](const std::stop_token& over) {
      while (!over.stop_requested()) {
        FolderLock::holder(file);
        asks = true;
      }
    });
    while (!asks) std::this_thread::yield();
    asking.request_stop();
    EXPECT_TRUE(FolderLock::take(file));
    write("");
  }
}

TEST_F(FolderLockTest, OfAKilledProcessNothingIsLeftToWaitFor) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FolderLock::take(file);
    if (lock && ::write(told[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  ::close(told[1]);  // so that the end of a child that says nothing is seen
  char byte = 0;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  EXPECT_FALSE(FolderLock::take(file));
  EXPECT_EQ(FolderLock::holder(file), child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(QFile::exists(file)) << "what it has left";
  EXPECT_EQ(FolderLock::holder(file), 0);
  EXPECT_TRUE(FolderLock::take(file));
  ::close(told[0]);
}

TEST_F(FolderLockTest, WhatSomebodyWroteIntoAFileThatNobodyHasCountsForNothing) {
  // Of a bench of an earlier version: killed when this machine had another name, and its process id is of one that lives.
  write(QByteArray::number(::getppid()) + "\nn2nq-bench\nanother-name\n\n\n");
  EXPECT_EQ(FolderLock::holder(file), 0);
  EXPECT_TRUE(FolderLock::take(file));
  write("\xff");
  EXPECT_TRUE(FolderLock::take(file));
}

TEST_F(FolderLockTest, WhereNoFileCanBeMadeItIsNotTaken) {
  file = folder.filePath("not-there/case.lock");
  EXPECT_FALSE(FolderLock::take(file));
  EXPECT_EQ(FolderLock::holder(file), 0);
}

}  // namespace
}  // namespace n2nq::app
