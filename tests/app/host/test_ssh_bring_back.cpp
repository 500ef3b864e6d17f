// SPDX-License-Identifier: GPL-3.0-or-later
// What lies on a pretend host when its process is gone: fetched, also after a wait for that host, read back before that, or left there and
// named. Takes the programs' folder.
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <functional>
#include <memory>
#include <optional>

#include "tests/app/host/run_folders_kit.h"

namespace n2nq::app {
namespace {

using testing::configure_broker;
using testing::programs_folder;

struct BringBackTest : testing::RunFoldersTest {
  /// A process that is gone, and what becomes of its log.
  struct Left {
    QTemporaryDir local;
    std::unique_ptr<Launcher> launcher;
    QString there;     // its folder
    QStringList told;  // why fetching waits
    bool gone = false;
    std::optional<QString> brought;
    QString name() const { return there.section('/', -1); }
    bool said(const QString& words) const { return !told.filter(words).isEmpty(); }
  };
  static void leave_a_log(HostPool& pool, Left& left) {
    left.launcher = pool.launcher(lab->host(1));
    let_run(*left.launcher, "n2nq-broker", [&left] {
      left.there = left.launcher->folder_there(left.local.path());
      return QByteArray(configure_broker);
    });
    QObject::connect(left.launcher.get(), &Launcher::gone, [&left] { left.gone = true; });
    QObject::connect(left.launcher.get(), &Launcher::bring_back_waits, [&left](const QString& why) { left.told += why; });
    QObject::connect(left.launcher.get(), &Launcher::brought_back, [&left](const QString& error) { left.brought = error; });
    left.launcher->kill();
    ASSERT_TRUE(wait_until([&left] { return left.gone; }));
    sh("echo x >runs/" + left.name() + "/broker.log");
  }
  /// Its program put for who reads back what was written for a folder here. Why it was not; empty: it was.
  static QString put_reader(HostPool& pool, const QString& local) {
    const auto reader = pool.launcher(lab->host(1));
    reader->set_reads_back(local);
    QString failure;
    bool put = false;
    QObject::connect(reader.get(), &Launcher::failed, [&](const QString& why) { failure = why; });
    QObject::connect(reader.get(), &Launcher::file_put, [&] { put = true; });
    reader->put_file("n2nq-broker");
    EXPECT_TRUE(wait_until([&] { return put || !failure.isEmpty(); }));
    EXPECT_EQ(reader->was_away(), !put) << "it may be there later";
    return failure;
  }
};

TEST_F(BringBackTest, what_is_left_is_named_stays_and_is_not_fetched_any_more) {
  HostPool pool(person, programs_folder);
  const auto bring_of = [&](const QTemporaryDir& local, const char* bytes, std::unique_ptr<Launcher>& launcher) {
    launcher = pool.launcher(lab->host(1));
    const QString there = launcher->folder_there(local.path());
    sh("mkdir -p " + there.section('/', -2) + " && truncate -s " + bytes + ' ' + there.section('/', -2) + "/R001.log");
    launcher->bring_back(local.path());
    return there;
  };
  std::unique_ptr<Launcher> launcher;
  const QString there = bring_of(folder, "2G", launcher);
  bool told = false, brings = false;
  QObject::connect(launcher.get(), &Launcher::brought_back, [&] { told = true; });
  QObject::connect(launcher.get(), &Launcher::bringing_back, [&] { brings = true; });
  ASSERT_TRUE(wait_until([&] { return brings; }));
  EXPECT_EQ(launcher->leave_files(), "on h1 in " + there + ", for a day");
  EXPECT_EQ(launcher->leave_files(), "") << "there is no more to be left";

  // Others over the same connection have their turns, and it has none.
  const auto bring_another = [&] {
    const QTemporaryDir other;
    std::unique_ptr<Launcher> another;
    bool brought = false;
    bring_of(other, "2M", another);
    QObject::connect(another.get(), &Launcher::brought_back, [&] { brought = true; });
    EXPECT_TRUE(wait_until([&] { return brought; }));
    return QFileInfo(folder.filePath("R001.log")).size();
  };
  const qint64 here_bytes = bring_another();
  EXPECT_EQ(bring_another(), here_bytes);
  EXPECT_LT(here_bytes, 2LL << 30);
  EXPECT_FALSE(told);
  EXPECT_EQ(runs(), QStringList(there.section('/', -1)));
  sh("rm -r runs/*");
}

TEST_F(BringBackTest, what_could_not_be_brought_is_named) {
  HostPool pool(person, programs_folder);
  const auto launcher = pool.launcher(lab->host(1));
  const QString there = launcher->folder_there(folder.path());
  pool.host(lab->host(1))->needed().add(there, 1);  // else nothing is that old
  make(there.section('/', -1), "2 days ago");
  ASSERT_TRUE(QDir(folder.path()).mkpath("R001.log")) << "no file can be here";
  std::optional<QString> told;
  QObject::connect(launcher.get(), &Launcher::brought_back, [&](const QString& error) { told = error; });
  launcher->bring_back(folder.path());
  ASSERT_TRUE(wait_until([&] { return told.has_value(); }));
  EXPECT_TRUE(told->contains("R001.log cannot be written: ")) << told->toStdString();
  EXPECT_TRUE(told->endsWith("; the rest is on h1 in " + there + ", for a day")) << told->toStdString();
  EXPECT_TRUE(wait_until([&] { return sh("find runs/* -maxdepth 0 -mmin -5").contains(there.section('/', -1)); })) << "from now on";
  sh("rm -r runs/*");
}

TEST_F(BringBackTest, who_goes_on_in_a_folder_in_which_nothing_can_be_made_leaves_what_is_there_and_names_it) {
  HostPool pool(person, programs_folder);
  const auto launcher = pool.launcher(lab->host(1));
  const QString there = launcher->folder_there(folder.path());
  make(there.section('/', -1), "1 hour ago");
  sh("chmod 555 runs/" + there.section('/', -1));
  const auto as_before = qScopeGuard([] { sh("chmod 755 runs/* && rm -r runs/*"); });
  launcher->set_needs_no_room();
  let_run(*launcher, "n2nq-broker", [&] {
    launcher->folder_there(folder.path());
    return QByteArray(configure_broker);
  });
  bool gone = false;
  std::optional<QString> told;
  QObject::connect(launcher.get(), &Launcher::gone, [&] { gone = true; });
  QObject::connect(launcher.get(), &Launcher::brought_back, [&](const QString& error) { told = error; });
  launcher->kill();
  ASSERT_TRUE(wait_until([&] { return gone; }));
  EXPECT_EQ(sh("ls runs/*"), "R001.log\n") << "else nothing failed";
  ASSERT_TRUE(QDir(folder.path()).mkpath("R001.log")) << "no file can be here";
  launcher->bring_back(folder.path());
  ASSERT_TRUE(wait_until([&] { return told.has_value(); }));
  EXPECT_TRUE(told->endsWith("; the rest is on h1 in " + there + ", for a day")) << told->toStdString();
}

TEST_F(BringBackTest, a_folder_that_cannot_be_removed_is_named_though_its_logs_are_here) {
  HostPool pool(person, programs_folder);
  Left left;
  leave_a_log(pool, left);
  sh("chmod 555 runs/" + left.name());
  const auto as_before = qScopeGuard([] { sh("chmod 755 runs/* && rm -r runs/*"); });
  left.launcher->bring_back(left.local.path());
  ASSERT_TRUE(wait_until([&] { return left.brought.has_value(); }));
  EXPECT_EQ(*left.brought, "h1: all logs were brought, but the folder " + left.there +
                               " could not be removed there: that is not permitted. Remove it there");
  EXPECT_TRUE(QFile::exists(left.local.filePath("broker.log")));
  EXPECT_EQ(runs(), QStringList(left.name()));
}

TEST_F(BringBackTest, where_all_of_it_stays_what_could_not_be_brought_is_named_too) {
  HostPool pool(person, programs_folder);
  Left left;
  leave_a_log(pool, left);
  sh("echo x >runs/" + left.name() + "/R002.log && chmod 000 runs/" + left.name() + "/R002.log");
  const auto as_before = qScopeGuard([] { sh("rm -r runs/*"); });
  left.launcher->leave_all_there();
  left.launcher->bring_back(left.local.path());
  ASSERT_TRUE(wait_until([&] { return left.brought.has_value(); }));
  EXPECT_EQ(*left.brought, "what a dead group had in memory could not be read back, and stays with its logs: they are on h1 in " + left.there +
                               ", for a day; h1: 1 of the logs in " + left.there +
                               " cannot be read and stay there: R002.log. Look there who may read them");
  EXPECT_TRUE(QFile::exists(left.local.filePath("broker.log")));
  EXPECT_EQ(sh("ls runs/*"), "R002.log\nbroker.log\n");
}

/// A machine that is switched on again answers before it lets anybody in, and before all its disks are there. What its sshd settles at a
/// log-in stays so for who is logged in.
TEST_F(BringBackTest, a_host_that_is_still_booting_is_waited_for) {
  const auto as_root = [](const QString& script) { lab->inside(1, {"sh", "-c", script}); };
  struct Hindrance {
    const char* name;
    QString said;
    std::function<void()> begin, end;
  };
  const Hindrance hindrances[] = {
      {"nobody is let in", "h1", [] { lab->change_sshd(1, "1i DenyUsers lab"); }, [] { lab->change_sshd(1, "/^DenyUsers/d"); }},
      {"its disk is not there", "where the logs are, is not there", [] { sh("mv runs away"); }, [] { sh("mv away runs"); }},
      {"there is no SFTP", "offers no SFTP", [] { lab->change_sshd(1, "s/^Subsystem/#Subsystem/"); },
       [] { lab->change_sshd(1, "s/^#Subsystem/Subsystem/"); }},
      {"the home folder is not there", "where the logs are, is not there",
       [&] {
         as_root("cp -a /home/lab/.ssh /tmp/keys && mount -t tmpfs -o mode=755 tmpfs /home/lab && chown lab /home/lab && "
                 "mv /tmp/keys /home/lab/.ssh");
       },
       [&] { as_root("umount -l /home/lab"); }},
  };
  person.is_there = false;
  for (const Hindrance& hindrance : hindrances) {
    HostPool pool(person, programs_folder);
    Left left;
    leave_a_log(pool, left);
    hindrance.begin();
    lab->kill_sessions(1);
    left.launcher->bring_back(left.local.path());
    EXPECT_TRUE(wait_until([&] { return left.brought || left.said(hindrance.said); }))
        << hindrance.name << ": " << left.told.join('\n').toStdString();
    EXPECT_FALSE(left.brought) << hindrance.name << ": " << left.brought->toStdString();
    hindrance.end();
    ASSERT_TRUE(wait_until([&] { return left.brought.has_value(); })) << hindrance.name;
    EXPECT_EQ(*left.brought, "") << hindrance.name;
    EXPECT_TRUE(QFile::exists(left.local.filePath("broker.log"))) << hindrance.name;
    EXPECT_TRUE(runs().isEmpty()) << hindrance.name;
  }
}

TEST_F(BringBackTest, why_fetching_waits_is_told_anew_when_it_is_something_else) {
  person.is_there = false;
  HostPool pool(person, programs_folder);
  Left left;
  leave_a_log(pool, left);
  lab->change_sshd(1, "1i DenyUsers lab");
  sh("mv runs away");
  lab->kill_sessions(1);
  left.launcher->bring_back(left.local.path());
  EXPECT_TRUE(wait_until([&] { return left.said(" lab"); })) << left.told.join('\n').toStdString();
  lab->change_sshd(1, "/^DenyUsers/d");
  EXPECT_TRUE(wait_until([&] { return left.said("where the logs are, is not there"); })) << left.told.join('\n').toStdString();
  sh("mv away runs");
  ASSERT_TRUE(wait_until([&] { return left.brought.has_value(); }));
  EXPECT_EQ(*left.brought, "");
  QStringList once = left.told;
  once.removeDuplicates();
  EXPECT_EQ(left.told, once) << "each once";
}

TEST_F(BringBackTest, who_waits_for_a_folder_does_not_disturb_others_who_fetch) {
  HostPool pool(person, programs_folder);
  Left waiting, fetching;
  for (Left* const each : {&waiting, &fetching}) leave_a_log(pool, *each);
  const auto host = pool.host(lab->host(1));
  const auto is_closed = [&] { return !host->files() || host->files()->shared()->closed(); };
  sh("mv runs/" + waiting.name() + " away && truncate -s 2G runs/" + fetching.name() + "/broker.log");
  bool brings = false;
  QObject::connect(fetching.launcher.get(), &Launcher::bringing_back, [&] { brings = true; });
  fetching.launcher->bring_back(fetching.local.path());
  ASSERT_TRUE(wait_until([&] { return brings; }));
  waiting.launcher->bring_back(waiting.local.path());
  ASSERT_TRUE(wait_until([&] { return waiting.said("where the logs are, is not there"); })) << waiting.told.join('\n').toStdString();
  EXPECT_FALSE(is_closed());
  EXPECT_TRUE(fetching.told.isEmpty() && !fetching.brought);
  fetching.launcher->leave_files();
  EXPECT_TRUE(wait_until(is_closed)) << "now nobody needs it";
  sh("mv away runs/" + waiting.name());
  ASSERT_TRUE(wait_until([&] { return waiting.brought.has_value(); }));
  EXPECT_EQ(*waiting.brought, "");
  sh("rm -r runs/*");
}

TEST_F(BringBackTest, who_reads_back_makes_nothing_where_the_disk_with_the_folder_is_not_there) {
  HostPool pool(person, programs_folder);
  Left left;
  leave_a_log(pool, left);
  sh("mv runs away && mv bin away-bin");
  const QString failure = put_reader(pool, left.local.path());
  EXPECT_TRUE(failure.contains("where the logs are, is not there")) << failure.toStdString();
  EXPECT_EQ(sh("ls -d runs bin 2>/dev/null; true"), "") << "nothing lies where the disk will be";
  sh("mv away runs && mv away-bin bin");
  const auto host = pool.host(lab->host(1));
  EXPECT_TRUE(wait_until([&] { return !host->files(); })) << "the next one logs in anew";
  EXPECT_EQ(put_reader(pool, left.local.path()), "");
  sh("rm -r runs/*");
}

TEST_F(BringBackTest, who_reads_back_where_there_is_no_shell_yet_has_it_with_the_next_attempt) {
  HostPool pool(person, programs_folder);
  Left left;
  leave_a_log(pool, left);
  const auto set_shell = [](const QString& shell) { lab->inside(1, {"sed", "-i", "/^lab:/s#[^:]*$#" + shell + '#', "/etc/passwd"}); };
  const auto as_before = qScopeGuard([&] { set_shell("/bin/bash"); });
  set_shell("/usr/sbin/nologin");
  const auto host = pool.host(lab->host(1));
  const auto is_left = [&] { return !host->control() && !host->files(); };
  lab->kill_sessions(1);
  ASSERT_TRUE(wait_until(is_left));
  const QString failure = put_reader(pool, left.local.path());
  EXPECT_TRUE(failure.contains("runs no command")) << failure.toStdString();
  EXPECT_TRUE(wait_until(is_left)) << "the next one logs in anew";
  set_shell("/bin/bash");
  EXPECT_EQ(put_reader(pool, left.local.path()), "");
  sh("rm -r runs/*");
}

/// The last attempt to reach it is begun within the time in which it is waited for, and may have its answer behind that.
TEST_F(BringBackTest, what_is_reached_by_the_last_attempt_is_read_back_before_it_is_fetched_or_stays) {
  constexpr qint64 waited_for_ms = 61'500;
  HostPool pool(person, programs_folder);
  struct Bringing {
    QTemporaryDir local;
    std::unique_ptr<Launcher> launcher;
    QString there;
    std::optional<QString> told;
    bool reached = false;
    QStringList fetched() const { return QDir(local.path()).entryList(QDir::Files); }
  };
  Bringing read, unread;
  const auto begin = [&](Bringing& each) {
    each.launcher = pool.launcher(lab->host(1));
    each.told.reset();
    each.there = each.launcher->folder_there(each.local.path());
    sh("mkdir -p " + each.there.section('/', -2) + " && echo x >" + each.there.section('/', -2) + "/R001.log");
    QObject::connect(each.launcher.get(), &Launcher::reached, [&each] { each.reached = true; });
    QObject::connect(each.launcher.get(), &Launcher::brought_back, [&each](const QString& error) { each.told = error; });
    each.launcher->hold_when_reached();
    each.launcher->bring_back(each.local.path());
  };
  for (int times = 0; times < 3; ++times) {
    lab->set_answers(1, false);
    QElapsedTimer since;
    since.start();
    for (Bringing* const each : {&read, &unread}) begin(*each);
    const auto waited = [&] { return since.hasExpired(waited_for_ms) || read.told || unread.told; };
    while (!waited()) static_cast<void>(wait_until(waited));
    if (!read.told && !unread.told) break;
    // Where this machine held it up, an attempt may have ended behind that time already, and was the last.
    ASSERT_TRUE(wait_until([&] { return read.told && unread.told; }));
    lab->set_answers(1, true);
    let_another_bench_sweep();  // behind all attempts that still lie there
  }
  EXPECT_FALSE(read.told || unread.told) << "an attempt is under way still";
  lab->set_answers(1, true);
  ASSERT_TRUE(wait_until([&] { return (read.reached || read.told) && (unread.reached || unread.told); }));
  ASSERT_TRUE(read.reached && unread.reached);
  EXPECT_EQ(read.fetched() + unread.fetched(), QStringList());

  unread.launcher->hold_when_reached();
  for (const Bringing* each : {&read, &unread}) each->launcher->go_on_bringing();
  ASSERT_TRUE(wait_until([&] { return read.told && unread.told; }));
  EXPECT_EQ(*read.told, "");
  EXPECT_EQ(read.fetched(), QStringList("R001.log"));
  EXPECT_EQ(*unread.told, "what a dead group had in memory could not be read back, and stays with its logs: they are on h1 in " +
                              unread.there + ", for a day");
  EXPECT_EQ(unread.fetched(), QStringList("R001.log"));
  // A connection that has just been made looks for what others left there, by a file of its own.
  EXPECT_TRUE(wait_until([&] { return runs() == QStringList(unread.there.section('/', -1)); })) << runs().join(' ').toStdString();
  sh("rm -r runs/*");
}

}  // namespace
}  // namespace n2nq::app
