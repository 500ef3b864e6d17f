// SPDX-License-Identifier: GPL-3.0-or-later
// What a config file means: said by hand here, and by ssh -G where there is an ssh.
#include "app/host/ssh_config.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

namespace n2nq::app {
namespace {

struct SshConfigTest : ::testing::Test {
  QTemporaryDir home;
  QString path(const QString& name) const { return home.filePath(name); }
  void write(const QString& name, const QByteArray& text) {
    QFile file(path(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly)) << name.toStdString();
    file.write(text);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  }
  SshConfig read() const { return SshConfig::read(home.path(), path("config"), path("system")); }
};

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
  EXPECT_EQ(read().names(), (QStringList{"lab1", "lab2"}));
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

TEST_F(SshConfigTest, files_that_include_themselves_and_lines_without_a_value_are_told) {
  write("config", "Include " + path("config").toUtf8() + "\nHost\n");
  const SshConfig config = read();
  ASSERT_FALSE(config.problems().isEmpty());
  EXPECT_TRUE(config.problems().contains(path("config") + ":2: Host without a value"));
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
Host *
  Port 1234
  User y
)");
  for (const QString name : {"a", "b1", "b2", "c"}) {
    QProcess ssh;
    ssh.start("ssh", {"-G", "-F", path("config"), name});
    if (!ssh.waitForFinished() || ssh.exitCode() != 0) GTEST_SKIP() << "no ssh to compare with";
    QMap<QString, QString> said;
    for (const QString& line : QString::fromUtf8(ssh.readAllStandardOutput()).split('\n')) {
      if (!said.contains(line.section(' ', 0, 0))) said[line.section(' ', 0, 0)] = line.section(' ', 1);
    }
    const SshHostConfig host = read().look_up(name);
    EXPECT_EQ(host.host_name, said["hostname"]);
    EXPECT_EQ(QString::number(host.port), said["port"]) << name.toStdString();
    EXPECT_EQ(host.user, said["user"]) << name.toStdString();
    EXPECT_EQ(host.jumps.join(','), said["proxyjump"]) << name.toStdString();
    if (name != "b1") continue;
    EXPECT_EQ(host.identity_files.value(0), said["identityfile"].replace("%n", name).replace("%p", said["port"]));
    EXPECT_EQ(host.known_hosts_files.join(' '), said["userknownhostsfile"].replace("%h", said["hostname"]));
  }
}

TEST(ssh_destination, its_parts) {
  for (const QString text : {"ann@gate:2022", "ssh://ann@gate:2022", "ann@[gate]:2022"}) {
    const SshDestination parsed = SshDestination::parse(text);
    EXPECT_EQ(parsed.user, "ann");
    EXPECT_EQ(parsed.name, "gate");
    EXPECT_EQ(parsed.port, 2022);
  }
  EXPECT_EQ(SshDestination::parse("fe80::1").name, "fe80::1");
  EXPECT_EQ(SshDestination::parse("[fe80::1]:5").port, 5);
  EXPECT_EQ(SshDestination::parse("gate").port, 0);
}

}  // namespace
}  // namespace n2nq::app
