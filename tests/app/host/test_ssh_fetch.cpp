// SPDX-License-Identifier: GPL-3.0-or-later
// Files of a real host: followed while they grow, brought back whatever happens in between, and cleared away there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QFileInfo>
#include <QScopeGuard>
#include <array>
#include <atomic>

#include "tests/app/host/ssh_files_kit.h"

namespace n2nq::app {
namespace {

using testing::SshFilesTest;
using testing::there;

struct FetchTest : SshFilesTest {};

TEST_F(FetchTest, a_growing_file_is_followed) {
  sh("mkdir -p " + there + "/runs && printf 'one\\n' >" + there + "/runs/a.log");
  const QString local = folder.filePath("a.log");
  files()->follow(".cache/n2nq-bench/runs/a.log", local);
  EXPECT_TRUE(wait_until([&] { return read(local) == "one\n"; }));
  sh("printf 'two\\n' >>" + there + "/runs/a.log");
  EXPECT_TRUE(wait_until([&] { return read(local) == "one\ntwo\n"; }));
  files()->follow(".cache/n2nq-bench/runs/later.log", folder.filePath("later.log"));
  sh("printf 'late\\n' >" + there + "/runs/later.log");
  EXPECT_TRUE(wait_until([&] { return read(folder.filePath("later.log")) == "late\n"; }));
  files()->unfollow(local);
}

TEST_F(FetchTest, a_followed_file_that_is_begun_anew_in_its_place_is_followed_from_its_beginning) {
  const QString there_now = ".cache/n2nq-bench/runs/r/S001.log", local = folder.filePath("S001.log");
  sh("mkdir -p " + there + "/runs/r && cd " + there + "/runs/r && (echo '# port 1'; seq 200; echo '# complete: yes') >S001.log");
  files()->follow(there_now, local);
  ASSERT_TRUE(wait_until([&] { return read(local).endsWith("yes\n"); }));
  sh("(echo '# port 2'; seq 100) >" + there + "/runs/r/S001.log");
  EXPECT_TRUE(wait_until([&] { return read(local).startsWith("# port 2\n") && read(local).endsWith("\n100\n"); }));
  files()->unfollow(local);
  // It may have become longer before anybody looked: then the head tells.
  QFile old(local);
  ASSERT_TRUE(old.open(QIODevice::WriteOnly));
  old.write("# port 1\n");
  old.close();
  sh("seq 101 5000 >>" + there + "/runs/r/S001.log && tail -c +10 " + there + "/runs/r/S001.log | head -c 20000 >/tmp/middle");
  ASSERT_TRUE(old.open(QIODevice::Append));
  old.write(sh("cat /tmp/middle").toUtf8());
  old.close();
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/r", folder.path(), [](qint64, qint64) {}));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(read(local).startsWith("# port 2\n"));
  EXPECT_TRUE(read(local).endsWith("\n5000\n"));
}

TEST_F(FetchTest, a_disk_here_that_stands_still_is_not_taken_for_the_silence_of_the_host) {
  const QString remote = ".cache/n2nq-bench/runs/a.log", local = folder.filePath("a.log");
  sh("mkdir -p " + there + "/runs && head -c 1M /dev/zero >" + remote);
  // As such a disk a pipe that nobody reads takes no more.
  ASSERT_EQ(::mkfifo(local.toLocal8Bit().constData(), 0600), 0);
  const OwnedFd pipe(::open(local.toLocal8Bit().constData(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  files()->follow(remote, local);
  ASSERT_TRUE(wait_until([&] {
    int bytes = 0;
    return ::ioctl(pipe.get(), FIONREAD, &bytes) == 0 && bytes > 0;
  }));
  begin(std::make_shared<HashFile>(remote, 1 << 20));  // its turn comes behind that
  const QDeadlineTimer longer_than_a_call(sftp_call_ms_max + 2'000);
  EXPECT_TRUE(wait_until([&] { return longer_than_a_call.hasExpired(); }));
  EXPECT_FALSE(outcome) << "it stands still";
  if (SshFiles* const still = host->files()) still->unfollow(local);
  std::array<char, 64 << 10> taken;
  EXPECT_TRUE(wait_until([&] {
    while (::read(pipe.get(), taken.data(), taken.size()) > 0) continue;
    return outcome.has_value();
  }));
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
}

TEST_F(FetchTest, a_folder_comes_back_whole_also_after_a_cut_and_then_is_gone_there) {
  const QString local = folder.filePath("back");
  sh("mkdir -p " + there + "/runs/x && cd " + there +
     "/runs/x && head -c 60M /dev/urandom >broker.log && for i in $(seq 101 200); do echo $i >S$i.log; done");
  const QString sum = sh("sha256sum <" + there + "/runs/x/broker.log");
  constexpr qint64 small_bytes = 100 * 4;  // S101.log to S200.log, which come before the large one
  qint64 done = 0, all = 0, first = -1;    // first: when something of the large one was here
  std::atomic<bool> stalled = false;
  const auto progress = [&](qint64 done_bytes, qint64 all_bytes) {
    done = done_bytes, all = all_bytes;
    if (first < 0 && done > small_bytes) first = done;
    if (done > (6 << 20) && !stalled) {  // so all is never here before the cut, however busy the machine is
      lab->kill_sessions(1, "STOP");
      stalled = true;
    }
  };
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/x", local, progress));
  EXPECT_TRUE(wait_until([&] { return outcome || stalled; }));
  lab->kill_sessions(1, "KILL");
  ASSERT_TRUE(ends());
  const qint64 before = QFileInfo(local + "/broker.log").size();
  EXPECT_FALSE(outcome->none());
  EXPECT_GT(before, 5 << 20);
  EXPECT_LT(before, 60 << 20);
  first = -1;
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/x", local, progress));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->why.toStdString();
  EXPECT_GE(first, before) << "it goes on where it was";
  EXPECT_EQ(done, all);
  QCryptographicHash hash(QCryptographicHash::Sha256);
  hash.addData(read(local + "/broker.log"));
  EXPECT_EQ(QString::fromLatin1(hash.result().toHex()), sum.section(' ', 0, 0));
  EXPECT_EQ(QDir(local).entryList(QDir::Files).size(), 101);
  EXPECT_EQ(sh("ls " + there + "/runs"), "");
}

/// How many steps it takes behind the last log.
struct CountedClearing : SshTask {
  explicit CountedClearing(const QString& local) : folder(".cache/n2nq-bench/runs/x", local, [](qint64, qint64) {}) {}
  bool go_on(SshLink& link) override {
    const bool more = folder.go_on(link);
    steps += folder.all_here() ? 1 : 0;
    return more;
  }
  BringFolder folder;
  int steps = 0;
};

TEST_F(FetchTest, clearing_away_lets_others_have_their_turn) {
  sh("mkdir -p " + there + "/runs/x && cd " + there + "/runs/x && for i in $(seq 101 200); do echo $i >S$i.log; done");
  const auto task = std::make_shared<CountedClearing>(folder.filePath("back"));
  begin(task);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->why.toStdString();
  EXPECT_GE(task->steps, 5) << "over a slow link each removal takes a round trip";
  EXPECT_EQ(sh("ls " + there + "/runs"), "");
}

/// As after a restart of the host, whose disk had not got the last lines yet.
TEST_F(FetchTest, of_what_is_shorter_there_the_lines_that_are_here_stay) {
  const auto lines = [](int first, int last) {
    QByteArray out;
    for (int i = first; i <= last; ++i) out += QByteArray::number(i) + '\n';
    return out;
  };
  const QByteArray here = lines(1, 3000);
  for (const char* name : {"S001.log", "S002.log", "S003.log", "S004.log", "S005.log"}) write(name, here);
  sh("mkdir -p " + there + "/runs/r && cd " + there +
     "/runs/r && seq 2000 >S001.log && : >S002.log && seq 5000 6000 >S003.log && seq 10 >S004.log");
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/r", folder.path(), [](qint64, qint64) {}));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->why.toStdString();
  for (const char* name : {"S001.log", "S002.log", "S004.log"}) EXPECT_TRUE(read(folder.filePath(name)) == here) << name;
  EXPECT_TRUE(read(folder.filePath("S003.log")) == lines(5000, 6000)) << "that is another one";

  // One that is followed, and written on with other lines.
  const QString followed = ".cache/n2nq-bench/runs/";
  sh("mkdir -p " + there + "/runs && cd " + there + "/runs && seq 2000 >a.log && echo x >b.log");
  const QString local = folder.filePath("S005.log"), beside = folder.filePath("b.log");
  files()->follow(followed + "a.log", local);
  files()->follow(followed + "b.log", beside);
  EXPECT_TRUE(wait_until([&] { return read(beside) == "x\n"; })) << "its turn comes behind the other's";
  EXPECT_TRUE(read(local) == here);
  sh("cd " + there + "/runs && seq 7000 9000 >>a.log");
  EXPECT_TRUE(wait_until([&] { return read(local) == lines(1, 2000) + lines(7000, 9000); }));
  for (const QString& each : {local, beside}) files()->unfollow(each);
}

/// Something happens there when so many steps are done.
struct DisturbedBringing : SshTask {
  DisturbedBringing(const QString& name, const QString& local, int after_steps, QString script)
      : bring(".cache/n2nq-bench/runs/" + name, local, [](qint64, qint64) {}), left(after_steps), happens(std::move(script)) {}
  bool go_on(SshLink& link) override {
    const bool more = bring.go_on(link);
    if (--left == 0) SshFilesTest::sh("cd " + there + "/runs && " + happens);
    return more;
  }
  BringFolder bring;
  int left;
  const QString happens;
};

TEST_F(FetchTest, a_disk_that_goes_away_while_it_is_fetched_from_is_waited_for_and_loses_nothing) {
  sh("mkdir -p " + there + "/runs/w && cd " + there + "/runs/w && for i in 1 2 3; do echo $i >S00$i.log; done");
  const QStringList all = {"S001.log", "S002.log", "S003.log"};
  for (const int steps : {1, 2, 3}) {  // 1: it is listed
    const auto disturbed = std::make_shared<DisturbedBringing>("w", folder.filePath("w"), steps, "mv w ../away");
    begin(disturbed);
    ASSERT_TRUE(ends());
    EXPECT_EQ(outcome->kind, SshProblem::Kind::missing) << outcome->text().toStdString();
    EXPECT_FALSE(disturbed->bring.all_here());
    EXPECT_EQ(sh("ls " + there + "/away").split('\n'), all) << "after " << steps << " steps";
    sh("cd " + there + " && mv away runs/w");
  }
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/w", folder.filePath("w"), [](qint64, qint64) {}));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_EQ(QDir(folder.filePath("w")).entryList(QDir::Files), all);
  EXPECT_EQ(sh("ls " + there + "/runs"), "");
}

TEST_F(FetchTest, a_log_that_is_removed_there_meanwhile_keeps_no_other_from_coming) {
  sh("mkdir -p " + there + "/runs/v && cd " + there + "/runs/v && for i in 1 2 3; do echo $i >S00$i.log; done");
  begin(std::make_shared<DisturbedBringing>("v", folder.filePath("v"), 1, "rm v/S002.log"));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_EQ(QDir(folder.filePath("v")).entryList(QDir::Files), QStringList({"S001.log", "S003.log"}));
  EXPECT_EQ(sh("ls " + there + "/runs"), "");
}

TEST_F(FetchTest, a_folder_that_stays_there_says_why_and_what_came_meanwhile_is_not_taken_for_brought) {
  const auto fill = [](const QString& name) {
    sh("mkdir -p " + there + "/runs && cd " + there + "/runs && mkdir " + name + " && echo x >" + name + "/S001.log");
  };
  const auto ends_with = [this](const std::shared_ptr<DisturbedBringing>& task, bool all_here) {
    begin(task);
    EXPECT_TRUE(ends());
    EXPECT_EQ(outcome->kind, SshProblem::Kind::files);
    EXPECT_EQ(task->bring.all_here(), all_here);
    return outcome->why.toStdString();
  };
  fill("s");
  sh("chmod 555 " + there + "/runs/s");
  EXPECT_EQ(ends_with(std::make_shared<DisturbedBringing>("s", folder.filePath("s"), 0, ""), true),
            "h1: all logs were brought, but the folder .cache/n2nq-bench/runs/s could not be removed there: that is not permitted");
  EXPECT_EQ(read(folder.filePath("s/S001.log")), "x\n");
  sh("chmod 755 " + there + "/runs/s");

  fill("t");
  EXPECT_EQ(ends_with(std::make_shared<DisturbedBringing>("t", folder.filePath("t"), 1, "echo y >t/S002.log"), false),
            "h1: 1 things in .cache/n2nq-bench/runs/t were not there when it was listed and stay there: S002.log");
  EXPECT_EQ(sh("cat " + there + "/runs/t/S002.log"), "y");
}

/// A log there has grown whenever it is looked at.
struct GrowingBringing : SshTask {
  explicit GrowingBringing(const QString& local) : bring(".cache/n2nq-bench/runs/g", local, [](qint64, qint64) {}) {}
  bool go_on(SshLink& link) override {
    SshFilesTest::sh("echo line >>" + there + "/runs/g/S001.log");
    return bring.go_on(link);
  }
  BringFolder bring;
};

TEST_F(FetchTest, a_log_that_goes_on_growing_keeps_nobody_for_ever_and_stays) {
  sh("mkdir -p " + there + "/runs/g && echo one >" + there + "/runs/g/S001.log && echo two >" + there + "/runs/g/S002.log");
  const auto task = std::make_shared<GrowingBringing>(folder.filePath("g"));
  begin(task);
  ASSERT_TRUE(ends());
  EXPECT_EQ(outcome->kind, SshProblem::Kind::files);
  EXPECT_EQ(outcome->text().toStdString(), "h1: 1 of the logs in .cache/n2nq-bench/runs/g go on growing and stay there: S001.log. "
                             "Look there what writes to them, and end it");
  EXPECT_FALSE(task->bring.all_here());
  EXPECT_EQ(sh("ls " + there + "/runs/g"), "S001.log");
  EXPECT_TRUE(read(folder.filePath("g/S001.log")).startsWith("one\nline\nline\n"));
  EXPECT_EQ(read(folder.filePath("g/S002.log")), "two\n");
}

/// Stands before sftp-server, and is asked for what is in a folder in its place.
constexpr const char* says_dots_for_ever = R"(#!/usr/bin/env python3
import os, struct, subprocess, threading
server = subprocess.Popen(["/usr/lib/openssh/sftp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def packets(source):
    while head := source.read(4):
        yield source.read(struct.unpack(">I", head)[0])
def write(file, packet):
    file.write(struct.pack(">I", len(packet)) + packet)
    file.flush()
out = os.fdopen(1, "wb")
threading.Thread(target=lambda: [write(out, packet) for packet in packets(server.stdout)], daemon=True).start()
long_name = b"drwx------    2 lab      lab            40 Nov 30 20:47 ."
name = struct.pack(">I", 1) + b"." + struct.pack(">I", len(long_name)) + long_name + struct.pack(">I", 0)
for packet in packets(os.fdopen(0, "rb")):
    if packet[0] == 12:  # READDIR: NAME
        write(out, b"\x68" + packet[1:5] + struct.pack(">I", 1000) + 1000 * name)
    else:
        write(server.stdin, packet)
server.stdin.close()
)";

TEST_F(FetchTest, a_folder_with_more_entries_than_anybody_needs_is_told_as_that) {
  sh("mkdir -p " + there + "/runs/m && cd " + there + "/runs/m && seq 100001 | xargs touch");
  const auto expect_too_many = [this] {
    begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/m", folder.filePath("m"), [](qint64, qint64) {}));
    ASSERT_TRUE(ends());
    EXPECT_EQ(outcome->text().toStdString(), "h1: .cache/n2nq-bench/runs/m has more than 100,000 entries. Look there what they are, and remove some");
  };
  expect_too_many();
  lab->inside(1, {"sh", "-c", "cat >/tmp/says-dots && chmod 755 /tmp/says-dots"}, says_dots_for_ever);
  lab->change_sshd(1, "s#^Subsystem.*#Subsystem sftp /tmp/says-dots#");
  const auto usual_again = qScopeGuard([] { lab->change_sshd(1, "s#^Subsystem.*#Subsystem sftp internal-sftp#"); });
  pool = std::make_unique<HostPool>(person, folder.path());
  host = pool->host(lab->host(1));
  expect_too_many();
}

TEST_F(FetchTest, names_that_lead_elsewhere_stay_there) {
  sh("mkdir -p " + there + "/runs/y/sub && cd " + there +
     "/runs/y && echo x >R001.log && echo x >'R003.log\n' && echo x >'..evil' && echo x >'a b' && echo x >settings.yaml && "
     "ln -s /etc/passwd R002.log");
  const QString local = folder.filePath("back/y");
  ASSERT_TRUE(QDir().mkpath(local));
  QFile own(local + "/settings.yaml");
  ASSERT_TRUE(own.open(QIODevice::WriteOnly) && own.write("own") == 3);
  own.close();
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/y", local, [](qint64, qint64) {}));
  ASSERT_TRUE(ends());
  EXPECT_EQ(outcome->kind, SshProblem::Kind::files);
  EXPECT_NE(outcome->why.indexOf("stay there"), -1) << outcome->why.toStdString();
  EXPECT_FALSE(outcome->why.contains('\n'));
  EXPECT_EQ(QDir(local).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot), QStringList({"R001.log", "settings.yaml"}));
  EXPECT_EQ(read(local + "/settings.yaml"), "own") << "what the bench writes itself is not theirs";
  EXPECT_EQ(QDir(folder.filePath("back")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot), QStringList{"y"});
}

TEST_F(FetchTest, a_log_that_cannot_be_read_keeps_no_other_from_coming) {
  sh("mkdir -p " + there + "/runs/u && cd " + there + "/runs/u && for i in 1 2 3 4; do echo $i >S00$i.log; done && chmod 000 S002.log");
  const QString local = folder.filePath("u");
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/u", local, [](qint64, qint64) {}));
  ASSERT_TRUE(ends());
  EXPECT_EQ(outcome->kind, SshProblem::Kind::files);
  EXPECT_NE(outcome->why.indexOf("1 of the logs in .cache/n2nq-bench/runs/u cannot be read and stay there: S002.log"), -1) << outcome->why.toStdString();
  EXPECT_EQ(QDir(local).entryList(QDir::Files), QStringList({"S001.log", "S003.log", "S004.log"}));
  EXPECT_EQ(sh("ls " + there + "/runs/u"), "S002.log");
  begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/u", local, [](qint64, qint64) {}, true));
  ASSERT_TRUE(ends());
  EXPECT_NE(outcome->why.indexOf("cannot be read and stay there: S002.log"), -1) << "nor is it left out silently where all is kept";
}

}  // namespace
}  // namespace n2nq::app
