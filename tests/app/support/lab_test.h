// SPDX-License-Identifier: GPL-3.0-or-later
// The fixture of tests in a lab of pretend hosts.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_lab.h"

namespace n2nq::app::testing {

/// A lab for the tests of a suite, whose SetUpTestSuite() takes it up: real sshd, each on a host of its own. That needs namespaces, which some
/// machines forbid, containers above all: there these tests are skipped, and none passes unseen. The program ends with 77 then, if nothing
/// failed (PretendLab::exit_code), which ctest shows as skipped, and tests/run says at its end what was skipped and why. N2NQ_NEED_LAB=1: they
/// fail there.
class LabTest : public WithEventLoop {
 public:
  static inline std::unique_ptr<PretendLab> lab;  // null where there can be none
  PretendPerson person;

  static void TearDownTestSuite() { lab.reset(); }

 protected:
  /// Its home is the one of this process from then on: what is in that of whoever runs the tests is nothing to them.
  static void take_up(int hosts, const QStringList& options = {}) {
    lab = PretendLab::take_up(hosts, options);
    if (lab) qputenv("HOME", lab->home().toLocal8Bit());
  }
  /// Who overrides it calls it first, and goes no further where it has skipped the test: `if (IsSkipped()) return;`.
  void SetUp() override {
    if (!lab) GTEST_SKIP() << PretendLab::why_not.toStdString();
  }
};

}  // namespace n2nq::app::testing
