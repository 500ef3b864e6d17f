// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/support/pretend_lab.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <stdexcept>

namespace n2nq::app {
namespace {

TEST(PretendLab, that_fails_for_anything_but_want_of_rights_throws_what_was_said) {
  const QString why_not = testing::PretendLab::why_not;  // of another test, where there can be none
  try {
    testing::PretendLab::take_up(1, {"--bad-key", "h9"});
    FAIL() << "a lab of hosts that are not there";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no host h9: there are h1"), std::string::npos) << error.what();
  }
  EXPECT_EQ(testing::PretendLab::why_not, why_not) << "so nothing is skipped";
}

TEST(PretendLab, is_for_the_next_one_to_take_down_where_this_program_is_killed) {
  const auto lab = testing::PretendLab::take_up(1);
  if (!lab) GTEST_SKIP() << testing::PretendLab::why_not.toStdString();
  QFile file(lab->folder() + "/lab.json");
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QJsonObject owner = QJsonDocument::fromJson(file.readAll()).object()["owner"].toObject();
  EXPECT_EQ(owner["pid"].toInteger(), QCoreApplication::applicationPid());
}

}  // namespace
}  // namespace n2nq::app
