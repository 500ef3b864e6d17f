// SPDX-License-Identifier: GPL-3.0-or-later
// Files of a real host: put and cut off, followed while they grow, brought back whatever happens in between, beside statistics that must
// not wait.
#include "app/host/ssh_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <cstdio>

#include "app/host/host_pool.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_lab.h"

namespace n2nq::app {
namespace {

using testing::PretendLab;
using testing::PretendPerson;

constexpr qint64 big_bytes = 100 << 20;
const QString there = "/home/lab/.cache/n2nq-bench";

struct SshFilesTest : testing::WithEventLoop {
  static inline std::unique_ptr<PretendLab> lab;
  QTemporaryDir folder;
  PretendPerson person;
  std::unique_ptr<HostPool> pool;
  std::shared_ptr<LabHost> host;

  static void SetUpTestSuite() {
    lab = PretendLab::take_up(1);
    if (lab) qputenv("HOME", lab->home().toLocal8Bit());
  }
  static void TearDownTestSuite() { lab.reset(); }
  void SetUp() override {
    if (!lab) GTEST_SKIP() << PretendLab::why_not.toStdString();
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
  /// Cuts the connection once so many bytes of the program are there; how many came: all of them where it was faster than the knife, which
  /// may have cut the answer alone.
  qint64 cut_upload(const QString& program, qint64 cut_at) {
    files();  // it is connected: on the host, with its victims looked up before, the knife is quick, for a megabyte goes in two milliseconds
    const auto knife = lab->start_inside(1, {"python3", "-c", R"(
import contextlib, ctypes, glob, os, signal, sys
# One that comes too late goes with nsenter, which is killed: it would look for ever, on a whole core, and cut what comes next.
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
pattern, cut_at = sys.argv[1], int(sys.argv[2])
def is_session(pid):
    try:
        return open(f"/proc/{pid}/cmdline").read().startswith("sshd: ")
    except OSError:
        return False
def sessions():
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and pid != "1" and is_session(pid)]
victims = sessions()
print("ready", flush=True)
while not (parts := glob.glob(pattern)):
    pass
while os.stat(parts[0]).st_size < cut_at:
    pass
for find in (lambda: victims, sessions):
    for pid in find():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
)", there + "/bin/.part-*", QString::number(cut_at)});
    EXPECT_TRUE(knife->waitForReadyRead());
    begin(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"));
    EXPECT_TRUE(ends());
    lab->kill_sessions(1);  // those that came later
    EXPECT_TRUE(wait_until([&] { return host->control() == nullptr && host->files() == nullptr; })) << "two connections";
    if (outcome->none()) return big_bytes;
    EXPECT_EQ(outcome->kind, SshProblem::Kind::lost) << outcome->why.toStdString();
    return sh("cat " + there + "/bin/.part-* " + there + "/bin/n2nq-* 2>/dev/null | wc -c").toLongLong();
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

// N2NQ_LAB_REPEATS: how often at each place (1).
TEST_F(SshFilesTest, an_upload_that_is_cut_is_never_run_and_the_next_one_repairs_it) {
  const QString program = write("n2nq-big", random_bytes(big_bytes));
  const int repeats = std::max(1, qEnvironmentVariableIntValue("N2NQ_LAB_REPEATS"));
  for (int i = 0; i < repeats * 3; ++i) {
    const int percent = std::array{10, 50, 99}[static_cast<std::size_t>(i % 3)];
    qint64 came = big_bytes;
    for (int attempts = 20; came == big_bytes && attempts > 0; --attempts) {  // on a busy machine it may be faster than the knife
      sh("rm -f " + there + "/bin/n2nq-*");
      came = cut_upload(program, big_bytes / 100 * percent);
    }
    EXPECT_LT(came, big_bytes) << "faster than the knife";
    EXPECT_GE(came, big_bytes / 100 * percent) << "cut where it should be, or later";
    EXPECT_EQ(sh("cd " + there + "/bin; for f in n2nq-*; do [ -e $f ] && echo ${f##*-} $f | sha256sum --check --status || echo $f; done")
                  .remove("n2nq-*"),
              "")
        << "what has a name that is run is whole";
    // What other benches of this machine that are gone left behind goes, too; what one that lives is writing stays.
    const QString ours = sh("ls -A " + there + "/bin | grep part | head -1").section('-', 0, 1);
    if (!ours.isEmpty()) sh("cd " + there + "/bin && touch " + ours + "-999999999-1-n2nq-big");
    auto put = std::make_shared<PutProgram>(program, ".cache/n2nq-bench");
    begin(put);
    ASSERT_TRUE(ends());
    EXPECT_TRUE(outcome->none()) << outcome->why.toStdString();
    EXPECT_EQ(sh("sha256sum <" + put->path()).section(' ', 0, 0), put->path().section('-', -1));
    EXPECT_EQ(sh("ls -A " + there + "/bin"), put->path().section('/', -1)) << "nothing is left of what was cut";
    std::printf("to be cut at %d %%: %lld of %lld bytes had come; the next upload is whole\n", percent, came, big_bytes);
  }
}

TEST_F(SshFilesTest, what_cut_links_have_left_goes_with_the_next_connection_also_where_nothing_is_sent) {
  const BriefFile needed(BriefFile::Kind::time_probe);
  QString ours;
  {
    const BriefFile over(BriefFile::Kind::time_probe);
    ours = over.name();
  }
  const QString gone = needed.name().section('-', 0, 1) + "-999999999-1";  // of a bench of this machine
  for (const char* part : {"bin", "runs"}) {
    sh("mkdir -p " + there + '/' + part + " && cd " + there + '/' + part + " && touch .now-1 " + needed.name() + ' ' + ours + ' ' + gone +
       " && touch -d '20 minutes ago' .now-2 .now-old-1-2 .part-old-1-2-n2nq-big");
  }
  files();
  const QStringList kept = {".now-1", needed.name()};
  const auto left = [](const char* part) { return sh("ls -A " + there + "/" + part).split('\n'); };
  EXPECT_TRUE(wait_until([&] { return left("bin") == kept && left("runs") == kept; }))
      << left("bin").join(' ').toStdString() << " and " << left("runs").join(' ').toStdString();
}

/// Which of the limits is reached first, of the call or of the connection, is up to the kernel.
TEST_F(SshFilesTest, a_network_that_is_gone_is_not_taken_for_a_disk) {
  const QString program = write("n2nq-small", random_bytes(1000));
  begin(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"));
  ASSERT_TRUE(ends());
  lab->set_plugged_in(1, false);
  begin(std::make_shared<HashFile>(".cache/n2nq-bench/bin", 1));
  ASSERT_TRUE(ends());
  lab->set_plugged_in(1, true);
  EXPECT_EQ(outcome->kind, SshProblem::Kind::lost) << outcome->text().toStdString();
  EXPECT_FALSE(outcome->text().contains("disk")) << outcome->text().toStdString();
}

TEST_F(SshFilesTest, what_is_damaged_there_is_sent_again) {
  const QString program = write("n2nq-small", random_bytes(100'000));
  auto put = std::make_shared<PutProgram>(program, ".cache/n2nq-bench");
  begin(put);
  ASSERT_TRUE(ends() && outcome->none());
  sh("truncate -s 5000 " + put->path());
  begin(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"));
  ASSERT_TRUE(ends() && outcome->none());
  EXPECT_EQ(sh("stat -c %s " + put->path()), "100000");
}

TEST_F(SshFilesTest, of_a_file_that_does_not_end_no_more_is_read_than_it_should_have) {
  const auto hash = std::make_shared<HashFile>("/dev/zero", 1000);
  begin(hash);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_EQ(hash->sha256(), QCryptographicHash::hash({}, QCryptographicHash::Sha256).toHex());
}

TEST_F(SshFilesTest, two_that_put_the_same_at_once_do_not_disturb_each_other) {
  const QString program = write("n2nq-small", random_bytes(5 << 20));
  HostPool other_pool(person, folder.path());
  const auto other = other_pool.host(lab->host(1));
  std::optional<SshProblem> others;
  other->with_files(other.get(), [&](const SshProblem& problem, SshFiles* given) {
    ASSERT_TRUE(problem.none());
    given->run(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"), other.get(), [&](const SshProblem& why) { others = why; });
  });
  begin(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"));
  ASSERT_TRUE(wait_until([&] { return outcome && others; }));
  EXPECT_TRUE(outcome->none() && others->none()) << (outcome->why + others->why).toStdString();
  EXPECT_EQ(sh("ls -A " + there + "/bin | wc -l"), "1");
}

/// An upload whose part looks as if nobody had been at it for long, once it is read back.
struct AgedUpload : SshTask {
  AgedUpload(const QString& program, std::chrono::milliseconds touch_every, std::function<void(SshLink&)> then = {})
      : put(program, ".cache/n2nq-bench", PutProgram::If::not_there, PutProgram::Room::for_logs,
            [this](qint64 done, qint64 all) { told_whole += done == all ? 1 : 0; }, touch_every),
        meanwhile(std::move(then)) {}
  bool go_on(SshLink& link) override {
    const bool is_turn = told_whole >= 2 && !aged;  // the first time it was sent
    if (is_turn) SshFilesTest::sh("cd " + there + "/bin && touch -d '11 minutes ago' .part-* && touch another");
    if (is_turn && meanwhile) meanwhile(link);
    const bool more = put.go_on(link);
    if (is_turn) young_again = SshFilesTest::sh("find " + there + "/bin -name '.part-*' -mmin -5") != "";
    aged = aged || is_turn;
    return more;
  }
  int told_whole = 0;
  PutProgram put;
  const std::function<void(SshLink&)> meanwhile;
  bool aged = false, young_again = false;
};

TEST_F(SshFilesTest, a_part_that_is_read_back_for_long_is_not_swept) {
  const QString another = write("n2nq-another", random_bytes(1000));
  const auto sweep = [another](SshLink& link) {
    for (PutProgram put(another, ".cache/n2nq-bench"); put.go_on(link);) {
    }
    SweepVersions(".cache/n2nq-bench", {}).go_on(link);
  };
  const auto aged = std::make_shared<AgedUpload>(write("n2nq-big", random_bytes(8 << 20)), PutProgram::touch_every_max, sweep);
  begin(aged);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_TRUE(aged->aged && !aged->young_again) << "it was old when it was looked at";
  EXPECT_EQ(sh("sha256sum <" + aged->put.path()).section(' ', 0, 0), aged->put.path().section('-', -1));
}

/// Another bench does not know which of them this one is at.
TEST_F(SshFilesTest, a_part_that_is_read_back_is_touched) {
  const auto aged = std::make_shared<AgedUpload>(write("n2nq-big", random_bytes(8 << 20)), std::chrono::milliseconds(0));
  begin(aged);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_TRUE(aged->young_again);
}

TEST_F(SshFilesTest, a_disk_that_becomes_full_on_the_way_is_named_and_keeps_nothing) {
  lab->inside(1, {"sh", "-c", "mkdir -p /home/lab/disk && mount -t tmpfs -o mode=1777,size=64m tmpfs /home/lab/disk"});
  const QString program = write("n2nq-big", random_bytes(40 << 20));
  for (int attempts = 20; attempts > 0; --attempts) {  // the upload may be faster
    begin(std::make_shared<PutProgram>(program, "disk/bench"));
    EXPECT_TRUE(wait_until([&] { return outcome || sh("ls -A /home/lab/disk/bench/bin 2>/dev/null").contains(".part"); }));
    sh("head -c 63M /dev/zero >/home/lab/disk/filler");
    ASSERT_TRUE(ends());
    if (!outcome->none()) break;
    sh("rm -rf /home/lab/disk/filler /home/lab/disk/bench");
  }
  EXPECT_NE(outcome->why.indexOf("became full"), -1) << outcome->why.toStdString();
  EXPECT_EQ(sh("ls -A /home/lab/disk/bench/bin"), "");
  lab->inside(1, {"umount", "/home/lab/disk"});
}

TEST_F(SshFilesTest, where_nothing_can_be_made_it_says_what_to_do) {
  begin(std::make_shared<PutProgram>(write("program", "#!/bin/sh\n"), "/proc/x"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(outcome->text(),
            "h1: making the folder /proc/x failed. Is the disk there full, or its quota, or the file system read-only?"
            " Give the host another folder (Edit on the page Hosts, or folder in the hosts file)");

  sh("ln -sfn /home/lab/not-there dangling");
  begin(std::make_shared<PutProgram>(folder.filePath("program"), "/home/lab/dangling"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(outcome->text(),
            "h1: /home/lab/dangling is a link that leads nowhere. Make there what it leads to, or give the host another folder"
            " (Edit on the page Hosts, or folder in the hosts file)");
  sh("mkdir not-there");
  begin(std::make_shared<PutProgram>(folder.filePath("program"), "/home/lab/dangling"));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << "a link that leads somewhere is as good as a folder: " << outcome->text().toStdString();
  sh("rm -rf dangling not-there");
}

TEST_F(SshFilesTest, a_growing_file_is_followed) {
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

TEST_F(SshFilesTest, a_followed_file_that_is_begun_anew_in_its_place_is_followed_from_its_beginning) {
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

TEST_F(SshFilesTest, nothing_is_swept_where_somebody_else_may_have_put_it) {
  const auto sweep = [this] {
    begin(std::make_shared<SweepRunFolders>(".cache/n2nq-bench", NeededThere()));
    EXPECT_TRUE(ends());
    begin(std::make_shared<SweepVersions>(".cache/n2nq-bench", QStringList()));
    EXPECT_TRUE(ends());
    return sh("cat ~lab/notes/keep-0123456789ab/thesis " + there + "/bin/.now-1 2>/dev/null; true");
  };
  const auto as_root = [](const QString& script) { return lab->inside(1, {"sh", "-c", "cd " + there + " && " + script}); };
  sh("mkdir -p ~lab/notes/keep-0123456789ab " + there + "/bin && cd ~lab/notes/keep-0123456789ab && echo thesis >thesis && "
     "touch -d '3 days ago' thesis . && cd " + there + " && rm -rf runs && ln -s ~lab/notes runs && echo now >bin/.now-1 && "
     "touch -d '3 days ago' bin/.now-1");
  as_root("chown 65534 . && chmod 755 .");
  EXPECT_EQ(sweep(), "thesis\nnow");
  as_root("chown lab . && chmod 777 .");
  EXPECT_EQ(sweep(), "thesis\nnow");
  as_root("chmod 700 . && chmod 777 ~lab/notes");
  EXPECT_EQ(sweep(), "thesis");
  as_root("chmod 700 ~lab/notes");
  EXPECT_EQ(sweep(), "") << "a link of the user's own leads where they want it";
  // Of root's, for all who log in.
  const QString both = "keep-0123456789ab mine-0123456789ab";
  as_root("rm -r runs ~lab/notes; mkdir -m 1777 runs; cd runs; mkdir " + both + "; touch -d '3 days ago' */R001.log " + both +
          "; touch -d '3 days ago' keep-0123456789ab/R001.log mine-0123456789ab/R001.log; touch -d '3 days ago' " + both +
          "; chown -R lab mine-0123456789ab; chown -R 65534 keep-0123456789ab; chmod 777 keep-0123456789ab");
  sweep();
  EXPECT_EQ(as_root("ls runs/keep-0123456789ab; ls runs").simplified(), "R001.log keep-0123456789ab");
  as_root("rm -r runs");
}

TEST_F(SshFilesTest, a_disk_here_that_stands_still_is_not_taken_for_the_silence_of_the_host) {
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

TEST_F(SshFilesTest, a_folder_comes_back_whole_also_after_a_cut_and_then_is_gone_there) {
  const QString local = folder.filePath("back");
  QString sum;
  constexpr qint64 small_bytes = 100 * 4;  // S101.log to S200.log, which come before the large one
  qint64 done = 0, all = 0, first = -1;    // first: when something of the large one was here
  const auto progress = [&](qint64 done_bytes, qint64 all_bytes) {
    done = done_bytes, all = all_bytes;
    if (first < 0 && done > small_bytes) first = done;
  };
  for (int attempts = 20; attempts > 0; --attempts) {  // on a busy machine all may be here before the cut
    sh("mkdir -p " + there + "/runs/x && cd " + there +
       "/runs/x && head -c 60M /dev/urandom >broker.log && for i in $(seq 101 200); do echo $i >S$i.log; done");
    sum = sh("sha256sum <" + there + "/runs/x/broker.log");
    QDir(local).removeRecursively();
    begin(std::make_shared<BringFolder>(".cache/n2nq-bench/runs/x", local, progress));
    EXPECT_TRUE(wait_until([&] { return outcome || QFileInfo(local + "/broker.log").size() > (5 << 20); }));
    lab->kill_sessions(1);
    ASSERT_TRUE(ends());
    if (!outcome->none()) break;
  }
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

/// As after a restart of the host, whose disk had not got the last lines yet.
TEST_F(SshFilesTest, of_what_is_shorter_there_the_lines_that_are_here_stay) {
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

TEST_F(SshFilesTest, a_disk_that_goes_away_while_it_is_fetched_from_is_waited_for_and_loses_nothing) {
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

TEST_F(SshFilesTest, a_log_that_is_removed_there_meanwhile_keeps_no_other_from_coming) {
  sh("mkdir -p " + there + "/runs/v && cd " + there + "/runs/v && for i in 1 2 3; do echo $i >S00$i.log; done");
  begin(std::make_shared<DisturbedBringing>("v", folder.filePath("v"), 1, "rm v/S002.log"));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_EQ(QDir(folder.filePath("v")).entryList(QDir::Files), QStringList({"S001.log", "S003.log"}));
  EXPECT_EQ(sh("ls " + there + "/runs"), "");
}

TEST_F(SshFilesTest, a_folder_that_stays_there_says_why_and_what_came_meanwhile_is_not_taken_for_brought) {
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

TEST_F(SshFilesTest, a_name_that_goes_on_behind_a_newline_is_no_version_of_a_program) {
  const QString name = "n2nq-old-" + QString(64, '0');
  sh("mkdir -p " + there + "/bin && cd " + there + "/bin && for i in 1 2 3 4; do touch -d '2 days ago' \"" + name.chopped(1) + "$i\" \"" +
     name.chopped(1) + "$i\n\"; done");
  begin(std::make_shared<SweepVersions>(".cache/n2nq-bench", QStringList()));
  ASSERT_TRUE(ends());
  EXPECT_EQ(sh("find " + there + "/bin -type f -name '*[0-9]' | wc -l"), "2");
  EXPECT_EQ(sh("find " + there + "/bin -type f -name '*[!0-9]' -printf x"), "xxxx");
}

TEST_F(SshFilesTest, names_that_lead_elsewhere_stay_there) {
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

TEST_F(SshFilesTest, a_log_that_cannot_be_read_keeps_no_other_from_coming) {
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
