// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "app/cli/settings_command.h"

namespace n2nq::app {
namespace {

TEST(SettingsPage, InTheDocsIsWhatTheProgramPrints) {
  std::ifstream file(N2NQ_DOCS "/settings.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), settings_page()) << "docs/settings.md is old: n2nq-bench settings > docs/settings.md";
}

}  // namespace
}  // namespace n2nq::app
