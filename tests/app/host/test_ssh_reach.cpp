// SPDX-License-Identifier: GPL-3.0-or-later
// How a real sshd is reached, directly, through a ProxyCommand or jump hosts, and what that may take.
#include <sys/resource.h>

#include <QFile>
#include <QRegularExpression>
#include <QScopeGuard>
#include <algorithm>

#include "app/host/ssh_link.h"
#include "app/host/ssh_secret.h"
#include "tests/app/host/ssh_session_kit.h"

namespace n2nq::app {
namespace {

using testing::Agent;
using testing::AgentGate;
using testing::SshSessionTest;

TEST_F(SshSessionTest, a_proxy_command_leads_to_the_host) {
  // It talks more than a pipe holds, and leaves children behind that it does not wait for, one of which does not want to end.
  config.proxy_command =
      QString("sh -c 'head -c 200000 /dev/zero >&2; sleep 1234 & (trap \"\" TERM; sleep 1235) & exec ssh -F %1/ssh_config -W %2:22 h2'")
          .arg(lab->folder(), lab->address(1));
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(run("hostname").out, "h1\n");
  EXPECT_EQ(session->address(), "");
  const QByteArray much(8 << 20, 'x');
  EXPECT_EQ(run("cat", much).out, much);
  session.reset();
  const auto left = [] {
    QProcess ps;
    ps.start("pgrep", {"-fx", "sleep 123[45]"});
    ps.waitForFinished();
    return ps.exitCode() == 0;
  };
  EXPECT_TRUE(wait_until([&] { return !left(); })) << "nothing of it is left here";
}

TEST_F(SshSessionTest, a_proxy_command_may_leave_a_core_though_the_bench_has_a_secret) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
  const auto as_before = qScopeGuard([before] { ::setrlimit(RLIMIT_CORE, &before); });
  rlimit some = before;
  some.rlim_cur = std::min<rlim_t>(1 << 20, before.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &some), 0);
  const Secret secret("open sesame");
  QFile limits(folder.filePath("limits"));
  config.proxy_command = QString("sh -c 'grep \"Max core file size\" /proc/self/limits > %1; exec ssh -F %2/ssh_config -W %3:22 h2'")
                             .arg(limits.fileName(), lab->folder(), lab->address(1));
  ASSERT_TRUE(gets_in()) << told();
  ASSERT_TRUE(limits.open(QIODevice::ReadOnly));
  EXPECT_EQ(limits.readAll().simplified().split(' ').value(4), QByteArray::number(quint64{some.rlim_cur}));
}

TEST_F(SshSessionTest, a_cable_unplugged_behind_a_proxy_command_is_noticed_within_ten_seconds) {
  config.proxy_command = QString("ssh -F %1/ssh_config -W %2:22 h2").arg(lab->folder(), lab->address(1));
  expect_cut_is_noticed(2, [this] { return gets_in(); }, [this] { return over; });
}

TEST_F(SshSessionTest, a_proxy_command_that_fails_says_why) {
  config.proxy_command = "echo the gate is shut >&2";
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::unreachable);
  EXPECT_NE(told().find("the gate is shut"), std::string::npos) << told();
  EXPECT_NE(told().find(config.proxy_command.toStdString()), std::string::npos) << told();
}

TEST_F(SshSessionTest, a_proxy_command_is_never_given_what_a_shell_understands) {
  const QString made = folder.filePath("made");
  config.user = QString("x;touch %1;").arg(made);
  config.proxy_command = "nc " + config.user;
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::settings) << told();
  EXPECT_FALSE(QFile::exists(made));
}

TEST_F(SshSessionTest, nobody_there_is_told_with_a_reason) {
  config.host_name = "127.0.0.1";
  config.port = 9;
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::unreachable);
  EXPECT_NE(told().find("refused"), std::string::npos) << told();
  config.host_name = "no-such-host.invalid";
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::name);
}

TEST_F(SshSessionTest, reaching_a_host_and_logging_in_share_what_they_may_take) {
  // As with keys in a home folder that is away.
  lab->change_sshd(1, "1i AuthorizedKeysCommand /bin/sleep 30\\nAuthorizedKeysCommandUser root");
  const auto seconds_of_log_in = [this] {
    static const QRegularExpression said("h1 did not answer for ([0-9.]+) s while logging in");
    return said.match(problem.why).captured(1).toDouble();
  };
  constexpr double before_s = 2, all_s = ssh_reach_ms_max / 1000.0;
  config.identities_only = true;
  config.identity_files = {new_key("unknown")};
  config.proxy_command =
      QString("sh -c 'sleep %1; exec ssh -F %2/ssh_config -W %3:22 h2'").arg(before_s).arg(lab->folder(), lab->address(1));
  EXPECT_FALSE(gets_in());
  EXPECT_GT(seconds_of_log_in(), 0) << told();
  EXPECT_LE(seconds_of_log_in(), all_s - before_s + 0.1) << "it is rounded";

  // The agent may ask the person, and their time does not count; what is waited for here is the host.
  const Agent agent(folder, config.identity_files);
  config.identity_agent = agent.socket;
  config.identity_files = {config.identity_files[0] + ".pub"};
  EXPECT_FALSE(gets_in());
  EXPECT_GT(seconds_of_log_in(), 0) << told();
  EXPECT_LE(seconds_of_log_in(), all_s - before_s + 0.1);
  EXPECT_EQ(person.agent_asked, (std::vector<bool>{})) << "it answered at once";
  lab->change_sshd(1, "/AuthorizedKeysCommand/d");
}

TEST_F(SshSessionTest, who_waits_for_the_host_is_told_while_the_agent_asks_the_person) {
  constexpr int asks_s = 3;
  const Agent agent(folder, {lab->key_file()}, asks_s);
  config.identities_only = false;
  config.identity_files.clear();
  config.identity_agent = agent.socket;
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(person.agent_asked, (std::vector{true, false}));

  // Nor is it forgotten where nobody waits any more.
  open();
  ASSERT_TRUE(wait_until([this] { return person.agent_asked.size() == 3; }));
  session.reset();
  EXPECT_EQ(person.agent_asked, (std::vector{true, false, true, false}));
}

TEST_F(SshSessionTest, what_a_jump_host_has_taken_is_not_there_for_the_host_behind_it) {
  lab->inside(2, {"ip", "route", "add", "blackhole", lab->address(1)});
  constexpr double before_s = 5, all_s = ssh_reach_ms_max / 1000.0;
  config.proxy_command =
      QString("sh -c 'sleep %1; exec ssh -F %2/ssh_config -W %3:22 h1'").arg(before_s).arg(lab->folder(), lab->address(1));
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  config = lab->config().look_up("h2");
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  static const QRegularExpression said("no answer from .* within ([0-9.]+) s");
  const double told_s = said.match(problem.why).captured(1).toDouble();
  EXPECT_GT(told_s, 0) << told();
  EXPECT_LE(told_s, all_s - before_s + 0.1) << "it is rounded";
  EXPECT_EQ(problem.what_to_do, "Reaching it and logging in have 9 s together; what came before has taken the rest") << "it may be well";
  lab->inside(2, {"ip", "route", "del", "blackhole", lab->address(1)});
}

TEST(SshConnectShare, every_address_gets_a_part_of_what_is_left) {
  EXPECT_EQ(ssh_connect_share_ms(ssh_reach_ms_max, 1), ssh_connect_ms_max);
  EXPECT_EQ(ssh_connect_share_ms(ssh_reach_ms_max, 3), (ssh_reach_ms_max - ssh_log_in_ms_kept) / 3);
  EXPECT_GT(ssh_connect_share_ms(2'500, 1), 800) << "behind a slow name service";
}

TEST_F(SshSessionTest, a_host_that_its_jump_host_hears_nothing_of_is_told) {
  lab->inside(2, {"ip", "route", "add", "blackhole", lab->address(1)});
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  config = lab->config().look_up("h2");
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::unreachable);
  EXPECT_NE(told().find("the jump host h1: no answer from " + lab->address(2).toStdString() + " port 22 within "), std::string::npos)
      << told();
  lab->inside(2, {"ip", "route", "del", "blackhole", lab->address(1)});
}

TEST_F(SshSessionTest, a_host_behind_another_one_is_reached_through_it) {
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  config = lab->config().look_up("h2");
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  ASSERT_TRUE(ready) << told();
  EXPECT_EQ(run("hostname").out, "h2\n");
  EXPECT_NE(run("echo $SSH_CONNECTION").out.indexOf(lab->address(1).toUtf8()), -1) << "it comes from the jump host";
  const QByteArray much(8 << 20, 'x');
  EXPECT_EQ(run("cat", much).out, much);
  lab->kill_sessions(1);
  EXPECT_TRUE(wait_until([this] { return over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::lost);
}

TEST_F(SshSessionTest, a_cable_unplugged_on_the_way_through_a_jump_host_is_noticed_within_ten_seconds) {
  const SshHostConfig jump = config, behind = lab->config().look_up("h2");
  for (const int unplugged : {1, 2}) {
    SCOPED_TRACE(unplugged);
    std::shared_ptr<SshSession> via;
    const auto connects = [&] {
      session.reset();
      via = std::make_shared<SshSession>("h1", jump, SshUse::control, person, secrets);
      config = behind;
      open(via);
      return wait_until([this] { return ready || over; }) && ready;
    };
    expect_cut_is_noticed(unplugged, connects, [this] { return over; });
  }
}

/// How often somebody has been let in there.
int logins(int host) {
  QFile log(QString("%1/hosts/h%2/sshd.log").arg(SshSessionTest::lab->folder()).arg(host));
  EXPECT_TRUE(log.open(QIODevice::ReadOnly));
  return static_cast<int>(log.readAll().count("Accepted publickey for "));
}

TEST_F(SshSessionTest, a_jump_host_whose_key_is_not_known_is_asked_about_and_sent_nothing) {
  const Agent agent(folder, {lab->key_file()});
  const AgentGate gate(folder, agent.socket);
  SshHostConfig jump = config;
  jump.known_hosts_files = {folder.filePath("known_hosts")};
  jump.identities_only = false;
  jump.identity_files.clear();
  jump.identity_agent = gate.server.fullServerName();
  config = lab->config().look_up("h2");
  person.secrets = {lab->password().toUtf8()};
  const int logins_before = logins(1);
  open(std::make_shared<SshSession>("h1", jump, SshUse::control, person, secrets));
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_FALSE(ready);
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown) << told();
  EXPECT_NE(told().find("its jump host failed: the host key of h1 "), std::string::npos) << told();
  ASSERT_EQ(person.key_questions.size(), 1u);
  const QString fingerprint = lab->inside(1, {"ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key"}).section(' ', 1, 1);
  EXPECT_EQ(person.key_questions[0].fingerprint, fingerprint);
  EXPECT_TRUE(person.secret_questions.empty());
  EXPECT_EQ(gate.questions, 0);
  EXPECT_EQ(logins(1), logins_before);

  person.accepts_keys = true;
  open(std::make_shared<SshSession>("h1", jump, SshUse::control, person, secrets));
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_TRUE(ready) << told();
  EXPECT_EQ(person.key_questions.size(), 2u) << "that of the host behind it is known";
  EXPECT_GT(gate.questions, 0) << "that is how it gets in, and would have been seen";
  EXPECT_TRUE(wait_until([&] { return logins(1) == logins_before + 1; })) << "and so would that";
}

TEST_F(SshSessionTest, a_changed_key_behind_a_jump_host_is_refused_before_anything_is_sent) {
  QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", folder.filePath("other")});
  QFile other(folder.filePath("other.pub")), known(folder.filePath("known_hosts"));
  ASSERT_TRUE(other.open(QIODevice::ReadOnly) && known.open(QIODevice::WriteOnly));
  known.write(lab->address(2).toUtf8() + ' ' + other.readAll());
  known.close();
  const Agent agent(folder, {lab->key_file()});
  const AgentGate gate(folder, agent.socket);
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  config = lab->config().look_up("h2");
  config.known_hosts_files = {known.fileName()};
  config.identities_only = false;
  config.identity_files.clear();
  config.identity_agent = gate.server.fullServerName();
  person.accepts_keys = true;
  person.secrets = {lab->password().toUtf8()};
  const int logins_before = logins(2);
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_FALSE(ready);
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_changed) << told();
  EXPECT_EQ(problem.text().count("SHA256:"), 2) << told();
  EXPECT_TRUE(person.key_questions.empty());
  EXPECT_TRUE(person.secret_questions.empty());
  EXPECT_EQ(gate.questions, 0);
  EXPECT_EQ(logins(2), logins_before);

  config.known_hosts_files = {lab->known_hosts()};
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_TRUE(ready) << "with the right key: " << told();
  EXPECT_GT(gate.questions, 0) << "that is how it gets in, and would have been seen";
  EXPECT_TRUE(wait_until([&] { return logins(2) == logins_before + 1; })) << "and so would that";
}

TEST_F(SshSessionTest, a_jump_host_that_is_lost_before_it_has_gone_on_is_what_is_told) {
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  via->open();
  ASSERT_TRUE(wait_until([&] { return via->state() >= SshSession::State::ready; }));
  ASSERT_EQ(via->state(), SshSession::State::ready) << via->problem().text().toStdString();
  lab->inside(1, {"pkill", "-STOP", "-f", "^sshd: lab"});  // it is asked, and does not answer
  config = lab->config().look_up("h2");
  open(via);
  lab->kill_sessions(1);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::lost) << told();
  EXPECT_NE(told().find("its jump host failed: the connection to h1 was lost"), std::string::npos) << told();
}

TEST_F(SshSessionTest, a_jump_host_that_is_lost_once_it_has_gone_on_is_what_is_told_too) {
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  via->open();
  ASSERT_TRUE(wait_until([&] { return via->state() == SshSession::State::ready; })) << via->problem().text().toStdString();
  lab->inside(2, {"pkill", "-STOP", "-f", "sshd.*listener"});  // its system takes the connection, and says nothing
  const auto listens = qScopeGuard([this] { lab->inside(2, {"pkill", "-CONT", "-f", "sshd.*listener"}); });
  config = lab->config().look_up("h2");
  auto behind = std::make_shared<SshSession>("h2", config, SshUse::control, person, secrets, via);
  behind->open();
  const QString reached = lab->address(2) + ":" + QString::number(config.port);
  ASSERT_TRUE(wait_until([&] { return QString(lab->inside(1, {"ss", "-Htn", "state", "established"})).contains(reached); }));
  lab->kill_sessions(1);
  ASSERT_TRUE(wait_until([&] { return behind->state() == SshSession::State::ended; }));
  EXPECT_EQ(behind->problem().kind, SshProblem::Kind::lost) << behind->problem().why.toStdString();
  EXPECT_TRUE(behind->problem().why.startsWith("h2: its jump host failed: the connection to h1 was lost"))
      << behind->problem().why.toStdString();
}

TEST_F(SshSessionTest, a_jump_host_that_cannot_go_on_says_why) {
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  config.host_name = "127.0.0.1";
  config.port = 9;
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::unreachable);
  EXPECT_NE(told().find("from the jump host h1"), std::string::npos) << told();
}

}  // namespace
}  // namespace n2nq::app
