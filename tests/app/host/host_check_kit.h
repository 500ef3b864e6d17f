// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of the check of lab machines: four pretend hosts, and somebody who answers.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "app/host/host_check.h"
#include "tests/app/support/lab_programs.h"
#include "tests/app/support/lab_test.h"

namespace n2nq::app::testing {

struct HostCheckTest : LabTest {
  static void SetUpTestSuite() { take_up(4, {"--bad-key", "h3", "--unknown-key", "h4", "--clock", "0,250ms,0,0"}); }
  /// Machines that h1 cannot connect to, as behind a firewall that drops: all of them are h2, under names of their own.
  void check_far_hosts(HostCheck& check, int far_hosts) {
    Hosts hosts;
    hosts.hosts = {lab->host(1)};
    for (int number = 1; number <= far_hosts; ++number) {
      hosts.hosts.push_back(lab->host(2));
      hosts.hosts.back().name = "far-" + std::to_string(number);
    }
    const QString no_answer = lab->address(1) + "/32";
    lab->inside(2, {"ip", "route", "add", "blackhole", no_answer});
    bool over = false;
    QObject::connect(&check, &HostChecker::checked, &check, [&] { over = true; });
    check.check(hosts, 0);
    EXPECT_TRUE(wait_until([&] { return over; }));
    lab->inside(2, {"ip", "route", "delete", "blackhole", no_answer});
    for (int number = 1; number <= far_hosts; ++number) {
      const CheckCell& way = check.paths().at({"h1", "far-" + std::to_string(number)});
      EXPECT_EQ(way.text, "no answer") << number << ' ' << way.detail.toStdString();
    }
  }
};

}  // namespace n2nq::app::testing
