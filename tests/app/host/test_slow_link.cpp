// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that are sent and commands that are begun over long and slow links, on a pretend host behind an emulated one. Takes the
// programs' folder.
#include <gtest/gtest.h>

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <algorithm>
#include <optional>

#include "app/host/check_advice.h"
#include "app/host/host_check.h"
#include "tests/app/support/lab_programs.h"
#include "tests/app/support/lab_test.h"

namespace n2nq::app {
namespace {

using testing::programs_folder;

struct SlowLinkTest : testing::LabTest {
  bool over = false;

  static void SetUpTestSuite() { take_up(2, {"--delay", "1ms"}); }
  void SetUp() override {
    LabTest::SetUp();
    if (IsSkipped()) return;
    lab->inside(1, {"rm", "-rf", "/home/lab/.cache/n2nq-bench"});
  }
  static void shape(const char* delay, const char* rate) { lab->shape_links(1, {"--delay", delay, "--rate", rate}); }
  /// To its end, without trouble, at 256 kbit/s; the connection is made before.
  void run_slowly(LabHost& host, const std::shared_ptr<SshTask>& task) {
    SshFiles* files = nullptr;
    host.with_files(&host, [&](const SshProblem&, SshFiles* given) { files = given; });
    ASSERT_TRUE(wait_until([&] { return files != nullptr; }));
    shape("1ms", "256kbit");
    files->run(task, &host, [this](const SshProblem& problem) {
      EXPECT_TRUE(problem.none()) << problem.text().toStdString();
      over = true;
    });
    ASSERT_TRUE(wait_until([&] { return over; }));
    shape("1ms", "0");
  }
  void check_all(HostCheck& check, const std::vector<int>& numbers = {1}) {
    Hosts hosts;
    for (const int number : numbers) hosts.hosts.push_back(lab->host(number));
    hosts.local_data_address = lab->bench_address().toStdString();
    QObject::connect(&check, &HostChecker::checked, &check, [this] { over = true; });
    check.check(hosts, 0);
  }
};

TEST_F(SlowLinkTest, a_long_way_costs_its_round_trip_for_many_pieces_together) {
  constexpr qint64 bytes = 4 << 20, under_way_min = 512 << 10;  // one write at a time has 256 KiB under way at most
  QTemporaryDir folder;
  QFile program(folder.filePath("n2nq-big"));
  ASSERT_TRUE(program.open(QIODevice::WriteOnly) && program.resize(bytes));
  program.close();
  shape("200ms", "0");  // before there is a connection: one that knew a short way would take what is late for lost
  HostPool pool(person, folder.path());
  const auto host = pool.host(lab->host(1));
  const auto put = std::make_shared<PutProgram>(program.fileName(), host->folder());
  SshFiles* files = nullptr;
  host->with_files(host.get(), [&](const SshProblem&, SshFiles* given) { files = given; });
  ASSERT_TRUE(wait_until([&] { return files != nullptr; }));
  const qint64 before = lab->under_way_bytes_max(1);
  ASSERT_LT(before, under_way_min) << "nothing was sent yet";
  files->run(put, host.get(), [&](const SshProblem& problem) {
    EXPECT_TRUE(problem.none()) << problem.text().toStdString();
    over = true;
  });
  ASSERT_TRUE(wait_until([&] { return over; }));
  EXPECT_GT(lab->under_way_bytes_max(1), under_way_min);
  shape("1ms", "0");
  const QString sum = lab->inside(1, {"sha256sum", "/home/lab/" + put->path()}).section(' ', 0, 0);
  EXPECT_EQ(sum, QString::fromLatin1(put->sha256()));
}

TEST_F(SlowLinkTest, logs_come_back_in_steps_that_show_how_a_slow_link_gets_on) {
  constexpr qint64 bytes = 256 << 10;
  const QString there = "/home/lab/.cache/n2nq-bench/runs/x";
  lab->inside(1, {"setpriv", "--reuid=lab", "--regid=lab", "--clear-groups", "sh", "-c",
                  QString("mkdir -p %1 && head -c %2 /dev/urandom >%1/broker.log").arg(there).arg(bytes)});
  QTemporaryDir folder;
  HostPool pool(person, folder.path());
  const auto host = pool.host(lab->host(1));
  std::vector<qint64> done_bytes;
  const auto progress = [&](qint64 done, qint64) { done_bytes.push_back(done); };
  run_slowly(*host, std::make_shared<BringFolder>(there, folder.filePath("x"), progress));
  EXPECT_EQ(QFileInfo(folder.filePath("x/broker.log")).size(), bytes);
  ASSERT_GE(done_bytes.size(), 3u);
  EXPECT_EQ(done_bytes[0], 128 << 10);
  EXPECT_EQ(done_bytes[1] - done_bytes[0], 64 << 10) << "the one before took four seconds";
  EXPECT_EQ(done_bytes[2] - done_bytes[1], 32 << 10) << "and that one two";
}

/// The end of the file, sent in no time, says nothing of how much goes in a second.
TEST_F(SlowLinkTest, a_program_is_read_back_in_steps_as_small_as_it_was_sent) {
  constexpr qint64 first_bytes = 128 << 10, end_bytes = 1 << 10;
  QTemporaryDir folder;
  QFile program(folder.filePath("n2nq-small"));
  ASSERT_TRUE(program.open(QIODevice::WriteOnly) && program.resize(first_bytes + end_bytes));
  program.close();
  HostPool pool(person, folder.path());
  const auto host = pool.host(lab->host(1));
  std::vector<qint64> done_bytes;
  const auto progress = [&](qint64 done, qint64) { done_bytes.push_back(done); };
  const auto put =
      std::make_shared<PutProgram>(program.fileName(), host->folder(), PutProgram::If::not_there, PutProgram::Room::as_it_is, progress);
  run_slowly(*host, put);
  const std::vector<qint64> sent_bytes = {0, first_bytes, first_bytes + end_bytes};
  ASSERT_GE(done_bytes.size(), sent_bytes.size());
  EXPECT_TRUE(std::equal(sent_bytes.begin(), sent_bytes.end(), done_bytes.begin()));
  EXPECT_GE(done_bytes.size() - sent_bytes.size(), 4u) << "64 KiB, as 128 took four seconds; then as much at most; the rest; nothing more";
}

TEST_F(SlowLinkTest, a_program_that_nobody_waits_for_any_more_is_sent_no_further) {
  constexpr qint64 bytes = 64 << 20;  // takes longer than anything here waits
  QTemporaryDir folder;
  QFile program(folder.filePath("n2nq-big"));
  ASSERT_TRUE(program.open(QIODevice::WriteOnly) && program.resize(bytes));
  program.close();
  shape("1ms", "1mbit");
  HostPool pool(person, folder.path());
  const auto host = pool.host(lab->host(1));
  qint64 sent_bytes = 0;
  QObject::connect(host.get(), &LabHost::sending, [&](const QString&, qint64 done_bytes, qint64) { sent_bytes = done_bytes; });
  const auto half_there = [] { return lab->inside(1, {"find", "/home/lab/.cache/n2nq-bench/bin", "-name", ".part-*"}).trimmed(); };
  QString first;
  for (const bool again : {false, true}) {  // who wants it again has it sent again
    sent_bytes = 0;
    auto wants = std::make_unique<QObject>();
    host->place(program.fileName(), PutProgram::Room::as_it_is, wants.get(),
                [](const SshProblem& problem, const PlacedProgram&) { ADD_FAILURE() << problem.text().toStdString(); });
    QString part;
    ASSERT_TRUE(wait_until([&] {
      if (sent_bytes > 0) part = half_there();
      return part.contains("n2nq-big") && part != first;
    })) << again << ": " << part.toStdString();
    first = part;
    wants.reset();
    EXPECT_TRUE(wait_until([&] { return half_there().isEmpty(); })) << again << ": " << half_there().toStdString();
  }
  EXPECT_TRUE(host->files() != nullptr) << "the connection is kept";
  shape("1ms", "0");
}

/// What a receivers' process of a large run says last is megabytes, and its host says that it has ended before that has come over. Behind a
/// Stop it is told to end meanwhile, and killed behind a second one.
TEST_F(SlowLinkTest, what_a_program_says_last_comes_whole_unless_it_is_killed_and_who_has_ended_is_not_signalled) {
  constexpr qsizetype last_bytes = 1'000'000;  // over twelve seconds
  QTemporaryDir folder;
  QFile program(folder.filePath("n2nq-broker"));
  ASSERT_TRUE(program.open(QIODevice::WriteOnly));
  program.write("#!/bin/sh\n[ \"$1\" != --version ] || exec echo n2nq-broker " N2NQ_VERSION "\nread word\nhead -c " +
                QByteArray::number(last_bytes) + " /dev/zero | tr '\\0' '\\2'\nexit 3\n");
  program.close();
  HostPool pool(person, folder.path());
  for (const bool killed : {false, true}) {
    const auto launcher = pool.launcher(lab->host(1));
    bool started = false, exited = false;
    qsizetype came_bytes = 0;
    QString trouble;
    std::optional<ProcessExit> exit;
    const auto on_trouble = [&](const QString& why) { trouble = why; };
    QObject::connect(launcher.get(), &Launcher::file_put, [&] { launcher->start("n2nq-broker"); });
    QObject::connect(launcher.get(), &Launcher::started, [&] { started = true; });
    QObject::connect(launcher.get(), &Launcher::failed, on_trouble);
    QObject::connect(launcher.get(), &Launcher::not_killed, on_trouble);
    QObject::connect(launcher.get(), &Launcher::output, [&](const QByteArray& bytes) { came_bytes += bytes.count('\2'); });
    QObject::connect(launcher.get(), &Launcher::exited, [&] { exited = true; });
    QObject::connect(launcher.get(), &Launcher::gone, [&](const ProcessExit& how) { exit = how; });
    launcher->put_file("n2nq-broker");
    ASSERT_TRUE(wait_until([&] { return started || !trouble.isEmpty(); }));
    ASSERT_TRUE(started) << trouble.toStdString();
    shape("1ms", "640kbit");
    launcher->write("go\n");
    ASSERT_TRUE(wait_until([&] { return exited || exit; }));
    EXPECT_LT(came_bytes, last_bytes) << "else this says nothing: is the link as slow as it should be?";
    killed ? launcher->kill() : launcher->terminate();
    ASSERT_TRUE(wait_until([&] { return exit.has_value(); }));
    EXPECT_EQ(exit->code, 3);
    EXPECT_EQ(exit->signal, 0);
    EXPECT_TRUE(exit->lost.isEmpty()) << exit->lost.toStdString();
    EXPECT_EQ(came_bytes < last_bytes, killed) << came_bytes;
    EXPECT_EQ(trouble, "");
    shape("1ms", "0");
  }
}

TEST_F(SlowLinkTest, commands_that_are_let_go_of_before_they_have_begun_leave_nothing_open_there) {
  constexpr int commands = 12;      // more than sshd takes on one connection
  constexpr qint64 asked_ms = 100;  // they are on their way then, and not answered
  HostPool pool(person, programs_folder);
  const auto host = pool.host(lab->host(1));
  host->with_control(host.get(), [](const SshProblem&, SshSession*) {});
  ASSERT_TRUE(wait_until([&] { return host->control() != nullptr; }));
  shape("200ms", "0");
  ASSERT_TRUE(host->control() != nullptr);
  std::vector<std::unique_ptr<SshExec>> forgotten;
  for (int i = 0; i < commands; ++i) forgotten.push_back(std::make_unique<SshExec>(*host->control(), "exec cat"));
  QElapsedTimer since;
  since.start();
  ASSERT_TRUE(wait_until([&] { return since.elapsed() >= asked_ms; }));
  forgotten.clear();
  bool asked = false, ran = false;
  QString why;
  EXPECT_TRUE(wait_until([&] {
    if (SshSession* session = host->control(); session && !asked && !ran) {
      asked = true;
      new SshCommand(*session, "exit 0", host.get(), [&](const SshCommand::Result& result) {
        asked = false;
        why = result.problem();
        ran = why.isEmpty();
      });
    }
    return ran || !host->control();
  })) << why.toStdString();
  EXPECT_TRUE(ran) << why.toStdString();
  shape("1ms", "0");
}

TEST_F(SlowLinkTest, the_time_of_a_check_stands_still_while_programs_come_over) {
  constexpr int limit_ms = 12'000;
  // Both programs, there and back, take twice as long, however large this build's are.
  qint64 bytes = 0;
  for (const char* program : {"n2nq-broker", "n2nq-receivers"}) bytes += QFileInfo(programs_folder + '/' + program).size();
  shape("1ms", QByteArray::number(2 * bytes * 8 / (2 * limit_ms)) + "kbit");
  HostPool pool(person, programs_folder);
  HostCheck check(pool, nullptr, limit_ms);
  qint64 sent_bytes = 0;
  std::map<QString, int> told;
  QElapsedTimer since_first;
  QObject::connect(&check, &HostChecker::changed, &check, [&] {
    const CheckActivity& now = check.hosts().at("h1").now;
    if (now.kind != CheckActivity::Kind::sending || now.sent_bytes == sent_bytes) return;
    if (told.empty()) since_first.start();
    EXPECT_TRUE(now.sent_bytes > sent_bytes || now.sent_bytes == 0) << now.program.toStdString();
    EXPECT_LT(now.sent_bytes, now.all_bytes);
    sent_bytes = now.sent_bytes;
    ++told[now.program];
  });
  check_all(check);
  ASSERT_TRUE(wait_until([&] { return over; }));
  EXPECT_GT(since_first.elapsed(), limit_ms) << "else this says nothing: is the link as slow as it should be?";
  for (const char* program : {"n2nq-broker", "n2nq-receivers"}) EXPECT_GT(told[program], 2) << program;
  const std::string all = report_json({"local", "h1"}, check.hosts(), check.paths()).dump(1);
  for (const CheckItem item : {CheckItem::kernel, CheckItem::folder, CheckItem::floor, CheckItem::clock})
    EXPECT_EQ(check.hosts().at("h1").of(item).state, CheckState::good) << all;
  EXPECT_EQ(check.paths().at({"local", "h1"}).state, CheckState::good) << all;
  shape("1ms", "0");
}

TEST_F(SlowLinkTest, a_way_whose_round_trips_are_long_is_no_closed_one) {
  for (const char* delay : {"1ms", "200ms"}) {  // the programs are there when the way is long
    for (const int host : {1, 2}) lab->shape_links(host, {"--delay", delay, "--rate", "0"});
    HostPool pool(person, programs_folder);
    HostCheck check(pool, nullptr, 3 * testing::deadline_ms);  // how long a busy machine takes is not meant
    over = false;
    check_all(check, {1, 2});
    for (int times = 0; times < 3 && !over; ++times) static_cast<void>(wait_until([&] { return over; }));
    ASSERT_TRUE(over);
    for (const auto& [ends, way] : check.paths())  // 800 ms there and back from machine to machine
      EXPECT_EQ(way.state, CheckState::good) << delay << ", from " << ends.first << " to " << ends.second << ": " << way.detail.toStdString();
  }
  for (const int host : {1, 2}) lab->shape_links(host, {"--delay", "1ms", "--rate", "0"});
}

TEST_F(SlowLinkTest, a_check_that_had_no_time_for_a_slow_link_says_so) {
  shape("1ms", "1mbit");
  HostPool pool(person, programs_folder);
  HostCheck check(pool, nullptr, 10'000, 0);
  check_all(check);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell& kernel = check.hosts().at("h1").of(CheckItem::kernel);
  EXPECT_EQ(kernel.state, CheckState::not_known);
  EXPECT_TRUE(kernel.detail.startsWith("the check took too long, still sending n2nq-broker to h1, ")) << kernel.detail.toStdString();
  EXPECT_TRUE(kernel.detail.endsWith(" KiB")) << kernel.detail.toStdString();
  EXPECT_TRUE(kernel.what_to_do.contains("slow")) << kernel.what_to_do.toStdString();
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::login).state, CheckState::good);
  EXPECT_EQ(check.paths().at({"local", "h1"}).detail, kernel.detail) << "the other machine is what it waits for";
  shape("1ms", "0");
}

}  // namespace
}  // namespace n2nq::app
