// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of one connection to a real sshd: its owner, who hears what becomes of it, an agent, and who stands before that.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <QDeadlineTimer>
#include <QFile>
#include <QLocalServer>
#include <QLocalSocket>
#include <QProcess>
#include <QTemporaryDir>
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "app/host/ssh_session.h"
#include "tests/app/support/lab_test.h"

namespace n2nq::app::testing {

struct SshSessionTest : LabTest {
  QTemporaryDir folder;
  SshHostConfig config;
  std::shared_ptr<SshSecrets> secrets = std::make_shared<SshSecrets>();
  std::unique_ptr<SshSession> session;
  SshProblem problem;
  bool ready = false, over = false;

  static void SetUpTestSuite() { take_up(2); }
  void SetUp() override {
    LabTest::SetUp();
    if (IsSkipped()) return;
    config = lab->config().look_up("h1");
  }
  /// Whether its sshd serves somebody, logged in or not. A process that ends has no name any more before its connection is closed.
  static bool serves(int host) { return !lab->inside(host, {"ss", "-Htn", "state", "established", "sport", "=", ":22"}).trimmed().isEmpty(); }
  std::unique_ptr<SshSession> make(const SshHostConfig& given, std::shared_ptr<SshSession> via = nullptr) {
    return std::make_unique<SshSession>("h1", given, SshUse::control, person, secrets, std::move(via));
  }
  void open(std::shared_ptr<SshSession> via = nullptr, bool patient = false) {
    session = make(config, std::move(via));
    if (patient) session->be_patient();
    ready = over = false;
    QObject::connect(session.get(), &SshSession::ready, [this] { ready = true; });
    QObject::connect(session.get(), &SshSession::ended, [this](const SshProblem& why) {
      problem = why;
      over = true;
    });
    session->open();
  }
  bool gets_in(bool patient = false) {
    open(nullptr, patient);
    EXPECT_TRUE(wait_until([this] { return ready || over; }));
    return ready;
  }
  std::string told() const { return problem.text().toStdString(); }
  /// That a cable which is pulled is noticed within ten seconds. Up to three times: wait_ms() does not see all that a machine may do to it.
  void expect_cut_is_noticed(int number, const std::function<bool()>& connects, const std::function<bool()>& noticed) {
    constexpr qint64 noticed_ms_max = 10'000;
    std::optional<qint64> noticed_ms;
    for (int times = 0; times < 3 && !(noticed_ms && *noticed_ms <= noticed_ms_max); ++times) {
      ASSERT_TRUE(connects()) << told();
      lab->set_plugged_in(number, false);
      noticed_ms = wait_ms(noticed);
      lab->set_plugged_in(number, true);
      ASSERT_TRUE(noticed_ms);
      EXPECT_EQ(problem.kind, SshProblem::Kind::lost) << told();
    }
    EXPECT_LE(*noticed_ms, noticed_ms_max);
  }

  struct Result {
    QByteArray out, err;
    std::optional<SshExit> exit;
    QString failure;
  };
  /// What a command does that is given this and then nothing more.
  Result run(const QByteArray& command, const QByteArray& input = {}) {
    Result result;
    SshExec exec(*session, command);
    QObject::connect(&exec, &SshExec::output, [&](const QByteArray& bytes) { result.out += bytes; });
    QObject::connect(&exec, &SshExec::error_output, [&](const QByteArray& bytes) { result.err += bytes; });
    QObject::connect(&exec, &SshExec::failed, [&](const QString& why) { result.failure = why; });
    QObject::connect(&exec, &SshExec::ended, [&](const SshExit& how) { result.exit = how; });
    exec.write(input);
    exec.end_stdin();
    EXPECT_TRUE(wait_until([&] { return result.exit || !result.failure.isEmpty(); }));
    return result;
  }
  QString encrypted_key() {
    const QString file = folder.filePath("key");
    if (!QFile::copy(lab->key_file(), file)) return file;  // there already
    QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner);
    QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "", "-N", "open sesame", "-f", file});
    return file;
  }
  /// One that lets nobody in.
  QString new_key(const QString& name, const QString& passphrase = {}) {
    const QString file = folder.filePath(name);
    QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", passphrase, "-f", file});
    return file;
  }
  void without_keys() {
    config.identities_only = true;
    config.identity_files = {folder.filePath("none")};
  }
};

/// An agent that has these keys.
struct Agent {
  /// `asks_s`: so long it asks the person before each signature, who then says yes. 0: it does not ask.
  Agent(const QTemporaryDir& folder, const QStringList& keys, int asks_s = 0) : socket(folder.filePath("agent")) {
    QProcessEnvironment person = QProcessEnvironment::systemEnvironment();
    if (asks_s > 0) {
      QFile asker(folder.filePath("asker"));
      EXPECT_TRUE(asker.open(QIODevice::WriteOnly));
      asker.write("#!/bin/sh\nsleep " + QByteArray::number(asks_s) + "\n");
      asker.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
      person.insert("SSH_ASKPASS", asker.fileName());
      person.insert("SSH_ASKPASS_REQUIRE", "force");
      person.insert("DISPLAY", ":none");
    }
    process.setProcessEnvironment(person);
    process.start("ssh-agent", {"-D", "-a", socket});
    process.waitForStarted();
    QProcess add;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("SSH_AUTH_SOCK", socket);
    add.setProcessEnvironment(environment);
    for (const QDeadlineTimer deadline(deadline_ms); !hears() && !deadline.hasExpired();) process.waitForReadyRead(20);
    add.start("ssh-add", QStringList("-q") + (asks_s > 0 ? QStringList("-c") : QStringList()) + keys);
    EXPECT_TRUE(add.waitForFinished() && add.exitCode() == 0) << add.readAllStandardError().toStdString();
  }
  ~Agent() {
    process.kill();
    process.waitForFinished();
  }
  void send(int signal) const { ::kill(static_cast<pid_t>(process.processId()), signal); }
  /// Its socket's file is there a moment before that.
  [[nodiscard]] bool hears() const {
    QLocalSocket person;
    person.connectToServer(socket);
    return person.waitForConnected(deadline_ms);
  }
  const QString socket;
  QProcess process;
};

/// Stands before an agent and sees what is asked of it.
struct AgentGate {
  AgentGate(const QTemporaryDir& folder, const QString& agent) {
    server.listen(folder.filePath("gate"));
    QObject::connect(&server, &QLocalServer::newConnection, [this, agent] {
      QLocalSocket* const asker = server.nextPendingConnection();
      auto* const there = new QLocalSocket(asker);
      there->connectToServer(agent);
      QObject::connect(asker, &QLocalSocket::readyRead, [this, asker, there] {
        asking.insert(asker);
        most = std::max(most, asking.size());
        ++questions;
        there->write(asker->readAll());
      });
      QObject::connect(there, &QLocalSocket::readyRead, [this, asker, there] {
        asking.erase(asker);
        ++answers;
        asker->write(there->readAll());
      });
      QObject::connect(asker, &QLocalSocket::disconnected, [this, asker] { asking.erase(asker); });
    });
  }
  QLocalServer server;
  std::set<QLocalSocket*> asking;
  std::size_t most = 0;  // at a time
  int questions = 0, answers = 0;
};

}  // namespace n2nq::app::testing
