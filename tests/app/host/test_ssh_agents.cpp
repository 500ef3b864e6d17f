// SPDX-License-Identifier: GPL-3.0-or-later
// How a person's SSH agent is asked: in turn, in time, and only for keys that are meant.
#include "app/host/ssh_session.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTimer>

#include "app/host/shell_quoted.h"
#include "tests/app/host/ssh_session_kit.h"

namespace n2nq::app {
namespace {

using testing::Agent;
using testing::AgentGate;
using testing::SshSessionTest;

/// As many connections to that socket as can wait to be let in.
std::vector<OwnedFd> fill(const QString& socket_path) {
  std::vector<OwnedFd> waiting;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const QByteArray path = socket_path.toLocal8Bit();
  std::copy(path.begin(), path.end(), address.sun_path);
  for (;;) {
    OwnedFd one(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(one.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      EXPECT_EQ(errno, EAGAIN);
      return waiting;
    }
    waiting.push_back(std::move(one));
  }
}

TEST_F(SshSessionTest, a_key_that_the_agent_has_needs_no_passphrase) {
  const Agent agent(folder, {lab->key_file()});
  config.identity_files = {encrypted_key()};
  config.identities_only = false;
  config.identity_agent = agent.socket;
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_TRUE(person.secret_questions.empty());

  // An agent that stands still: closing does not wait for it, and nobody is kept.
  agent.send(SIGSTOP);
  open();
  session.reset();
  agent.send(SIGCONT);
}

TEST_F(SshSessionTest, of_several_machines_one_at_a_time_asks_the_agent) {
  constexpr int asks_s = 1;
  const Agent agent(folder, {lab->key_file()}, asks_s);
  const AgentGate gate(folder, agent.socket);
  config.identities_only = false;
  config.identity_files.clear();
  config.identity_agent = gate.server.fullServerName();
  auto given_up = make(config), other = make(config);
  bool other_ready = false;
  QObject::connect(other.get(), &SshSession::ready, [&] { other_ready = true; });
  open();
  other->open();
  given_up->open();
  ASSERT_TRUE(wait_until([&] { return gate.answers > 0 && !gate.asking.empty(); }));
  given_up.reset();  // the others' turns come all the same
  EXPECT_TRUE(wait_until([&] { return (ready && other_ready) || over; })) << told();
  EXPECT_TRUE(ready && other_ready) << told();
  EXPECT_EQ(gate.most, 1u);
}

TEST_F(SshSessionTest, a_host_that_does_not_wait_while_the_agent_answers_others_is_tried_again) {
  const Agent agent(folder, {lab->key_file()});
  const AgentGate gate(folder, agent.socket);
  const auto by_agent = [&](SshHostConfig of_host) {
    of_host.identities_only = false;
    of_host.identity_files.clear();
    of_host.identity_agent = gate.server.fullServerName();
    return of_host;
  };
  config = by_agent(config);
  lab->change_sshd(1, "1i LoginGraceTime 6");  // as above
  const auto usual_again = qScopeGuard([] { lab->change_sshd(1, "/LoginGraceTime/d"); });
  agent.send(SIGSTOP);
  const auto other = make(by_agent(lab->config().look_up("h2")));
  other->open();
  ASSERT_TRUE(wait_until([&] { return gate.questions > 0; })) << "it has its turn";
  open();
  ASSERT_TRUE(wait_until([] { return serves(1); }));
  ASSERT_TRUE(wait_until([] { return !serves(1); })) << "it hangs up";
  ASSERT_FALSE(over) << told();
  agent.send(SIGCONT);
  EXPECT_TRUE(wait_until([&] { return (ready || over) && other->state() >= SshSession::State::ready; }));
  EXPECT_TRUE(ready) << told();
  EXPECT_EQ(other->state(), SshSession::State::ready) << other->problem().text().toStdString();
}

TEST_F(SshSessionTest, a_host_that_does_not_wait_while_the_agent_asks_the_person_is_tried_again) {
  // The person thinks for as long as this end of the pipe is open, and then says yes, also to who asks once more.
  const QString pipe = folder.filePath("thinks");
  ASSERT_EQ(::mkfifo(qPrintable(pipe), 0600), 0);
  OwnedFd thinks(::open(qPrintable(pipe), O_RDWR | O_CLOEXEC));
  ASSERT_GE(thinks.get(), 0);
  const Agent agent(folder, {lab->key_file()}, 1);
  QFile asker(folder.filePath("asker"));
  ASSERT_TRUE(asker.open(QIODevice::WriteOnly));
  asker.write(QString("#!/bin/sh\n[ -p %1 ] && cat %1\ntrue\n").arg(shell_quoted(pipe)).toLocal8Bit());
  asker.close();
  config.identities_only = false;
  config.identity_files.clear();
  config.identity_agent = agent.socket;
  lab->change_sshd(1, "1i LoginGraceTime 6");  // as above
  const auto usual_again = qScopeGuard([] { lab->change_sshd(1, "/LoginGraceTime/d"); });
  open();
  ASSERT_TRUE(wait_until([this] { return person.agent_asked.size() == 1 || over; }));
  ASSERT_TRUE(wait_until([] { return !serves(1); })) << "it hangs up";
  ASSERT_FALSE(over) << told();
  ASSERT_TRUE(QFile::remove(pipe));
  thinks.reset();
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_TRUE(ready) << told();
}

TEST_F(SshSessionTest, an_agent_that_does_not_answer_one_is_not_waited_for_by_the_others) {
  const Agent agent(folder, {lab->key_file()});
  const AgentGate gate(folder, agent.socket);
  config.identities_only = false;
  config.identity_files.clear();
  config.identity_agent = gate.server.fullServerName();
  agent.send(SIGSTOP);
  SshProblem others;
  auto other = make(config);
  QObject::connect(other.get(), &SshSession::ended, [&](const SshProblem& why) { others = why; });
  open();
  other->open();
  const auto both = [&] { return over && !others.none(); };
  for (int minute = 0; minute < 3 && !both(); ++minute) static_cast<void>(wait_until(both));
  agent.send(SIGCONT);
  ASSERT_TRUE(both());
  for (const SshProblem& why : {problem, others}) EXPECT_EQ(why.why, "h1: the SSH agent did not answer for 60 s");
  EXPECT_EQ(gate.questions, 1);
  EXPECT_TRUE(gets_in()) << "the next time it is asked again: " << told();
}

TEST_F(SshSessionTest, an_agent_that_takes_nobody_in_keeps_nobody_and_is_told) {
  const Agent agent(folder, {lab->key_file()});
  agent.send(SIGSTOP);
  std::vector<OwnedFd> waiting = fill(agent.socket);
  config.identity_agent = agent.socket;
  without_keys();
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::login);
  EXPECT_TRUE(problem.why.contains("the agent " + agent.socket + " (takes nobody in: others wait for it already)")) << told();
  EXPECT_NE(told().find("Does the SSH agent stand still?"), std::string::npos) << told();

  const QString half = folder.filePath("half.pub");
  ASSERT_TRUE(QFile::copy(lab->key_file() + ".pub", half));
  config.identity_files = {half};
  EXPECT_FALSE(gets_in());
  EXPECT_TRUE(problem.why.contains(half + " (no private key is in it, but in the agent, perhaps)")) << told();
  EXPECT_NE(told().find("Does the SSH agent stand still?"), std::string::npos) << told();

  person.secret_questions.clear();
  person.secrets = {"open sesame"};
  config.identity_files = {encrypted_key()};
  EXPECT_TRUE(gets_in()) << "by what else there is: " << told();
  EXPECT_EQ(person.secret_questions.size(), 1u);

  open();
  session.reset();  // nothing waits for it

  config.identity_files.clear();
  config.identities_only = false;
  QTimer::singleShot(300, [&] {
    agent.send(SIGCONT);
    waiting.clear();
  });
  EXPECT_TRUE(gets_in()) << "one that was busy for a moment: " << told();
}

TEST_F(SshSessionTest, only_the_keys_that_are_named_are_taken_from_the_agent_where_the_config_says_so) {
  QStringList keys;
  for (int i = 0; i < 7; ++i) keys += new_key(QString("another-%1").arg(i));  // more than the host tries
  const Agent agent(folder, keys + QStringList(lab->key_file()));
  config.identity_agent = agent.socket;
  config.identities_only = true;
  for (const bool public_half_only : {false, true}) {
    const QString file = public_half_only ? folder.filePath("half.pub") : encrypted_key();
    if (public_half_only) QFile::copy(lab->key_file() + ".pub", file);
    config.identity_files = {file};
    EXPECT_TRUE(gets_in()) << told();
  }
  config.identities_only = false;
  EXPECT_TRUE(gets_in()) << "what is named comes first: " << told();
  config.identities_only = true;
  config.identity_files = {folder.filePath("none")};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(told().find("the agent's keys"), std::string::npos) << told();
  EXPECT_EQ(person.secret_questions.size(), 1u) << "for the password, at the end";
}

TEST_F(SshSessionTest, security_keys_of_usual_names_that_the_agent_does_not_hold_are_told) {
  const auto home_again = qScopeGuard([this, home = qgetenv("HOME")] {
    session.reset();
    qputenv("HOME", home);
  });
  qputenv("HOME", folder.path().toLocal8Bit());
  ASSERT_TRUE(QDir(folder.path()).mkdir(".ssh"));
  const auto make_file = [this](const QString& name) {
    const QString file = folder.filePath(".ssh/" + name);
    EXPECT_TRUE(QFile(file).open(QIODevice::WriteOnly));
    return file;
  };
  const QString told_as = " (a security key, which only an agent can use here)", not_held = make_file("id_ecdsa_sk");
  config.identity_files.clear();
  config.default_keys = true;
  config.identity_agent.clear();
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::login);
  EXPECT_TRUE(problem.why.contains(not_held + told_as)) << told();
  EXPECT_TRUE(problem.text().contains("ssh-add " + shell_quoted(not_held))) << told();
  EXPECT_FALSE(problem.text().contains("ssh-copy-id")) << told();

  // To the agent all keys are alike: this one is in place of one in a device. It is shown also where no others are.
  const QString another = new_key("another"), held = make_file("id_ed25519_sk");
  ASSERT_TRUE(QFile::copy(another + ".pub", held + ".pub"));
  const Agent agent(folder, {another, lab->key_file()});
  config.identity_agent = agent.socket;
  config.identities_only = true;
  EXPECT_FALSE(gets_in());
  EXPECT_TRUE(problem.why.contains("the agent's keys (1)")) << told();
  EXPECT_FALSE(problem.why.contains(held + told_as)) << told();
  EXPECT_TRUE(problem.why.contains(not_held + told_as)) << told();
}

}  // namespace
}  // namespace n2nq::app
