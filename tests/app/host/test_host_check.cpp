// SPDX-License-Identifier: GPL-3.0-or-later
// The check of lab machines, on pretend hosts. Takes the programs' folder.
#include "app/host/host_check.h"

#include <gtest/gtest.h>

#include "app/host/check_advice.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_lab.h"

namespace n2nq::app {
namespace {

using testing::PretendLab;
using testing::PretendPerson;

QString programs_folder;

struct HostCheckTest : testing::WithEventLoop {
  static inline std::unique_ptr<PretendLab> lab;
  PretendPerson person;

  static void SetUpTestSuite() {
    lab = PretendLab::take_up(4, {"--bad-key", "h3", "--unknown-key", "h4"});
    if (lab) qputenv("HOME", lab->home().toLocal8Bit());
  }
  static void TearDownTestSuite() { lab.reset(); }
  void SetUp() override {
    if (!lab) GTEST_SKIP() << PretendLab::why_not.toStdString();
  }
};

TEST_F(HostCheckTest, what_is_well_is_green_and_what_is_not_says_what_to_do) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.local_data_address = lab->bench_address().toStdString();
  for (const int host : {1, 2, 3}) hosts.hosts.push_back(lab->host(host));
  Host nobody = lab->host(1);
  nobody.name = "nobody";
  nobody.address = "127.0.0.1";
  nobody.port = 9;
  hosts.hosts.push_back(nobody);
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  EXPECT_TRUE(check.is_checking());
  ASSERT_TRUE(wait_until([&] { return over; }));
  const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
  for (const char* name : {"h1", "h2"}) {
    const HostReport& report = check.hosts().at(name);
    for (const CheckItem item : {CheckItem::reach, CheckItem::login, CheckItem::architecture, CheckItem::kernel, CheckItem::cores,
                                 CheckItem::folder, CheckItem::floor}) {
      EXPECT_EQ(report.of(item).state, CheckState::good) << name << ' ' << static_cast<int>(item) << all;
    }
    EXPECT_NE(report.of(CheckItem::disk).state, CheckState::not_known) << all;
  }
  for (const auto& [from, to] : {std::pair("h1", "h2"), {"h2", "h1"}, {"local", "h1"}, {"h2", "local"}}) {
    EXPECT_EQ(check.paths().at({from, to}).state, CheckState::good) << from << ' ' << to << all;
  }
  const CheckCell& changed = check.hosts().at("h3").of(CheckItem::reach);
  EXPECT_EQ(changed.state, CheckState::bad);
  EXPECT_EQ(changed.text, "key changed");
  EXPECT_FALSE(changed.what_to_do.isEmpty());
  EXPECT_EQ(check.hosts().at("nobody").of(CheckItem::reach).state, CheckState::bad);
  EXPECT_EQ(check.paths().at({"h1", "h3"}).state, CheckState::not_known);
  EXPECT_EQ(worst_of(check.hosts(), check.paths()), CheckState::bad);
  for (const auto& [name, report] : check.hosts()) {
    for (const CheckCell& cell : report.cells) {
      EXPECT_NE(cell.state, CheckState::checking) << name;
      EXPECT_TRUE(cell.state != CheckState::bad || !cell.what_to_do.isEmpty()) << name;
    }
  }
  for (const int host : {1, 2}) EXPECT_TRUE(wait_until([&] { return lab->programs(host).isEmpty(); }));
}

TEST_F(HostCheckTest, a_check_can_be_cancelled_and_begun_again) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1)};
  int over = 0;
  QObject::connect(&check, &HostChecker::checked, [&] { ++over; });
  check.check(hosts, 0);
  check.cancel();
  EXPECT_FALSE(check.is_checking());
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::login).state, CheckState::not_checked);
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over > 0 && !check.is_checking(); }));
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::folder).state, CheckState::good);
  EXPECT_EQ(check.paths().at({"h1", "local"}).state, CheckState::not_known) << "no local_data_address";
}

TEST_F(HostCheckTest, what_n2nq_says_of_a_wrong_data_address_is_told) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1)};
  hosts.hosts[0].data_address = "192.0.2.77";
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell& folder = check.hosts().at("h1").of(CheckItem::folder);
  EXPECT_TRUE(folder.detail.contains("cannot listen on 192.0.2.77")) << folder.detail.toStdString();
  EXPECT_FALSE(folder.what_to_do.isEmpty());
}

/// Compares the fingerprint before they answer.
struct SlowPerson : PretendPerson {
  std::function<void(bool)> answer;
  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answered) override {
    key_questions.push_back(question);
    answer = std::move(answered);
  }
};

TEST_F(HostCheckTest, the_time_that_a_person_takes_to_answer_does_not_count) {
  constexpr int limit_ms = 8'000;
  SlowPerson slow;
  HostPool pool(slow, programs_folder);
  HostCheck check(pool, nullptr, limit_ms);
  Hosts hosts;
  hosts.hosts = {lab->host(4)};
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over || slow.answer; }));
  QDeadlineTimer longer(limit_ms + 1'000);
  ASSERT_TRUE(wait_until([&] { return over || longer.hasExpired(); }));
  EXPECT_TRUE(check.is_checking());
  slow.answer(true);
  ASSERT_TRUE(wait_until([&] { return over; }));
  EXPECT_EQ(check.hosts().at("h4").of(CheckItem::login).state, CheckState::good);
  EXPECT_EQ(slow.key_questions.size(), 1u);
}

}  // namespace
}  // namespace n2nq::app

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fputs("usage: test_host_check FOLDER-OF-THE-PROGRAMS\n", stderr);
    return 2;
  }
  n2nq::app::programs_folder = QString::fromLocal8Bit(argv[1]);
  return RUN_ALL_TESTS();
}
