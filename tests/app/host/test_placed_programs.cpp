// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that are put on pretend hosts, through real sshd, and tried there: what is there already, what goes, and what keeps one from
// running. Takes the programs' folder.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include "app/host/ssh_files.h"
#include "tests/app/host/ssh_launcher_kit.h"

namespace n2nq::app {
namespace {

using testing::configure_broker;
using testing::LoginScript;
using testing::programs_folder;

using PlacedProgramsTest = testing::LauncherOnHosts;

TEST_F(PlacedProgramsTest, what_is_there_is_not_sent_again_and_old_versions_go) {
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  const auto numbers = [] { return lab->inside(1, {"sh", "-c", "ls -i /home/lab/.cache/n2nq-bench/bin"}); };
  const QString before = numbers();
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  EXPECT_EQ(numbers(), before);

  QDir().mkpath(folder.filePath("bin"));
  std::unique_ptr<HostPool> other;
  const auto put_version = [&](int version) {
    QFile script(folder.filePath("bin/n2nq-broker"));
    ASSERT_TRUE(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\necho n2nq-broker " N2NQ_VERSION "\n# " + QByteArray::number(version) + '\n');
    script.close();
    launcher.reset();
    pool.reset();  // it would look again, too, later than it put the program there, and that may be at any time in the following
    other = std::make_unique<HostPool>(person, folder.filePath("bin"));
    launcher = other->launcher(lab->host(1));
    put = false;
    QObject::connect(launcher.get(), &Launcher::file_put, [this] { put = true; });
    QObject::connect(launcher.get(), &Launcher::failed, [this](const QString& why) { failure = why; });
    ASSERT_TRUE(gets_put()) << told();
  };
  const auto versions = [] {
    return lab->inside(1, {"sh", "-c", "ls /home/lab/.cache/n2nq-bench/bin | grep -c n2nq-broker"}).trimmed().toInt();
  };
  const auto let_them_age = [] {
    lab->inside(1, {"sh", "-c", "for f in /home/lab/.cache/n2nq-bench/bin/*; do touch -d \"$(stat -c %y $f) - 20 seconds\" $f; done"});
  };
  // Three other versions of it, one after the other: the last two stay.
  for (int version = 0; version < 3; ++version) {
    put_version(version);
    let_them_age();
  }
  EXPECT_TRUE(wait_until([&] { return versions() == 2; })) << versions();
  // Of benches that put theirs at the same time each finds its own, and then, too, the last two stay: the last bench looks again.
  for (int version = 3; version < 6; ++version) put_version(version);
  EXPECT_EQ(versions(), 3);
  EXPECT_TRUE(wait_until([&] { return versions() == 2; })) << versions();
  // Benches that are gone before that leave it to the next one, though that has nothing to put.
  for (int version = 6; version < 9; ++version) put_version(version);
  EXPECT_EQ(versions(), 3);
  other.reset();
  let_them_age();
  put_version(8);
  EXPECT_TRUE(wait_until([&] { return versions() == 2; })) << versions();
}

TEST_F(PlacedProgramsTest, a_disk_that_is_full_read_only_or_runs_nothing_is_found_before) {
  const auto mounted = [](const QByteArray& options) {
    lab->inside(2, {"sh", "-c",
                    "umount /home/lab/disk 2>/dev/null; mkdir -p /home/lab/disk && mount -t tmpfs -o mode=1777," + options +
                        " tmpfs /home/lab/disk"});
  };
  Host host = lab->host(2);
  host.folder = "disk/bench";
  // The folder cannot even be made: no bytes are missing for that, but numbers of files.
  const auto filled_with_files = [&](const QByteArray& size) {
    mounted(size + ",nr_inodes=20");
    lab->inside(2, {"sh", "-c", "cd /home/lab/disk; i=0; while mkdir $i 2>/dev/null; do i=$((i + 1)); done"});
  };
  filled_with_files("size=64m");
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("h2: making the folder disk/bench failed. Is the disk there full, or its quota"), std::string::npos) << told();
  EXPECT_NE(told().find("ive the host another folder"), std::string::npos) << told();
  filled_with_files("size=64k");
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("h2: the disk is full: 0.1 MiB are free where the folder disk/bench would be. Make room there"), std::string::npos)
      << told();
  mounted("size=1m");
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("h2: the disk is full"), std::string::npos) << told();
  EXPECT_EQ(home_of(2).find(".part-"), std::string::npos) << home_of(2);
  // A file that asks for the time there may be there for a moment: the bench looks for old versions meanwhile.
  EXPECT_TRUE(wait_until([] { return home_of(2).find("/disk/") == std::string::npos; })) << home_of(2);
  mounted("size=64m,ro");
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("read-only"), std::string::npos) << told();
  mounted("size=64m,noexec");
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("noexec"), std::string::npos) << told();
  mounted("size=64m");
  make(host);
  EXPECT_TRUE(gets_put()) << told();
  lab->inside(2, {"sh", "-c", "head -c 64M /dev/zero >/home/lab/disk/filler || true"});
  make(host);
  EXPECT_FALSE(gets_put()) << "the program is there, and there is no room for logs";
  EXPECT_NE(told().find("are needed for the logs of a run"), std::string::npos) << told();
  lab->inside(2, {"touch", "/home/lab/occupied"});
  host.folder = "occupied/bench";
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("occupied is there, and is no folder"), std::string::npos) << told();
  host.folder = "/etc/bench";
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("not permitted"), std::string::npos) << told();
  lab->inside(2, {"umount", "/home/lab/disk"});
}

TEST_F(PlacedProgramsTest, an_absolute_folder_needs_no_home_folder) {
  lab->inside(3, {"sh", "-c", "mkdir -p /disk && mount -t tmpfs -o mode=1777 tmpfs /disk"});
  Host host = lab->host(3);
  host.folder = "/disk/bench";
  bool connected = false;  // the keys that let in are at home
  pool->host(host)->with_files(pool.get(), [&](const SshProblem& problem, SshFiles*) { connected = problem.none(); });
  ASSERT_TRUE(wait_until([&] { return connected; }));
  lab->inside(3, {"mv", "/home/lab", "/home/away"});
  EXPECT_TRUE(runs_broker(host)) << told();
  launcher.reset();
  lab->inside(3, {"mv", "/home/away", "/home/lab"});
  lab->inside(3, {"umount", "-l", "/disk"});
}

TEST_F(PlacedProgramsTest, a_program_there_that_is_not_what_its_name_says_is_sent_again) {
  const auto sum = [] { return lab->inside(1, {"sh", "-c", "cat /home/lab/.cache/n2nq-bench/bin/n2nq-broker-* | sha256sum"}).left(64); };
  const auto whole = [&] {
    return lab->inside(1, {"sh", "-c", "ls /home/lab/.cache/n2nq-bench/bin"}).section("n2nq-broker-", 1).left(64) == sum();
  };
  lab->inside(1, {"rm", "-rf", "/home/lab/.cache"});
  const auto damaged = [&](const char* what) {
    lab->inside(1, {"sh", "-c", "f=$(echo /home/lab/.cache/n2nq-bench/bin/n2nq-broker-*); " + QString(what)});
    EXPECT_FALSE(whole());
  };
  make(lab->host(1));
  ASSERT_TRUE(gets_put() && whole()) << told();
  damaged("printf oops | dd of=$f bs=1 seek=1000000 conv=notrunc");
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker() && whole()) << told() << "on a new connection";
  damaged("head -c $(stat -c %s $f) /dev/zero >$f.new; cat $f.new >$f.other; rm $f; mv $f.new $f; rm $f.other");
  lab->inside(1, {"sh", "-c", "touch -d '1 minute ago' /home/lab/.cache/n2nq-bench/bin/*"});
  EXPECT_TRUE(runs_broker() && whole()) << told() << "and on one that knows it, when its time has changed";
  // On a host that cannot say it itself.
  const LoginScript script(*lab, 1, {"b"});
  script.set("PATH=~/b");
  lab->inside(1, {"sh", "-c", "mkdir /home/lab/b; ln -s /usr/bin/uname /home/lab/b"});
  damaged("cp -p $f $f.new && printf oops | dd of=$f.new bs=1 seek=1000000 conv=notrunc && mv $f.new $f");  // it runs still
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker() && whole()) << told() << "without sha256sum";
  // What somebody put in its place, of the same length, is not run to find that out, whether that host can say it or not.
  for (const char* path : {"PATH=~/b", "PATH=/usr/bin:/bin"}) {
    script.set(path);
    damaged("n=$(stat -c %s $f); { printf '#!/bin/sh\n/usr/bin/touch ~/was_run\nexit\n'; head -c $n /dev/zero; } | head -c $n >$f.new;"
            " chmod 700 $f.new; chown lab $f.new; mv $f.new $f");
    pool = std::make_unique<HostPool>(person, programs_folder);
    EXPECT_TRUE(runs_broker() && whole()) << told() << path;
    EXPECT_EQ(lab->inside(1, {"sh", "-c", "ls /home/lab"}).indexOf("was_run"), -1) << path;
  }
  script.set("PATH=~/b");
  EXPECT_EQ(lab->inside(1, {"sh", "-c", "ls -l /proc/[0-9]*/fd 2>/dev/null | grep n2nq-broker- || true"}), "") << "it is not held open";
  // One that cannot be read any more, as on a disk with a read error.
  lab->inside(1, {"sh", "-c", "f=$(echo /home/lab/.cache/n2nq-bench/bin/n2nq-broker-*); chown root $f; chmod 711 $f"});
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker() && whole()) << told() << "unreadable";
  EXPECT_EQ(lab->inside(1, {"sh", "-c", "stat -c %U /home/lab/.cache/n2nq-bench/bin/n2nq-broker-*"}).trimmed(), "lab")
      << "it was sent again";
  launcher.reset();
}

/// Another version has another name. What is put under a name that is there is put beside it first, for nobody can write into what runs.
TEST_F(PlacedProgramsTest, a_program_that_runs_there_is_replaced_and_runs_on) {
  const auto shell = [](const QString& script) {
    return lab->inside(1, {"sh", "-c", "cd /home/lab/.cache/n2nq-bench/bin && f=$(echo n2nq-broker-*) && " + script}).trimmed();
  };
  lab->inside(1, {"rm", "-rf", "/home/lab/.cache"});
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  shell("cp -p $f other && printf more >>other && mv other $f");  // it runs as well as the right one
  const auto running = lab->start_inside(1, {"setpriv", "--reuid=lab", "--regid=lab", "--clear-groups", "sh", "-c",
                                             "exec /home/lab/.cache/n2nq-bench/bin/n2nq-broker-*"});
  const auto runs_from = [] {
    return lab->inside(1, {"sh", "-c", "readlink /proc/[0-9]*/exe | grep n2nq-broker- | sort"}).trimmed().split('\n');
  };
  ASSERT_TRUE(wait_until([&] { return runs_from().value(0).startsWith("/home/lab"); }));
  EXPECT_TRUE(shell("printf more >>$f").contains("Text file busy")) << "what runs cannot be written to";
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker()) << told();
  const QString name = shell("echo $f");
  EXPECT_EQ(shell("sha256sum <$f").left(64), name.section('-', -1)) << "what is started now is the right one";
  const QString path = "/home/lab/.cache/n2nq-bench/bin/" + name;
  EXPECT_EQ(runs_from(), QStringList({path, path + " (deleted)"})) << runs_from().join(' ').toStdString();
  running->write(configure_broker);
  ASSERT_TRUE(running->waitForReadyRead()) << "the other one still does what it is told";
  EXPECT_TRUE(running->readAll().contains("\"hello\""));
}

TEST_F(PlacedProgramsTest, nothing_is_run_from_a_folder_in_which_somebody_else_may_change_it) {
  const auto shell = [](const QString& script) {
    return lab->inside(1, {"sh", "-c", "cd /home/lab/.cache/n2nq-bench && " + script}).trimmed().toStdString();
  };
  const auto is_taken = [this](const QString& script_before) {
    lab->inside(1, {"sh", "-c", "cd /home/lab/.cache/n2nq-bench && " + script_before});
    pool = std::make_unique<HostPool>(person, programs_folder);
    make(lab->host(1));
    return gets_put();
  };
  ASSERT_TRUE(is_taken("true")) << told();
  struct Case {
    const char *change, *back, *why, *advice;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"chmod 777 bin", "chmod 700 bin", "anybody there may change what is in the folder .cache/n2nq-bench/bin", "chmod go-w"},
           {"chmod 1777 bin", "chmod 700 bin", "anybody there may change what is in the folder .cache/n2nq-bench/bin", "chmod go-w"},
           {"chgrp 100 bin; chmod 770 bin", "chgrp lab bin; chmod 700 bin",
            "a group there may change what is in the folder .cache/n2nq-bench/bin", "chmod g-w"},
           {"chown 65534 bin; chmod 755 bin", "chown lab bin; chmod 700 bin",
            ".cache/n2nq-bench/bin belongs to another user there (number 65534, ", "Remove it there, or give it another name"},
           {"mv bin ../kept; ln -s ../kept bin", "rm bin; mv ../kept bin", ".cache/n2nq-bench/bin is a link", "Remove it there"},
           {"chmod 777 .", "chmod 700 .", "anybody there may change what is in the folder .cache/n2nq-bench, ", "chmod go-w"},
           {"chown 65534 .; chmod 755 .", "chown lab .; chmod 700 .",
            ".cache/n2nq-bench belongs to another user there (number 65534, ", "Remove it there, or give it another name"},
           {"chmod 777 ..", "chmod 700 ..",
            "anybody there may put something else in the place of the folder .cache/n2nq-bench, by a right to write to .cache",
            "Take that right to .cache away (chmod o-w, or +t)"}}) {
    EXPECT_FALSE(is_taken(each.change)) << each.change;
    EXPECT_NE(told().find(each.why), std::string::npos) << told();
    EXPECT_NE(told().find(each.advice), std::string::npos) << told();
    shell(each.back);
  }
  // However a person writes it.
  for (const char* spelled : {".cache/n2nq-bench/", ".cache/n2nq-bench/.", ".cache//n2nq-bench//"}) {
    shell("chmod 777 ..");
    Host host = lab->host(1);
    ASSERT_FALSE(find_host_field("folder")->set(host, spelled)) << spelled;
    pool = std::make_unique<HostPool>(person, programs_folder);
    make(host);
    EXPECT_FALSE(gets_put()) << spelled;
    EXPECT_NE(told().find("in the place of the folder .cache/n2nq-bench, by a right to write to .cache"), std::string::npos) << told();
    shell("chmod 700 ..");
  }
  EXPECT_FALSE(is_taken("rm bin/n2nq-broker-*; chown 65534 .; chmod 755 .")) << "nor put there";
  EXPECT_NE(told().find("belongs to another user"), std::string::npos) << told();
  EXPECT_EQ(shell("chown lab .; chmod 700 .; ls -A bin | grep n2nq-broker || true"), "") << "nor is a part of it left";
  EXPECT_TRUE(is_taken("chmod 1777 ..; chmod 770 bin; test $(stat -c %u bin) = $(stat -c %g bin)")) << told() << "the user's own group";
  // A link of their own to one of their own is as good, and what it leads to is judged.
  EXPECT_TRUE(is_taken("chmod 700 .. bin; cd ..; mkdir -p ../disk/1; chown lab ../disk/1; mv n2nq-bench ../disk/1/bench; "
                       "ln -s ../disk/1/bench n2nq-bench; chown -h lab n2nq-bench"))
      << told();
  EXPECT_FALSE(is_taken("chmod 777 .."));
  EXPECT_NE(told().find("in the place of the folder /home/lab/disk/1/bench, by a right to write to /home/lab/disk/1"), std::string::npos)
      << told();
  EXPECT_FALSE(is_taken("chmod 755 ..; chown -h 65534 ../../../.cache/n2nq-bench"));
  EXPECT_NE(told().find(".cache/n2nq-bench belongs to another user there"), std::string::npos) << told();
  shell("cd /home/lab/.cache; rm n2nq-bench; mv ../disk/1/bench n2nq-bench; rmdir ../disk/1");
  EXPECT_TRUE(is_taken("true")) << told();
}

/// Who looks after a machine may put programs there for those who log in: root could change these anyway.
TEST_F(PlacedProgramsTest, programs_that_root_has_put_there_are_run_as_they_are) {
  const auto shell = [](const QString& script) {
    return lab->inside(1, {"sh", "-c", "cd /home/lab/.cache/n2nq-bench && " + script}).trimmed().toStdString();
  };
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  shell("mkdir -p runs; chown lab runs");
  for (const char* roots : {"chown -R root bin; chmod -R 755 bin", "chown root .; chmod 755 ."}) {
    shell(roots);
    pool = std::make_unique<HostPool>(person, programs_folder);
    EXPECT_TRUE(runs_broker()) << roots << ": " << told();
    EXPECT_TRUE(runs_broker()) << roots << ", again, over the same connection: " << told();
    launcher.reset();
    EXPECT_EQ(shell("stat -c '%U %a' bin/n2nq-broker-*"), "root 755") << roots;
  }
  const std::string name = shell("basename bin/n2nq-broker-*");
  for (const char* unlike : {"chmod 700 bin/n2nq-broker-*", "echo >>$(echo bin/n2nq-broker-*)", "rm bin/n2nq-broker-*"}) {
    shell(unlike);
    pool = std::make_unique<HostPool>(person, programs_folder);
    make(lab->host(1));
    EXPECT_FALSE(gets_put()) << unlike;
    EXPECT_NE(told().find("bin belongs to root there, and " + name + " is not in it, or not as it is to be. Let root put that program"),
              std::string::npos)
        << unlike << ": " << told();
  }
  shell("chown -R lab .; chmod 700 . bin");
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker()) << told();
}

/// Left there when anybody could write to the folder, perhaps, and since then of no use.
TEST_F(PlacedProgramsTest, a_program_there_that_somebody_else_may_change_is_sent_again) {
  const auto shell = [](const QString& script) {
    return lab->inside(1, {"sh", "-c", "cd /home/lab/.cache/n2nq-bench/bin && f=$(echo n2nq-broker-*) && " + script}).trimmed();
  };
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  for (const char* change : {"chmod 777 $f", "chgrp 100 $f; chmod 770 $f", "chown 65534 $f; chmod 755 $f"}) {
    shell(change);
    pool = std::make_unique<HostPool>(person, programs_folder);
    make(lab->host(1));
    EXPECT_TRUE(gets_put()) << change << ": " << told();
    EXPECT_EQ(shell("stat -c '%U %a' $f"), "lab 700") << change;
  }
}

TEST_F(PlacedProgramsTest, a_program_that_may_not_be_run_any_more_is_sent_again) {
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  lab->inside(1, {"sh", "-c", "chmod 600 /home/lab/.cache/n2nq-bench/bin/*"});
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker()) << told();
}

TEST_F(PlacedProgramsTest, an_account_without_a_shell_is_named_with_what_it_says) {
  lab->inside(2, {"sh", "-c", "cp /etc/passwd /etc/passwd.kept; sed -i '/^lab:/s|[^:]*$|/usr/sbin/nologin|' /etc/passwd"});
  make(lab->host(2));
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("h2 lets lab in, but runs no command for it"), std::string::npos) << told();
  EXPECT_NE(told().find("not available"), std::string::npos) << told();
  EXPECT_EQ(told().find(".."), std::string::npos) << told();
  EXPECT_NE(told().find("chsh"), std::string::npos) << told();
  lab->inside(2, {"mv", "/etc/passwd.kept", "/etc/passwd"});
  for (const auto& [forced, says] : {std::pair("/bin/echo only for backups", "runs no command for it: it says only for backups"),
                                     {"internal-sftp", "runs no command for it: it says This service allows sftp connections only"},
                                     {"case \"$SSH_ORIGINAL_COMMAND\" in *sftp*) exec /usr/lib/openssh/sftp-server;; esac; echo \"not allowed: "
                                      "$SSH_ORIGINAL_COMMAND\"; exit 1",
                                      "runs no command for it: it says not allowed: "}}) {
    lab->change_sshd(2, QString("1i ForceCommand %1").arg(forced));
    pool = std::make_unique<HostPool>(person, programs_folder);
    make(lab->host(2));
    EXPECT_FALSE(gets_put());
    EXPECT_NE(told().find(says), std::string::npos) << told();
    EXPECT_NE(told().find("ForceCommand"), std::string::npos) << told();
    lab->change_sshd(2, "/ForceCommand/d");
  }
}

TEST_F(PlacedProgramsTest, a_host_that_opens_no_more_sessions_is_named_with_its_limit) {
  lab->change_sshd(2, "1i MaxSessions 0");
  make(lab->host(2));
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("h2 opens no session for SFTP: "), std::string::npos) << told();
  EXPECT_NE(told().find("Does MaxSessions in its sshd_config allow 10"), std::string::npos) << told();
  EXPECT_EQ(told().find("Subsystem"), std::string::npos) << "that line is there: " << told();
  lab->change_sshd(2, "s/^MaxSessions 0/MaxSessions 1/");
  pool = std::make_unique<HostPool>(person, programs_folder);
  ASSERT_TRUE(runs_broker(2)) << told();
  const auto first = std::move(launcher);
  make(lab->host(2));
  EXPECT_FALSE(gets_put("n2nq-receivers")) << "it cannot be tried there";
  EXPECT_NE(told().find("h2 does not run a command: "), std::string::npos) << told();
  EXPECT_NE(told().find("as it does by default? Its system log (journalctl) says why its sshd refused that"), std::string::npos) << told();
  first->end_input();
  EXPECT_TRUE(wait_until([] { return lab->programs(2).isEmpty(); })) << "it ends by itself";
  lab->change_sshd(2, "/MaxSessions/d");
}

TEST_F(PlacedProgramsTest, a_program_that_changes_here_while_it_is_sent_is_named) {
  const QString program = folder.filePath("n2nq-broker");
  QFile file(program);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray(1 << 20, 'x'));
  file.close();
  // Told before the first piece, on the thread that sends it.
  const auto cut_short = [program](qint64 done_bytes, qint64) {
    if (done_bytes == 0) QFile::resize(program, 0);
  };
  const auto host = pool->host(lab->host(1));
  const auto task =
      std::make_shared<PutProgram>(program, host->folder(), PutProgram::If::not_there, PutProgram::Room::as_it_is, cut_short);
  std::optional<SshProblem> outcome;
  host->with_files(pool.get(), [&](const SshProblem& problem, SshFiles* files) {
    if (!files) outcome = problem;
    if (files) files->run(task, pool.get(), [&](const SshProblem& why) { outcome = why; });
  });
  ASSERT_TRUE(wait_until([&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->why, program + " changed while it was sent");
  EXPECT_EQ(outcome->what_to_do, "Is it being built or copied here? Try again when that is over");
  lab->inside(1, {"rm", "-rf", "/home/lab/.cache"});
}

TEST_F(PlacedProgramsTest, what_hangs_or_says_too_much_when_it_is_tried_is_named_and_leaves_nothing) {
  QDir().mkpath(folder.filePath("bin"));
  const auto write_program = [&](const QByteArray& text) {
    QFile file(folder.filePath("bin/n2nq-broker"));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n" + text);
  };
  write_program("sleep 4711\nexit\n");
  const LoginScript talks_on(*lab, 2), waits(*lab, 3);
  talks_on.set("yes");
  make(lab->host(3));
  ASSERT_TRUE(gets_put()) << told();
  const std::unique_ptr<Launcher> waiter = std::move(launcher);  // its login hangs behind a good trial
  waits.set("sleep 4712");
  lab->change_sshd(3, "s#^Subsystem.*#Subsystem sftp /bin/sleep 4713#");
  HostPool others(person, folder.filePath("bin"));
  const auto silent = others.launcher(lab->host(3));
  QString silence;
  QObject::connect(silent.get(), &Launcher::failed, [&](const QString& why) { silence = why; });
  silent->put_file("n2nq-broker");
  launcher = others.launcher(lab->host(1));
  const auto talker = others.launcher(lab->host(2));
  QString hangs, talks;
  QObject::connect(launcher.get(), &Launcher::failed, [&](const QString& why) { hangs = why; });
  QObject::connect(talker.get(), &Launcher::failed, [&](const QString& why) { talks = why; });
  launcher->put_file("n2nq-broker");
  talker->put_file("n2nq-broker");
  waiter->start("n2nq-broker");
  waiter->kill();  // is no reason to wait for longer
  EXPECT_TRUE(wait_until([&] { return !talks.isEmpty(); }));
  EXPECT_NE(talks.toStdString().find("said more than 4 MiB. Does something that is read at each login"), std::string::npos)
      << talks.toStdString();
  EXPECT_TRUE(wait_until([&] { return !hangs.isEmpty(); }));
  EXPECT_NE(hangs.toStdString().find("h1: n2nq-broker was tried there with --version; a command on h1 did not end within 8 s"),
            std::string::npos)
      << hangs.toStdString();
  for (const int host : {1, 2}) {
    EXPECT_TRUE(wait_until([&] {
      return lab->inside(host, {"sh", "-c", "ps -e -o args= | grep -E '^(sleep 4711|yes)$' || true"}).isEmpty();
    }));
  }
  EXPECT_TRUE(wait_until([&] { return !failure.isEmpty(); }));
  EXPECT_NE(told().find("h3: a login there does not begin to run a program within 8 s"), std::string::npos) << told();
  EXPECT_TRUE(wait_until([&] { return !silence.isEmpty(); }));
  EXPECT_NE(silence.toStdString().find("h3 did not answer for 8 s when SFTP was begun. Does sftp get in there by hand?"), std::string::npos)
      << silence.toStdString();
  lab->change_sshd(3, "s#^Subsystem.*#Subsystem sftp internal-sftp#");
  waits.remove();
  lab->inside(3, {"sh", "-c", "kill $(pgrep -f '^(/bin/)?sleep 471[23]')"});
  EXPECT_TRUE(wait_until([&] { return lab->inside(3, {"sh", "-c", "pgrep n2nq || true"}).isEmpty(); })) << "ends with its stdin";
  failure.clear();
  talks_on.remove();
  write_program("echo n2nq-broker " N2NQ_VERSION "\n");
  for (const int host : {1, 2}) {
    launcher = others.launcher(lab->host(host));
    put = false;
    QObject::connect(launcher.get(), &Launcher::file_put, [this] { put = true; });
    QObject::connect(launcher.get(), &Launcher::failed, [this](const QString& why) { failure = why; });
    EXPECT_TRUE(gets_put()) << "the next time it is tried again: " << told();
  }
}

// What is built with a sanitizer is linked with that, and is put on no lab machine.
#ifndef __SANITIZE_ADDRESS__
/// With no library there, no loader and no file of any system.
TEST_F(PlacedProgramsTest, what_is_put_runs_where_there_is_nothing_else) {
  lab->inside(1, {"rm", "-rf", "/home/lab/.cache"});
  for (const QString program : {"n2nq-broker", "n2nq-senders", "n2nq-receivers"}) {
    make(lab->host(1));
    ASSERT_TRUE(gets_put(program)) << told();
    const QString alone = "mkdir /tmp/alone && cp /home/lab/.cache/n2nq-bench/bin/%1-* /tmp/alone/program && "
                          "chroot /tmp/alone /program --version; echo $?; rm -r /tmp/alone";
    EXPECT_EQ(lab->inside(1, {"sh", "-c", alone.arg(program)}), program + " " N2NQ_VERSION "\n0\n");
  }
}
#endif

TEST_F(PlacedProgramsTest, a_login_that_says_too_much_behind_the_trial_is_named) {
  make(lab->host(2));
  ASSERT_TRUE(gets_put()) << told();
  const LoginScript talks_on(*lab, 2);
  talks_on.set("yes");
  launcher->start("n2nq-broker");
  EXPECT_TRUE(wait_until([&] { return !failure.isEmpty(); }));
  EXPECT_NE(told().find("h2: a login there says more than 4 MiB"), std::string::npos) << told();
}

TEST_F(PlacedProgramsTest, a_program_of_another_architecture_or_version_is_refused_by_name) {
  QDir().mkpath(folder.filePath("bin"));
  const QString program = folder.filePath("bin/n2nq-broker");
  const auto refused = [&](const QByteArray& text) {
    QFile file(program);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    pool = std::make_unique<HostPool>(person, folder.filePath("bin"));
    make(lab->host(2));
    return !gets_put();
  };
  ASSERT_TRUE(refused("#!/bin/sh\necho n2nq-broker 0.0.9\n"));
  EXPECT_NE(told().find("of version 0.0.9, n2nq-bench of version " N2NQ_VERSION), std::string::npos) << told();
  QFile real(programs_folder + "/n2nq-broker");
  ASSERT_TRUE(real.open(QIODevice::ReadOnly));
  QByteArray other = real.readAll();
  other[18] = static_cast<char>(0xB7);  // e_machine: AArch64
  ASSERT_TRUE(refused(other));
  EXPECT_NE(told().find("does not run there: it is built for another architecture"), std::string::npos) << told();
  const LoginScript script(*lab, 2, {"b"});
  script.set("PATH=~/b:$PATH");
  lab->inside(2, {"sh", "-c", "mkdir /home/lab/b; printf '#!/bin/sh\\necho aarch64\\n' >/home/lab/b/uname; chmod +x /home/lab/b/uname"});
  ASSERT_TRUE(refused(other));
  EXPECT_NE(told().find("h2 has the architecture aarch64"), std::string::npos) << told();
}

}  // namespace
}  // namespace n2nq::app
