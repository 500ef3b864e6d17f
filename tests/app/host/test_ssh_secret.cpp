// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_secret.h"

#include <gtest/gtest.h>

namespace n2nq::app {
namespace {

TEST(SshSecrets, a_turn_that_was_given_up_goes_to_the_next_one_and_is_not_ended_by_who_had_it) {
  constexpr std::chrono::milliseconds at_once{0};
  const int one = 0, next = 0, last = 0;
  SshSecrets secrets;
  ASSERT_TRUE(secrets.begin_asking("code", &one, at_once));
  ASSERT_TRUE(secrets.begin_asking("password", &next, at_once));
  EXPECT_FALSE(secrets.begin_asking("code", &next, at_once));
  secrets.give_up_asking(&one);
  EXPECT_FALSE(secrets.begin_asking("password", &last, at_once)) << "that is another one's";
  EXPECT_TRUE(secrets.begin_asking("code", &next, at_once));
  secrets.end_asking("code", &one);
  EXPECT_FALSE(secrets.begin_asking("code", &last, at_once));
  secrets.end_asking("code", &next);
  EXPECT_TRUE(secrets.begin_asking("code", &last, at_once));
}

}  // namespace
}  // namespace n2nq::app
