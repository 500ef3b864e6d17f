// SPDX-License-Identifier: GPL-3.0-or-later
// Of tests in a lab that need nothing else.
#include <gtest/gtest.h>

#include "tests/app/support/pretend_lab.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return n2nq::app::testing::PretendLab::exit_code(RUN_ALL_TESTS());
}
