// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/whole_number.h"

#include <gtest/gtest.h>

namespace n2nq::measure {
namespace {

using nlohmann::json;

TEST(WholeNumber, ThatFitsIsRead) {
  EXPECT_EQ(whole_number<std::uint64_t>(json::parse("18446744073709551615"), "x"), UINT64_MAX);
  EXPECT_EQ(whole_number<std::int64_t>(json::parse("-9223372036854775808"), "x"), INT64_MIN);
  EXPECT_EQ(whole_number<std::uint32_t>(json(4294967295), "x"), UINT32_MAX);
  EXPECT_EQ(whole_or<std::uint64_t>(json::parse(R"({"x":null})"), "x", 7), 7u);
  EXPECT_EQ(whole_or<std::uint64_t>(json::object(), "x", 7), 7u);
}

TEST(WholeNumber, WhatIsNoneOrDoesNotFitIsRefusedByName) {
  for (const char* text : {"1e300", "-1e300", "1.5", "1.0", "18446744073709551616", "\"5\"", "true", "null", "[1]", "-1"}) {
    try {
      whole_number<std::uint64_t>(json::parse(text), "attempted");
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).find("attempted is "), 0u) << error.what();
    }
  }
  EXPECT_THROW(whole_number<std::uint32_t>(json(4294967296), "x"), std::invalid_argument);
  EXPECT_THROW(whole_number<std::int64_t>(json(UINT64_MAX), "x"), std::invalid_argument);
}

}  // namespace
}  // namespace n2nq::measure
