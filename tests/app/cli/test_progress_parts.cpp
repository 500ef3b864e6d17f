// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_parts.h"

#include <gtest/gtest.h>

#include <cmath>

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

QString whole_line(const LiveFigures& figures) {
  return fitted(live_parts(figures), 1000);
}

TEST(ProgressLine, what_is_in_flight_is_not_known_while_a_group_is_silent) {
  LiveFigures figures = figures_between_hosts();
  EXPECT_TRUE(whole_line(figures).contains(QString::fromUtf8("  in flight 1 500 ± 177  p50"))) << whole_line(figures).toStdString();
  figures.in_flight = 12;
  EXPECT_TRUE(whole_line(figures).contains(QString::fromUtf8("  in flight 12 ± 177 (more than itself)  p50"))) << whole_line(figures).toStdString();
  figures.in_flight = 1500;
  figures.receivers_silent = true;
  EXPECT_TRUE(whole_line(figures).contains(QString::fromUtf8("  in flight –  p50"))) << whole_line(figures).toStdString();
  figures.in_flight_at_most = true;
  figures.receivers_silent = false;
  EXPECT_TRUE(whole_line(figures).contains(QString::fromUtf8("  in flight at most 1 500 ± 177  p50"))) << whole_line(figures).toStdString();
  figures.senders_silent = true;
  EXPECT_TRUE(whole_line(figures).contains(QString::fromUtf8("  in flight –  p50"))) << whole_line(figures).toStdString();
}

TEST(ProgressLine, says_in_words_that_the_median_is_less_than_what_the_clocks_may_err) {
  LiveFigures figures = figures_between_hosts();
  figures.latency.p50_us = 812;
  figures.clocks.latency = {.apart = true, .asymmetry_us = 800, .estimation_us = 13};
  EXPECT_TRUE(whole_line(figures).endsWith(QString::fromUtf8(" µs ± 813 (more than the median)"))) << whole_line(figures).toStdString();
  figures.clocks.latency.asymmetry_us = 799;
  EXPECT_TRUE(whole_line(figures).endsWith(QString::fromUtf8(" µs ± 812"))) << whole_line(figures).toStdString();
  figures.latency.p50_us = -5000;
  EXPECT_TRUE(whole_line(figures).endsWith(QString::fromUtf8(" µs ± 812"))) << "nothing is hidden there";
  figures.clocks.latency.asymmetry_us = std::nan("");
  EXPECT_TRUE(whole_line(figures).endsWith(QString::fromUtf8(" µs ± ?"))) << whole_line(figures).toStdString();
  figures.latency.p50_us = unknown;
  EXPECT_TRUE(whole_line(figures).endsWith(QString::fromUtf8(" µs"))) << "of what is not known: " << whole_line(figures).toStdString();
}

TEST(ProgressLine, what_the_clocks_may_err_is_rounded_up_with_what_is_left_out_of_both_percentiles) {
  LiveFigures figures = figures_between_hosts();
  figures.latency.p50_us = 38.49;
  figures.clocks.latency = {.apart = true, .asymmetry_us = 12, .estimation_us = 0.44};
  EXPECT_TRUE(whole_line(figures).endsWith(QString::fromUtf8("  p50 38.5 p99 – µs ± 12.5"))) << whole_line(figures).toStdString();
  figures.latency.p99_us = 402.4;
  EXPECT_TRUE(whole_line(figures).endsWith(QString::fromUtf8("  p50 38.5 p99 402 µs ± 12.9"))) << whole_line(figures).toStdString();
}

TEST(ProgressLine, on_a_narrow_terminal_whole_parts_are_left_out_and_the_line_says_so) {
  LiveFigures figures = figures_between_hosts();
  figures.sent_per_s = 100;
  figures.received_per_s = 5000;
  figures.latency.p50_us = 812;
  figures.latency.p99_us = 1204;
  figures.clocks.latency = {.apart = true, .asymmetry_us = 120, .estimation_us = 3};
  std::vector<LinePart> parts = live_parts(figures);
  parts.insert(parts.begin(), {"thesis-baseline  40 %, 15 s left"});
  const QString whole = QString::fromUtf8(
      "thesis-baseline  40 %, 15 s left  sent 991/2 500 at 100/s  received 32 000 at 5 000/s  in flight 1 500 ± 177"
      "  p50 812 p99 1 204 µs ± 123");
  EXPECT_EQ(fitted(parts, 200), whole);
  EXPECT_EQ(fitted(parts, static_cast<int>(whole.size())), whole);
  EXPECT_EQ(fitted(parts, 79), QString::fromUtf8("thesis-baseline  40 %, 15 s left  sent 991/2 500  p50 812 p99 1 204 µs ± 123 …"));
  EXPECT_EQ(fitted(parts, 60), QString::fromUtf8("thesis-baseline  40 %, 15 s left  sent 991/2 500 …"));
  EXPECT_EQ(fitted(parts, 10), QString::fromUtf8("thesis-baseline  40 %, 15 s left …")) << "the terminal cuts what is left";
  for (int columns = 40; columns <= 200; ++columns) {
    EXPECT_LE(fitted(parts, columns).size(), columns);
    EXPECT_EQ(fitted(parts, columns).endsWith(QString::fromUtf8(" …")), columns < whole.size());
  }
}

}  // namespace
}  // namespace n2nq::app
