// SPDX-License-Identifier: GPL-3.0-or-later
// The connection for files of a real host: statistics do not wait for it, nor does anybody for long.
#include <QFileInfo>
#include <QScopeGuard>
#include <cstdio>

#include "tests/app/host/ssh_files_kit.h"

namespace n2nq::app {
namespace {

using testing::big_bytes;
using testing::SshFilesTest;
using testing::there;

TEST_F(SshFilesTest, closing_a_file_waits_for_no_longer_than_any_other_call) {
  lab->change_sshd(1, "s#^Subsystem.*#Subsystem sftp /usr/lib/openssh/sftp-server#");
  const auto usual_again = qScopeGuard([] { lab->change_sshd(1, "s#^Subsystem.*#Subsystem sftp internal-sftp#"); });
  pool = std::make_unique<HostPool>(person, folder.path());
  host = pool->host(lab->host(1));
  const QString remote = ".cache/n2nq-bench/runs/a.log", local = folder.filePath("a.log");
  sh("mkdir -p " + there + "/runs && echo line >" + remote);
  files()->follow(remote, local);
  ASSERT_TRUE(wait_until([&] { return QFileInfo(local).size() == 5; }));
  lab->inside(1, {"pkill", "-STOP", "sftp-server"});  // what it is asked next is to close the file, or to say how long it is
  host->files()->unfollow(local);
  EXPECT_TRUE(wait_until([&] { return !host->files(); }));
  lab->inside(1, {"pkill", "-KILL", "sftp-server"});
}

/// Whatever is under way to or from the machine's files: nothing of it is on the way of what a process says.
TEST_F(SshFilesTest, what_a_process_says_does_not_wait_for_a_file) {
  sh("mkdir -p " + there + "/runs/z && head -c 100M /dev/zero >" + there + "/runs/z/broker.log");
  begin(std::make_shared<HashFile>("/dev/null", 0));  // somebody serves files there from now on
  ASSERT_TRUE(ends());
  // Answers of 100 kB, each asked for when the one before has come.
  SshExec exec(*host->control(), "exec /bin/sh -c 'b=$(head -c 100000 /dev/zero | tr \"\\0\" x); while read l; do echo $b$l; done'");
  int answers = 0;
  QByteArray line;
  QObject::connect(&exec, &SshExec::output, [&](const QByteArray& bytes) {
    line += bytes;
    if (!line.endsWith('\n')) return;
    EXPECT_EQ(line.size(), 100'002);
    line.clear();
    ++answers;
    exec.write("?\n");
  });
  exec.write("?\n");
  ASSERT_TRUE(wait_until([&] { return answers > 0; }));
  // Who serves files there, and the sshd of that connection, stand still: what shared one with them would wait.
  const auto signal_files = [](const QString& name) {
    const QString all = "for p in $(pgrep -f '^sshd: lab@internal-sftp'); do kill -s %1 $p $(ps -o ppid= $p) && echo $p; done; true";
    return lab->inside(1, {"sh", "-c", all.arg(name)}).toStdString();
  };
  ASSERT_NE(signal_files("STOP"), "");
  const auto goes_on = qScopeGuard([&] { signal_files("CONT"); });
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/z", folder.filePath("z"), [](qint64, qint64) {}));
  const int before = answers;
  EXPECT_TRUE(wait_until([&] { return answers >= before + 20; })) << answers - before << " answers while the files stand still";
  EXPECT_FALSE(outcome.has_value()) << "the files do not stand still";
  EXPECT_FALSE(QFileInfo::exists(folder.filePath("z/broker.log")));
  signal_files("CONT");
  const int still = answers;
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->why.toStdString();
  EXPECT_EQ(QFileInfo(folder.filePath("z/broker.log")).size(), big_bytes);
  std::printf("%d answers of 100 kB while the files stood still, %d while 100 MB were fetched\n", still - before, answers - still);
}

}  // namespace
}  // namespace n2nq::app
