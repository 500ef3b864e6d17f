// SPDX-License-Identifier: GPL-3.0-or-later
// Real child processes: small scripts in a folder of their own.
#include "app/host/local_launcher.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QScopeGuard>
#include <QTemporaryDir>

#include "app/host/line_tail.h"
#include "app/host/ssh_secret.h"
#include "tests/app/support/event_loop.h"

namespace n2nq::app {
namespace {

struct LocalLauncherTest : testing::WithEventLoop {
  QTemporaryDir folder;
  std::unique_ptr<LocalLauncher> launcher;
  QByteArray output;
  std::optional<ProcessExit> exit;
  QString failure;
  bool put = false, started = false;

  void make(const QByteArray& script) {
    QFile file(folder.filePath("program"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n" + script);
    file.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
    file.close();
    launcher = std::make_unique<LocalLauncher>(folder.path());
    QObject::connect(launcher.get(), &Launcher::file_put, [this] { put = true; });
    QObject::connect(launcher.get(), &Launcher::started, [this] { started = true; });
    QObject::connect(launcher.get(), &Launcher::output, [this](const QByteArray& bytes) { output += bytes; });
    QObject::connect(launcher.get(), &Launcher::gone, [this](const ProcessExit& how) { exit = how; });
    QObject::connect(launcher.get(), &Launcher::failed, [this](const QString& why) { failure = why; });
  }
  bool wait_gone() {
    return wait_until([this] { return exit.has_value(); });
  }
};

TEST_F(LocalLauncherTest, what_is_written_is_read_and_what_is_said_comes_back) {
  make("read line; echo \"heard $line\"; echo oops >&2; exit 7\n");
  launcher->put_file("program");
  ASSERT_TRUE(wait_until([this] { return put; }));
  launcher->start("program");
  launcher->write("hello\n");
  ASSERT_TRUE(wait_gone());
  EXPECT_TRUE(started);
  EXPECT_EQ(output, "heard hello\n");
  EXPECT_EQ(exit->code, 7);
  EXPECT_EQ(exit->signal, 0);
  EXPECT_EQ(exit->last_lines, QStringList{"oops"});
}

TEST_F(LocalLauncherTest, a_signal_is_told_as_such) {
  make("echo ready; exec sleep 1000\n");
  launcher->start("program");
  ASSERT_TRUE(wait_until([this] { return output == "ready\n"; }));
  launcher->terminate();
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->signal, SIGTERM);
}

TEST_F(LocalLauncherTest, who_ignores_term_is_killed) {
  make("trap '' TERM; echo ready; while :; do sleep 1; done\n");
  launcher->start("program");
  ASSERT_TRUE(wait_until([this] { return output == "ready\n"; }));
  launcher->terminate();
  launcher->kill();
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->signal, SIGKILL);
}

TEST_F(LocalLauncherTest, it_runs_in_a_process_group_of_its_own) {
  make("exec ps -o pgid= -p $$\n");
  launcher->start("program");
  ASSERT_TRUE(wait_gone());
  EXPECT_NE(output.trimmed().toInt(), ::getpgid(0));
  EXPECT_GT(output.trimmed().toInt(), 0);
}

TEST_F(LocalLauncherTest, who_has_a_secret_leaves_no_core_and_what_it_starts_may) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
  const auto as_before = qScopeGuard([before] { ::setrlimit(RLIMIT_CORE, &before); });
  rlimit most = before;
  most.rlim_cur = most.rlim_max;  // none where a sanitizer forbids them
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &most), 0);
  const Secret secret("open sesame");
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &now), 0);
  EXPECT_LE(now.rlim_cur, 1u) << "less than the kernel begins a core with";
  EXPECT_EQ(now.rlim_max, before.rlim_max);
  make("sed -n 's/^Max core file size *//p' /proc/self/limits\n");
  launcher->start("program");
  ASSERT_TRUE(wait_gone());
  const QByteArray as_it_was = most.rlim_cur == RLIM_INFINITY ? QByteArray("unlimited") : QByteArray::number(quint64{most.rlim_cur});
  EXPECT_EQ(output.simplified().split(' ')[0], as_it_was);
}

enum class Dump : int { may_be = 1, may_not_be, hides_own_files, no_namespace };

/// In a child: what may be done with it when it has a secret, its limit for cores is 0 for good, and the machine's core_pattern is `pattern`.
Dump dump_with_a_secret(const QByteArray& pattern) {
  QTemporaryDir folder;
  const QByteArray path = folder.filePath("core_pattern").toLocal8Bit();
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return Dump::no_namespace;
  file.write(pattern + '\n');
  file.close();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto end = [](Dump how) { ::_exit(static_cast<int>(how)); };
    const rlimit none{};
    if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) end(Dump::no_namespace);
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount(path.constData(), "/proc/sys/kernel/core_pattern", nullptr, MS_BIND, nullptr) != 0) end(Dump::no_namespace);
    ::prctl(PR_SET_DUMPABLE, 1);
    const Secret secret("open sesame");
    // Where a session finds the keys of hosts, and what names its files there.
    const QByteArray own = "/proc/self/fd/" + QByteArray::number(::open(path.constData(), O_RDONLY));
    if (::open(own.constData(), O_RDONLY) < 0 || QFile::symLinkTarget("/proc/self/ns/pid").isEmpty()) end(Dump::hides_own_files);
    end(::prctl(PR_GET_DUMPABLE) == 0 ? Dump::may_not_be : Dump::may_be);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return Dump::no_namespace;
  return static_cast<Dump>(WEXITSTATUS(status));
}

TEST(ssh_secret, is_in_no_core_that_a_program_gets_although_the_limit_for_cores_is_0) {
  const Dump into_a_program = dump_with_a_secret("|/usr/lib/keeper %p");
  if (into_a_program == Dump::no_namespace) {
    // Nobody may change the machine's own core_pattern for a test.
    ASSERT_NE(qgetenv("N2NQ_NEED_LAB"), "1") << "no namespaces here, in which core_pattern is another one";
    GTEST_SKIP() << "no namespaces here, in which core_pattern is another one";
  }
  EXPECT_EQ(into_a_program, Dump::may_not_be);
  EXPECT_EQ(dump_with_a_secret("core"), Dump::may_be) << "there is none anyway, and who debugs the bench has it";
}

TEST(ssh_secret, bytes_that_others_share_are_wiped_for_all) {
  const QByteArray bytes("open sesame, but not as a literal", 11);
  const QByteArray shared = bytes;
  wipe_shared(shared);
  EXPECT_EQ(bytes, QByteArray(11, '\0'));
}

TEST_F(LocalLauncherTest, a_missing_program_is_named) {
  make("");
  launcher->put_file("n2nq-nothing");
  ASSERT_TRUE(wait_until([this] { return !failure.isEmpty(); }));
  EXPECT_TRUE(failure.startsWith(folder.filePath("n2nq-nothing") + " is not there")) << failure.toStdString();
}

TEST_F(LocalLauncherTest, a_program_that_cannot_be_executed_is_named) {
  make("");
  launcher->start("n2nq-nothing");
  ASSERT_TRUE(wait_until([this] { return !failure.isEmpty(); }));
  EXPECT_TRUE(failure.contains("n2nq-nothing cannot be started")) << failure.toStdString();
}

TEST_F(LocalLauncherTest, a_program_that_is_there_is_not_called_missing_where_no_descriptors_are_left) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  for (int left = 0; left < 7; ++left) {  // four pipes are made for a process
    QFile::remove(folder.filePath("program"));
    make("");
    failure.clear();
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(next, 0);
    ::close(next);
    const auto as_before = qScopeGuard([before] { ::setrlimit(RLIMIT_NOFILE, &before); });
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next + left);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    launcher->start("program");
    ASSERT_TRUE(wait_until([this] { return !failure.isEmpty(); })) << left;
    const QString why = " cannot be started: this system allows no more open files: raise the limit (ulimit -n)";
    EXPECT_EQ(failure, folder.filePath("program") + why) << left;
  }
}

TEST_F(LocalLauncherTest, what_nobody_could_let_go_on_is_not_made_to_stand_still) {
  make("echo $$; exec sleep 1000\n");
  launcher->start("program");
  ASSERT_TRUE(wait_until([this] { return output.endsWith('\n'); }));
  const pid_t pid = output.trimmed().toInt();
  QStringList told;
  QObject::connect(launcher.get(), &Launcher::not_paused, [&told](const QString& why) { told += why; });
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  {
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(next, 0);
    ::close(next);
    const auto as_before = qScopeGuard([before] { ::setrlimit(RLIMIT_NOFILE, &before); });
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    launcher->pause();
    ASSERT_TRUE(wait_until([&told] { return !told.isEmpty(); }));
  }
  EXPECT_EQ(told, QStringList{"what would let it go on, should this bench die, cannot be started: this system allows no more open files: raise "
                              "the limit (ulimit -n)"});
  const auto state = [pid] {
    QFile stat(QString("/proc/%1/stat").arg(pid));
    return stat.open(QIODevice::ReadOnly) ? stat.readAll().split(' ').value(2) : QByteArray();
  };
  EXPECT_TRUE(wait_until([&state] { return state() == "S"; })) << state().toStdString();
  launcher->pause();  // and when there is room again it can be
  EXPECT_TRUE(wait_until([&state] { return state() == "T"; })) << state().toStdString();
  launcher->resume();
  EXPECT_TRUE(wait_until([&state] { return state() == "S"; })) << state().toStdString();
}

TEST_F(LocalLauncherTest, destroying_it_kills_the_process) {
  make("echo $$; exec sleep 1000\n");
  launcher->start("program");
  ASSERT_TRUE(wait_until([this] { return output.endsWith('\n'); }));
  const pid_t pid = output.trimmed().toInt();
  ASSERT_EQ(::kill(pid, 0), 0);
  launcher.reset();
  EXPECT_TRUE(wait_until([pid] { return ::kill(pid, 0) == -1; })) << "at once, or as soon as the kernel comes to it";
}

TEST_F(LocalLauncherTest, a_file_that_is_needed_is_touched) {
  make("");
  const QString path = folder.filePath("program");
  QFile file(path);
  const QDateTime old = QDateTime::currentDateTime().addSecs(-3600);
  ASSERT_TRUE(file.open(QIODevice::ReadWrite) && file.setFileTime(old, QFileDevice::FileModificationTime));
  file.close();
  launcher->touch(path);
  EXPECT_GT(QFileInfo(path).lastModified(), old.addSecs(3000));
  launcher->touch(folder.filePath("not-there"));
}

TEST(line_tail, the_last_lines_are_kept_in_bounded_memory) {
  LineTail tail(3, 5);
  for (const char* piece : {"one\ntw", "o\n\n", "three", "hundred\nfour\n", "open"}) tail.add(piece);
  EXPECT_EQ(tail.lines(), (QStringList{"three", "four", "open"}));
}

}  // namespace
}  // namespace n2nq::app
