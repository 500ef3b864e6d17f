// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/program_trial.h"

#include <gtest/gtest.h>

namespace n2nq::app {
namespace {

SshProblem problem_of(const QByteArray& machine, const QByteArray& error_out, int code) {
  const QByteArray out = "motd\n\nn2nq-pid 17\nn2nq-machine " + machine + "\nn2nq-sha256 00\n";
  return ProgramTrial(out, error_out, code, false).problem("h1", "lab", ".cache/n2nq-bench", "n2nq-senders");
}

TEST(ProgramTrial, a_machine_of_another_architecture_is_named) {
  const SshProblem problem = problem_of("aarch64", "/bin/sh: 1: ./n2nq-senders: Exec format error\n", 126);
  EXPECT_EQ(problem.kind, SshProblem::Kind::architecture);
  EXPECT_EQ(problem.why.toStdString(), "h1 has the architecture aarch64: the programs are built for x86_64");
  EXPECT_FALSE(problem.what_to_do.isEmpty());
}

TEST(ProgramTrial, so_is_a_program_for_another_one) {
  const SshProblem problem = problem_of("x86_64", "/bin/sh: 1: exec: ./n2nq-senders: Exec format error\n", 126);
  EXPECT_EQ(problem.why.toStdString(), "h1: n2nq-senders does not run there: it is built for another architecture than x86_64, or is damaged");
  EXPECT_FALSE(problem.what_to_do.isEmpty());
}

TEST(ProgramTrial, an_expired_password_is_not_taken_for_a_missing_shell) {
  const auto advice = [](const QByteArray& said) { return ProgramTrial("", said, 1, false).problem("h1", "lab", "f", "n2nq-senders").what_to_do; };
  EXPECT_EQ(advice("WARNING: Your password has expired.\nPassword change required but no TTY available.\n"),
            "Log in there by hand once and give that account a new password");
  EXPECT_TRUE(advice("This account is currently not available.\n").startsWith("Give that account a shell there"));
}

TEST(ProgramTrial, what_login_scripts_say_neither_hides_nor_makes_what_is_wrong) {
  const QByteArray noise = QByteArray(1000, 'x') + "\nsh: /home/lab/.cache/x: Permission denied\n";
  const SshProblem noexec = problem_of("x86_64", noise + "n2nq-tries\n/bin/sh: 1: exec: ./n2nq-senders: Permission denied\n", 126);
  EXPECT_EQ(noexec.kind, SshProblem::Kind::noexec);
  EXPECT_EQ(noexec.why.toStdString(), "h1: nothing in the folder .cache/n2nq-bench can be run: its file system is mounted with noexec");
  const SshProblem other = problem_of("x86_64", noise + "n2nq-tries\nout of memory\n", 1);
  EXPECT_EQ(other.why.toStdString(), "h1: n2nq-senders does not run there: exit code 1: out of memory");
  EXPECT_EQ(other.what_to_do.toStdString(), "Try by hand what it does there with --version, in the folder .cache/n2nq-bench/bin");
}

TEST(ProgramTrial, nor_does_what_they_left_in_the_background) {
  const ProgramTrial trial("n2nq-pid 17\nreminder\n\nn2nq-machine x86_64\nreminder: n2nq-broker\nn2nq-sha256 00ff file\nreminder\nn2nq-senders 0.1\nreminder\n",
                           "", 0, false);
  EXPECT_EQ(trial.sha256().toStdString(), "00ff");
  EXPECT_TRUE(trial.ran("n2nq-senders"));
  EXPECT_EQ(trial.version().toStdString(), "0.1");
  const QByteArray dots = "..n2nq-pid 17\n..n2nq-machine x86_64\n. [1] n2nq-sha256 00ff file\n...n2nq-senders 0.1\n.";
  const ProgramTrial dotted(dots, "", 0, false);
  EXPECT_EQ(ProgramTrial::pid(dots), 17);
  EXPECT_TRUE(dotted.has_shell());
  EXPECT_EQ(dotted.sha256().toStdString(), "00ff");
  EXPECT_TRUE(dotted.ran("n2nq-senders"));
  EXPECT_EQ(dotted.version().toStdString(), "0.1");
}

TEST(ProgramTrial, what_repeats_the_command_is_no_shell) {
  const QByteArray said = "not allowed: " + ProgramTrial::command(".cache/x", "00ff") + "\n";
  const ProgramTrial trial(said, "", 1, false);
  EXPECT_FALSE(trial.has_shell());
  EXPECT_EQ(trial.problem("h1", "lab", "f", "n2nq-senders").kind, SshProblem::Kind::no_shell);
  EXPECT_TRUE(ProgramTrial("n2nq-machine x86_64\n" + said, "", 0, false).has_shell()) << "but one that had read it before is";
}

}  // namespace
}  // namespace n2nq::app
