// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/hosts_file.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

namespace n2nq::app {
namespace {

std::string all_errors(std::string_view text) {
  std::string out;
  for (const auto& error : read_hosts_text(text, "h.yaml").errors) out += error.text() + "\n";
  return out;
}

Host called(const char* name) {
  Host host;
  host.name = name;
  return host;
}

Host full_host() {
  Host host = called("lab-1");
  host.address = "192.0.2.7";
  host.port = 2222;
  host.user = "tester";
  host.identity_file = "~/.ssh/lab key";
  host.data_address = "10.0.0.7";
  host.folder = "/var/tmp/n2nq";
  host.keep_files = true;
  return host;
}

TEST(hosts_file, a_host_needs_nothing_but_a_name) {
  const auto read = read_hosts_text("format: 1\nhosts:\n  - name: lab-1\n", "h.yaml");
  ASSERT_TRUE(read.hosts) << read.errors.front().text();
  ASSERT_EQ(read.hosts->hosts.size(), 1u);
  const Host& host = *read.hosts->find("lab-1");
  EXPECT_EQ(host.ssh_target(), "lab-1");
  EXPECT_EQ(host.port, 0);
  EXPECT_EQ(read.hosts->find("lab-2"), nullptr);
}

TEST(hosts_file, a_key_without_a_value_is_one_that_is_not_set) {
  const auto read = read_hosts_text("format: 1\nlocal_data_address:\nhosts:\n  - name: lab-1\n    user:\n", "h.yaml");
  ASSERT_TRUE(read.hosts) << read.errors.front().text();
  EXPECT_EQ(read.hosts->local_data_address, "");
  EXPECT_EQ(*read.hosts->find("lab-1"), called("lab-1"));
  EXPECT_EQ(all_errors("format: 1\nlocal_data_address: []\n"), "h.yaml:2: local_data_address must be a numeric address such as 10.0.0.5\n");
}

TEST(hosts_file, what_is_written_reads_back_the_same) {
  Hosts hosts;
  hosts.local_data_address = "fd00::1";
  hosts.hosts = {full_host(), called("1e3"), called("no")};
  const auto read = read_hosts_text(hosts_yaml(hosts), "h.yaml");
  ASSERT_TRUE(read.hosts) << read.errors.front().text();
  EXPECT_EQ(*read.hosts, hosts);
  EXPECT_EQ(*read_hosts_text(hosts_yaml({}), "h.yaml").hosts, Hosts());
  EXPECT_TRUE(hosts_yaml({}).starts_with("# Changes on the page Hosts")) << "or somebody misses their comments";
}

TEST(hosts_file, each_mistake_is_named_with_line_and_key) {
  EXPECT_EQ(all_errors("hosts: []\n"), "h.yaml: format is missing: the file must say \"format: 1\"\n");
  EXPECT_EQ(all_errors("format: 2\n"), "h.yaml:1: format is 2, but this version reads up to format 1: a newer n2nq-bench wrote it\n");
  EXPECT_EQ(all_errors("format: 1\nhots: []\n"), "h.yaml:2: hots is not known here; the nearest key is hosts\n");
  EXPECT_EQ(all_errors("format: 1\nhosts: lab-1\n"), "h.yaml:2: hosts must be a list of hosts, such as \"- name: lab-1\"\n");
  EXPECT_EQ(all_errors("format: 1\nhosts:\n  - lab-1\n"), "h.yaml:3: hosts[1] must be a host with keys, such as \"- name: lab-1\"\n");
  EXPECT_EQ(all_errors("format: 1\nhosts:\n  - address: lab-1\n"),
            "h.yaml:3: hosts[1].name is missing: each host needs a name, such as \"name: lab-1\"\n");
  EXPECT_EQ(all_errors("format: 1\nhosts:\n  - name: a\n  - name: b\n    adress: c\n"),
            "h.yaml:5: hosts[2].adress is not a key of a host; the nearest one is address\n");
  for (const char* key : {"password", "pasword", "passphrase"})
    EXPECT_EQ(all_errors(std::string("format: 1\nhosts:\n  - name: a\n    ") + key + ": b\n"),
              std::string("h.yaml:4: hosts[1].") + key +
                  " is not a key of a host: no secret stands in this file; it is asked for when it is needed\n");
  EXPECT_EQ(all_errors("format: 1\nhosts:\n  - name: a\n  - name: a\n"),
            "h.yaml:4: hosts[2].name is \"a\", as another host's: names must differ\n");
  EXPECT_EQ(all_errors("format: 1\nhosts:\n  - name: a\n    port: 70000\n"),
            "h.yaml:4: hosts[1].port must be a whole number from 1 to 65535, not \"70000\"\n");
  EXPECT_EQ(all_errors("format: 1\nhosts:\n  - {name: a, name: b}\n"), "h.yaml:3: hosts[1].name stands twice; keep one of them\n");
  EXPECT_EQ(all_errors("format: 1\nhosts:\n  - {[a]: b}\n"), "h.yaml:3: hosts[1] has a key that is not a word\n");
  EXPECT_EQ(all_errors("format: 1\nlocal_data_address: lab\n"),
            "h.yaml:2: local_data_address must be a numeric address such as 10.0.0.5, not \"lab\"\n");
  EXPECT_NE(all_errors("format: 1\nhosts: [\n").find("is not YAML"), std::string::npos);
  EXPECT_NE(all_errors("format: 1\nhosts:\n  - name: a\n---\nformat: 1\nhosts:\n  - name: b\n").find("h.yaml:5: begins another"),
            std::string::npos);
  EXPECT_NE(all_errors(std::string(hosts_file_bytes_max + 1, ' ')).find("is larger than"), std::string::npos);
}

TEST(hosts_file, a_host_s_values_are_held_to_their_rules) {
  const auto problem = [](std::string_view key, std::string_view text) {
    Host host;
    return find_host_field(key)->set(host, text).value_or("");
  };
  for (const char* name : {"", "local", "-a", ".a", "a b", "a/b", "ä", "$(x)"}) EXPECT_NE(problem("name", name), "") << name;
  EXPECT_NE(problem("name", std::string(65, 'a')), "");
  EXPECT_EQ(problem("name", std::string(64, 'a')), "");
  for (const char* address : {"-oProxyCommand=x", "user@lab", "a b", "a;b"}) EXPECT_NE(problem("address", address), "") << address;
  EXPECT_EQ(problem("address", "10.77.9.12:22"),
            "must be without the port, which has a field of its own (SSH port, port in a file), not \"10.77.9.12:22\"");
  for (const char* address : {"lab-1:2222", "lab-1:"}) EXPECT_NE(problem("address", address), "") << address;
  for (const char* address : {"lab-1.example.org", "192.0.2.1", "fe80::1%eth0", "fd00::1", "::1", "1:2:3:4:5:6:7:8"})
    EXPECT_EQ(problem("address", address), "") << address;
  for (const char* folder : {"..", "/", "//", ".", "./", "/./", "a/../b", "/a/..", "a b", "~/x", "-x", "$HOME"}) EXPECT_NE(problem("folder", folder), "") << folder;
  for (const char* folder : {".cache/n2nq-bench", "/var/tmp/x", "a..b", ""}) EXPECT_EQ(problem("folder", folder), "") << folder;
  const auto stored = [](std::string_view text) {
    Host host;
    EXPECT_FALSE(find_host_field("folder")->set(host, text)) << text;
    return host.folder;
  };
  for (const char* folder : {"/var/tmp/x/", "/var/tmp/x/.", "//var/./tmp//x", "/var/tmp/x/.//"})
    EXPECT_EQ(stored(folder), "/var/tmp/x") << folder;
  for (const char* folder : {"a/b/", "./a/b", "a//b/."}) EXPECT_EQ(stored(folder), "a/b") << folder;
  EXPECT_EQ(stored("./-x/"), "./-x") << "no option of a command there";
  EXPECT_EQ(stored(""), "");
  for (const char* address : {"lab", "0.0.0.0", "::", "10.0.0", "10.0.0.5:7", "fe80::1", "fe80::1%eth0"}) EXPECT_NE(problem("data_address", address), "") << address;
  for (const char* address : {"10.0.0.5", "fd00::5", ""}) EXPECT_EQ(problem("data_address", address), "") << address;
  EXPECT_NE(problem("user", "a b"), "");
  EXPECT_NE(problem("identity_file", "a\nb"), "");
  for (const char* word : {"local", "Local", "LOCAL"}) EXPECT_EQ(problem("name", word), "must not be local: that is this machine") << word;
  EXPECT_EQ(problem("keep_files", "maybe"), "must be yes or no, not \"maybe\"");
  for (const char* word : {"yes", "no", "true", "false", ""}) EXPECT_EQ(problem("keep_files", word), "") << word;
  EXPECT_EQ(problem("port", ""), "");
}

TEST(hosts_file, is_written_for_its_owner_alone) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("not/yet/hosts.yaml").toStdString();
  ASSERT_TRUE(read_hosts_file(path, true).hosts);
  EXPECT_EQ(read_hosts_file(path, false).errors.front().text(), path + ": cannot be read: No such file or directory");
  Hosts hosts;
  hosts.hosts = {full_host()};
  ASSERT_FALSE(write_hosts_file(path, hosts));
  EXPECT_EQ(*read_hosts_file(path, false).hosts, hosts);
  EXPECT_EQ(QFile::permissions(QString::fromStdString(path)) & (QFile::ReadGroup | QFile::ReadOther), QFile::Permissions());
  EXPECT_NE(write_hosts_file("/proc/no/hosts.yaml", hosts).value_or("").find("Cannot make the folder"), std::string::npos);
}

TEST(hosts_file, a_pipe_in_its_place_is_not_waited_for) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("hosts.yaml").toStdString();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const bool may_be_absent : {false, true}) {
    const auto read = read_hosts_file(path, may_be_absent);
    ASSERT_FALSE(read.hosts);
    EXPECT_EQ(read.errors.front().text(), path + ": cannot be read: it is a pipe, and no file");
  }
}

/// As one whose server answers with an error; else the next change would write it anew, with one host.
TEST(hosts_file, one_of_which_it_is_not_known_that_it_is_not_there_is_not_taken_for_none) {
  const QTemporaryDir folder;
  const QString leads_to_itself = folder.filePath("hosts.yaml");
  ASSERT_TRUE(QFile::link(leads_to_itself, leads_to_itself));
  const auto read = read_hosts_file(leads_to_itself.toStdString(), true);
  ASSERT_FALSE(read.hosts);
  EXPECT_TRUE(read.errors.front().text().starts_with(leads_to_itself.toStdString() + ": cannot be read: ")) << read.errors.front().text();
  ASSERT_TRUE(QFile(folder.filePath("file")).open(QIODevice::WriteOnly));
  EXPECT_TRUE(read_hosts_file(folder.filePath("file/hosts.yaml").toStdString(), true).hosts) << "a folder that is none has none";
}

/// A person may keep it in a repository.
TEST(hosts_file, a_link_stays_and_what_it_leads_to_is_written) {
  const QTemporaryDir folder;
  ASSERT_TRUE(QDir(folder.path()).mkpath("kept") && QDir(folder.path()).mkpath("config"));
  const QString link = folder.filePath("config/hosts.yaml"), further = folder.filePath("config/further"), kept = folder.filePath("kept/lab.yaml");
  ASSERT_TRUE(QFile::link("further", link) && QFile::link("../kept/lab.yaml", further));
  Hosts hosts;
  for (const char* name : {"lab-1", "lab-2"}) {  // what it leads to is not there yet, and is
    hosts.hosts.push_back(called(name));
    EXPECT_EQ(write_hosts_file(link.toStdString(), hosts), std::nullopt);
    EXPECT_TRUE(QFileInfo(link).isSymLink() && QFileInfo(further).isSymLink());
    EXPECT_TRUE(QFileInfo(kept).isFile() && !QFileInfo(kept).isSymLink());
    EXPECT_EQ(*read_hosts_file(kept.toStdString(), false).hosts, hosts);
    EXPECT_EQ(QDir(folder.filePath("config")).entryList(QDir::Files).size(), 2) << "nothing else is left there";
  }
}

}  // namespace
}  // namespace n2nq::app
