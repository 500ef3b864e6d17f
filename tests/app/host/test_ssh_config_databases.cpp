// SPDX-License-Identifier: GPL-3.0-or-later
// Whom ssh's config asks: users, groups and files, which may be on a server that does not answer.
#include "app/host/ssh_config_databases.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <chrono>
#include <future>
#include <optional>

#include "tests/app/host/silent_file.h"
#include "tests/app/host/ssh_config_kit.h"

static int users_looked_at = 0;
static std::promise<void> directory_is_back;

/// In place of the C library's.
extern "C" passwd* getpwent() {
  ++users_looked_at;
  return nullptr;
}

/// The user "away" is in a directory that does not answer for a while.
extern "C" int getpwnam_r(const char* name, passwd* entry, char* room, std::size_t bytes, passwd** found) {
  using GetUser = int (*)(const char*, passwd*, char*, std::size_t, passwd**);
  if (::strcmp(name, "away") != 0) return reinterpret_cast<GetUser>(::dlsym(RTLD_NEXT, "getpwnam_r"))(name, entry, room, bytes, found);
  static const std::shared_future<void> is_back = directory_is_back.get_future().share();
  is_back.wait();
  entry->pw_dir = ::strcpy(room, "/home/away");
  *found = entry;
  return 0;
}

namespace n2nq::app {
namespace {

using testing::SilentFile;
using testing::SshConfigTest;

TEST(SshConfigGroups, a_group_is_a_users_own_where_it_has_their_name_and_nobody_else_is_in_it) {
  EXPECT_TRUE(is_users_own("ann", {}, "ann"));
  EXPECT_TRUE(is_users_own("ann", {"ann"}, "ann"));
  EXPECT_FALSE(is_users_own("ann", {"ann", "bob"}, "ann"));
  EXPECT_FALSE(is_users_own("ann", {"bob"}, "ann"));
  EXPECT_FALSE(is_users_own("users", {"ann"}, "ann")) << "whose first group it is besides nobody says";
}

/// Where users are in a directory on some server, that takes seconds.
TEST_F(SshConfigTest, who_may_write_by_way_of_a_group_is_found_without_looking_through_all_users) {
  write("config", "Host a\n  User mine\n");
  const auto group_of_file_writes = [this] {
    ASSERT_TRUE(QFile::setPermissions(path("config"), QFile::ReadOwner | QFile::WriteOwner | QFile::WriteGroup));
  };
  group_of_file_writes();
  const group* const mine = ::getgrgid(::getgid());
  QStringList members;
  for (char** member = mine ? mine->gr_mem : nullptr; member && *member; ++member) members += QString::fromLocal8Bit(*member);
  const bool is_own = mine && is_users_own(QString::fromLocal8Bit(mine->gr_name), members, local_user());
  const QStringList refused = {"a group may write to " + path("config") +
                               " that is not your own, of your name and with nobody else in it, so the bench does not obey it: chmod g-w '" +
                               path("config") + "'"};
  EXPECT_EQ(read().look_up("a").problems, is_own ? QStringList() : refused);
  EXPECT_EQ(read().look_up("a").user == "mine", is_own);
  if (::chown(path("config").toLocal8Bit().constData(), static_cast<uid_t>(-1), ::getgid() + 1) == 0) {
    group_of_file_writes();
    EXPECT_EQ(read().look_up("a").problems, refused) << "another group";
  }
  EXPECT_EQ(users_looked_at, 0);
}

TEST_F(SshConfigTest, a_directory_of_users_that_does_not_answer_is_told_where_it_is_needed_and_waited_for_while_there_is_time) {
  const auto as_before = qScopeGuard([] { set_database_patience(std::chrono::seconds(10)); });
  write("config", "Host a\n  User me\n  IdentityFile ~away/key\nHost b\n  User me\nHost c\n  User me\n  Include ~away/more\n");
  // The files themselves are read: what was read last counts where there is no time.
  for (const char* file : {"config", "system"}) ASSERT_TRUE(ask_database_bytes(Database::file, path(file).toLocal8Bit()));
  set_database_patience(std::chrono::milliseconds(1));
  const auto told = [this](const QString& name) { return read().look_up(name).problems.join('\n'); };
  const auto is_silent = [](const QString& text, const QString& before) {
    return text.startsWith(before + "the user database of this machine does not answer: it was asked ") && text.contains(" who ~away is");
  };
  EXPECT_TRUE(is_silent(told("a"), {})) << told("a").toStdString();
  EXPECT_EQ(told("b"), "") << "its lines ask for nobody";
  EXPECT_TRUE(is_silent(told("c"), path("config") + ": ")) << told("c").toStdString();
  directory_is_back.set_value();
  set_database_patience(std::chrono::seconds(10));
  EXPECT_EQ(read().look_up("a").identity_files, QStringList{"/home/away/key"});
  EXPECT_EQ(told("c"), "");
}

TEST_F(SshConfigTest, a_file_that_is_not_read_in_time_is_told_and_counts_as_it_was_when_it_was_read_last) {
  const auto as_before = qScopeGuard([] { set_database_patience(database_patience_usual); });
  write("config", "Host a\n  User me\nHost b\n  User me\n  Include more\n");
  ASSERT_TRUE(QDir(home.path()).mkdir(".ssh"));
  write(".ssh/more", "Port 7\n");
  const auto not_read = [this](const QString& name) { return path(name) + " is not read yet: it was asked for "; };
  {
    const SilentFile config(path("config"));
    set_database_patience(std::chrono::milliseconds(1));
    const SshConfig read_now = read();
    for (const char* name : {"a", "b", "c"}) {
      const QString told = read_now.look_up(name, "me").problems.join('\n');
      EXPECT_TRUE(told.startsWith(not_read("config"))) << told.toStdString();
    }
    EXPECT_EQ(read_now.names(), QStringList());
  }
  {
    const SilentFile more(path(".ssh/more"));
    set_database_patience(std::chrono::milliseconds(1'000));  // of which it takes a part
    const SshConfig read_now = read();
    const QString told = read_now.look_up("b").problems.join('\n');
    EXPECT_TRUE(told.startsWith(not_read(".ssh/more"))) << told.toStdString();
    EXPECT_EQ(read_now.look_up("a").problems, QStringList()) << "which it says nothing of";
  }
  set_database_patience(database_patience_usual);
  EXPECT_EQ(read().look_up("b").problems, QStringList());
  EXPECT_EQ(read().look_up("b").port, 7);
  const SilentFile more(path(".ssh/more"));
  set_database_patience(std::chrono::milliseconds(1'000));
  EXPECT_EQ(read().look_up("b").port, 7) << "as it was";
}

}  // namespace
}  // namespace n2nq::app
