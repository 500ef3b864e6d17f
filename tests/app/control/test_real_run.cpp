// SPDX-License-Identifier: GPL-3.0-or-later
// A run's life with the real processes: what a person at the window does, without the window. Takes the programs' folder as argument.
#include <gtest/gtest.h>
#include <signal.h>

#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/control/role.h"
#include "app/control/run_control.h"
#include "app/host/local_launcher.h"
#include "tests/app/support/event_loop.h"

namespace n2nq::app {
namespace {

QString programs_folder;

struct RealRun : testing::WithEventLoop {
  QTemporaryDir runs;
  std::unique_ptr<RunControl> control;
  QStringList messages;

  static Settings small() {
    Settings settings;
    settings.senders.amount = 4;
    settings.senders.messages = 5;
    settings.senders.delay_ms = 20;
    settings.receivers.amount = 3;
    return settings;
  }
  void make(const Settings& settings = small()) {
    RunControl::Options options;
    options.runs_folder = runs.path();
    control = std::make_unique<RunControl>(options, std::make_unique<LocalLauncherFactory>(programs_folder));
    control->set_settings(settings);
    QObject::connect(control.get(), &RunControl::message, [this](const QString& text) { messages += text; });
  }
  bool wait_finished() {
    return wait_until([this] { return control->state() == RunState::finished; });
  }
  bool wait_waiting_for(Role role, const QString& start) {
    return wait_until([=, this] {
      const ProcessStatus status = control->process(role);
      return status.state == ProcessState::waiting && status.waiting_for.startsWith(start);
    });
  }
  std::string reasons() const { return (control->outcome().reasons + messages).join("\n").toStdString(); }
};

TEST_F(RealRun, any_of_the_six_orders_is_clean) {
  std::vector<Role> order(all_roles.begin(), all_roles.end());
  do {
    make();
    for (const Role role : order) {
      control->start(role);
      const bool waits = role == order.back() || wait_waiting_for(role, "");
      ASSERT_TRUE(waits) << reasons();
    }
    ASSERT_TRUE(wait_finished());
    EXPECT_EQ(control->outcome().verdict, Verdict::clean) << reasons();
    EXPECT_EQ(control->figures().received, 60);
    EXPECT_TRUE(messages.isEmpty()) << reasons();
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(RealRun, a_group_can_be_stopped_and_started_again_before_traffic) {
  for (const Role again : {Role::senders, Role::receivers}) {
    const Role other = again == Role::senders ? Role::receivers : Role::senders;
    make();
    control->start(Role::broker);
    control->start(again);
    ASSERT_TRUE(wait_waiting_for(again, role_name(other).toLower())) << reasons();
    control->stop(again);
    ASSERT_TRUE(wait_until([=, this] { return control->process(again).state == ProcessState::ended; })) << reasons();
    EXPECT_EQ(control->state(), RunState::preparing);
    control->start(again);
    control->start(other);
    ASSERT_TRUE(wait_finished());
    EXPECT_EQ(control->outcome().verdict, Verdict::clean) << reasons();
    EXPECT_EQ(control->figures().received, 60);
  }
}

TEST_F(RealRun, stopping_the_broker_before_traffic_ends_all_without_a_fault) {
  make();
  control->start(Role::senders);
  control->start(Role::broker);
  ASSERT_TRUE(wait_waiting_for(Role::senders, "receivers")) << reasons();
  control->stop(Role::broker);
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::stopped) << reasons();
}

TEST_F(RealRun, receivers_that_join_late_get_what_the_queue_still_holds) {
  Settings settings = small();
  settings.start_when = StartWhen::senders_connected;
  settings.senders.messages.reset();
  make(settings);
  control->start(Role::broker);
  control->start(Role::senders);
  ASSERT_TRUE(wait_until([this] { return control->figures().attempted > 4; })) << reasons();
  control->start(Role::receivers);
  ASSERT_TRUE(wait_until([this] { return control->figures().received > 12; })) << reasons();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  EXPECT_EQ(control->outcome().verdict, Verdict::stopped) << reasons();
}

TEST_F(RealRun, a_killed_workers_last_messages_are_in_the_result) {
  Settings settings = small();
  settings.senders.messages.reset();
  make(settings);
  control->start_all();
  ASSERT_TRUE(wait_until([this] { return control->figures().attempted > 8; })) << reasons();
  control->stop_all();
  control->stop_all();
  ASSERT_TRUE(wait_finished());
  QFile file(control->folder() + "/summary.json");
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const auto summary = nlohmann::json::parse(file.readAll().toStdString());
  EXPECT_GT(summary["ledger"]["total"]["attempted"], 8) << reasons();
  EXPECT_GT(summary["ledger"]["total"]["delivered"], 0);
  EXPECT_EQ(reasons().find("no final account"), std::string::npos) << reasons();
}

}  // namespace
}  // namespace n2nq::app

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fputs("usage: test_real_run FOLDER-OF-THE-PROGRAMS\n", stderr);
    return 2;
  }
  n2nq::app::programs_folder = QString::fromLocal8Bit(argv[1]);
  return RUN_ALL_TESTS();
}
