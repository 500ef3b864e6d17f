// SPDX-License-Identifier: GPL-3.0-or-later
// What killed benches leave on a pretend host, who takes it away when, and what a person wants kept. Takes the programs' folder.
#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <memory>
#include <optional>

#include "tests/app/host/run_folders_kit.h"

namespace n2nq::app {
namespace {

using testing::configure_broker;
using testing::last_staging_file;
using testing::programs_folder;
using testing::RunFoldersTest;

/// %1: where its logs are.
constexpr const char* configure_senders =
    R"({"type":"configure","control":1,"run":"test","role":"senders","token":"","system":"n2nq","services":{"first":1,"last":1,"total":1},)"
    R"("load":{"messages":1,"duration_ms":null,"size_bytes":[50,50],"interval_ns":{"num":1000000,"den":1},"start":"spread"},"seed":1,)"
    R"("log":{"mode":"all","sample_every":1,"folder":"%1","header":{"a":"b"}},"staging_folder":"/dev/shm"})"
    "\n";

TEST_F(RunFoldersTest, only_what_is_old_and_of_a_run_is_swept) {
  make("a-0123456789ab", "25 hours ago");
  make("b-0123456789ab", "23 hours ago");
  make("c", "2 days ago");
  sh("mkdir runs/d-0123456789ab runs/d-0123456789ab/folder && touch -d '2 days ago' runs/d-0123456789ab");
  make("e-0123456789ab", "2 days ago", ".hidden");
  sh("ln -s /home/lab runs/f-0123456789ab");
  make("g-0123456789ab", "2 days ago", ".process-999999");
  make("h-0123456789ab", "2 days ago", ".process-1");  // that is no program of ours
  make("i-0123456789ab", "2 days ago");
  sh("echo new >>runs/i-0123456789ab/R001.log");
  sh("mkdir runs/j-0123456789ab && cd runs/j-0123456789ab && for i in $(seq 1 100); do echo x >R$i.log; done && touch .process-9 && touch -d '2 days ago' * .process-9 .");
  sh("mkdir runs/m-202401011234 && cd runs/m-202401011234 && echo mine >notes.txt && touch -d '2 days ago' notes.txt .");
  sh("mkdir runs/n-0123456789ab && touch -d '2 days ago' runs/n-0123456789ab");  // empty: whoever made it was cut off
  make("'k-0123456789ab\n'", "2 days ago");  // with that newline it is none of ours
  sh("mkdir runs/l-0123456789ab && cd runs/l-0123456789ab && touch -d '2 days ago' '.process-999999\n' .");
  sh("touch -d '2 days ago' '/dev/shm/n2nq-senders-9999999998-9.staging\n'");
  sh("for folder in runs /dev/shm; do touch -d '2 days ago' $folder/.now-1 && touch $folder/.now-2; done");  // of links that were cut
  let_another_bench_sweep();
  EXPECT_EQ(runs(), QStringList({".now-2", "b-0123456789ab", "c", "d-0123456789ab", "e-0123456789ab", "f-0123456789ab", "i-0123456789ab",
                                 "k-0123456789ab", "l-0123456789ab", "m-202401011234"})) << "a name alone, and no mark: a person's own";
  EXPECT_EQ(left_in_memory(), QStringList({".now-2", "n2nq-senders-9999999998-9.staging"}));
}

TEST_F(RunFoldersTest, a_bench_at_work_is_not_disturbed_and_one_that_was_killed_is_cleared_up_after) {
  auto pool = std::make_unique<HostPool>(person, programs_folder);
  auto launcher = pool->launcher(lab->host(1));
  QString name;
  let_run(*launcher, "n2nq-broker", [&] {
    name = launcher->folder_there(folder.path()).section('/', -1);
    return QByteArray(configure_broker);
  });
  ASSERT_EQ(runs(), QStringList(name));

  // For two days it has written nothing.
  const auto make_old = [&] { sh("cd runs/" + name + " && touch -d '2 days ago' .process-* ."); };
  make_old();
  let_another_bench_sweep();
  EXPECT_EQ(runs(), QStringList(name));
  EXPECT_EQ(lab->programs(1).size(), 1);

  // As when a bench is killed: nobody brings anything back.
  launcher.reset();
  pool.reset();
  ASSERT_TRUE(wait_until([] { return lab->programs(1).isEmpty(); }));
  let_another_bench_sweep();
  EXPECT_TRUE(runs().isEmpty());
}

TEST_F(RunFoldersTest, what_a_killed_group_has_left_in_memory_goes_when_its_bench_was_killed_too) {
  auto pool = std::make_unique<HostPool>(person, programs_folder);
  auto launcher = pool->launcher(lab->host(1));
  const QByteArray hello = let_run(*launcher, "n2nq-senders", [&] {
    return QString(configure_senders).arg(launcher->folder_there(folder.path())).toUtf8();
  });
  const QString left = QRegularExpression("/dev/shm/([^\"]+)").match(QString::fromUtf8(hello)).captured(1);
  ASSERT_EQ(left_in_memory(), QStringList(left)) << hello.toStdString();
  const auto make_old = [&] { sh("touch -d '2 days ago' /dev/shm/" + left); };
  make_old();
  let_another_bench_sweep();
  EXPECT_EQ(left_in_memory(), QStringList(left)) << "it stands still perhaps, but it is there";

  bool gone = false;
  QObject::connect(launcher.get(), &Launcher::gone, [&] { gone = true; });
  launcher->kill();
  ASSERT_TRUE(wait_until([&] { return gone; }));
  launcher.reset();
  pool.reset();
  sh("touch /dev/shm/" + left + " && touch -d '2 days ago' /dev/shm/n2nq-else.staging");
  let_another_bench_sweep();
  EXPECT_EQ(left_in_memory(), QStringList({"n2nq-else.staging", left})) << "it may be read back, and the other one is none of ours";
  make_old();
  let_another_bench_sweep();
  EXPECT_EQ(left_in_memory(), QStringList("n2nq-else.staging"));
}

/// Its processes are gone by then, and the connections that it had are made anew.
TEST_F(RunFoldersTest, a_bench_that_slept_for_days_finds_what_is_its_own) {
  HostPool pool(person, programs_folder);
  const auto launcher = pool.launcher(lab->host(1));
  QString name;
  const QByteArray hello = let_run(*launcher, "n2nq-senders", [&] {
    const QString there = launcher->folder_there(folder.path());
    name = there.section('/', -1);
    return QString(configure_senders).arg(there).toUtf8();
  });
  const QString staging = QRegularExpression("/dev/shm/([^\"]+)").match(QString::fromUtf8(hello)).captured(1);
  bool gone = false;
  std::optional<QString> brought;
  QObject::connect(launcher.get(), &Launcher::gone, [&] { gone = true; });
  QObject::connect(launcher.get(), &Launcher::brought_back, [&](const QString& error) { brought = error; });
  launcher->kill();
  ASSERT_TRUE(wait_until([&] { return gone; }));
  ASSERT_EQ(left_in_memory(), QStringList(staging)) << hello.toStdString();
  sh("cd runs/" + name + " && echo x >S001.log && touch -d '2 days ago' /dev/shm/" + staging + " S001.log .process-* .");
  let_sweep(pool);
  EXPECT_EQ(runs(), QStringList(name));
  EXPECT_EQ(left_in_memory(), QStringList(staging));

  launcher->bring_back(folder.path());
  ASSERT_TRUE(wait_until([&] { return brought.has_value(); }));
  EXPECT_EQ(*brought, "");
  EXPECT_TRUE(QFile::exists(folder.filePath("S001.log")));
  EXPECT_TRUE(runs().isEmpty());
  let_sweep(pool);
  EXPECT_TRUE(left_in_memory().isEmpty()) << "nobody needs it any more";
}

TEST_F(RunFoldersTest, what_lies_in_memory_goes_also_where_no_run_has_a_folder) {
  sh(QString("touch -d '2 days ago' /dev/shm/%1").arg(last_staging_file));
  HostPool pool(person, programs_folder);
  const auto host = pool.host(lab->host(1));
  host->with_files(&context, [](const SshProblem&, SshFiles*) {});
  EXPECT_TRUE(wait_until([&] { return left_in_memory().isEmpty(); }));
}

TEST_F(RunFoldersTest, what_a_person_wants_kept_is_brought_and_stays_however_old) {
  Host host = lab->host(1);
  host.keep_files = true;
  QFile::copy(lab->key_file(), QDir::homePath() + "/key-of-home");
  host.identity_file = "~/key-of-home";
  HostPool pool(person, programs_folder);
  const auto launcher = pool.launcher(host);
  bool put = false;
  std::optional<QString> brought;
  QObject::connect(launcher.get(), &Launcher::file_put, [&] { put = true; });
  QObject::connect(launcher.get(), &Launcher::brought_back, [&](const QString& error) { brought = error; });
  launcher->put_file("n2nq-broker");
  ASSERT_TRUE(wait_until([&] { return put; }));
  const QString name = launcher->folder_there(folder.path()).section('/', -1);
  make(name, "2 days ago");
  sh("touch runs/" + name + "/.process-999999");
  for (int times : {1, 2}) {  // as after a cut, it may be brought again
    brought.reset();
    launcher->bring_back(folder.path());
    ASSERT_TRUE(wait_until([&] { return brought.has_value(); }));
    EXPECT_EQ(*brought, "") << times;
    EXPECT_TRUE(QFile::exists(folder.filePath("R001.log")));
    EXPECT_EQ(sh("ls -A runs/" + name).split('\n', Qt::SkipEmptyParts), QStringList({".kept", "R001.log"}));
  }
  sh("cd runs/" + name + " && touch -d '2 days ago' .kept R001.log .");
  let_another_bench_sweep();
  EXPECT_EQ(runs(), QStringList(name));
}

TEST_F(RunFoldersTest, what_a_person_wants_kept_stays_though_its_bench_was_killed_and_an_empty_folder_does_not) {
  Host host = lab->host(1);
  host.keep_files = true;
  auto pool = std::make_unique<HostPool>(person, programs_folder);
  auto launcher = pool->launcher(host);
  QString name;
  const auto run_and_kill = [&] {
    let_run(*launcher, "n2nq-broker", [&] {
      name = launcher->folder_there(folder.path()).section('/', -1);
      return QByteArray(configure_broker);
    });
    bool gone = false;
    const QObject here;
    QObject::connect(launcher.get(), &Launcher::gone, &here, [&] { gone = true; });
    launcher->kill();
    ASSERT_TRUE(wait_until([&] { return gone; }));
  };
  run_and_kill();
  ASSERT_EQ(runs(), QStringList(name));
  std::optional<QString> brought;
  QObject::connect(launcher.get(), &Launcher::brought_back, [&](const QString& error) { brought = error; });
  launcher->bring_back(folder.path());
  ASSERT_TRUE(wait_until([&] { return brought.has_value(); }));
  EXPECT_EQ(*brought, "");
  EXPECT_TRUE(runs().isEmpty()) << "there was no log";

  launcher = pool->launcher(host);
  run_and_kill();
  sh("cd runs/" + name + " && echo x >broker.log && touch -d '2 days ago' .[a-z]* * .");
  launcher.reset();
  pool.reset();
  let_another_bench_sweep();
  EXPECT_EQ(runs(), QStringList(name));
}

TEST_F(RunFoldersTest, however_many_are_kept_what_killed_benches_left_is_swept) {
  constexpr int kept = 100;
  sh("cd runs && for i in $(seq 100 199); do d=kept-000000000$i; mkdir $d && touch -d '2 days ago' $d/.kept $d/R001.log $d; done");
  ASSERT_EQ(runs().size(), kept);
  let_another_bench_sweep();
  EXPECT_EQ(runs().size(), kept) << "and none of these";
}

}  // namespace
}  // namespace n2nq::app
