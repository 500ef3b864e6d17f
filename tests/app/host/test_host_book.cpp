// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_book.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>

#include "app/host/host_launchers.h"
#include "app/host/owned_fd.h"
#include "app/host/ssh_config_databases.h"
#include "app/settings/settings.h"
#include "tests/app/support/event_loop.h"

namespace n2nq::app {
namespace {

Host named(const char* name) {
  Host host;
  host.name = name;
  return host;
}

struct HostBookTest : testing::WithEventLoop {
  QTemporaryDir folder;
  QString path = folder.filePath("hosts.yaml");
  HostBook book{path};

  QStringList names() const {
    QStringList out;
    const HostBook written(path);
    for (const Host& host : written.hosts().hosts) out += QString::fromStdString(host.name);
    return out;
  }
  void write(const char* text) {
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
};

TEST_F(HostBookTest, every_change_is_in_the_file_at_once) {
  EXPECT_EQ(book.put(named("a")), "");
  EXPECT_EQ(book.put(named("b")), "");
  EXPECT_EQ(names(), (QStringList{"a", "b"}));
  EXPECT_EQ(book.put(named("c"), "a"), "");
  EXPECT_EQ(names(), (QStringList{"c", "b"}));
  EXPECT_EQ(book.put(named("a b")).left(14), "hosts[3].name ") << "what would not be read again is not written";
  EXPECT_EQ(book.put(named("b"), "c"), "There is a host called b already");
  EXPECT_EQ(book.put(named("b")), "There is a host called b already");
  EXPECT_EQ(book.set_local_data_address(" 10.0.0.2 "), "");
  EXPECT_EQ(HostBook(path).hosts().local_data_address, "10.0.0.2");
  EXPECT_EQ(book.set_local_data_address("here"), "must be a numeric address such as 10.0.0.5, not \"here\"");
}

TEST_F(HostBookTest, several_are_added_at_once_or_none_of_them) {
  int changes = 0;
  QObject::connect(&book, &HostBook::changed, [&] { ++changes; });
  EXPECT_EQ(book.add({named("a"), named("b")}), "");
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(book.add({named("c"), named("a")}), "There is a host called a already");
  EXPECT_EQ(book.add({named("c"), named("c")}), "There is a host called c already");
  EXPECT_EQ(book.add({named("c"), named("a b")}).left(14), "hosts[4].name ");
  EXPECT_EQ(book.add(std::vector<Host>(101, named("d"))).isEmpty(), false);
  EXPECT_EQ(names(), (QStringList{"a", "b"}));
}

TEST_F(HostBookTest, a_removed_host_comes_back_where_it_was) {
  for (const char* name : {"a", "b", "c"}) book.put(named(name));
  EXPECT_EQ(book.removed_name(), "");
  EXPECT_EQ(book.remove("b"), "");
  EXPECT_EQ(book.removed_name(), "b");
  EXPECT_EQ(names(), (QStringList{"a", "c"}));
  EXPECT_EQ(book.undo_remove(), "");
  EXPECT_EQ(names(), (QStringList{"a", "b", "c"}));
  EXPECT_EQ(book.undo_remove(), "") << "once";
  EXPECT_EQ(names(), (QStringList{"a", "b", "c"}));
  book.remove("b");
  book.put(named("b"));
  EXPECT_EQ(book.undo_remove(), "There is a host called b again: rename it first");
}

TEST_F(HostBookTest, a_file_with_mistakes_is_not_written_over) {
  write("format: 1\nhosts:\n  - nam: a\n");
  book.reload();
  EXPECT_EQ(book.problems(), QStringList{path + ":3: hosts[1].nam is not a key of a host; the nearest one is name"});
  EXPECT_EQ(book.put(named("b")), path + " has mistakes and is not written over: mend it first");
  write("format: 1\nhosts:\n  - name: a\n");
  book.reload();
  EXPECT_EQ(book.put(named("b")), "");
  EXPECT_EQ(names(), (QStringList{"a", "b"}));
}

TEST_F(HostBookTest, what_another_window_has_written_stays) {
  book.put(named("a"));
  HostBook other(path);
  EXPECT_EQ(other.put(named("b")), "");
  EXPECT_EQ(other.set_local_data_address("10.0.0.2"), "");
  EXPECT_EQ(book.put(named("c")), "");
  EXPECT_EQ(names(), (QStringList{"a", "b", "c"}));
  EXPECT_EQ(book.hosts().local_data_address, "10.0.0.2");
  EXPECT_EQ(other.remove("a"), "");
  EXPECT_EQ(names(), (QStringList{"b", "c"}));
  EXPECT_EQ(book.remove("c"), "");
  EXPECT_EQ(other.undo_remove(), "");
  EXPECT_EQ(names(), (QStringList{"a", "b"}));
}

TEST_F(HostBookTest, a_disk_that_takes_nothing_leaves_the_hosts_as_they_were) {
  HostBook nowhere("/proc/no/hosts.yaml");
  EXPECT_NE(nowhere.put(named("a")), "");
  EXPECT_TRUE(nowhere.hosts().hosts.empty());
}

/// In the place of a file server that does not answer: a pipe into which nobody writes.
TEST_F(HostBookTest, a_file_that_is_not_read_in_time_counts_as_it_was_and_nothing_is_written_over_it) {
  const auto as_before = qScopeGuard([] { set_database_patience(database_patience_usual); });
  write("format: 1\nhosts:\n  - name: a\n");
  const OwnedFd file(::open(QFile::encodeName(path).constData(), O_RDONLY | O_CLOEXEC)), shown(::dup(file.get()));
  HostBook far("/dev/fd/" + QString::number(shown.get()), false);
  HostLaunchers launchers(far, [](const Host&) { return std::unique_ptr<Launcher>(); });
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd silent(ends[0]);
  {
    const OwnedFd writer(ends[1]);
    ASSERT_EQ(::dup2(silent.get(), shown.get()), shown.get());
    set_database_patience(std::chrono::milliseconds(1));
    far.glance();
    EXPECT_EQ(far.unread(), "") << "it was for no deed";
    const QString not_read = far.path() + " is not read yet: it was asked for ";
    EXPECT_TRUE(far.put(named("b")).startsWith(not_read)) << far.put(named("b")).toStdString();
    EXPECT_TRUE(far.remove("a").startsWith(not_read)) << "nothing is removed in silence";
    EXPECT_EQ(far.removed_name(), "");
    Settings settings;
    settings.broker.host = "a";
    launchers.look_again();
    EXPECT_TRUE(launchers.problem(settings).startsWith("broker.host is a, but " + not_read)) << launchers.problem(settings).toStdString();
    EXPECT_EQ(launchers.problem(settings, {"broker.host"}), "") << "it listens already";
    EXPECT_EQ(launchers.problem(Settings()), "") << "a run on this machine needs no hosts file";
    EXPECT_EQ(far.problems(), QStringList());
    ASSERT_EQ(far.hosts().hosts.size(), 1u);
    write("format: 1\nhosts:\n  - name: a\n  - name: c\n");
    ASSERT_EQ(::dup2(file.get(), shown.get()), shown.get());
  }
  far.look_again();
  EXPECT_EQ(far.unread(), "");
  EXPECT_NE(far.hosts().find("c"), nullptr) << "and not what was read of the pipe";
}

TEST_F(HostBookTest, settings_whose_hosts_cannot_be_had_are_told_what_to_do) {
  HostLaunchers launchers(book, [](const Host&) { return std::unique_ptr<Launcher>(); });
  Settings settings;
  EXPECT_EQ(launchers.problem(settings), "");
  settings.senders.host = "lab-2";
  const auto what_to_do = [](const char* them) {
    return QString(
               ". In the window choose another Source, beside each Start, or add %1 on the page Hosts. "
               "On the command line set another name, or add %1 to that file")
        .arg(them);
  };
  EXPECT_EQ(launchers.problem(settings), "senders.host is lab-2, which is no host of " + path + ": it knows none yet" + what_to_do("it"));
  settings.receivers.host = "lab-3";
  EXPECT_EQ(launchers.problem(settings), "senders.host is lab-2, receivers.host is lab-3, which are no hosts of " + path +
                                             ": it knows none yet" + what_to_do("them"));
  settings.receivers.host = "local";
  book.put(named("lab-1"));
  EXPECT_EQ(launchers.problem(settings), "senders.host is lab-2, which is no host of " + path + ": it knows lab-1" + what_to_do("it"));
  book.put(named("lab-2"));
  EXPECT_TRUE(launchers.problem(settings).contains("as local_data_address in ")) << launchers.problem(settings).toStdString();
  book.set_local_data_address("10.0.0.2");
  EXPECT_EQ(launchers.problem(settings), "");
  book.set_local_data_address("");
  settings.broker.host = "lab-1";
  EXPECT_EQ(launchers.problem(settings), "") << "everybody finds a lab machine";
  write("nonsense");
  EXPECT_EQ(launchers.problem(settings), "") << "which nobody has seen yet";
  launchers.look_again();
  EXPECT_TRUE(launchers.problem(settings).startsWith("broker.host is lab-1, but " + path)) << launchers.problem(settings).toStdString();
  settings = Settings();
  EXPECT_EQ(launchers.problem(settings), "") << "a run on this machine needs no hosts file";
}

TEST_F(HostBookTest, what_was_launched_already_is_not_asked_about) {
  HostLaunchers launchers(book, [](const Host&) { return std::unique_ptr<Launcher>(); });
  Settings settings;
  settings.broker.host = "lab-1";
  EXPECT_EQ(launchers.problem(settings, {"broker.host"}), "");
  settings.senders.host = "lab-2";
  EXPECT_TRUE(
      launchers.problem(settings, {"broker.host"}).startsWith("senders.host is lab-2, which is no host of " + path + ": it knows none yet"))
      << launchers.problem(settings, {"broker.host"}).toStdString();
  EXPECT_EQ(launchers.problem(settings, {"broker.host", "senders.host"}), "");
  settings.broker.host = "local";
  EXPECT_EQ(launchers.problem(settings, {"broker.host", "senders.host"}), "") << "it listens already";
  EXPECT_TRUE(launchers.problem(settings, {"senders.host"}).contains("as local_data_address in ")) << "it does not yet";
  write("nonsense");
  launchers.look_again();
  EXPECT_EQ(launchers.problem(settings, {"broker.host", "senders.host"}), "");
}

TEST_F(HostBookTest, each_host_gets_its_launcher) {
  book.put(named("lab-1"));
  book.set_local_data_address("10.0.0.2");
  QStringList asked;
  HostLaunchers launchers(book, [&](const Host& host) {
    asked += QString::fromStdString(host.name);
    return std::unique_ptr<Launcher>();
  });
  EXPECT_EQ(launchers.launchers_of("local")()->data_address(), "10.0.0.2");
  EXPECT_EQ(launchers.launchers_of("lab-1")(), nullptr);
  EXPECT_EQ(asked, QStringList{"lab-1"});
  QString why;
  const auto gone = launchers.launchers_of("lab-9")();
  QObject::connect(gone.get(), &Launcher::failed, [&](const QString& text) { why = text; });
  gone->put_file("n2nq-broker");
  ASSERT_TRUE(wait_until([&] { return !why.isEmpty(); }));
  EXPECT_EQ(why, "lab-9 is no host of " + path + " any more");
}

}  // namespace
}  // namespace n2nq::app
