// SPDX-License-Identifier: GPL-3.0-or-later
// Processes on pretend hosts, through real sshd: put there, run, spoken with, ended, and what is left of them. Takes the programs' folder.
#include "app/host/ssh_launcher.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "app/control/role.h"
#include "app/control/run_control.h"
#include "app/host/host_pool.h"
#include "app/host/lab_host.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_lab.h"

namespace n2nq::app {
namespace {

using testing::PretendLab;
using testing::PretendPerson;

QString programs_folder;
constexpr const char* configure_broker =
    R"({"type":"configure","control":1,"run":"test","role":"broker","token":"","listen":{"address":"127.0.0.1","port":0},"expect":{"senders":1,"receivers":1}})"
    "\n";

struct SshLauncherTest : testing::WithEventLoop {
  static inline std::unique_ptr<PretendLab> lab;
  QTemporaryDir folder;
  PretendPerson person;
  std::unique_ptr<HostPool> pool;
  std::unique_ptr<Launcher> launcher;
  QByteArray output;
  std::optional<ProcessExit> exit;
  QString failure, brought;
  bool put = false, started = false, back = false;

  static void SetUpTestSuite() {
    lab = PretendLab::take_up(3);
    if (lab) qputenv("HOME", lab->home().toLocal8Bit());
  }
  static void TearDownTestSuite() { lab.reset(); }
  void SetUp() override {
    if (!lab) GTEST_SKIP() << PretendLab::why_not.toStdString();
    pool = std::make_unique<HostPool>(person, programs_folder);
  }
  void make(const Host& host) {
    launcher = pool->launcher(host);
    put = started = back = false;
    failure.clear();
    output.clear();
    exit.reset();
    QObject::connect(launcher.get(), &Launcher::file_put, [this] { put = true; });
    QObject::connect(launcher.get(), &Launcher::started, [this] { started = true; });
    QObject::connect(launcher.get(), &Launcher::output, [this](const QByteArray& bytes) { output += bytes; });
    QObject::connect(launcher.get(), &Launcher::gone, [this](const ProcessExit& how) { exit = how; });
    QObject::connect(launcher.get(), &Launcher::failed, [this](const QString& why) { failure = why; });
    QObject::connect(launcher.get(), &Launcher::brought_back, [this](const QString& error) {
      brought = error;
      back = true;
    });
  }
  bool gets_put(const QString& program = "n2nq-broker") {
    launcher->put_file(program);
    EXPECT_TRUE(wait_until([this] { return put || !failure.isEmpty(); }));
    return put;
  }
  bool runs_broker(int host = 1) {
    make(lab->host(host));
    if (!gets_put()) return false;
    launcher->start("n2nq-broker");
    if (!wait_until([this] { return started || !failure.isEmpty(); }) || !started) return false;
    launcher->write(configure_broker);
    return wait_until([this] { return output.contains("\"hello\"") && output.contains('\n'); });
  }
  bool wait_gone() {
    return wait_until([this] { return exit.has_value(); });
  }
  std::string told() const { return failure.toStdString(); }
  static std::string home_of(int host) {
    return lab->inside(host, {"find", "/home/lab", "-type", "f", "-not", "-path", "*/.ssh/*"}).toStdString();
  }
};

TEST_F(SshLauncherTest, a_process_is_put_started_and_spoken_with) {
  ASSERT_TRUE(runs_broker()) << told() << output.toStdString();
  EXPECT_EQ(launcher->data_address(), lab->address(1));
  EXPECT_TRUE(output.startsWith("{")) << "its number is not passed on: " << output.toStdString();
  EXPECT_EQ(lab->programs(1).size(), 1);
  launcher->write("{\"type\":\"bye\"}\n");
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->code, 0);
  EXPECT_EQ(exit->signal, 0);
  EXPECT_TRUE(exit->lost.isEmpty());
  EXPECT_TRUE(output.contains("\"bye\""));
}

TEST_F(SshLauncherTest, what_is_there_is_not_sent_again_and_old_versions_go) {
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

TEST_F(SshLauncherTest, signals_reach_the_process) {
  ASSERT_TRUE(runs_broker()) << told();
  launcher->kill();
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->signal, SIGKILL);
  ASSERT_TRUE(runs_broker()) << told();
  launcher->terminate();
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->code, 0);
  EXPECT_TRUE(output.contains("\"bye\"")) << "it says what it has to say";
}

TEST_F(SshLauncherTest, a_process_stands_still_and_goes_on) {
  ASSERT_TRUE(runs_broker()) << told();
  const auto state = [] { return lab->inside(1, {"sh", "-c", "ps -e -o stat=,comm= | grep n2nq-broker"}).left(1); };
  launcher->pause();
  EXPECT_TRUE(wait_until([&] { return state() == "T"; }));
  launcher->resume();
  EXPECT_TRUE(wait_until([&] { return state() != "T"; }));
  launcher->pause();
  EXPECT_TRUE(wait_until([&] { return state() == "T"; }));
  launcher.reset();
  EXPECT_TRUE(wait_until([&] { return lab->programs(1).isEmpty(); })) << "nor is one left that stands still";
}

TEST_F(SshLauncherTest, of_pause_resume_and_pause_the_last_one_holds_though_the_host_is_slow_to_let_go) {
  lab->inside(
      1, {"sh", "-c",
          "mkdir -p /home/lab/b; printf '#!/bin/sh\\n/usr/bin/timeout \"$@\"; code=$?; while [ $code != 0 ] && [ -e /home/lab/hold ]; do "
          "sleep 0.02; done; exit $code\\n' >/home/lab/b/timeout; chmod +x /home/lab/b/timeout; echo 'PATH=~/b:$PATH' "
          ">/home/lab/.bashrc; touch /home/lab/hold"});
  ASSERT_TRUE(runs_broker()) << told();
  const QString pid = lab->inside(1, {"pgrep", "-n", "n2nq-broker"}).trimmed();
  const auto state = [&] { return lab->inside(1, {"ps", "-o", "stat=", "-p", pid}).left(1); };
  const auto holders = [] { return lab->inside(1, {"pgrep", "-f", "^/bin/sh -c timeout 8"}).split('\n'); };
  launcher->pause();
  ASSERT_TRUE(wait_until([&] { return state() == "T"; }));
  const QString first = holders()[0];
  launcher->resume();
  launcher->pause();
  const auto other = pool->launcher(lab->host(1));  // over the same connection: what was asked for before it has begun by then
  bool other_started = false;
  QObject::connect(other.get(), &Launcher::file_put, [&] { other->start("n2nq-broker"); });
  QObject::connect(other.get(), &Launcher::started, [&] { other_started = true; });
  other->put_file("n2nq-broker");
  ASSERT_TRUE(wait_until([&] { return other_started; }));
  lab->inside(1, {"rm", "/home/lab/hold"});
  EXPECT_TRUE(wait_until([&] {
    return !holders().contains(first) && !lab->inside(1, {"pgrep", "-f", "^/bin/sh -c read still"}).startsWith("exit code");
  }));
  EXPECT_EQ(state(), "T");
  launcher->resume();
  EXPECT_TRUE(wait_until([&] { return state() != "T"; }));
  launcher->pause();
  launcher->resume();
  EXPECT_TRUE(wait_until([&] { return holders() == QStringList{"exit code 1: "}; }));
  EXPECT_NE(state(), "T");
  launcher.reset();
  lab->inside(1, {"rm", "-r", "/home/lab/.bashrc", "/home/lab/b"});
}

TEST_F(SshLauncherTest, a_pause_that_a_host_cannot_make_or_keep_up_says_why) {
  QString not_paused, went_on;
  const auto state = [] { return lab->inside(1, {"sh", "-c", "ps -e -o stat=,comm= | grep n2nq-broker"}).left(1); };
  const auto pause_with = [&](const QString& timeout) {
    lab->inside(1, {"sh", "-c", "mkdir -p /home/lab/b; rm -f /home/lab/b/*; " + timeout + "; echo 'PATH=~/b' >/home/lab/.bashrc"});
    launcher->pause();
  };
  ASSERT_TRUE(runs_broker()) << told();
  QObject::connect(launcher.get(), &Launcher::not_paused, [&](const QString& why) { not_paused = why; });
  QObject::connect(launcher.get(), &Launcher::went_on, [&](const QString& why) { went_on = why; });
  const char* const old_one =
      "printf '#!/bin/sh\\necho cannot execute $1 >&2; exit 127\\n' >/home/lab/b/timeout; chmod +x /home/lab/b/timeout";
  for (const char* timeout : {"true", old_one}) {
    not_paused.clear();
    pause_with(timeout);
    ASSERT_TRUE(wait_until([&] { return !not_paused.isEmpty() || !went_on.isEmpty(); }));
    EXPECT_EQ(not_paused, "h1 has no timeout command of the kind that pauses need (of GNU coreutils, or of a newer BusyBox)");
    EXPECT_NE(state(), "T");
  }
  not_paused.clear();
  pause_with("ln -s /usr/bin/timeout /home/lab/b");
  ASSERT_TRUE(wait_until([&] { return state() == "T"; })) << not_paused.toStdString();
  lab->inside(1, {"pkill", "-KILL", "-f", "kill -s STOP"});
  EXPECT_TRUE(wait_until([&] { return !went_on.isEmpty(); }));
  EXPECT_TRUE(went_on.startsWith("h1 ended what held it still (")) << went_on.toStdString();
  EXPECT_TRUE(wait_until([&] { return state() != "T"; })) << "nothing stands still for ever";
  EXPECT_EQ(not_paused, "");
  launcher.reset();
  lab->inside(1, {"rm", "-r", "/home/lab/.bashrc", "/home/lab/b"});
}

TEST_F(SshLauncherTest, the_lease_goes_on_while_a_host_takes_its_time_for_the_folder) {
  QDir().mkpath(folder.filePath("bin"));
  QFile script(folder.filePath("bin/n2nq-broker"));
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  script.write("#!/bin/sh\n[ $# = 0 ] || exec echo n2nq-broker " N2NQ_VERSION "\nexec cat\n");
  script.close();
  lab->change_sshd(1, "s#^Subsystem.*#Subsystem sftp /usr/lib/openssh/sftp-server#");
  pool = std::make_unique<HostPool>(person, folder.filePath("bin"));
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  launcher->start("n2nq-broker");
  ASSERT_TRUE(wait_until([this] { return started || !failure.isEmpty(); }) && started) << told();
  launcher->folder_there(folder.filePath("run/senders"));
  lab->inside(1, {"pkill", "-STOP", "sftp-server"});
  launcher->write("configure\n");
  launcher->write("\n");
  EXPECT_TRUE(wait_until([this] { return !output.isEmpty(); }));
  EXPECT_EQ(output, "\n");
  lab->inside(1, {"pkill", "-CONT", "sftp-server"});
  EXPECT_TRUE(wait_until([this] { return output == "\nconfigure\n"; })) << output.toStdString();
  launcher.reset();
  lab->change_sshd(1, "s#^Subsystem.*#Subsystem sftp internal-sftp#");
}

TEST_F(SshLauncherTest, the_noise_of_login_scripts_is_not_heard) {
  lab->inside(
      1, {"sh", "-c", "(seq 1 3000; printf 'no newline') >/home/lab/noise; echo 'cat ~/noise; echo more noise >&2' >/home/lab/.bashrc"});
  EXPECT_TRUE(runs_broker()) << told();
  EXPECT_TRUE(output.startsWith("{")) << output.left(100).toStdString();
  launcher.reset();
  lab->inside(1, {"rm", "/home/lab/.bashrc", "/home/lab/noise"});
}

TEST_F(SshLauncherTest, who_logs_in_as_root_is_served_alike) {
  Host host = lab->host(2);
  host.user = "root";
  make(host);
  ASSERT_TRUE(gets_put()) << told();
  launcher->start("n2nq-broker");
  ASSERT_TRUE(wait_until([this] { return started; }));
  launcher->kill();
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->signal, SIGKILL);
}

TEST_F(SshLauncherTest, nothing_runs_on_when_the_launcher_or_the_connection_is_gone) {
  ASSERT_TRUE(runs_broker()) << told();
  launcher.reset();
  EXPECT_TRUE(wait_until([] { return lab->programs(1).isEmpty(); }));
  ASSERT_TRUE(runs_broker()) << told();
  lab->kill_sessions(1);
  ASSERT_TRUE(wait_gone());
  EXPECT_NE(exit->lost.toStdString().find("connection to h1 was lost"), std::string::npos) << exit->lost.toStdString();
  EXPECT_TRUE(wait_until([] { return lab->programs(1).isEmpty(); }));
  const auto host = pool->host(lab->host(1));
  ASSERT_TRUE(wait_until([&] { return host->control() == nullptr && host->files() == nullptr; })) << "two connections, cut one by one";
  EXPECT_TRUE(runs_broker()) << "the next one is connected anew: " << told();
}

TEST_F(SshLauncherTest, a_cable_that_is_pulled_is_noticed_and_leaves_nothing_there) {
  ASSERT_TRUE(runs_broker(3)) << told();
  lab->set_plugged_in(3, false);
  ASSERT_TRUE(wait_gone());
  EXPECT_FALSE(exit->lost.isEmpty());
  EXPECT_TRUE(wait_until([] { return lab->programs(3).isEmpty(); })) << "its lease";
  lab->set_plugged_in(3, true);
}

TEST_F(SshLauncherTest, a_disk_that_is_full_read_only_or_runs_nothing_is_found_before) {
  const auto mounted = [](const QByteArray& options) {
    lab->inside(2, {"sh", "-c",
                    "umount /home/lab/disk 2>/dev/null; mkdir -p /home/lab/disk && mount -t tmpfs -o mode=777," + options +
                        " tmpfs /home/lab/disk"});
  };
  Host host = lab->host(2);
  host.folder = "disk/bench";
  mounted("size=1m");
  make(host);
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("h2: the disk is full"), std::string::npos) << told();
  EXPECT_EQ(home_of(2).find("/disk/"), std::string::npos) << home_of(2);
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

TEST_F(SshLauncherTest, a_program_there_that_is_not_what_its_name_says_is_sent_again) {
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
  lab->inside(1, {"sh", "-c", "mkdir /home/lab/b; ln -s /usr/bin/uname /home/lab/b; echo 'PATH=~/b' >/home/lab/.bashrc"});
  damaged("cp -p $f $f.new && printf oops | dd of=$f.new bs=1 seek=1000000 conv=notrunc && mv $f.new $f");  // it runs still
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker() && whole()) << told() << "without sha256sum";
  EXPECT_EQ(lab->inside(1, {"sh", "-c", "ls -l /proc/[0-9]*/fd 2>/dev/null | grep n2nq-broker- || true"}), "") << "it is not held open";
  // One that cannot be read any more, as on a disk with a read error.
  lab->inside(1, {"sh", "-c", "f=$(echo /home/lab/.cache/n2nq-bench/bin/n2nq-broker-*); chown root $f; chmod 711 $f"});
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker() && whole()) << told() << "unreadable";
  EXPECT_EQ(lab->inside(1, {"sh", "-c", "stat -c %U /home/lab/.cache/n2nq-bench/bin/n2nq-broker-*"}).trimmed(), "lab")
      << "it was sent again";
  launcher.reset();
  lab->inside(1, {"rm", "-r", "/home/lab/.bashrc", "/home/lab/b"});
}

TEST_F(SshLauncherTest, a_program_that_may_not_be_run_any_more_is_sent_again) {
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  lab->inside(1, {"sh", "-c", "chmod 600 /home/lab/.cache/n2nq-bench/bin/*"});
  pool = std::make_unique<HostPool>(person, programs_folder);
  EXPECT_TRUE(runs_broker()) << told();
}

TEST_F(SshLauncherTest, an_account_without_a_shell_is_named_with_what_it_says) {
  lab->inside(2, {"sh", "-c", "cp /etc/passwd /etc/passwd.kept; sed -i '/^lab:/s|[^:]*$|/usr/sbin/nologin|' /etc/passwd"});
  make(lab->host(2));
  EXPECT_FALSE(gets_put());
  EXPECT_NE(told().find("h2 lets lab in, but runs no command for it"), std::string::npos) << told();
  EXPECT_NE(told().find("not available"), std::string::npos) << told();
  EXPECT_NE(told().find("chsh"), std::string::npos) << told();
  lab->inside(2, {"mv", "/etc/passwd.kept", "/etc/passwd"});
  for (const auto& [forced, says] : {std::pair("/bin/echo only for backups", "runs no command for it: it says only for backups"),
                                     {"internal-sftp", "runs no command for it: it says This service allows sftp connections only"}}) {
    lab->change_sshd(2, QString("1i ForceCommand %1").arg(forced));
    pool = std::make_unique<HostPool>(person, programs_folder);
    make(lab->host(2));
    EXPECT_FALSE(gets_put());
    EXPECT_NE(told().find(says), std::string::npos) << told();
    EXPECT_NE(told().find("ForceCommand"), std::string::npos) << told();
    lab->change_sshd(2, "/ForceCommand/d");
  }
}

TEST_F(SshLauncherTest, a_host_that_takes_one_command_at_a_time_runs_one_process_and_says_what_it_cannot_do_with_it) {
  lab->change_sshd(2, "1i MaxSessions 1");
  pool = std::make_unique<HostPool>(person, programs_folder);
  ASSERT_TRUE(runs_broker(2)) << told();
  QString why;
  QObject::connect(launcher.get(), &Launcher::not_paused, [&](const QString& text) { why = text; });
  launcher->pause();
  EXPECT_TRUE(wait_until([&] { return !why.isEmpty(); }));
  EXPECT_NE(why.toStdString().find("MaxSessions"), std::string::npos) << why.toStdString();
  QObject::connect(launcher.get(), &Launcher::not_killed, [&](const QString& text) { why = text; });
  for (const auto& end : {&Launcher::terminate, &Launcher::kill}) {
    why.clear();
    (launcher.get()->*end)();
    EXPECT_TRUE(wait_until([&] { return !why.isEmpty(); }));
    EXPECT_NE(why.toStdString().find("h2 does not run a command"), std::string::npos) << why.toStdString();
  }
  EXPECT_FALSE(exit.has_value());
  const auto first = std::move(launcher);
  make(lab->host(2));
  EXPECT_TRUE(gets_put()) << "it is known to run";
  launcher->start("n2nq-broker");
  EXPECT_TRUE(wait_until([&] { return !failure.isEmpty(); }));
  EXPECT_NE(told().find("MaxSessions"), std::string::npos) << told();
  first->end_input();
  EXPECT_TRUE(wait_until([] { return lab->programs(2).isEmpty(); })) << "it ends by itself";
  lab->change_sshd(2, "/MaxSessions/d");
}

TEST_F(SshLauncherTest, a_command_that_ends_with_an_error_is_told_with_what_it_said) {
  ASSERT_TRUE(runs_broker(2)) << told();
  lab->inside(2, {"sh", "-c",
                  "printf 'case $BASH_EXECUTION_STRING in *kill*) echo \"no \\033[31msuch thing\" >&2; exit 1;; esac' >/home/lab/.bashrc"});
  QString why;
  QObject::connect(launcher.get(), &Launcher::not_killed, [&](const QString& text) { why = text; });
  launcher->kill();
  EXPECT_TRUE(wait_until([&] { return !why.isEmpty(); }));
  EXPECT_EQ(why.toStdString(), "h2: no \\x1B[31msuch thing");
  EXPECT_FALSE(exit.has_value());
  launcher.reset();
  lab->inside(2, {"rm", "/home/lab/.bashrc"});
}

TEST_F(SshLauncherTest, what_hangs_or_says_too_much_when_it_is_tried_is_named_and_leaves_nothing) {
  QDir().mkpath(folder.filePath("bin"));
  const auto write_program = [&](const QByteArray& text) {
    QFile file(folder.filePath("bin/n2nq-broker"));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n" + text);
  };
  write_program("sleep 4711\nexit\n");
  lab->inside(2, {"sh", "-c", "echo yes >/home/lab/.bashrc"});
  make(lab->host(3));
  ASSERT_TRUE(gets_put()) << told();
  const std::unique_ptr<Launcher> waiter = std::move(launcher);  // its login hangs behind a good trial
  lab->inside(3, {"sh", "-c", "echo sleep 4712 >/home/lab/.bashrc"});
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
  lab->inside(3, {"sh", "-c", "rm /home/lab/.bashrc; kill $(pgrep -f '^(/bin/)?sleep 471[23]')"});
  EXPECT_TRUE(wait_until([&] { return lab->inside(3, {"sh", "-c", "pgrep n2nq || true"}).isEmpty(); })) << "ends with its stdin";
  failure.clear();
  lab->inside(2, {"rm", "/home/lab/.bashrc"});
  write_program("echo n2nq-broker " N2NQ_VERSION "\n");
  for (const int host : {1, 2}) {
    launcher = others.launcher(lab->host(host));
    put = false;
    QObject::connect(launcher.get(), &Launcher::file_put, [this] { put = true; });
    QObject::connect(launcher.get(), &Launcher::failed, [this](const QString& why) { failure = why; });
    EXPECT_TRUE(gets_put()) << "the next time it is tried again: " << told();
  }
}

TEST_F(SshLauncherTest, a_login_that_says_too_much_behind_the_trial_is_named) {
  make(lab->host(2));
  ASSERT_TRUE(gets_put()) << told();
  lab->inside(2, {"sh", "-c", "echo yes >/home/lab/.bashrc"});
  launcher->start("n2nq-broker");
  EXPECT_TRUE(wait_until([&] { return !failure.isEmpty(); }));
  EXPECT_NE(told().find("h2: a login there says more than 4 MiB"), std::string::npos) << told();
  lab->inside(2, {"rm", "/home/lab/.bashrc"});
}

TEST_F(SshLauncherTest, a_program_of_another_architecture_or_version_is_refused_by_name) {
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
  lab->inside(2, {"sh", "-c",
                  "mkdir /home/lab/b; printf '#!/bin/sh\\necho aarch64\\n' >/home/lab/b/uname; chmod +x /home/lab/b/uname; echo "
                  "'PATH=~/b:$PATH' >/home/lab/.bashrc"});
  ASSERT_TRUE(refused(other));
  EXPECT_NE(told().find("h2 has the architecture aarch64"), std::string::npos) << told();
  lab->inside(2, {"rm", "-r", "/home/lab/.bashrc", "/home/lab/b"});
}

struct OnHosts : LauncherFactory {
  HostPool& pool;
  explicit OnHosts(HostPool& given) : pool(given) {}
  std::unique_ptr<Launcher> launcher(const QString& host) override {
    return pool.launcher(SshLauncherTest::lab->host(host.mid(1).toInt()));
  }
};

TEST_F(SshLauncherTest, a_whole_run_on_three_hosts_and_all_of_its_files_come_back) {
  for (const bool same_host : {false, true}) {
    RunControl::Options options;
    options.runs_folder = folder.path();
    RunControl control(options, std::make_unique<OnHosts>(*pool));
    Settings settings;
    settings.broker.host = "h1";
    settings.senders.host = same_host ? "h1" : "h2";
    settings.receivers.host = same_host ? "h1" : "h3";
    settings.senders.amount = 10;
    settings.senders.messages = 50;
    settings.senders.delay_ms = 10;
    settings.receivers.amount = 10;
    QStringList messages;
    QObject::connect(&control, &RunControl::message, [&](const QString& text) { messages += text; });
    control.set_settings(settings);
    control.start_all();
    ASSERT_TRUE(wait_until([&] { return control.state() == RunState::finished; })) << messages.join('\n').toStdString();
    const RunOutcome& outcome = control.outcome();
    // Clocks that differ are another matter: what was sent must have arrived, and be written down.
    EXPECT_NE(outcome.verdict, Verdict::broken) << (outcome.reasons + messages).join('\n').toStdString();
    EXPECT_EQ(control.figures().received, 5000);
    for (const char* file : {"senders/S001.log", "senders/S010.log", "receivers/R001.log", "receivers/R010.log", "broker.log"}) {
      EXPECT_GT(QFileInfo(outcome.folder + '/' + file).size(), 0) << file;
    }
    EXPECT_TRUE(QFile::exists(outcome.folder + "/messages.tsv"));
    for (const int host : {1, 2, 3}) {
      EXPECT_EQ(home_of(host).find("/runs/"), std::string::npos) << home_of(host);
      EXPECT_TRUE(lab->programs(host).isEmpty());
    }
  }
}

}  // namespace
}  // namespace n2nq::app

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fputs("usage: test_ssh_launcher FOLDER-OF-THE-PROGRAMS\n", stderr);
    return 2;
  }
  n2nq::app::programs_folder = QString::fromLocal8Bit(argv[1]);
  return RUN_ALL_TESTS();
}
