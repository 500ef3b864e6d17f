// SPDX-License-Identifier: GPL-3.0-or-later
// What the open window costs while 200 senders and 200 receivers talk, each sender 10 messages a second, load balancer: processor time
// of the bench and its longest stall. Printed; the run itself must be clean. The aims (25 % of a core, 50 ms) are judged by the reader,
// because a busy machine makes any stopwatch lie.
//
//   measure_window [SECONDS]      default 20
#include <QApplication>
#include <cstdio>

#include "broker/net/turns.h"
#include "tests/ui/support/bench_window.h"
#include "ui/text/figures.h"

using n2nq::ui_test::BenchWindow;

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  n2nq::net::ask_for_long_turns();  // as run_window() does
  QApplication application(argc, argv);
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 20;
  BenchWindow bench;
  bench.window().resize(1920, 1080);
  bench.window().presets().choose(QStringLiteral("many-services"));
  bench.form().set(QStringLiteral("senders.messages"), QString::number(seconds * 10));
  if (!bench.click(QStringLiteral("button_start_all"))) return 1;
  if (!BenchWindow::wait_for([&] { return bench.run().figures().t_s > 2; })) return 1;
  n2nq::ui::StallMeter meter;
  meter.begin();
  const bool on =
      BenchWindow::wait_for([&] { return bench.run().state() != n2nq::app::RunState::running || bench.run().figures().t_s > seconds - 1; });
  const n2nq::ui::StallMeter::Figures figures = meter.figures();
  std::printf("200 + 200 services, 10 messages/s each, load balancer, window 1920 x 1080 open, %.1f s\n", figures.seconds);
  std::printf("bench CPU          %6.1f %% of a core   (aim: under 25 %%)\n", figures.cpu_percent);
  std::printf("longest stall      %6.1f ms            (aim: at most 50 ms)\n", figures.stall_max_ms);
  std::printf("  own computing    %6.1f ms\n", figures.busy_max_ms);
  if (!on || !bench.wait_for_state(n2nq::app::RunState::finished)) return 1;
  const auto& outcome = bench.run().outcome();
  const auto& latency = bench.run().figures().latency;
  std::printf("latency p50, p99   %8.1f %8.1f µs\n", latency.p50_us, latency.p99_us);
  std::printf("verdict            %s\n", qPrintable(n2nq::ui::verdict_word(outcome.verdict)));
  for (const QString& reason : outcome.reasons) std::printf("  %s\n", qPrintable(reason));
  return outcome.verdict == n2nq::app::Verdict::broken ? 1 : 0;
}
