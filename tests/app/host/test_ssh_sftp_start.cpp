// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_sftp_start.h"

#include <gtest/gtest.h>

#include <string>

namespace n2nq::app {
namespace {

using namespace std::string_literals;

const std::string version = "\0\0\0\x05\x02\0\0\0\x03"s;

TEST(noise_before_sftp, is_nothing_where_login_scripts_are_silent) {
  EXPECT_EQ(noise_before_sftp(version), 0U);
  EXPECT_EQ(noise_before_sftp(""), 0U);
  EXPECT_EQ(noise_before_sftp("\0\0\x01\x07\x02\0\0\0\x06 and extensions"s), 0U);
}

TEST(noise_before_sftp, is_all_that_comes_before_the_first_packet) {
  for (const std::string& said : {"\n"s, "Welcome to h1\n"s, "no newline"s, "\x1b[1mbold\x1b[0m\r\n"s, std::string(100'000, 'x')}) {
    EXPECT_EQ(noise_before_sftp(said), said.size()) << said.substr(0, 20);
    EXPECT_EQ(noise_before_sftp(said + version), said.size()) << said.substr(0, 20);
  }
}

TEST(noise_before_sftp, ends_where_that_packet_may_have_begun) {
  for (std::size_t size = 1; size <= version.size(); ++size) EXPECT_EQ(noise_before_sftp("said\n" + version.substr(0, size)), 5U) << size;
}

TEST(noise_before_sftp, is_what_only_looks_like_it) {
  const std::string others[] = {"\0\x01\0\x05\x02\0\0\0\x03"s,   // too long
                                "\0\0\0\x04\x02\0\0\0\x03"s,     // too short
                                "\0\0\0\x05\x65\0\0\0\x03"s,     // SSH_FXP_STATUS
                                "\0\0\0\x05\x02\0\0\0\x09"s,     // no version that there is
                                "\0\0\0\x05\x02text"s};
  for (const std::string& other : others) {
    EXPECT_EQ(noise_before_sftp(other + "....."), other.size() + 5);
    EXPECT_EQ(noise_before_sftp(other + "....." + version), other.size() + 5);
  }
}

}  // namespace
}  // namespace n2nq::app
