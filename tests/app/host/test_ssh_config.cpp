// SPDX-License-Identifier: GPL-3.0-or-later
// What a config file means: said by hand here, and by ssh -G where there is an ssh.
#include "app/host/ssh_config.h"

#include <gtest/gtest.h>

#include <pwd.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <optional>

#include "app/host/ssh_config_text.h"
#include "tests/app/host/ssh_config_kit.h"

namespace n2nq::app {
namespace {

using testing::SshConfigTest;

TEST_F(SshConfigTest, without_a_file_a_name_is_an_address) {
  const SshHostConfig host = read().look_up("lab1");
  EXPECT_EQ(host.host_name, "lab1");
  EXPECT_EQ(host.port, 22);
  EXPECT_FALSE(host.user.isEmpty());
  EXPECT_TRUE(host.identity_files.isEmpty());
  EXPECT_EQ(host.known_hosts_files, (QStringList{path(".ssh/known_hosts"), path(".ssh/known_hosts2")}));
}

TEST_F(SshConfigTest, the_first_value_counts_and_identity_files_add_up) {
  write("config", R"(
# the lab
Host lab1 lab2
  HostName=10.0.0.1
  Port 2200
  User "ann b"
  IdentityFile ~/.ssh/lab   # not the usual one
  IdentityFile /keys/%r@%h:%p
Host lab*
  port 23
  User bert
  IdentityFile ~/.ssh/other
  CertificateFile ~/.ssh/other-cert
  UserKnownHostsFile /a /b
  ProxyJump ann@gate:2022,inner
Host *
  CertificateFile /keys/all
  IdentitiesOnly yes
)");
  const SshHostConfig host = read().look_up("lab1");
  EXPECT_EQ(host.host_name, "10.0.0.1");
  EXPECT_EQ(host.port, 2200);
  EXPECT_EQ(host.user, "ann b");
  EXPECT_EQ(host.identity_files, (QStringList{path(".ssh/lab"), "/keys/ann b@10.0.0.1:2200", path(".ssh/other")}));
  EXPECT_EQ(host.certificate_files, (QStringList{path(".ssh/other-cert"), "/keys/all"}));
  EXPECT_TRUE(host.identities_only);
  EXPECT_EQ(host.known_hosts_files, (QStringList{"/a", "/b"}));
  EXPECT_EQ(host.jumps, (QStringList{"ann@gate:2022", "inner"}));
  EXPECT_EQ(read().look_up("lab3").port, 23);
  EXPECT_EQ(read().look_up("lab1", "carl", 99).user, "carl");
  EXPECT_EQ(read().look_up("lab1", "carl", 99).port, 99);
}

TEST_F(SshConfigTest, names_of_one_line_are_machines_unless_they_lead_to_the_same) {
  write("config", R"(
Host lab1 10.0.0.1 *.lab !not.lab
  HostName 10.0.0.1
Host rack-a rack-b
  HostName %h.lab
Host inner-a inner-b
  HostName 10.0.0.2
Host inner-a
  ProxyJump gate
Host lab1 again
  HostName 10.0.0.1
)");
  EXPECT_EQ(read().names(), (QStringList{"lab1", "rack-a", "rack-b", "inner-a", "inner-b"}));
}

TEST_F(SshConfigTest, what_is_asked_of_a_name_does_not_grow_with_the_lines_of_others) {
  // Line by line, each of these names would take as long as the whole file: minutes together.
  constexpr int machines = 20'000;
  QByteArray text;
  for (int number = 0; number < machines; ++number) {
    const QByteArray digits = QByteArray::number(number);
    text += "Host m" + digits + " n" + digits + "\n  HostName h" + digits + "\n";
  }
  write("config", text + "Host *7\n  Port 7\n");
  const SshConfig config = read();
  const QStringList names = config.names();
  ASSERT_EQ(names.size(), machines);
  EXPECT_EQ(names.front(), "m0");
  EXPECT_EQ(names.back(), QString("m%1").arg(machines - 1));
  EXPECT_EQ(config.look_up("n12347").host_name, "h12347");
  EXPECT_EQ(config.look_up("n12347").port, 7);
}

TEST_F(SshConfigTest, exclusions_includes_and_matches) {
  write("more", "User included\nHost hidden\n  HostName 10.0.0.9\n");
  write("config", "Host *.lab !bad.lab\n  Include " + path("more").toUtf8() + R"(
Match host 10.0.0.* user ann
  Port 7
Match originalhost good.lab
  Port 8
Match exec "true"
  Port 9
Host bad.lab
  ProxyCommand nc %h %p
)");
  const SshConfig config = read();
  EXPECT_EQ(config.look_up("good.lab").user, "included");
  EXPECT_EQ(config.look_up("good.lab").port, 8);
  EXPECT_NE(config.look_up("bad.lab").user, "included");
  EXPECT_EQ(config.look_up("bad.lab").proxy_command, "nc bad.lab 22") << "with its tokens replaced";
  EXPECT_EQ(config.look_up("10.0.0.4", "ann").port, 7);
  EXPECT_EQ(config.look_up("10.0.0.4", "bert").port, 22);
  EXPECT_EQ(config.names(), (QStringList{"hidden", "bad.lab"}));
}

TEST_F(SshConfigTest, words_of_match_may_have_an_equals_sign) {
  const std::map<QString, bool> expected = {{"user ann", true},
                                            {"user=ann", true},
                                            {"user=ann host=lab*", true},
                                            {"host=lab* user ann", true},
                                            {"host lab* user=ann", true},
                                            {"User = ann", true},
                                            {"user =ann host lab1", true},
                                            {"user= ann", true},
                                            {"originalhost=other,lab1", true},
                                            {"!user=ann", false},
                                            {"!user=bert", true},
                                            {"user=bert", false},
                                            {"user=ann host=other", false},
                                            {"localuser=nobody-has-this-name", false}};
  for (const auto& [criteria, holds] : expected) {
    write("config", "Host lab1\n  User ann\nMatch " + criteria.toUtf8() + "\n  Port 5\n");
    EXPECT_EQ(read().look_up("lab1").port, holds ? 5 : 22) << criteria.toStdString();
    const auto said = of_ssh("lab1");
    ASSERT_TRUE(said) << "ssh cannot be run";
    EXPECT_EQ(said->value("port").value(0), holds ? "5" : "22") << criteria.toStdString();
  }
}

TEST_F(SshConfigTest, files_that_include_themselves_and_lines_without_a_value_are_told) {
  write("config", "Include " + path("config").toUtf8() + "\nHost\n");
  const SshConfig config = read();
  ASSERT_FALSE(config.problems().isEmpty());
  EXPECT_TRUE(config.problems().contains(path("config") + ":2: Host without a value"));
}

TEST_F(SshConfigTest, what_is_not_read_is_told) {
  write("config", "Host a\n  Port 23\n" + QByteArray(5 << 20, '#') + "\nHost b\n  Port 24\n");
  const SshConfig long_file = read();
  EXPECT_EQ(long_file.look_up("a").port, 23);
  EXPECT_TRUE(long_file.problems().contains(path("config") + " is larger than 4 MiB: what is behind that is not read"));
  write("more", "Host c\n");
  write("config", "Host a\n" + QByteArray("Port 23\n").repeated(100'000) + "Include " + path("more").toUtf8() + "\n");
  EXPECT_EQ(read().problems(), QStringList(path("config") + ":100002: more than 100000 lines in all: what is behind that is not read"));
}

TEST_F(SshConfigTest, ssh_itself_understands_it_alike) {
  write("more", "Host b?\n  Port 77\n");
  write("config", "Include " + path("more").toUtf8() + R"(
Host a b1 !c
  HostName %h.example
  User x
  IdentityFile /k/%n-%p
Match host b1.example user x
  UserKnownHostsFile /known/%h /known/2
  ProxyJump g1,u@g2:9
Match originalhost D*
  User of_d
Match host D.Example
  Port 99
Host D*
  User never
Host d
  HostName d.example
  IdentityFile none
Match host *.EXAMPLE originalhost d
  ProxyJump of_d
Host *
  Port 1234
  User y
)");
  for (const QString name : {"a", "b1", "b2", "c", "d"}) {
    const auto all = of_ssh(name);
    ASSERT_TRUE(all) << "ssh cannot be run";
    QMap<QString, QString> said;
    for (const QString& key : all->keys()) said[key] = all->value(key)[0];
    const SshHostConfig host = read().look_up(name);
    EXPECT_EQ(host.host_name, said["hostname"]);
    EXPECT_EQ(QString::number(host.port), said["port"]) << name.toStdString();
    EXPECT_EQ(host.user, said["user"]) << name.toStdString();
    EXPECT_EQ(host.jumps.join(','), said["proxyjump"]) << name.toStdString();
    EXPECT_EQ(host.default_keys, all->value("identityfile").size() > 1) << name.toStdString();
    if (name != "b1") continue;
    EXPECT_EQ(host.identity_files.value(0), said["identityfile"].replace("%n", name).replace("%p", said["port"]));
    EXPECT_EQ(host.known_hosts_files.join(' '), said["userknownhostsfile"].replace("%h", said["hostname"]));
  }
}

TEST_F(SshConfigTest, what_others_may_change_is_not_obeyed) {
  write("mine", "Host a\n  User mine\n");
  write("theirs", "Host a\n  ProxyCommand touch /tmp/x\n");
  write("config", "Include " + path("mine").toUtf8() + "\nInclude " + path("theirs").toUtf8() + "\n");
  EXPECT_EQ(read().look_up("a").proxy_command, "touch /tmp/x");
  ASSERT_TRUE(QFile::setPermissions(path("theirs"), QFile::ReadOwner | QFile::WriteOwner | QFile::WriteOther));
  const SshHostConfig host = read().look_up("a");
  EXPECT_EQ(host.proxy_command, "");
  EXPECT_EQ(host.user, "mine");
  EXPECT_EQ(host.problems, QStringList("others may write to " + path("theirs") +
                                       ", so ssh does not obey it, nor does the bench: chmod go-w '" + path("theirs") + "'"));
  EXPECT_EQ(read().look_up("b").problems, host.problems) << "nobody knows for whom it was";
  ASSERT_TRUE(QFile::setPermissions(path("config"), QFile::ReadOwner | QFile::WriteOwner | QFile::WriteOther));
  EXPECT_EQ(read().look_up("a").problems.size(), 1);
  EXPECT_NE(read().look_up("a").user, "mine");
}

TEST_F(SshConfigTest, the_first_of_proxy_command_and_proxy_jump_counts) {
  write("config", R"(
Host command
  ProxyCommand nc %h %p
Host straight
  ProxyCommand none
Host jump
  ProxyJump other
  ProxyCommand nc %h %p
Host no_jump
  ProxyJump none
Host no_jump
  ProxyJump later_jump
Host no_jump bare
  ProxyCommand later
Host *
  ProxyJump gate
  ProxyCommand last
)");
  const SshConfig config = read();
  const std::map<QString, std::pair<QString, QStringList>> expected = {
      {"command", {"nc command 22", {}}}, {"straight", {}},        {"jump", {{}, {"other"}}},
      {"no_jump", {"later", {}}},         {"bare", {"later", {}}}, {"any", {{}, {"gate"}}}};
  for (const auto& [name, ways] : expected) {
    const SshHostConfig host = config.look_up(name);
    EXPECT_EQ(host.proxy_command, ways.first) << name.toStdString();
    EXPECT_EQ(host.jumps, ways.second) << name.toStdString();
    const auto said = of_ssh(name);
    if (!said || name == "no_jump") continue;  // which its manual does not speak of; OpenSSH 9.2 takes the command
    EXPECT_EQ(host.jumps.join(','), said->value("proxyjump").value(0)) << name.toStdString();
    EXPECT_EQ(host.proxy_command.isEmpty(), !said->contains("proxycommand")) << name.toStdString();
  }
}

TEST_F(SshConfigTest, variables_homes_and_tokens_in_names_of_files) {
  const passwd* root = ::getpwuid(0);
  ASSERT_TRUE(root);
  qputenv("N2NQ_TEST_FOLDER", "/variable");
  qputenv("N2NQ_TEST_TILDE", "~");
  write("config", R"(
IdentityFile ${N2NQ_TEST_FOLDER}/${N2NQ_TEST_FOLDER}$x$
IdentityFile ~root/key
IdentityFile /%C-%%-%r
IdentityFile /${N2NQ_TEST_TILDE}/key
CertificateFile ${N2NQ_TEST_FOLDER}/certificate
UserKnownHostsFile ~/known ${N2NQ_TEST_FOLDER}/known
IdentityAgent ${N2NQ_TEST_FOLDER}/agent
User ann
ProxyCommand false
)");
  const SshHostConfig host = read().look_up("lab1");
  EXPECT_EQ(host.problems, QStringList());
  ASSERT_EQ(host.identity_files.size(), 4);
  EXPECT_EQ(host.identity_files[0], "/variable//variable$x$");
  EXPECT_EQ(host.identity_files[1], QString::fromLocal8Bit(root->pw_dir) + "/key");
  EXPECT_EQ(host.identity_files[2].size(), 40 + 7) << "a SHA-1 in hexadecimal digits";
  EXPECT_EQ(host.identity_files[3], "/~/key") << "what a variable brings is no home";
  EXPECT_EQ(host.certificate_files, QStringList{"/variable/certificate"});
  EXPECT_EQ(host.known_hosts_files, (QStringList{path("known"), "/variable/known"}));
  EXPECT_EQ(host.identity_agent, "/variable/agent");

  QProcess ssh;  // with -v it says where it looks for keys, before a connection, which "false" does not give
  ssh.start("ssh", {"-v", "-F", path("config"), "lab1", "true"});
  ASSERT_TRUE(ssh.waitForFinished()) << "ssh cannot be run";
  const QString said = QString::fromUtf8(ssh.readAllStandardError());
  for (const QString& file : host.identity_files)
    EXPECT_TRUE(said.contains("identity file " + file + " type")) << (file + '\n' + said).toStdString();
}

TEST_F(SshConfigTest, a_list_of_revoked_keys_is_named_as_other_files_are) {
  write("config", R"(
Host a
  RevokedHostKeys ~/revoked-%h
Host b
  RevokedHostKeys None
Host *
  RevokedHostKeys /revoked
)");
  EXPECT_EQ(read().look_up("a").revoked_keys_file, path("revoked-a"));
  EXPECT_EQ(read().look_up("b").revoked_keys_file, "");
  EXPECT_EQ(read().look_up("c").revoked_keys_file, "/revoked");
}

TEST_F(SshConfigTest, capital_letters_become_small_where_ssh_makes_them_so) {
  write("config", R"(
Host VM1
  HostKeyAlias Al-IAS
Host VM*
  HostName Lab1.Example.ORG
  User Ann
  IdentityFile /%h/%k/%n/%r/%C
  ProxyCommand false
)");
  const std::map<QString, QString> expected = {{"VM1", "/lab1.example.org/al-ias/VM1/Ann/"}, {"VM2", "/lab1.example.org/VM2/VM2/Ann/"}};
  for (const auto& [name, begin] : expected) {
    const QString file = read().look_up(name).identity_files.value(0);
    EXPECT_TRUE(file.startsWith(begin)) << file.toStdString();
    QProcess ssh;  // says where it looks for keys
    ssh.start("ssh", {"-v", "-F", path("config"), name, "true"});
    ASSERT_TRUE(ssh.waitForFinished()) << "ssh cannot be run";
    const QString said = QString::fromUtf8(ssh.readAllStandardError());
    EXPECT_TRUE(said.contains("identity file " + file + " type")) << (file + '\n' + said).toStdString();
  }
}

TEST_F(SshConfigTest, more_values_than_a_key_takes_are_refused_as_ssh_does) {
  for (const QByteArray line :
       {"HostName a b", "Port 22 extra", "User a b", "IdentityFile ~/My Keys/lab", "CertificateFile a b", "IdentitiesOnly yes extra",
        "IdentityAgent a b", "HostKeyAlias a b", "Ciphers aes128-ctr b", "MACs hmac-sha2-256 b", "KexAlgorithms curve25519-sha256 b",
        "HostKeyAlgorithms ssh-ed25519 b", "PubkeyAcceptedKeyTypes ssh-ed25519 b", "User a ''", "User a # b", "User 'a b'", "User=a",
        "UserKnownHostsFile a b", "GlobalKnownHostsFile a b", "RevokedHostKeys a b", "ProxyCommand a b", "SendEnv A B"}) {
    write("config", "Host a\n  " + line + "\n");
    EXPECT_EQ(read().look_up("a").problems.isEmpty(), of_ssh("a").has_value()) << line.toStdString();
    EXPECT_EQ(read().look_up("b").problems, QStringList()) << "nothing that concerns it: " << line.toStdString();
  }
  write("config", "IdentityFile ~/My Keys/lab\n");
  const QStringList told = {path("config") + ":1: IdentityFile must be one value, in quotes where it has blanks, not ~/My Keys/lab"};
  EXPECT_EQ(read().look_up("a").problems, told);
}

TEST_F(SshConfigTest, what_cannot_be_used_is_told_with_its_line_to_whom_it_concerns) {
  qunsetenv("N2NQ_TEST_UNSET");
  write("config", R"(Host a
  IdentityFile ${N2NQ_TEST_UNSET}/key
Host b
  UserKnownHostsFile /known ${N2NQ_TEST_UNSET}
Host c
  IdentityAgent ${N2NQ_TEST_UNSET
Host d
  IdentityFile ~nobody-has-this-name/key
Host e
  Port abc
Host f
  Port 65536
Host g
  IdentityFile "/key
Host h
  HostName
Host j
  IdentitiesOnly maybe
Host i
  Port 22
  LocalCommand it's
  ProxyCommand echo it's
)");
  const SshConfig config = read();
  const std::map<QString, QString> expected = {{"a", ":2: ${N2NQ_TEST_UNSET}/key: the environment has no ${N2NQ_TEST_UNSET}"},
                                               {"b", ":4: ${N2NQ_TEST_UNSET}: the environment has no ${N2NQ_TEST_UNSET}"},
                                               {"c", ":6: ${N2NQ_TEST_UNSET: ${ has no } behind it"},
                                               {"d", ":8: ~nobody-has-this-name/key: there is no user nobody-has-this-name here"},
                                               {"e", ":10: Port must be from 1 to 65535, not abc"},
                                               {"f", ":12: Port must be from 1 to 65535, not 65536"},
                                               {"g", ":14: IdentityFile: a quote has no end"},
                                               {"h", ":16: HostName without a value"},
                                               {"j", ":18: IdentitiesOnly must be yes or no, not maybe"}};
  for (const auto& [name, problem] : expected) {
    EXPECT_EQ(config.look_up(name).problems, QStringList{path("config") + problem}) << name.toStdString();
  }
  EXPECT_EQ(config.look_up("i").problems, QStringList()) << "older ssh take these quotes, too";
  EXPECT_EQ(config.look_up("i").proxy_command, "echo it's");
  EXPECT_TRUE(config.problems().contains(path("config") + ":10: Port must be from 1 to 65535, not abc"));
}

TEST_F(SshConfigTest, jump_hosts_that_ssh_refuses_are_told_with_their_line) {
  for (const QString jumps :
       {"gate:abc", "gate:0", "gate:70000", ":22", "@gate", "user@", "gate,", ",gate", "gate,,b", "ssh://gate:abc", "[fe80::1", "fe80::1",
        "gate", "gate:", "gate:ssh", "a,none", "u@[fe80::1]:5", "ssh://u@gate:22", "ssh://gate/"}) {
    write("config", "ProxyJump " + jumps.toUtf8() + '\n');
    const SshHostConfig host = read().look_up("a");
    const auto said = of_ssh("a");
    EXPECT_EQ(host.problems.isEmpty(), said.has_value()) << jumps.toStdString();
    if (said) {
      EXPECT_EQ(host.jumps, jumps.split(','));
    } else {
      EXPECT_EQ(host.jumps, QStringList()) << "nobody is connected to";
      EXPECT_EQ(host.problems[0].section(' ', 0, 2), path("config") + ":1: ProxyJump must");
    }
  }
}

TEST_F(SshConfigTest, lists_of_algorithms_know_their_line) {
  write("config", "\nCiphers none-such\n");
  const auto ciphers = read().look_up("a").algorithms["ciphers"];
  EXPECT_EQ(ciphers.names, "none-such");
  EXPECT_EQ(ciphers.where, path("config") + ":2");
}

TEST_F(SshConfigTest, services_are_ports) {
  write("config", "Port ssh\n");
  EXPECT_EQ(read().look_up("a").port, 22);
  EXPECT_EQ(read().look_up("a").problems, QStringList());
}

TEST_F(SshConfigTest, includes_have_wildcards_in_folders_too) {
  for (const char* folder : {".ssh/conf.d/b", ".ssh/conf.d/a", ".ssh/conf.d/.c"}) ASSERT_TRUE(QDir(home.path()).mkpath(folder));
  write(".ssh/conf.d/a/extra", "Host inner\n  Port 1\n");
  write(".ssh/conf.d/b/extra", "Host inner other\n  Port 2\n");
  write(".ssh/conf.d/.c/extra", "Host hidden\n  Port 3\n");
  write(".ssh/conf.d/[x]", "Host named\n  Port 4\n");
  write("config", "Include conf.d/*/ext?a ~/.ssh/conf.d/\\[x]\n");
  const SshConfig config = read();
  EXPECT_EQ(config.names(), (QStringList{"inner", "other", "named"})) << "a wildcard takes no hidden one";
  EXPECT_EQ(config.look_up("inner").port, 1);
  EXPECT_EQ(config.look_up("other").port, 2);
  EXPECT_EQ(config.look_up("named").port, 4);
}

TEST_F(SshConfigTest, quotes_and_backslashes_are_those_of_ssh) {
  write("config", R"(Host 'a b' plain
  IdentityFile '/single quoted'
  IdentityFile "/it's"
  IdentityFile '/say "x"'
  IdentityFile /a\ b\\c\d\"e
  IdentityFile "/a\ b"
  IdentityFile /in' the 'middle#no_comment
  IdentityFile "/hash # in it" # a comment
  User "ann b"
)");
  const SshHostConfig host = read().look_up("plain");
  EXPECT_EQ(host.identity_files, (QStringList{"/single quoted", "/it's", "/say \"x\"", "/a b\\c\\d\"e", "/a\\ b",
                                              "/in the middle#no_comment", "/hash # in it"}));
  EXPECT_EQ(host.user, "ann b");
  EXPECT_EQ(read().names(), (QStringList{"a b", "plain"}));
  const auto said = of_ssh("plain");
  ASSERT_TRUE(said) << "ssh cannot be run";
  EXPECT_EQ(host.identity_files, said->value("identityfile"));
}

TEST(ssh_destination, its_parts) {
  for (const QString text : {"ann@gate:2022", "ssh://ann@gate:2022", "ssh://ann;x=1@gate:2022/", "ann@[gate]:2022"}) {
    const auto parsed = SshDestination::parse(text);
    ASSERT_TRUE(parsed) << text.toStdString();
    EXPECT_EQ(parsed->user, "ann");
    EXPECT_EQ(parsed->name, "gate");
    EXPECT_EQ(parsed->port, 2022);
  }
  EXPECT_EQ(SshDestination::parse("[fe80::1]:5")->name, "fe80::1");
  EXPECT_EQ(SshDestination::parse("[fe80::1]:5")->port, 5);
  EXPECT_EQ(SshDestination::parse("gate")->port, 0);
  EXPECT_FALSE(SshDestination::parse("fe80::1")) << "where would the port begin?";
}

}  // namespace
}  // namespace n2nq::app
