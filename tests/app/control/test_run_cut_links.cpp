// SPDX-License-Identifier: GPL-3.0-or-later
// What was noted on a host whose link was cut: waited for, read back when there is a way again, or given up.
#include <gtest/gtest.h>

#include <vector>

#include "tests/app/support/run_hosts_fixture.h"

namespace n2nq::app {
namespace {

using namespace testing;

/// A run that is over but for what lies on the receivers' host, whose link was cut.
struct CutLinkTest : RunHostsTest {
  std::vector<QString> waits;  // as fetching_waits told it of the receivers

  /// Where that does not come about there is no test to be made: what fails here ends it.
  void SetUp() override {
    RunHostsTest::SetUp();
    host.staging_file = "/dev/shm/left";
    make_endless();
    QObject::connect(control.get(), &RunControl::fetching_waits, [this](Role role, const QString& why) {
      if (role == Role::receivers) waits.push_back(why);
    });
    control->start_all();
    ASSERT_TRUE(wait_running()) << "no traffic: " << messages.join('\n').toStdString();
    ASSERT_TRUE(wait_state(Role::receivers, ProcessState::running)) << "no receivers: " << messages.join('\n').toStdString();
    host.away = {"lab-3"};
    host.process[Role::receivers]->lose_link("lab-3 has not answered for 10 s");
    ASSERT_TRUE(wait_until([this] { return !waits.empty(); })) << "nothing is waited for: " << messages.join('\n').toStdString();
  }
  bool told_that_not_read_back() const { return reasons().find("could not be read back") != std::string::npos; }
};

TEST_F(CutLinkTest, what_a_lost_group_noted_is_read_back_when_its_host_is_there_again) {
  EXPECT_EQ(waits, std::vector<QString>{
                       "Fetching logs waits: lab-3 is away. When there is a way again, what the receivers had noted is read back first"});
  EXPECT_EQ(messages.filter("could not be read back"), QStringList()) << "that is not known yet";
  EXPECT_EQ(control->state(), RunState::ending);
  host.away.clear();
  host.bringing[Role::receivers]->end_waiting(true);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_EQ(waits.back(), "");
  EXPECT_NE(reasons().find("Receivers lost: lab-3 has not answered for 10 s"), std::string::npos) << reasons();
  EXPECT_EQ(reasons().find("gave no final account"), std::string::npos) << reasons();
  EXPECT_FALSE(told_that_not_read_back()) << reasons();
  EXPECT_EQ(summary()["ledger"]["total"]["unexplained"], 0);
  EXPECT_GT(summary()["latency_us"]["count"], 0);
}

TEST_F(CutLinkTest, what_was_read_back_counts_though_the_link_was_lost_behind_the_last_word) {
  host.away.clear();
  host.salvage_lost_behind_bye = true;
  host.bringing[Role::receivers]->end_waiting(true);
  ASSERT_TRUE(wait_finished());
  EXPECT_FALSE(told_that_not_read_back()) << reasons();
  EXPECT_EQ(summary()["ledger"]["total"]["unexplained"], 0);
}

TEST_F(CutLinkTest, who_reads_back_is_gone_when_the_run_is_over) {
  host.away.clear();
  PretendLauncher* const lost = host.bringing[Role::receivers];
  lost->end_waiting(true);
  ASSERT_TRUE(wait_finished());
  const QPointer<PretendLauncher>& last = host.process[Role::receivers];
  EXPECT_NE(last, lost) << "another one read back";
  EXPECT_TRUE(wait_until([&] { return !last; })) << "for its sake a host would be borne with that refuses";
}

TEST_F(CutLinkTest, where_all_logs_are_here_only_clearing_away_waits) {
  host.all_here = true;
  emit host.bringing[Role::receivers]->bring_back_waits("lab-3 is away");
  ASSERT_TRUE(wait_until([this] { return waits.size() == 2; }));
  EXPECT_TRUE(waits[1].startsWith("All logs are here, and clearing away there waits: lab-3 is away.")) << waits[1].toStdString();
}

TEST_F(CutLinkTest, a_host_that_goes_away_once_more_is_waited_for_again) {
  host.away.clear();
  host.bringing[Role::receivers]->end_waiting(true);
  host.away = {"lab-3"};  // before anything is there to read back with
  ASSERT_TRUE(wait_until([this] { return waits.size() == 3; }));
  EXPECT_TRUE(waits[1].startsWith("Fetching logs waits: lab-3 ")) << "why it could not be read back: " << waits[1].toStdString();
  EXPECT_EQ(waits[2], waits[0]);
  EXPECT_EQ(control->state(), RunState::ending);
  host.away.clear();
  host.bringing[Role::receivers]->end_waiting(true);
  ASSERT_TRUE(wait_finished());
  EXPECT_FALSE(told_that_not_read_back()) << reasons();
  EXPECT_EQ(summary()["ledger"]["total"]["unexplained"], 0);
}

TEST_F(CutLinkTest, a_host_that_stays_away_leaves_what_was_noted_there_unknown) {
  host.bringing[Role::receivers]->end_waiting(false);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("what the dead process had noted could not be read back: lab-3 does not answer"), std::string::npos)
      << reasons();
  EXPECT_NE(reasons().find("Receivers gave no final account"), std::string::npos) << reasons();
  EXPECT_NE(reasons().find("log incomplete: lab-3 is away"), std::string::npos) << reasons();
}

TEST_F(CutLinkTest, who_does_not_want_to_wait_leaves_what_was_noted_there) {
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("could not be read back: lab-3 does not answer"), std::string::npos) << reasons();
  EXPECT_NE(reasons().find("the files of Receivers were not all brought back: stopped"), std::string::npos) << reasons();
}

TEST_F(CutLinkTest, reading_back_that_has_begun_can_be_left_too) {
  host.away.clear();
  host.behaviour[Role::receivers].answers = false;
  host.bringing[Role::receivers]->end_waiting(true);
  ASSERT_TRUE(wait_until([this] { return host.alive == 1; })) << "it reads back, and does not come to an end";
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("could not be read back: stopped"), std::string::npos) << reasons();
}

/// As the root file system of one that boots is for a while.
TEST_F(CutLinkTest, reading_back_that_fails_because_nothing_can_be_written_there_yet_is_tried_again) {
  host.away.clear();
  host.salvage_fails = true;
  host.salvage_error = "receivers/R001.log: Read-only file system";
  host.salvage_error_code = "read-only";
  QObject::connect(control.get(), &RunControl::fetching_waits, [this](Role, const QString& why) {
    if (why.contains("Read-only file system")) host.salvage_fails = false;
  });
  host.bringing[Role::receivers]->end_waiting(true);
  ASSERT_TRUE(wait_finished());
  EXPECT_FALSE(host.salvage_fails) << "why it waits is told";
  EXPECT_FALSE(told_that_not_read_back()) << reasons();
  EXPECT_EQ(summary()["ledger"]["total"]["unexplained"], 0);
}

TEST_F(CutLinkTest, reading_back_that_fails_on_a_host_that_is_there_is_not_tried_over_and_over) {
  host.away.clear();
  host.salvage_fails = true;
  host.bringing[Role::receivers]->end_waiting(true);
  ASSERT_TRUE(wait_finished());
  expect_over(Verdict::broken);
  EXPECT_NE(reasons().find("could not be read back: Receivers on lab-3 died: exit code 2: no such staging file"), std::string::npos) << reasons();
  EXPECT_EQ(reasons().find("log incomplete"), std::string::npos) << reasons();
}

}  // namespace
}  // namespace n2nq::app
