// SPDX-License-Identifier: GPL-3.0-or-later
// What programs say during a check, or do not say. In place of N2NQ and its receivers shell scripts run on this machine.
#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "app/host/host_check.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_lab.h"

namespace n2nq::app {
namespace {

struct CheckProcessTest : testing::WithEventLoop {
  QTemporaryDir folder;
  testing::PretendPerson person;

  void make(const char* program, const char* line) {
    QFile file(folder.filePath(program));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\necho '" + QByteArray(line) + "'\ncat > /dev/null\n");
    file.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
  }
  /// This machine alone: a receiver there connects to N2NQ there.
  HostReport checked(int limit_ms = testing::deadline_ms) {
    HostPool pool(person, folder.path());
    HostCheck check(pool, nullptr, limit_ms);
    bool over = false;
    QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
    check.check({}, 0);
    EXPECT_TRUE(wait_until([&] { return over; }));
    return check.hosts().at("local");
  }
};

TEST_F(CheckProcessTest, a_broker_that_says_what_is_no_message_fails_and_its_line_is_told) {
  make("n2nq-broker", R"({"type":5})");
  const CheckCell kernel = checked().of(CheckItem::kernel);
  EXPECT_EQ(kernel.state, CheckState::not_known);
  EXPECT_TRUE(kernel.detail.contains(R"(N2NQ does not run there: it said something that is no control message: "{"type":5}")"))
      << kernel.detail.toStdString();
}

TEST_F(CheckProcessTest, what_a_check_had_no_time_for_says_what_to_do) {
  make("n2nq-broker", "");
  const CheckCell kernel = checked(1).of(CheckItem::kernel);
  EXPECT_EQ(kernel.detail, "the check took too long, still waiting for an answer of this machine");
  EXPECT_TRUE(kernel.what_to_do.contains("check again")) << kernel.what_to_do.toStdString();
}

TEST_F(CheckProcessTest, a_receiver_that_says_what_is_no_message_fails_and_its_line_is_told) {
  make("n2nq-broker", R"({"type":"hello","port":9})");
  make("n2nq-receivers", R"({"type":"state","state":1})");
  const CheckCell floor = checked().of(CheckItem::floor);
  EXPECT_EQ(floor.state, CheckState::not_known);
  EXPECT_TRUE(floor.detail.contains(R"(it said something that is no control message: "{"type":"state","state":1}")"))
      << floor.detail.toStdString();
}

}  // namespace
}  // namespace n2nq::app
