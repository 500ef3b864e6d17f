// SPDX-License-Identifier: GPL-3.0-or-later
// Which keys of a real sshd are believed.
#include "app/host/ssh_session.h"

#include "tests/app/host/ssh_session_kit.h"

namespace n2nq::app {
namespace {

using testing::Agent;
using testing::AgentGate;
using testing::SshSessionTest;

TEST_F(SshSessionTest, an_unknown_key_is_asked_about_and_added) {
  const QString known = folder.filePath("new/known_hosts");
  config.known_hosts_files = {known};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown);
  const std::string command = "echo '" + lab->address(1).toStdString() + " ssh-ed25519 AAAA";
  EXPECT_NE(told().find(command), std::string::npos) << told();
  EXPECT_FALSE(QFile::exists(known));
  ASSERT_EQ(person.key_questions.size(), 1u);
  const QString fingerprint = lab->inside(1, {"ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key"}).section(' ', 1, 1);
  EXPECT_EQ(person.key_questions[0].fingerprint, fingerprint);
  EXPECT_EQ(person.key_questions[0].key_type, "ED25519");
  EXPECT_TRUE(person.secret_questions.empty());

  person.accepts_keys = true;
  EXPECT_TRUE(gets_in()) << told();
  person.accepts_keys = false;
  EXPECT_TRUE(gets_in()) << "it is known from now on: " << told();
  EXPECT_EQ(person.key_questions.size(), 2u);
  QProcess found;
  found.start("ssh-keygen", {"-F", lab->address(1), "-f", known});
  found.waitForFinished();
  EXPECT_EQ(found.exitCode(), 0) << "ssh finds it, too";
}

TEST_F(SshSessionTest, the_command_that_adds_a_key_begins_a_line_of_its_own) {
  QFile other(new_key("other") + ".pub"), known(folder.filePath("known hosts"));
  ASSERT_TRUE(other.open(QIODevice::ReadOnly) && known.open(QIODevice::WriteOnly));
  known.write("other.example " + other.readAll().trimmed());
  known.close();
  config.known_hosts_files = {known.fileName()};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown);
  EXPECT_EQ(QProcess::execute("sh", {"-c", problem.what_to_do.section("the same: ", -1)}), 0) << told();
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_EQ(person.key_questions.size(), 1u) << "it is known now";
  ASSERT_TRUE(known.open(QIODevice::ReadOnly));
  const QByteArrayList lines = known.readAll().split('\n');
  ASSERT_EQ(lines.size(), 3) << lines.join('\n').toStdString();
  EXPECT_TRUE(lines[0].startsWith("other.example ssh-ed25519 ") && lines[1].startsWith(lab->address(1).toUtf8() + " ssh-ed25519 "));
  EXPECT_EQ(lines[2], "") << "the last one has an end";
}

TEST_F(SshSessionTest, a_key_that_has_changed_is_refused_before_anything_is_sent) {
  const QString known = folder.filePath("known_hosts");
  QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", folder.filePath("other")});
  QFile other(folder.filePath("other.pub")), file(known);
  ASSERT_TRUE(other.open(QIODevice::ReadOnly) && file.open(QIODevice::WriteOnly));
  file.write("# a comment\n" + lab->address(1).toUtf8() + " " + other.readAll());
  file.close();
  config.known_hosts_files = {known};
  // All that would let it in is there, and none of it is asked for.
  const Agent agent(folder, {lab->key_file()});
  const AgentGate gate(folder, agent.socket);
  config.identities_only = false;
  config.identity_files.clear();
  config.identity_agent = gate.server.fullServerName();
  person.accepts_keys = true;
  person.secrets = {lab->password().toUtf8()};
  const std::string shown = lab->inside(1, {"ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key.pub"}).section(' ', 1, 1).toStdString();
  ASSERT_TRUE(shown.starts_with("SHA256:")) << shown;
  const auto shown_by = [](const QStringList& arguments) {
    QProcess keygen;
    keygen.start("ssh-keygen", arguments);
    keygen.waitForFinished();
    return QString::fromUtf8(keygen.readAllStandardOutput()).section(' ', 1, 1).toStdString();
  };
  for (const QString how : {"plain", "tabs", "hashed"}) {
    if (how == "tabs") QProcess::execute("sed", {"-i", "s/ \\(ssh-ed25519\\) /\\t\\1\\t/", known});
    if (how == "hashed") QProcess::execute("sh", {"-c", QString("sed -i 's/\\t/ /g' '%1' && ssh-keygen -q -H -f '%1'").arg(known)});
    SCOPED_TRACE(how.toStdString());
    EXPECT_FALSE(gets_in());
    EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_changed);
    EXPECT_NE(told().find(shown_by({"-lf", folder.filePath("other.pub")})), std::string::npos) << told();
    EXPECT_NE(told().find(shown), std::string::npos) << told();
    EXPECT_NE(told().find(known.toStdString() + ":2"), std::string::npos) << told();
    EXPECT_TRUE(person.key_questions.empty());
    EXPECT_TRUE(person.secret_questions.empty());
    EXPECT_EQ(gate.questions, 0);
  }
  config.known_hosts_files = {lab->known_hosts()};
  EXPECT_TRUE(gets_in()) << "with the right key: " << told();
  EXPECT_GT(gate.questions, 0) << "that is how it gets in, and would have been seen";
}

TEST_F(SshSessionTest, a_revoked_key_is_refused) {
  QFile known(lab->known_hosts()), file(folder.filePath("known_hosts"));
  ASSERT_TRUE(known.open(QIODevice::ReadOnly) && file.open(QIODevice::WriteOnly));
  const QByteArray line = known.readLine();
  const QByteArray key = line.mid(line.indexOf(' ') + 1);
  file.write(line + "@revoked * " + key);
  file.close();
  config.known_hosts_files = {file.fileName()};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_changed);
  EXPECT_NE(told().find("revoked"), std::string::npos) << told();
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(line + "@revoked\t*\t" + QByteArray(key).replace(' ', '\t'));
  file.close();
  EXPECT_FALSE(gets_in()) << "tabs are blanks";
  EXPECT_NE(told().find("revoked"), std::string::npos) << told();
}

TEST_F(SshSessionTest, tabs_in_known_hosts_are_blanks) {
  QFile known(lab->known_hosts()), file(folder.filePath("known_hosts"));
  ASSERT_TRUE(known.open(QIODevice::ReadOnly) && file.open(QIODevice::WriteOnly));
  file.write(known.readAll().replace(' ', '\t'));
  file.close();
  config.known_hosts_files = {file.fileName()};
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_TRUE(person.key_questions.empty());
}

TEST_F(SshSessionTest, who_a_line_takes_out_is_not_known_by_it) {
  QFile known(lab->known_hosts()), file(folder.filePath("known_hosts"));
  ASSERT_TRUE(known.open(QIODevice::ReadOnly) && file.open(QIODevice::WriteOnly));
  const QByteArray line = known.readLine();
  file.write("*,!" + lab->address(1).toUtf8() + line.mid(line.indexOf(' ')));
  file.close();
  config.known_hosts_files = {file.fileName()};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown) << told();
}

TEST_F(SshSessionTest, a_key_that_is_known_at_the_usual_port_will_do_at_another_one) {
  lab->change_sshd(1, "1i Port 22\\nPort 2222");
  config.port = 2222;
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_TRUE(person.key_questions.empty());
  // Another key at the usual port says nothing about this one.
  QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", folder.filePath("other")});
  QFile other(folder.filePath("other.pub")), file(folder.filePath("known_hosts"));
  ASSERT_TRUE(other.open(QIODevice::ReadOnly) && file.open(QIODevice::WriteOnly));
  file.write(lab->address(1).toUtf8() + ' ' + other.readAll());
  file.close();
  config.known_hosts_files = {file.fileName()};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown) << told();
  lab->change_sshd(1, "/^Port /d");
}

TEST_F(SshSessionTest, a_key_that_any_of_the_files_knows_is_what_the_host_is_asked_for) {
  lab->inside(1, {"ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", "/etc/ssh/ssh_host_rsa_key"});
  lab->change_sshd(1, "");  // it looks which keys are there
  config.known_hosts_files = {folder.filePath("none"), folder.filePath("none2")};
  EXPECT_FALSE(gets_in());
  ASSERT_EQ(person.key_questions.size(), 1u);
  EXPECT_EQ(person.key_questions[0].key_type, "ED25519") << "what it shows to who knows nothing";
  QFile file(folder.filePath("global2"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(lab->address(1).toUtf8() + ' ' + lab->inside(1, {"cat", "/etc/ssh/ssh_host_rsa_key.pub"}).toUtf8() + '\n');
  file.close();
  config.global_known_hosts_files = {folder.filePath("global"), file.fileName()};
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_EQ(person.key_questions.size(), 1u);
  // What cannot be read of the same host, or is very long, does not hide it.
  const QByteArray good = [&file] {
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray all = file.readAll();
    file.close();
    return all;
  }();
  const QByteArray name = lab->address(1).toUtf8();
  for (const QByteArray& other : {name + " 1024 35 12345\n", name + " ssh-ed25519 AAAA\n", QByteArray("* ssh-unheard-of AAAA\n"),
                                  QByteArray(9000, 'x') + " ssh-ed25519 AAAA\n"}) {
    SCOPED_TRACE(other.left(40).toStdString());
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(other + good);
    file.close();
    EXPECT_TRUE(gets_in()) << told();
    EXPECT_EQ(person.key_questions.size(), 1u);
  }
  lab->inside(1, {"sh", "-c", "rm /etc/ssh/ssh_host_rsa_key*"});
  lab->change_sshd(1, "");
}

}  // namespace
}  // namespace n2nq::app
