// SPDX-License-Identifier: GPL-3.0-or-later
// Which keys of a real sshd are believed.
#include "app/host/ssh_session.h"

#include <QScopeGuard>

#include "tests/app/host/silent_file.h"
#include "tests/app/host/ssh_session_kit.h"

namespace n2nq::app {
namespace {

using testing::Agent;
using testing::AgentGate;
using testing::SilentFile;
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

/// Else a key that has changed would be asked about as a new one.
TEST_F(SshSessionTest, a_file_of_known_keys_that_cannot_be_read_is_not_taken_for_an_empty_one) {
  person.accepts_keys = true;
  const QString leads_to_itself = folder.filePath("leads-to-itself");
  ASSERT_TRUE(QFile::link(leads_to_itself, leads_to_itself));
  for (const QString& file : {QString("/proc/self/mem"), leads_to_itself}) {  // of the first nobody can read the first letter
    config.known_hosts_files = {file};
    EXPECT_FALSE(gets_in());
    EXPECT_EQ(problem.kind, SshProblem::Kind::settings) << told();
    EXPECT_TRUE(problem.why.contains(file + " cannot be read: ")) << told();
    EXPECT_FALSE(problem.what_to_do.isEmpty());
    EXPECT_TRUE(person.key_questions.empty());
  }
  config.known_hosts_files = {lab->known_hosts(), "/dev/null", folder.filePath("not/there"), folder.path()};
  EXPECT_TRUE(gets_in()) << told();
}

/// Its thread hangs until that answers again.
TEST_F(SshSessionTest, a_file_server_that_is_away_ends_what_needs_a_file_of_it) {
  const QString known = folder.filePath("known_hosts"), key = new_key("key");
  ASSERT_TRUE(QFile::copy(lab->known_hosts(), known));
  ASSERT_TRUE(QFile::setPermissions(known, QFile::ReadOwner | QFile::WriteOwner));
  ASSERT_TRUE(QFile::remove(key + ".pub"));
  const SilentFile keeps_known(known), keeps_key(key);
  SshHostConfig by_known = config, by_key = config;
  by_known.known_hosts_files = {known};
  by_key.identities_only = true;
  by_key.identity_files = {key};
  const std::pair<SshHostConfig, QString> each[] = {{by_known, known}, {by_key, key}};
  std::vector<std::unique_ptr<SshSession>> sessions;
  for (const auto& [of_file, file] : each) sessions.push_back(make(of_file));
  for (const auto& one : sessions) one->open();
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    ASSERT_TRUE(wait_until([&] { return sessions[i]->state() == SshSession::State::ended; })) << each[i].second.toStdString();
    EXPECT_EQ(sessions[i]->problem().kind, SshProblem::Kind::settings);
    const QString told = sessions[i]->problem().text();
    EXPECT_TRUE(told.startsWith("h1: it takes too long to read " + each[i].second)) << told.toStdString();
  }
}

/// What is told then depends on how the file ends.
TEST_F(SshSessionTest, nor_does_one_hang_behind_an_answer_that_is_no) {
  const QString away = folder.filePath("away");
  ASSERT_TRUE(QFile(away).open(QIODevice::WriteOnly));
  config.known_hosts_files = {away};
  person.says_nothing = true;
  open();
  ASSERT_TRUE(wait_until([this] { return person.key_questions.size() == 1 || over; })) << told();
  const SilentFile keeps_away(away);
  person.key_answers[0](false);
  ASSERT_TRUE(wait_until([this] { return over; }));
  EXPECT_TRUE(problem.why.startsWith("h1: it takes too long to read " + away)) << told();
}

/// It was the one to ask for that machine.
TEST_F(SshSessionTest, a_file_server_that_is_away_keeps_no_other_connection_from_asking_the_person) {
  constexpr qint64 asks_ms_max = 10'000;  // the system keeps who waits for the file for 45 s
  const QString away = folder.filePath("away");
  ASSERT_TRUE(QFile(away).open(QIODevice::WriteOnly));
  SshHostConfig by_away = config, well = config;
  by_away.known_hosts_files = {away};
  well.known_hosts_files = {folder.filePath("known_hosts")};
  const auto hangs = make(by_away), waits = make(well);
  person.says_nothing = true;
  hangs->open();
  ASSERT_TRUE(wait_until([this] { return person.key_questions.size() == 1; }));
  const SilentFile keeps_away(away);
  person.key_answers[0](true);
  person.says_nothing = false;
  person.accepts_keys = true;
  waits->open();
  ASSERT_TRUE(wait_until([&] { return hangs->state() == SshSession::State::ended; }));
  EXPECT_TRUE(hangs->problem().why.startsWith("h1: it takes too long to read " + away)) << hangs->problem().text().toStdString();
  const auto asked_ms = wait_ms([&] { return waits->state() >= SshSession::State::ready; });
  ASSERT_TRUE(asked_ms);
  EXPECT_LT(*asked_ms, asks_ms_max);
  EXPECT_EQ(waits->state(), SshSession::State::ready) << waits->problem().text().toStdString();
  EXPECT_EQ(person.key_questions.size(), 2u);
}

TEST_F(SshSessionTest, a_key_that_cannot_be_noted_lets_nobody_in_though_it_was_said_to_be_right) {
  person.accepts_keys = true;
  config.known_hosts_files = {"/dev/full"};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(person.key_questions.size(), 1u);
  EXPECT_EQ(problem.kind, SshProblem::Kind::settings) << told();
  EXPECT_TRUE(problem.why.startsWith("the host key of h1 cannot be added to /dev/full: ")) << told();
  EXPECT_EQ(problem.what_to_do, "See that /dev/full can be written by you, and that its disk has room");
}

struct RevokedKeysTest : SshSessionTest {
  QString listed;
  void SetUp() override {
    SshSessionTest::SetUp();
    if (IsSkipped()) return;
    listed = folder.filePath("revoked");
    config.revoked_keys_file = listed;
  }
  void list(const QByteArray& text) const {
    QFile file(listed);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  QByteArray public_half(const QString& key) const {
    QFile file(key + ".pub");
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return file.readAll().trimmed();
  }
  bool ssh_gets_in() const {
    QProcess ssh;
    ssh.start("ssh", {"-F", lab->folder() + "/ssh_config", "-o", "RevokedHostKeys=" + listed, "h1", "true"});
    return ssh.waitForFinished() && ssh.exitCode() == 0;
  }
};

TEST_F(RevokedKeysTest, a_key_that_is_listed_is_refused_though_it_is_known) {
  const QByteArray shown = lab->inside(1, {"cat", "/etc/ssh/ssh_host_ed25519_key.pub"}).toUtf8().trimmed();
  const QByteArray other = public_half(new_key("other"));
  list("# lost last year\n\n" + other + " of h9\n");
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_TRUE(ssh_gets_in());
  list(other + "\n \t" + shown + " of h1");
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_changed);
  EXPECT_TRUE(problem.why.contains("is revoked in " + listed + ":2: ED25519 SHA256:")) << told();
  EXPECT_FALSE(ssh_gets_in());
  config.known_hosts_files = {folder.filePath("none")};
  EXPECT_FALSE(gets_in());
  EXPECT_TRUE(person.key_questions.empty()) << "nor is anybody asked";
}

TEST_F(RevokedKeysTest, so_is_one_of_which_a_certificate_is_listed) {
  const QString authority = new_key("authority");
  QFile shown(folder.filePath("shown.pub"));
  ASSERT_TRUE(shown.open(QIODevice::WriteOnly));
  shown.write(lab->inside(1, {"cat", "/etc/ssh/ssh_host_ed25519_key.pub"}).toUtf8());
  shown.close();
  ASSERT_EQ(QProcess::execute("ssh-keygen", {"-q", "-s", authority, "-h", "-I", "h1", "-n", "h1", shown.fileName()}), 0);
  QFile certificate(folder.filePath("shown-cert.pub"));
  ASSERT_TRUE(certificate.open(QIODevice::ReadOnly));
  list(certificate.readAll());
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_changed) << told();
  EXPECT_FALSE(ssh_gets_in());
}

TEST_F(RevokedKeysTest, where_the_list_cannot_be_read_as_a_whole_every_key_is_refused) {
  const QString other = new_key("other");
  const auto expect_refused = [this](const char* why) {
    SCOPED_TRACE(why);
    EXPECT_FALSE(gets_in());
    EXPECT_EQ(problem.kind, SshProblem::Kind::settings);
    EXPECT_TRUE(problem.why.contains(listed + " (RevokedHostKeys) " + why)) << told();
    EXPECT_FALSE(problem.what_to_do.isEmpty());
    EXPECT_FALSE(ssh_gets_in());
  };
  expect_refused("is not there");
  for (const QByteArray& line : {"no-pty " + public_half(other), QByteArray("ssh-ed25519 AAAA"), QByteArray("ssh-ed25519"),
                                 "lab-1 " + public_half(other), "ssh-rsa " + public_half(other).split(' ')[1]}) {
    list(public_half(other) + '\n' + line + '\n');
    expect_refused("has no public key at the beginning of line 2");
  }
  ASSERT_EQ(QProcess::execute("ssh-keygen", {"-q", "-k", "-f", listed, other + ".pub"}), 0);
  EXPECT_TRUE(ssh_gets_in()) << "which understands it";
  EXPECT_FALSE(gets_in());
  EXPECT_TRUE(problem.why.contains("is a key revocation list of ssh-keygen -k")) << told();
  ASSERT_TRUE(QFile::remove(listed) && QDir().mkdir(listed));
  expect_refused("is no file");
}

TEST_F(RevokedKeysTest, a_listed_key_of_a_kind_that_is_not_known_here_is_no_hosts) {
  list("ssh-unheard-of " + QByteArray("\0\0\0\x0essh-unheard-of", 18).toBase64() + '\n');
  EXPECT_TRUE(gets_in()) << told();
}

TEST_F(SshSessionTest, where_a_host_certificate_would_count_it_is_said_that_it_is_not_understood) {
  QFile authority(new_key("authority") + ".pub"), file(folder.filePath("known_hosts"));
  ASSERT_TRUE(authority.open(QIODevice::ReadOnly));
  const QByteArray key = authority.readAll();
  const auto refused_with = [&](const QByteArray& names) {
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("# of the lab\n@cert-authority\t" + names + ' ' + key);
    file.close();
    EXPECT_FALSE(gets_in());
    EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown) << told();
    return problem.what_to_do;
  };
  config.known_hosts_files = {file.fileName()};
  const QString about = file.fileName() + ":2 is for host certificates (@cert-authority), which are not understood here. ";
  const QString how_to_add = refused_with("*.example");
  EXPECT_TRUE(how_to_add.startsWith("Compare the fingerprint")) << told();
  EXPECT_EQ(refused_with("*.example," + lab->address(1).toUtf8()), about + how_to_add);
  ASSERT_EQ(person.key_questions.size(), 2u);
  EXPECT_EQ(person.key_questions[0].beside, "");
  EXPECT_EQ(person.key_questions[1].beside, about);
}

TEST_F(SshSessionTest, hashed_names_are_found_with_their_port_too) {
  lab->change_sshd(1, "1i Port 22\\nPort 2222");
  const auto usual_again = qScopeGuard([] { lab->change_sshd(1, "/^Port /d"); });
  QFile known(lab->known_hosts()), file(folder.filePath("known_hosts"));
  ASSERT_TRUE(known.open(QIODevice::ReadOnly));
  const QByteArray line = known.readLine();
  config.known_hosts_files = {file.fileName()};
  const auto know_hashed = [&](const QByteArray& name) {
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(name + line.mid(line.indexOf(' ')));
    file.close();
    ASSERT_EQ(QProcess::execute("ssh-keygen", {"-q", "-H", "-f", file.fileName()}), 0);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    ASSERT_TRUE(file.readAll().startsWith("|1|"));
    file.close();
  };
  const QByteArray address = lab->address(1).toUtf8();
  know_hashed(address);
  EXPECT_TRUE(gets_in()) << told();
  know_hashed('[' + address + "]:2222");
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown) << "of another port: " << told();
  person.key_questions.clear();
  config.port = 2222;
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_TRUE(person.key_questions.empty());
}

/// libssh refuses such names, and ssh does not.
TEST_F(SshSessionTest, hosts_may_have_names_with_underscores_and_colons) {
  QFile known(lab->known_hosts()), file(folder.filePath("known_hosts"));
  ASSERT_TRUE(known.open(QIODevice::ReadOnly));
  const QByteArray line = known.readLine();
  const auto know = [&](const QByteArray& name) {
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(name + line.mid(line.indexOf(' ')));
    file.close();
  };
  config.known_hosts_files = {file.fileName()};
  for (const char* alias : {"lab_1", "lab_1.example.org", "lab:1"}) {
    SCOPED_TRACE(alias);
    know(alias);
    config.host_key_alias = alias;
    EXPECT_TRUE(gets_in()) << told();
  }
  know("lab_1");
  config.host_key_alias.clear();
  config.proxy_command = QString("ssh -F %1/ssh_config -W %2:22 h2").arg(lab->folder(), lab->address(1));
  config.host_name = "lab_1";
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_TRUE(person.key_questions.empty());
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
