// SPDX-License-Identifier: GPL-3.0-or-later
// A process on each of twenty pretend hosts, started side by side, of which one does not answer, one has another key than is known and one
// has no room. A run has three processes: what more of them would meet is shown here. Takes the programs' folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "app/host/host_pool.h"
#include "app/host/launcher.h"
#include "tests/app/support/lab_programs.h"
#include "tests/app/support/lab_test.h"

namespace n2nq::app {
namespace {

using testing::configure_broker;

constexpr int hosts = 20, gone = 3, changed = 7, full = 17;

struct Started {
  std::unique_ptr<Launcher> launcher;
  QByteArray output;
  QString failure;
  bool over() const { return !failure.isEmpty() || (output.contains("\"hello\"") && output.contains('\n')); }
};

class TwentyHostsTest : public testing::LabTest {
 protected:
  std::unique_ptr<HostPool> pool;
  std::array<Started, hosts + 1> started;  // by host, from 1

  static void SetUpTestSuite() {
    take_up(hosts, {"--bad-key", QString("h%1").arg(changed)});
    if (!lab) return;
    lab->set_plugged_in(gone, false);
    lab->inside(full, {"sh", "-c", "mkdir -p /home/lab/.cache && mount -t tmpfs -o size=1m,mode=1777 full /home/lab/.cache"});
  }
  void SetUp() override {
    LabTest::SetUp();
    if (IsSkipped()) return;
    pool = std::make_unique<HostPool>(person, testing::programs_folder);
  }
  Started& of(int host) { return started[static_cast<std::size_t>(host)]; }
  void start(int host) {
    Started& one = of(host);
    one.launcher = pool->launcher(lab->host(host));
    Launcher* launcher = one.launcher.get();
    QObject::connect(launcher, &Launcher::file_put, [launcher] { launcher->start("n2nq-broker"); });
    QObject::connect(launcher, &Launcher::started, [launcher] { launcher->write(configure_broker); });
    QObject::connect(launcher, &Launcher::output, [&one](const QByteArray& bytes) { one.output += bytes; });
    QObject::connect(launcher, &Launcher::failed, [&one](const QString& why) { one.failure = why; });
    launcher->put_file("n2nq-broker");
  }
};

TEST_F(TwentyHostsTest, three_that_fail_are_named_within_ten_seconds_and_the_other_seventeen_are_left_empty) {
  constexpr qint64 start_ms_max = 10'000;
  const auto failed_ms = wait_ms([this, begun = false]() mutable {
    if (!std::exchange(begun, true))
      for (int host = 1; host <= hosts; ++host) start(host);
    return !of(gone).failure.isEmpty() && !of(changed).failure.isEmpty() && !of(full).failure.isEmpty();
  });
  ASSERT_TRUE(failed_ms) << "not all three have failed";
  printf("all three are named after %lld ms\n", static_cast<long long>(*failed_ms));
  EXPECT_LT(*failed_ms, start_ms_max);
  ASSERT_TRUE(wait_until([this] { return std::all_of(started.begin() + 1, started.end(), [](const Started& one) { return one.over(); }); }));
  for (int host = 1; host <= hosts; ++host) {
    const Started& one = of(host);
    const char* why = host == gone ? "no answer" : host == changed ? "has changed" : host == full ? "room" : nullptr;
    if (why == nullptr) {
      EXPECT_EQ(one.failure, "") << host;
      EXPECT_EQ(lab->programs(host).size(), 1) << host;
      continue;
    }
    EXPECT_TRUE(one.failure.contains(why)) << host << ": " << one.failure.toStdString();
    EXPECT_TRUE(one.failure.contains(QString("h%1").arg(host))) << one.failure.toStdString();
    EXPECT_TRUE(host == gone || lab->programs(host).isEmpty()) << host;
  }
  EXPECT_TRUE(person.key_questions.empty());
  for (Started& one : started) one.launcher.reset();
  for (int host = 1; host <= hosts; ++host)
    EXPECT_TRUE(host == gone || wait_until([host] { return lab->programs(host).isEmpty(); })) << host;
}

}  // namespace
}  // namespace n2nq::app
