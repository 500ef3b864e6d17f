// SPDX-License-Identifier: GPL-3.0-or-later
// Whom a real sshd lets in: by keys, by passwords and codes.
#include "app/host/ssh_session.h"

#include <QFile>
#include <QFileInfo>
#include <QScopeGuard>

#include "tests/app/host/ssh_session_kit.h"

namespace n2nq::app {
namespace {

using testing::Agent;
using testing::SshSessionTest;

TEST_F(SshSessionTest, a_passphrase_is_asked_for_until_it_is_right_and_only_once) {
  config.identities_only = true;
  config.identity_files = {encrypted_key()};
  person.secrets = {"close sesame", "open sesame"};
  ASSERT_TRUE(gets_in()) << told();
  ASSERT_EQ(person.secret_questions.size(), 2u);
  EXPECT_EQ(person.secret_questions[0].kind, SecretQuestion::Kind::passphrase);
  EXPECT_EQ(person.secret_questions[0].key_file, config.identity_files[0]);
  EXPECT_FALSE(person.secret_questions[0].again);
  EXPECT_TRUE(person.secret_questions[1].again);
  ASSERT_TRUE(gets_in()) << "the second connection: " << told();
  EXPECT_EQ(person.secret_questions.size(), 2u);
}

TEST_F(SshSessionTest, a_key_that_only_an_agent_can_open_is_told_and_not_tried) {
  config.identities_only = true;
  const QString file = encrypted_key();
  config.identity_files = {file};
  for (const QString cipher : {"aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"}) {
    QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "open sesame", "-N", "open sesame", "-Z", cipher, "-f", file});
    person.secrets = {"open sesame"};
    EXPECT_FALSE(gets_in());
    EXPECT_TRUE(problem.why.contains(QString("%1 (encrypted with %2, which only an agent can open here)").arg(file, cipher))) << told();
    EXPECT_TRUE(problem.what_to_do.contains("ssh-keygen -p -Z aes256-ctr -f '" + file + '\'')) << told();
  }
  for (const SecretQuestion& asked : person.secret_questions) EXPECT_NE(asked.kind, SecretQuestion::Kind::passphrase);
  {
    const QString strange = new_key("strange", "open sesame");
    const Agent agent(folder, {new_key("other")});
    config.identity_agent = agent.socket;
    config.identity_files = {strange};
    QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "open sesame", "-N", "open sesame", "-Z", "aes256-gcm@openssh.com", "-f", strange});
    EXPECT_FALSE(gets_in());
    EXPECT_FALSE(problem.why.contains("only an agent")) << "the host would not take it anyway: " << told();
    config.identity_agent.clear();
    config.identity_files = {file};
  }
  for (const QString cipher : {"aes256-ctr", "aes128-cbc", "3des-cbc"}) {
    QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "open sesame", "-N", "open sesame", "-Z", cipher, "-f", file});
    session.reset();
    person.secrets = {"open sesame"};
    EXPECT_TRUE(gets_in()) << cipher.toStdString() << ": " << told();
  }
}

TEST_F(SshSessionTest, a_passphrase_that_is_not_given_is_not_asked_for_by_the_next_machine) {
  config.identities_only = true;
  config.identity_files = {encrypted_key()};
  // Both are begun before the first one is answered.
  std::vector<SshProblem> problems;
  std::vector<std::unique_ptr<SshSession>> both;
  for (int i = 0; i < 2; ++i) {
    both.push_back(make(config));
    QObject::connect(both.back().get(), &SshSession::ended, [&](const SshProblem& why) { problems.push_back(why); });
    both.back()->open();
  }
  ASSERT_TRUE(wait_until([&] { return problems.size() == 2; }));
  EXPECT_EQ(person.secret_questions.size(), 1u);
  for (const SshProblem& why : problems) {
    EXPECT_EQ(why.kind, SshProblem::Kind::login);
    EXPECT_TRUE(why.why.contains("needs the passphrase of " + config.identity_files[0])) << why.text().toStdString();
  }
  person.secrets = {"open sesame"};
  EXPECT_TRUE(gets_in()) << "another start: " << told();
  EXPECT_EQ(person.secret_questions.size(), 2u);
}

/// Who was asked may answer with nothing then, as a window that is closed does.
TEST_F(SshSessionTest, a_question_that_is_withdrawn_with_the_jump_host_was_not_declined) {
  auto via = std::make_shared<SshSession>("h1", config, SshUse::control, person, secrets);
  config = lab->config().look_up("h2");
  config.identities_only = true;
  config.identity_files = {encrypted_key()};
  person.says_nothing = true;
  open(via);
  ASSERT_TRUE(wait_until([this] { return person.secret_questions.size() == 1 || over; })) << told();
  ASSERT_FALSE(over) << told();
  bool was_closed = false;
  QObject::connect(person.secret_questions[0].asked_by, &QObject::destroyed,
                   [&was_closed, shared = session->shared()] { was_closed = shared->closed(); });
  lab->kill_sessions(1);
  ASSERT_TRUE(wait_until([this] { return over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::lost) << told();
  EXPECT_TRUE(person.secret_questions[0].asked_by.isNull());
  EXPECT_TRUE(was_closed) << "else its answer would be heard";
  EXPECT_EQ(secrets->declines(), 0);
}

TEST_F(SshSessionTest, a_certificate_lets_in_whose_key_does_not) {
  const QString authority = new_key("authority");
  QFile authority_key(authority + ".pub");
  ASSERT_TRUE(authority_key.open(QIODevice::ReadOnly));
  lab->inside(1, {"sh", "-c", "cat > /etc/ssh/user_ca.pub"}, authority_key.readAll());
  lab->change_sshd(1, "1i TrustedUserCAKeys /etc/ssh/user_ca.pub");
  const QString key = new_key("certified"), locked = new_key("locked", "open sesame");
  for (const QString& each : {key, locked})
    QProcess::execute("ssh-keygen", {"-q", "-s", authority, "-I", "lab", "-n", "lab", each + ".pub"});
  config.identities_only = true;
  config.identity_files = {key};
  EXPECT_TRUE(gets_in()) << "beside its key: " << told();

  const QString elsewhere = folder.filePath("elsewhere.pub");
  ASSERT_TRUE(QFile::rename(key + "-cert.pub", elsewhere));
  EXPECT_FALSE(gets_in()) << "without it";
  config.certificate_files = {folder.filePath("none"), elsewhere};
  EXPECT_TRUE(gets_in()) << "named: " << told();

  person.secret_questions.clear();
  person.secrets = {"open sesame"};
  config.identity_files = {locked};
  EXPECT_TRUE(gets_in()) << "with a passphrase: " << told();
  EXPECT_EQ(person.secret_questions.size(), 1u);

  const Agent agent(folder, {key});
  config.identity_agent = agent.socket;
  config.identity_files = {key + ".pub"};
  EXPECT_TRUE(gets_in()) << "its key in the agent: " << told();
  EXPECT_EQ(person.secret_questions.size(), 1u);
}

TEST_F(SshSessionTest, a_host_that_does_not_wait_for_an_answer_is_tried_again_with_it) {
  lab->change_sshd(1, "1i LoginGraceTime 6");  // enough for a login on a busy machine
  config.known_hosts_files = {folder.filePath("known_hosts")};
  config.identity_files = {encrypted_key()};
  config.identities_only = true;
  person.answers_late_ms = 8'000;
  person.accepts_keys = true;
  person.secrets = {"open sesame"};
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_EQ(person.key_questions.size(), 1u);
  EXPECT_EQ(person.secret_questions.size(), 1u);

  without_keys();
  person.secrets = {lab->password().toUtf8()};
  EXPECT_TRUE(gets_in()) << told();
  EXPECT_EQ(person.secret_questions.size(), 2u);
  lab->change_sshd(1, "/LoginGraceTime/d");
}

TEST_F(SshSessionTest, several_connections_to_one_machine_ask_once) {
  for (const char* file : {"known_hosts", "/dev/null"}) {
    config.known_hosts_files = {*file == '/' ? QString(file) : folder.filePath(file)};
    without_keys();
    person = {};
    person.answers_late_ms = 300;
    person.accepts_keys = true;
    person.secrets = {lab->password().toUtf8()};
    secrets = std::make_shared<SshSecrets>();
    const auto one = make(config), other = make(config);
    for (const auto& each : {one.get(), other.get()}) each->open();
    ASSERT_TRUE(wait_until([&] { return one->state() >= SshSession::State::ready && other->state() >= SshSession::State::ready; }));
    EXPECT_EQ(one->state(), SshSession::State::ready) << one->problem().text().toStdString();
    EXPECT_EQ(other->state(), SshSession::State::ready) << other->problem().text().toStdString();
    EXPECT_EQ(person.key_questions.size(), 1u) << file;
    EXPECT_EQ(person.secret_questions.size(), 1u) << file;
  }
}

TEST_F(SshSessionTest, a_file_that_remembers_nothing_is_not_what_a_key_is_to_be_added_to) {
  config.known_hosts_files = {"/dev/null"};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown);
  EXPECT_EQ(told().find("echo"), std::string::npos) << told();
  EXPECT_NE(told().find("UserKnownHostsFile"), std::string::npos) << told();
}

TEST_F(SshSessionTest, the_host_asks_and_the_person_answers) {
  without_keys();
  person.secrets = {"wrong", lab->password().toUtf8()};
  ASSERT_TRUE(gets_in()) << told();
  ASSERT_EQ(person.secret_questions.size(), 2u);
  EXPECT_EQ(person.secret_questions[0].kind, SecretQuestion::Kind::keyboard_interactive);
  EXPECT_EQ(person.secret_questions[0].prompts[0].text, "Password:");
  EXPECT_FALSE(person.secret_questions[0].prompts[0].echo);
  EXPECT_TRUE(person.secret_questions[1].again);
  ASSERT_TRUE(gets_in()) << "the second connection: " << told();
  EXPECT_EQ(person.secret_questions.size(), 2u);
}

/// A host that asks for the password and then for a code (PAM, google-authenticator): one of those that are good for once.
struct CodeTest : SshSessionTest {
  static constexpr const char* password_prompt = "Password:";
  static constexpr const char* code_prompt = "Verification code:";
  void SetUp() override {
    SshSessionTest::SetUp();
    if (IsSkipped()) return;
    config = lab->config().look_up("h2");
    without_keys();
    lab->inside(2, {"sh", "-c",
                    "cd /home/lab; (echo JBSWY3DPEHPK3PXP; echo '\" TOTP_AUTH'; seq 12345601 12345609) >.google_authenticator; chmod 600 "
                    ".google_authenticator; chown lab .google_authenticator; echo auth required pam_google_authenticator.so >>/etc/pam.d/sshd"});
  }
  void TearDown() override {
    if (lab) lab->inside(2, {"sh", "-c", "rm /home/lab/.google_authenticator; sed -i /google/d /etc/pam.d/sshd"});
  }
  std::vector<std::string> prompts() const {
    std::vector<std::string> out;
    for (const SecretQuestion& question : person.secret_questions) out.push_back(question.prompts[0].text.toStdString());
    return out;
  }
};

TEST_F(CodeTest, a_code_is_asked_for_each_time_and_the_password_once) {
  person.secrets = {lab->password().toUtf8(), "12345601"};
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(prompts(), (std::vector<std::string>{password_prompt, code_prompt}));
  person.secrets = {"wrong"};
  EXPECT_FALSE(gets_in()) << "a code that was wrong, and nothing more to say";
  ASSERT_EQ(prompts(), (std::vector<std::string>{password_prompt, code_prompt, code_prompt, password_prompt}));
  EXPECT_TRUE(person.secret_questions[2].once_more) << "the one before was right";
  EXPECT_TRUE(person.secret_questions[3].again && person.secret_questions[3].several);
  EXPECT_FALSE(person.secret_questions[3].once_more);
  EXPECT_EQ(again_words(person.secret_questions[3]), "One of these answers was not right: the host does not say which");
  ASSERT_EQ(person.judged.size(), 2u) << "of the code nothing is kept";
  EXPECT_TRUE(person.judged[0].second && !person.judged[0].first.several);
  EXPECT_TRUE(!person.judged[1].second && person.judged[1].first.several) << "nor is the password said to be wrong, alone";
  person.secrets = {lab->password().toUtf8(), "12345602"};
  ASSERT_TRUE(gets_in()) << told();
}

TEST_F(CodeTest, one_that_was_typed_too_late_is_not_used) {
  lab->change_sshd(2, "1i LoginGraceTime 6");
  person.late_with = "code";
  person.answers_late_ms = 8'000;
  person.secrets = {lab->password().toUtf8(), "wrong"};
  EXPECT_FALSE(gets_in());
  lab->change_sshd(2, "/LoginGraceTime/d");
  person.answers_late_ms = 0;
  person.secret_questions.clear();
  person.secrets = {lab->password().toUtf8(), "12345603"};
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(prompts(), (std::vector<std::string>{password_prompt, code_prompt}));
}

TEST_F(SshSessionTest, of_a_password_that_is_changed_on_the_way_nothing_is_kept) {
  config = lab->config().look_up("h2");
  without_keys();
  const QByteArray old = lab->password().toUtf8(), next = "Gq7-hemd-9x";
  const QByteArray shadow = lab->inside(2, {"sh", "-c", "grep ^lab: /etc/shadow | cut -d: -f2"}).trimmed().toUtf8();
  lab->inside(2, {"sh", "-c", "cp /etc/pam.d/sshd /tmp/pam; sed -i '/^account\\|^password/s/pam_[a-z]*/pam_unix/' /etc/pam.d/sshd; chage -d 0 lab"});
  const auto restore = qScopeGuard([&] {
    lab->inside(2, {"sh", "-c", "mv /tmp/pam /etc/pam.d/sshd; chage -d 20000 lab; chpasswd -e"}, "lab:" + shadow + '\n');
  });
  person.secrets = {old, old, next, next};
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(person.secret_questions.size(), 4u);
  EXPECT_TRUE(person.judged.empty()) << "the first is wrong by now, and which of the others is right for the next time nobody says";
  person.secret_questions.clear();
  person.secrets = {next};
  ASSERT_TRUE(gets_in()) << told();
  EXPECT_EQ(person.secret_questions.size(), 1u);
}

/// Unlike PAM, which may go on to ask for a code whatever the password was.
TEST_F(SshSessionTest, a_password_that_was_a_step_of_its_own_is_known_to_be_right_though_the_host_hangs_up_at_the_next_one) {
  lab->change_sshd(2, "1i AuthenticationMethods password,keyboard-interactive\\nLoginGraceTime 6");
  config = lab->config().look_up("h2");
  without_keys();
  person.late_with = "Password:";
  person.answers_late_ms = 8'000;
  person.secrets = {lab->password().toUtf8(), lab->password().toUtf8()};
  EXPECT_TRUE(gets_in()) << told();
  lab->change_sshd(2, "/AuthenticationMethods/d;/LoginGraceTime/d");
  ASSERT_EQ(person.secret_questions.size(), 2u);
  EXPECT_EQ(person.secret_questions[0].kind, SecretQuestion::Kind::password);
  EXPECT_EQ(person.secret_questions[1].kind, SecretQuestion::Kind::keyboard_interactive);
}

TEST_F(SshSessionTest, a_password_where_nothing_else_is_taken) {
  lab->change_sshd(2, "s/KbdInteractiveAuthentication.*/KbdInteractiveAuthentication no/");
  config = lab->config().look_up("h2");
  without_keys();
  person.secrets = {"wrong", lab->password().toUtf8()};
  ASSERT_TRUE(gets_in()) << told();
  ASSERT_EQ(person.secret_questions.size(), 2u);
  EXPECT_EQ(person.secret_questions[0].kind, SecretQuestion::Kind::password);
  ASSERT_TRUE(gets_in()) << "the second connection: " << told();
  EXPECT_EQ(person.secret_questions.size(), 2u);
}

/// Behind the right answer it lets nobody in but root (pam_nologin).
TEST_F(SshSessionTest, a_host_that_boots_costs_nobody_who_is_patient_a_password_that_was_right) {
  for (const bool asks_by_prompts : {true, false}) {
    if (!asks_by_prompts) lab->change_sshd(2, "s/KbdInteractiveAuthentication.*/KbdInteractiveAuthentication no/");
    config = lab->config().look_up("h2");
    without_keys();
    secrets = std::make_shared<SshSecrets>();
    person = {};
    person.secrets = {lab->password().toUtf8()};
    ASSERT_TRUE(gets_in()) << told();
    lab->inside(2, {"touch", "/etc/nologin"});
    EXPECT_FALSE(gets_in(true));
    EXPECT_EQ(problem.kind, SshProblem::Kind::login);
    EXPECT_FALSE(problem.person_asked);
    EXPECT_EQ(told(), "h1 refuses the password of lab that it took before. Is it still booting, or has that been changed there?");
    lab->inside(2, {"rm", "/etc/nologin"});
    EXPECT_TRUE(gets_in(true)) << told();
    EXPECT_EQ(person.secret_questions.size(), 1u) << "at the first time";
    for (const auto& [question, right] : person.judged) EXPECT_TRUE(right) << "else the keyring would forget it";

    // Somebody who is at the window types it.
    lab->inside(2, {"sh", "-c", "echo lab:Gq7-hemd-9x | chpasswd -c SHA512"});
    person.secrets = {"Gq7-hemd-9x"};
    EXPECT_TRUE(gets_in()) << "it has been changed there: " << told();
    EXPECT_EQ(person.secret_questions.size(), 2u);
    lab->inside(2, {"chpasswd", "-c", "SHA512"}, "lab:" + lab->password().toUtf8() + '\n');
  }
}

TEST_F(SshSessionTest, what_a_person_was_asked_for_on_the_way_is_of_this_attempt_and_of_all_jump_hosts) {
  const SshHostConfig gate = config, behind = lab->config().look_up("h2");
  SshHostConfig asking = gate;
  asking.identities_only = true;
  asking.identity_files = {encrypted_key()};
  person.secrets = {"open sesame"};
  auto via = std::make_shared<SshSession>("gate", asking, SshUse::control, person, secrets);
  config = behind;
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  ASSERT_TRUE(ready) << told();
  without_keys();
  config.default_keys = false;
  person.is_there = false;
  open(via);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::login) << told();
  EXPECT_FALSE(problem.person_asked) << "that was for the one before";

  person.is_there = true;
  person.secrets.clear();
  secrets = std::make_shared<SshSecrets>();
  auto first = std::make_shared<SshSession>("gate", asking, SshUse::control, person, secrets);
  auto second = std::make_shared<SshSession>("inner", behind, SshUse::control, person, secrets, first);
  config = gate;
  open(second);
  ASSERT_TRUE(wait_until([this] { return ready || over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::login) << told();
  EXPECT_TRUE(problem.person_asked);
}

/// As without PAM: the way is there, and nothing behind it.
TEST_F(SshSessionTest, prompts_that_ask_for_nothing_are_tried_once_and_then_the_password) {
  lab->change_sshd(1, "s/^UsePAM.*/UsePAM no\\nMaxAuthTries 4/");
  const auto usual_again = qScopeGuard([] { lab->change_sshd(1, "s/^UsePAM.*/UsePAM yes/;/^MaxAuthTries/d"); });
  config.identities_only = true;
  config.identity_files = {new_key("one"), new_key("another")};
  person.secrets = {lab->password().toUtf8()};
  EXPECT_TRUE(gets_in()) << told();
  ASSERT_EQ(person.secret_questions.size(), 1u);
  EXPECT_EQ(person.secret_questions[0].kind, SecretQuestion::Kind::password);

  config.identity_files += new_key("one more");  // with which those prompts are one too many
  person.secret_questions.clear();
  EXPECT_FALSE(gets_in());
  EXPECT_TRUE(person.secret_questions.empty());
  EXPECT_EQ(told().find("What was typed"), std::string::npos) << told();
  EXPECT_NE(told().find("Say which key is the right one"), std::string::npos) << told();

  config.identity_files.clear();
  secrets = std::make_shared<SshSecrets>();
  person.secrets = {"a", "b", "c"};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(person.secret_questions.size(), 3u);
  EXPECT_NE(told().find("What was typed was wrong, and what was tried before counts, too"), std::string::npos) << told();
}

/// libssh refuses such a user, and ssh does not: of a Windows domain, as winbind and sssd have them.
TEST_F(SshSessionTest, a_user_whose_name_a_shell_could_misread_gets_in_every_way) {
  // The account that is there anyway, by another name.
  for (const char* file : {"/etc/passwd", "/etc/shadow"}) lab->inside(1, {"sed", "-i", R"(/^lab:/{p;s/^lab/CORP\\ann/})", file});
  const auto usual_again = qScopeGuard([] {
    lab->inside(1, {"sed", "-i", "/^CORP/d", "/etc/passwd", "/etc/shadow"});
    lab->change_sshd(1, "s/^KbdInteractiveAuthentication.*/KbdInteractiveAuthentication yes/");
  });
  config.user = "CORP\\ann";
  ASSERT_TRUE(gets_in()) << "by a key: " << told();
  config.proxy_command = QString("ssh -F %1/ssh_config -W %2:22 h2").arg(lab->folder(), lab->address(1));
  EXPECT_TRUE(gets_in()) << "behind a command in which no user stands: " << told();
  config.proxy_command.clear();
  config.identities_only = true;
  config.identity_files = {encrypted_key()};
  person.secrets = {"open sesame"};
  EXPECT_TRUE(gets_in()) << "by a key with a passphrase: " << told();
  {
    const Agent agent(folder, {lab->key_file()});
    config.identities_only = false;
    config.identity_files = {folder.filePath("none")};
    config.identity_agent = agent.socket;
    EXPECT_TRUE(gets_in()) << "by the agent: " << told();
    session.reset();
  }
  config.identity_agent.clear();
  without_keys();
  person.secrets = {lab->password().toUtf8()};
  EXPECT_TRUE(gets_in()) << "by what the host asks: " << told();
  lab->change_sshd(1, "s/^KbdInteractiveAuthentication.*/KbdInteractiveAuthentication no/");
  person.secrets = {lab->password().toUtf8()};
  EXPECT_TRUE(gets_in()) << "by the password: " << told();
  secrets = std::make_shared<SshSecrets>();
  EXPECT_FALSE(gets_in());
  EXPECT_TRUE(problem.what_to_do.endsWith("ssh-copy-id 'CORP\\ann@h1'")) << told();
}

TEST_F(SshSessionTest, what_libssh_cannot_use_is_told_with_what_to_do) {
  config.algorithms["ciphers"] = {"unheard-of", "/home/ann/.ssh/config:7"};
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::settings);
  EXPECT_TRUE(problem.why.contains("/home/ann/.ssh/config:7")) << told();
  EXPECT_FALSE(problem.what_to_do.isEmpty()) << told();
  config.algorithms.clear();
  config.user.clear();
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::settings);
  EXPECT_TRUE(problem.what_to_do.startsWith("Name the user")) << told();
}

TEST_F(SshSessionTest, who_has_nothing_to_show_is_told_what_to_do) {
  without_keys();
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::login);
  EXPECT_NE(told().find("ssh-copy-id"), std::string::npos) << told();
  person.secrets = {"a", "b", "c", "d", "e", "f", "g"};  // more than the host hears: it hangs up
  EXPECT_FALSE(gets_in());
  EXPECT_EQ(problem.kind, SshProblem::Kind::login);
  EXPECT_NE(told().find(folder.filePath("none").toStdString() + " (is not there)"), std::string::npos) << told();
}

TEST_F(SshSessionTest, a_session_that_is_closed_while_it_asks_says_so_at_once) {
  without_keys();
  person.says_nothing = true;
  open();
  ASSERT_TRUE(wait_until([this] { return person.secret_questions.size() == 1; }));
  session->close();
  ASSERT_TRUE(wait_until([this] { return over; }));
  EXPECT_EQ(problem.kind, SshProblem::Kind::closed);
}

TEST_F(SshSessionTest, what_is_answered_about_a_host_key_when_its_session_was_closed_counts_for_nothing) {
  const QString known = folder.filePath("known_hosts");
  ASSERT_TRUE(QFile(known).open(QIODevice::WriteOnly));
  config.known_hosts_files = {known};
  person.says_nothing = true;
  for (const bool is_forgotten : {false, true}) {
    open();
    ASSERT_TRUE(wait_until([this] { return person.key_questions.size() == 1; }));
    EXPECT_FALSE(person.key_questions[0].asked_by.isNull());
    session->close();
    ASSERT_TRUE(wait_until([this] { return over; }));
    EXPECT_EQ(problem.kind, SshProblem::Kind::closed);
    EXPECT_TRUE(person.key_questions[0].asked_by.isNull()) << "nobody is bothered with it any longer";
    if (is_forgotten) session.reset();
    person.key_answers[0](true);
    session.reset();  // with its thread
    EXPECT_EQ(QFileInfo(known).size(), 0);
    person.key_questions.clear();
    person.key_answers.clear();
  }
}

/// Who would give a session up because it asks gives it up for nothing, and does not learn what is wrong there.
TEST_F(SshSessionTest, where_nobody_is_there_to_be_asked_it_does_not_say_that_it_asks) {
  const auto says_that_it_asks = [this] {
    bool asked = false;
    open();
    QObject::connect(session.get(), &SshSession::asking, [&] { asked = true; });
    EXPECT_TRUE(wait_until([this] { return over; }));
    return asked;
  };
  without_keys();
  EXPECT_TRUE(says_that_it_asks());
  person.is_there = false;
  EXPECT_FALSE(says_that_it_asks());
  EXPECT_EQ(problem.kind, SshProblem::Kind::login);
  config.known_hosts_files = {folder.filePath("none")};
  EXPECT_FALSE(says_that_it_asks());
  EXPECT_EQ(problem.kind, SshProblem::Kind::host_key_unknown);
}

}  // namespace
}  // namespace n2nq::app
