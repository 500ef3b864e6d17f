// SPDX-License-Identifier: GPL-3.0-or-later
// Processes on pretend hosts, through real sshd: run, spoken with, ended, and what is left of them. Takes the programs' folder.
#include "app/host/ssh_launcher.h"

#include <gtest/gtest.h>

#include <signal.h>

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "app/control/role.h"
#include "app/control/run_control.h"
#include "tests/app/host/ssh_launcher_kit.h"

namespace n2nq::app {
namespace {

using testing::configure_broker;
using testing::LoginScript;
using testing::programs_folder;

using SshLauncherTest = testing::LauncherOnHosts;

TEST_F(SshLauncherTest, a_process_is_put_started_and_spoken_with) {
  ASSERT_TRUE(runs_broker()) << told() << output.toStdString();
  EXPECT_EQ(launcher->data_address(), lab->address(1));
  EXPECT_TRUE(output.startsWith("\x02{")) << "its number is not passed on: " << output.toStdString();
  EXPECT_EQ(lab->programs(1).size(), 1);
  launcher->write("{\"type\":\"bye\"}\n");
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->code, 0);
  EXPECT_EQ(exit->signal, 0);
  EXPECT_TRUE(exit->lost.isEmpty());
  EXPECT_TRUE(output.contains("\"bye\""));
}

TEST_F(SshLauncherTest, a_file_that_is_needed_is_touched_also_when_the_process_is_gone) {
  ASSERT_TRUE(runs_broker()) << told();
  launcher->kill();
  ASSERT_TRUE(wait_gone());
  const QString left = "/dev/shm/n2nq-left.staging";
  lab->inside(1, {"sh", "-c", "touch -d '1 hour ago' " + left + " && chown lab " + left});
  launcher->touch("/dev/shm/not-there");
  launcher->touch(left);
  EXPECT_TRUE(wait_until([&] { return lab->inside(1, {"find", left, "-mmin", "-5"}).contains(left); }));
  EXPECT_EQ(lab->inside(1, {"sh", "-c", "ls -A /dev/shm"}).trimmed(), "n2nq-left.staging");
  lab->inside(1, {"rm", left});
}

TEST_F(SshLauncherTest, what_a_dead_process_has_left_goes_to_its_logs_with_who_stands_by_or_away_where_there_are_none) {
  ASSERT_TRUE(runs_broker()) << told();
  launcher->kill();
  ASSERT_TRUE(wait_gone());
  const auto there = [] { return lab->inside(1, {"sh", "-c", "ls -A /dev/shm"}).trimmed(); };
  const auto stands_by = [&] { return lab->inside(1, {"pgrep", "-f", "^timeout 13"}).count('\n') == 1; };
  const auto leave = [&](const QString& path) { lab->inside(1, {"sh", "-c", "echo left >" + path + " && chown lab " + path}); };
  const QString local = folder.path() + "/receivers";
  const QString logs = "/home/lab/" + launcher->folder_there(local);
  lab->inside(1, {"sh", "-c", "mkdir -p " + logs + " && chown -R lab " + logs});
  for (const bool logs_are_there : {true, false}) {
    const QString file = "n2nq-receivers-1-1.staging";
    leave("/dev/shm/" + file);
    if (!logs_are_there) lab->inside(1, {"rm", "-r", logs});
    auto standing_by = launcher->stand_by("/dev/shm/" + file, local);
    ASSERT_TRUE(wait_until(stands_by));
    EXPECT_EQ(there(), file);
    standing_by.reset();
    EXPECT_TRUE(wait_until([&] { return there().isEmpty(); })) << there().toStdString();
    EXPECT_EQ(lab->inside(1, {"sh", "-c", "cat " + logs + "/*.staging 2>/dev/null; true"}), logs_are_there ? "left\n" : "");
  }
  // A host says where its file lies.
  lab->inside(1, {"sh", "-c", "echo kept >/home/lab/kept && chown lab /home/lab/kept"});
  lab->inside(1, {"sh", "-c", "echo kept >'/dev/shm/a b' && chown lab '/dev/shm/a b'"});
  for (const char* path : {"/home/lab/kept", "/dev/shm/../../home/lab/kept", "/dev/shm/a b", "/dev/shm/$(touch /home/lab/made)"}) {
    const auto refused = launcher->stand_by(path, local), taken = launcher->stand_by("/dev/shm/n2nq-none.staging", local);
    ASSERT_TRUE(wait_until(stands_by)) << path << ": what was begun before has begun there";
  }
  EXPECT_EQ(lab->inside(1, {"sh", "-c", "cat /home/lab/kept '/dev/shm/a b'; ls /home/lab/made 2>/dev/null; true"}), "kept\nkept\n");
  lab->inside(1, {"rm", "/dev/shm/a b", "/home/lab/kept"});
}

TEST_F(SshLauncherTest, what_has_no_room_beside_its_logs_stays_where_it_is) {
  ASSERT_TRUE(runs_broker()) << told();
  launcher->kill();
  ASSERT_TRUE(wait_gone());
  const QString local = folder.path() + "/receivers", logs = "/home/lab/" + launcher->folder_there(local);
  const auto as_root = [](const QString& script) { return lab->inside(1, {"sh", "-c", script}).trimmed(); };
  const QString file = "/dev/shm/n2nq-receivers-1-1.staging";
  as_root("mkdir -p " + logs + " && mount -t tmpfs -o size=1m,uid=$(id -u lab) none " + logs + " && head -c 2000000 /dev/zero >" + file +
          " && chown lab " + file);
  const auto unmount = qScopeGuard([&] { as_root("umount " + logs + "; rm -f " + file); });
  auto standing_by = launcher->stand_by(file, local);
  const auto stands_by = [&] { return lab->inside(1, {"pgrep", "-f", "^timeout 13"}).count('\n') == 1; };
  ASSERT_TRUE(wait_until(stands_by));
  standing_by.reset();
  ASSERT_TRUE(wait_until([&] { return lab->inside(1, {"pgrep", "-u", "lab", "-x", "sh"}).startsWith("exit code"); }));
  EXPECT_EQ(as_root("stat -c %s " + file + "; ls -A " + logs), "2000000");
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

TEST_F(SshLauncherTest, what_dies_with_its_connection_can_be_followed_by_another_at_once) {
  for (const bool again : {false, true}) {
    make(lab->host(1));
    ASSERT_TRUE(gets_put()) << told();
    lab->kill_sessions(1);  // which nobody here has noticed
    make(lab->host(1));
    if (again) launcher->set_puts_again();
    EXPECT_EQ(gets_put(), again) << told();
    ASSERT_TRUE(wait_until([&] { return !again || put; }));
    launcher.reset();
  }
}

TEST_F(SshLauncherTest, of_pause_resume_and_pause_the_last_one_holds_though_the_host_is_slow_to_let_go) {
  const LoginScript script(*lab, 1, {"b", "hold"});
  script.set("PATH=~/b:$PATH");
  lab->inside(
      1, {"sh", "-c",
          "mkdir -p /home/lab/b; printf '#!/bin/sh\\n/usr/bin/timeout \"$@\"; code=$?; while [ $code != 0 ] && [ -e /home/lab/hold ]; do "
          "sleep 0.02; done; exit $code\\n' >/home/lab/b/timeout; chmod +x /home/lab/b/timeout; touch /home/lab/hold"});
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
  // Where the command has not begun yet nobody holds it either, and soon somebody does for a moment.
  EXPECT_TRUE(wait_until([&] { return holders() == QStringList{"exit code 1: "} && state() != "T"; }));
  launcher.reset();
}

TEST_F(SshLauncherTest, a_pause_that_a_host_cannot_make_or_keep_up_says_why) {
  QString not_paused, went_on;
  const auto state = [] { return lab->inside(1, {"sh", "-c", "ps -e -o stat=,comm= | grep n2nq-broker"}).left(1); };
  const LoginScript script(*lab, 1, {"b"});
  const auto pause_with = [&](const QString& timeout) {
    lab->inside(1, {"sh", "-c", "mkdir -p /home/lab/b; rm -f /home/lab/b/*; " + timeout});
    script.set("PATH=~/b");
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
}

TEST_F(SshLauncherTest, the_lease_goes_on_while_a_host_takes_its_time_for_the_folder) {
  QDir().mkpath(folder.filePath("bin"));
  QFile script(folder.filePath("bin/n2nq-broker"));
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  script.write("#!/bin/sh\n[ \"$1\" != --version ] || exec echo n2nq-broker " N2NQ_VERSION "\nexec cat\n");
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

TEST_F(SshLauncherTest, a_log_that_was_opened_before_its_process_is_followed_when_that_has_started) {
  make(lab->host(1));
  const QString local = folder.filePath("early/receivers/R001.log");
  ASSERT_TRUE(QDir().mkpath(folder.filePath("early/receivers")));
  launcher->follow(local);
  ASSERT_TRUE(gets_put()) << told();
  launcher->start("n2nq-broker");
  ASSERT_TRUE(wait_until([this] { return started; })) << told();
  const QString there = "/home/lab/" + launcher->folder_there(folder.filePath("early/receivers"));
  lab->inside(1, {"sh", "-c", QString("mkdir -p %1; echo first >>%1/R001.log").arg(there)});
  EXPECT_TRUE(wait_until([&] { return QFileInfo(local).size() == 6; }));
}

/// Else each look would make what it looks for, and a link that is cut then would count as a folder that cannot be made.
TEST_F(SshLauncherTest, a_log_that_is_looked_at_asks_for_no_folder) {
  ASSERT_TRUE(runs_broker()) << told();
  bool kept_back = false;
  QObject::connect(launcher.get(), &Launcher::keeps_back, [&] { kept_back = true; });
  launcher->follow(folder.filePath("looked-at/receivers/R001.log"));
  launcher->write("\n");
  EXPECT_FALSE(kept_back);
  launcher->folder_there(folder.filePath("wanted/receivers"));
  launcher->write("\n");
  EXPECT_TRUE(kept_back);
}

TEST_F(SshLauncherTest, a_log_is_followed_on_when_the_connection_for_files_alone_was_lost) {
  ASSERT_TRUE(runs_broker()) << told();
  const QString local = folder.filePath("followed/receivers/R001.log");
  ASSERT_TRUE(QDir().mkpath(folder.filePath("followed/receivers")));
  const QString there = "/home/lab/" + launcher->folder_there(folder.filePath("followed/receivers"));
  const auto host = pool->host(lab->host(1));
  launcher->write("\n");
  ASSERT_TRUE(wait_until([&] { return host->files() != nullptr; }));
  const auto write_there = [&](const char* text) { return lab->inside(1, {"sh", "-c", QString("mkdir -p %1; echo %2 >>%1/R001.log").arg(there, text)}); };
  const auto here = [&] {
    QFile file(local);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  };
  launcher->follow(local);
  write_there("first");
  EXPECT_TRUE(wait_until([&] { return here() == "first\n"; })) << here().toStdString();
  lab->inside(1, {"sh", "-c", "kill -KILL $(ps -o ppid= -p $(pgrep -f '^sshd: .*internal-sftp' | head -n 1))"});
  ASSERT_TRUE(wait_until([&] { return host->files() == nullptr; }));
  write_there("second");
  EXPECT_TRUE(wait_until([&] { return here() == "first\nsecond\n"; })) << here().toStdString();
  EXPECT_FALSE(exit) << "nothing became of the process";
}

TEST_F(SshLauncherTest, the_noise_of_login_scripts_is_not_heard) {
  // A child in the background holds the output of whatever runs behind it.
  lab->inside(1, {"sh", "-c", "(seq 1 3000; printf 'no newline') >/home/lab/noise; mkfifo -m 666 /home/lab/never"});
  const LoginScript script(*lab, 1, {"noise", "never", "children"});
  // And it says what it begins.
  script.set("cat ~/noise; echo more noise >&2; cat ~/never & echo $! >>~/children; echo \"$BASH_EXECUTION_STRING\"; printf ..");
  EXPECT_TRUE(runs_broker()) << told();
  EXPECT_TRUE(output.startsWith("\x02{")) << output.left(100).toStdString();
  launcher.reset();
  EXPECT_TRUE(wait_until([] { return lab->programs(1).isEmpty(); })) << "what is said there at the end begins a child of its own";
  const QString children =
    lab->inside(1, {"sh", "-c", "for child in $(cat /home/lab/children); do kill $child && echo ran on || echo gone; done"});
  EXPECT_FALSE(children.contains("gone")) << "what a person began there was ended: " << children.toStdString();
  EXPECT_GE(children.count("ran on"), 2);
}

TEST_F(SshLauncherTest, what_goes_on_printing_in_the_background_puts_off_no_end) {
  constexpr int lines_a_second = 10, told_within_s = 10;
  const LoginScript script(*lab, 1);
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  script.set("while printf '%01000d\\n' 0; do sleep 0.1; done &");
  launcher->start("n2nq-broker");
  ASSERT_TRUE(wait_until([this] { return started || !failure.isEmpty(); }) && started) << told();
  launcher->write(configure_broker);
  ASSERT_TRUE(wait_until([this] { return output.contains("\"hello\"") && output.count("000\n") > lines_a_second; }));
  launcher->write("{\"type\":\"bye\"}\n");
  ASSERT_TRUE(wait_gone());
  EXPECT_EQ(exit->code, 0);
  ASSERT_TRUE(output.contains("\"bye\""));
  EXPECT_LT(output.mid(output.indexOf("\"bye\"")).count("000\n"), lines_a_second * told_within_s);
}

/// As Debian's sshd_config has it. A first line that is empty reads as the length of a packet that would never be complete.
TEST_F(SshLauncherTest, nor_is_it_where_sftp_is_begun_through_the_shell_that_reads_them) {
  lab->change_sshd(1, "s|internal-sftp|/usr/lib/openssh/sftp-server|");
  const auto as_before = qScopeGuard([] { lab->change_sshd(1, "s|/usr/lib/openssh/sftp-server|internal-sftp|"); });
  const LoginScript script(*lab, 1);
  for (const char* said : {"echo; seq 1 30000; printf 'no newline'; seq 1 3000 >&2", "printf '\\033[1mWelcome\\033[0m\\t'", "sleep 0.2; echo late"}) {
    script.set(said);
    pool = std::make_unique<HostPool>(person, programs_folder);
    EXPECT_TRUE(runs_broker()) << said << ": " << told();
    launcher.reset();
    EXPECT_TRUE(wait_until([] { return lab->programs(1).isEmpty(); }));
  }
  script.set("yes '' | head -c 5000; yes 'too much' | tr '\\n' ' ' | head -c 5000000");
  pool = std::make_unique<HostPool>(person, programs_folder);
  make(lab->host(1));
  EXPECT_FALSE(gets_put());
  EXPECT_TRUE(failure.contains("it says \"too much too much")) << told();
}

/// Each step has its own time in a check, which is green; in a start they share it.
TEST_F(SshLauncherTest, a_login_script_that_takes_its_time_at_each_step_costs_no_start) {
  lab->change_sshd(1, "s|internal-sftp|/usr/lib/openssh/sftp-server|");
  const auto as_before = qScopeGuard([] { lab->change_sshd(1, "s|/usr/lib/openssh/sftp-server|internal-sftp|"); });
  const LoginScript script(*lab, 1);
  script.set("sleep 6");
  make(lab->host(1));
  launcher->set_is_start();
  ASSERT_TRUE(gets_put()) << told();
  launcher->start("n2nq-broker");
  EXPECT_TRUE(wait_until([this] { return started || !failure.isEmpty(); }) && started) << told();
  script.remove();
  launcher.reset();
  EXPECT_TRUE(wait_until([] { return lab->programs(1).isEmpty(); }));
}

/// Another process may have its number by then.
TEST_F(SshLauncherTest, who_has_ended_is_not_made_to_stand_still) {
  QDir().mkpath(folder.filePath("bin"));
  QFile program(folder.filePath("bin/n2nq-broker"));
  ASSERT_TRUE(program.open(QIODevice::WriteOnly));
  program.write("#!/bin/sh\n[ \"$1\" != --version ] || exec echo n2nq-broker " N2NQ_VERSION "\nsleep 4722 &\nexit 4\n");
  program.close();
  pool = std::make_unique<HostPool>(person, folder.filePath("bin"));
  make(lab->host(1));
  ASSERT_TRUE(gets_put()) << told();
  QString not_paused;
  QObject::connect(launcher.get(), &Launcher::not_paused, [&](const QString& why) { not_paused = why; });
  QObject::connect(launcher.get(), &Launcher::exited, [this] { launcher->pause(); });
  launcher->start("n2nq-broker");
  EXPECT_TRUE(wait_gone()) << told();
  lab->inside(1, {"pkill", "-f", "^sleep 4722"});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 4);
  EXPECT_EQ(not_paused, "");
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
  const LoginScript script(*lab, 2);
  script.set("case $BASH_EXECUTION_STRING in *kill*) echo \"no \033[31msuch thing\" >&2; exit 1;; esac");
  QString why;
  QObject::connect(launcher.get(), &Launcher::not_killed, [&](const QString& text) { why = text; });
  launcher->kill();
  EXPECT_TRUE(wait_until([&] { return !why.isEmpty(); }));
  EXPECT_EQ(why.toStdString(), "h2: no \\x1B[31msuch thing");
  EXPECT_FALSE(exit.has_value());
  launcher.reset();
}

struct OnHosts : LauncherFactory {
  HostPool& pool;
  explicit OnHosts(HostPool& given) : pool(given) {}
  MakeLauncher launchers_of(const QString& host) override {
    return [this, number = host.mid(1).toInt()] { return pool.launcher(SshLauncherTest::lab->host(number)); };
  }
};

TEST_F(SshLauncherTest, a_whole_run_on_three_hosts_and_all_of_its_files_come_back) {
  // Launchers of other tests went without bringing back what their processes had.
  // And login scripts begin what goes on saying something, again and again, to whom nobody has asked, also what a program could say.
  const LoginScript scripts[] = {{*lab, 1, {"talk"}}, {*lab, 2, {"talk"}}, {*lab, 3, {"talk"}}};
  for (const LoginScript& script : scripts) script.set("vmstat 1 & vmstat 1 >&2 & sh ~/talk &");
  const QByteArray talk = R"(while sleep 0.2; do echo '{"type":"error","message":"disk"}'; echo '{"'; printf '{"'; done)";
  for (const int host : {1, 2, 3}) lab->inside(host, {"sh", "-c", "cat >/home/lab/talk"}, talk + '\n');
  for (const int host : {1, 2, 3}) lab->inside(host, {"rm", "-rf", "/home/lab/.cache/n2nq-bench/runs"});
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
