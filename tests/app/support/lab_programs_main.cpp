// SPDX-License-Identifier: GPL-3.0-or-later
// Of tests in a lab that run the bench's programs: these are in the folder that is the only argument.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/app/support/lab_programs.h"
#include "tests/app/support/pretend_lab.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER-OF-THE-PROGRAMS\n", argv[0]);
    return 2;
  }
  n2nq::app::testing::programs_folder = QString::fromLocal8Bit(argv[1]);
  return n2nq::app::testing::PretendLab::exit_code(RUN_ALL_TESTS());
}
