// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_line.h"

#include <gtest/gtest.h>

namespace n2nq::app {
namespace {

LiveFigures figures_between_hosts() {
  LiveFigures figures;
  figures.attempted = 991;
  figures.planned = 2500;
  figures.received = 32'000;
  figures.in_flight = 1500;
  figures.in_flight_bound = 177;
  return figures;
}

TEST(ProgressLine, what_is_in_flight_is_not_known_while_a_group_is_silent) {
  LiveFigures figures = figures_between_hosts();
  EXPECT_TRUE(live_text(figures).contains(QString::fromUtf8("  in flight 1 500 ± 177  p50"))) << live_text(figures).toStdString();
  figures.receivers_silent = true;
  EXPECT_TRUE(live_text(figures).contains(QString::fromUtf8("  in flight –  p50"))) << live_text(figures).toStdString();
  figures.in_flight_at_most = true;
  figures.receivers_silent = false;
  EXPECT_TRUE(live_text(figures).contains(QString::fromUtf8("  in flight at most 1 500 ± 177  p50"))) << live_text(figures).toStdString();
  figures.senders_silent = true;
  EXPECT_TRUE(live_text(figures).contains(QString::fromUtf8("  in flight –  p50"))) << live_text(figures).toStdString();
}

}  // namespace
}  // namespace n2nq::app
