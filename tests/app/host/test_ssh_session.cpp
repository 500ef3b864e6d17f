// SPDX-License-Identifier: GPL-3.0-or-later
// Connections to a real sshd: what is run there, and what becomes of a cut link.
#include "app/host/ssh_session.h"

#include <sys/stat.h>

#include <QScopeGuard>

#include "tests/app/host/ssh_session_kit.h"

namespace n2nq::app {
namespace {

using testing::Agent;
using testing::SshSessionTest;

TEST_F(SshSessionTest, a_command_is_heard_and_answered) {
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(session->address(), lab->address(1));
  const Result result = run("read line; echo heard $line; echo oops >&2; cat; exit 7", "this\nand that");
  EXPECT_EQ(result.out, "heard this\nand that");
  EXPECT_EQ(result.err, "oops\n");
  ASSERT_TRUE(result.exit) << result.failure.toStdString();
  EXPECT_EQ(result.exit->code, 7);
  EXPECT_TRUE(result.exit->signal.isEmpty());
  EXPECT_TRUE(result.exit->lost.none());
  EXPECT_TRUE(person.key_questions.empty() && person.secret_questions.empty());
}

TEST_F(SshSessionTest, a_line_of_the_config_that_ssh_refuses_is_told_in_place_of_a_connection) {
  config.problems = {"/home/ann/.ssh/config:7: Port must be from 1 to 65535, not abc"};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(told(), "h1: /home/ann/.ssh/config:7: Port must be from 1 to 65535, not abc. Mend that: ssh does not connect so, either");
  EXPECT_EQ(problem.kind, SshProblem::Kind::settings);
}

/// Else a group that runs here would keep the connection of a bench that was killed, and the host would not see the end of it.
TEST_F(SshSessionTest, what_is_started_here_does_not_inherit_the_connection) {
  const Agent agent(folder, {lab->key_file()});
  config.identities_only = false;
  config.identity_files.clear();
  config.identity_agent = agent.socket;
  ASSERT_TRUE(gets_in()) << told();
  QProcess child;
  child.start("sh", {"-c", "ls -l /proc/self/fd | grep socket: || echo none"});
  ASSERT_TRUE(child.waitForFinished());
  EXPECT_EQ(child.readAllStandardOutput(), "none\n");
}

TEST_F(SshSessionTest, a_key_file_that_is_a_pipe_keeps_nobody) {
  config.identities_only = true;
  const QString pipe = folder.filePath("pipe");
  ASSERT_EQ(::mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
  ASSERT_TRUE(QFile::copy(lab->key_file(), folder.filePath("key-of-pub")));
  ASSERT_EQ(::mkfifo((folder.filePath("key-of-pub") + ".pub").toLocal8Bit().constData(), 0600), 0);
  config.identity_files = {pipe};
  EXPECT_FALSE(gets_in());
  EXPECT_TRUE(problem.why.contains(pipe + " (is no file)")) << told();
  QFile::setPermissions(folder.filePath("key-of-pub"), QFile::ReadOwner | QFile::WriteOwner);
  config.identity_files = {pipe, folder.filePath("key-of-pub")};
  EXPECT_TRUE(gets_in()) << told();
}

TEST_F(SshSessionTest, a_signal_is_told_as_such) {
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(run("exec /bin/sh -c 'kill -s KILL $$'").exit->signal, "KILL");
}

TEST_F(SshSessionTest, much_goes_both_ways_at_once) {
  ASSERT_TRUE(gets_in()) << told();
  const QByteArray much(20 << 20, 'x');
  EXPECT_EQ(run("cat", much).out, much);
}

/// As much as a link brings, or too little to be that.
TEST_F(SshSessionTest, a_command_has_ended_though_a_child_of_it_goes_on_speaking) {
  ASSERT_TRUE(gets_in()) << told();
  for (const char* said : {"%50s", "%4000s"}) {
    const Result result = run(QByteArray("while printf '") + said + "\n' noise; do sleep 0.01; done & echo; echo done; exit 3");
    ASSERT_TRUE(result.exit) << said << ": " << result.failure.toStdString();
    EXPECT_EQ(result.exit->code, 3) << said;
    EXPECT_TRUE(result.out.contains("done\n")) << said;
  }
}

TEST_F(SshSessionTest, a_command_has_ended_though_a_child_of_it_holds_its_output) {
  ASSERT_TRUE(gets_in()) << told();
  const Result result = run("mkfifo ~/never; cat ~/never & echo $!; echo also >&2; exit 3");
  ASSERT_TRUE(result.exit) << result.failure.toStdString();
  EXPECT_EQ(result.exit->code, 3);
  EXPECT_EQ(result.err, "also\n");
  EXPECT_EQ(lab->inside(1, {"sh", "-c", "cat /proc/" + QString(result.out).trimmed() + "/comm"}), "cat\n") << "it is no business of ours";
  lab->inside(1, {"sh", "-c", "rm /home/lab/never; kill " + QString(result.out).trimmed()});
  EXPECT_EQ(run("echo on").out, "on\n") << "the connection goes on";
}

/// Its output may still be under way then.
TEST_F(SshSessionTest, how_a_command_has_ended_is_known_though_the_link_is_cut_behind_that) {
  ASSERT_TRUE(gets_in()) << told();
  std::optional<SshExit> exit;
  bool exited = false;
  SshExec exec(*session, "sleep 4721 & exit 3");  // which holds its output for longer than that takes
  QObject::connect(&exec, &SshExec::exited, [&] { exited = true; });
  QObject::connect(&exec, &SshExec::ended, [&](const SshExit& how) { exit = how; });
  EXPECT_TRUE(wait_until([&] { return exited; }));
  lab->kill_sessions(1);
  EXPECT_TRUE(wait_until([&] { return exit.has_value(); }));
  lab->inside(1, {"pkill", "-f", "^sleep 4721"});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 3);
}

TEST_F(SshSessionTest, a_command_that_never_stops_talking_does_not_keep_others_from_being_heard) {
  ASSERT_TRUE(gets_in()) << told();
  qint64 said_bytes = 0;
  auto talker = std::make_unique<SshExec>(*session, "exec yes");
  QObject::connect(talker.get(), &SshExec::output, [&](const QByteArray& bytes) { said_bytes += bytes.size(); });
  ASSERT_TRUE(wait_until([&] { return said_bytes > 32 << 20; }));
  EXPECT_EQ(run("cat", "heard").out, "heard");
  talker.reset();
  EXPECT_TRUE(wait_until([] { return lab->inside(1, {"sh", "-c", "pgrep -x yes || true"}).isEmpty(); }));
}

TEST_F(SshSessionTest, several_commands_run_side_by_side) {
  ASSERT_TRUE(gets_in()) << told();
  std::vector<std::unique_ptr<SshExec>> all;
  std::vector<QByteArray> said(8);
  for (std::size_t i = 0; i < said.size(); ++i) {
    all.push_back(std::make_unique<SshExec>(*session, "exec cat"));
    QObject::connect(all[i].get(), &SshExec::output, [&said, i](const QByteArray& bytes) { said[i] += bytes; });
    all[i]->write(QByteArray::number(static_cast<int>(i)));
  }
  EXPECT_TRUE(wait_until([&] {
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (said[i] != QByteArray::number(static_cast<int>(i))) return false;
    }
    return true;
  }));
}

/// What follows one that ends is refused while the host has not seen that.
TEST_F(SshSessionTest, a_host_that_takes_one_command_at_a_time_is_asked_again_when_the_one_before_ends) {
  lab->change_sshd(1, "1i MaxSessions 1");
  const auto as_before = qScopeGuard([] { lab->change_sshd(1, "/MaxSessions/d"); });
  ASSERT_TRUE(gets_in()) << told();
  SshExec first(*session, "cat; sleep 0.1");
  bool first_runs = false, first_over = false;
  QObject::connect(&first, &SshExec::started, [&] { first_runs = true; });
  QObject::connect(&first, &SshExec::ended, [&] { first_over = true; });
  ASSERT_TRUE(wait_until([&] { return first_runs; }));
  first.end_stdin();
  const Result result = run("cat", "heard");
  EXPECT_EQ(result.out, "heard") << result.failure.toStdString();
  EXPECT_TRUE(wait_until([&] { return first_over; }));
}

TEST_F(SshSessionTest, the_stdin_of_a_forgotten_command_ends) {
  ASSERT_TRUE(gets_in()) << told();
  auto exec = std::make_unique<SshExec>(*session, "cat; touch /tmp/it-ended");
  bool started = false;
  QObject::connect(exec.get(), &SshExec::started, [&] { started = true; });
  ASSERT_TRUE(wait_until([&] { return started; }));
  exec.reset();
  EXPECT_TRUE(wait_until([] { return lab->inside(1, {"ls", "/tmp"}).contains("it-ended"); }));
}

TEST_F(SshSessionTest, a_killed_sshd_ends_the_session_and_its_commands) {
  ASSERT_TRUE(gets_in()) << told();
  std::optional<SshExit> exit;
  SshExec exec(*session, "cat");
  QObject::connect(&exec, &SshExec::ended, [&](const SshExit& how) { exit = how; });
  bool started = false;
  QObject::connect(&exec, &SshExec::started, [&] { started = true; });
  ASSERT_TRUE(wait_until([&] { return started; }));
  lab->kill_sessions(1);
  ASSERT_TRUE(wait_until([&] { return over && exit; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::lost);
  EXPECT_EQ(exit->lost.kind, SshProblem::Kind::lost);
}

TEST_F(SshSessionTest, a_command_that_was_still_to_begin_when_the_connection_ended_is_told_why_that_did) {
  ASSERT_TRUE(gets_in()) << told();
  lab->inside(1, {"pkill", "-STOP", "-f", "^sshd: lab"});  // it is asked, and does not answer
  QString failure;
  SshExec exec(*session, "cat");
  QObject::connect(&exec, &SshExec::failed, [&](const QString& why) { failure = why; });
  lab->kill_sessions(1);
  ASSERT_TRUE(wait_until([&] { return over && !failure.isEmpty(); }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::lost) << told();
  EXPECT_EQ(failure, problem.why);
}

/// One question in two that is not sent lets the silence grow to 5 s each time but the first.
TEST_F(SshSessionTest, an_idle_host_is_asked_whenever_it_has_been_silent_for_three_seconds) {
  constexpr int silent_min_ms = 2'000, asked_late_ms = 4'000, in_a_row = 3;  // in a row: a busy machine may hold up an answer now and then
  ASSERT_TRUE(gets_in()) << told();
  int longest_ms = 0, in_time = 0;
  std::string seen_ms;
  EXPECT_TRUE(wait_until([&] {
    const int now_ms = session->shared()->silence_ms();
    if (now_ms < longest_ms) {
      if (longest_ms >= silent_min_ms) {
        in_time = longest_ms < asked_late_ms ? in_time + 1 : 0;
        seen_ms += std::to_string(longest_ms) + ' ';
      }
      longest_ms = 0;
    }
    longest_ms = std::max(longest_ms, now_ms);
    return over || in_time == in_a_row;
  })) << seen_ms;
  EXPECT_FALSE(over) << told();
}

TEST_F(SshSessionTest, an_unplugged_cable_is_noticed_within_ten_seconds) {
  std::unique_ptr<SshSession> files;
  bool files_ready = false, files_over = false;
  const auto connects = [&] {
    if (!gets_in()) return false;
    files = std::make_unique<SshSession>("h1", config, SshUse::files, person, secrets);
    files_ready = files_over = false;
    QObject::connect(files.get(), &SshSession::ready, [&] { files_ready = true; });
    QObject::connect(files.get(), &SshSession::ended, [&] { files_over = true; });
    files->open();
    return wait_until([&] { return files_ready; });
  };
  expect_cut_is_noticed(1, connects, [&] { return over && files_over; });
}

}  // namespace
}  // namespace n2nq::app
