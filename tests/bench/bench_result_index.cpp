// SPDX-License-Identifier: GPL-3.0-or-later
// What the list of many results takes: with the index, when it has to be made anew, and to be filtered; bytes and memory beside it.
//
//   bench_result_index [RUN_FOLDER [COUNT]]     copies the summary of a real run (default: a made one) COUNT times (default 5000)
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "app/results/result_index.h"
#include "tests/app/results/made_runs.h"

namespace {

/// Of the wall clock; beside it processor time, which others on the machine do not lengthen.
double list_ms(const QString& folder, std::size_t& count, double& cpu_ms) {
  QElapsedTimer clock;
  clock.start();
  const std::clock_t began = std::clock();
  QString remark;
  count = n2nq::app::ResultIndex(folder).list(remark).size();
  cpu_ms = static_cast<double>(std::clock() - began) * 1e3 / CLOCKS_PER_SEC;
  if (!remark.isEmpty()) std::printf("%s\n", qPrintable(remark));
  return static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

/// Resident, of this process; 0: not known.
double memory_mib() {
  QFile status("/proc/self/status");
  if (!status.open(QIODevice::ReadOnly)) return 0;
  for (const QByteArray& line : status.readAll().split('\n')) {
    if (line.startsWith("VmRSS:")) return line.mid(6).trimmed().split(' ').first().toDouble() / 1024;
  }
  return 0;
}

/// Each kind of filter once, over all of them.
void filter(const QString& folder) {
  QString remark;
  const double before_mib = memory_mib();
  const auto entries = n2nq::app::ResultIndex(folder).list(remark);
  std::printf("the list takes %.1f MiB, the index on the disk %lld bytes\n", memory_mib() - before_mib,
              static_cast<long long>(QFile(folder + "/.index.sqlite").size()));
  n2nq::app::ResultFilter words, mode, verdict, day;
  words.text = "run 4999";
  mode.mode = "broadcaster";
  verdict.verdict = "broken";
  day.from = QDate(2026, 11, 20);
  for (const auto& [name, asked] : {std::pair{"words", words}, {"mode", mode}, {"verdict", verdict}, {"day", day}}) {
    QElapsedTimer clock;
    clock.start();
    const auto fit = std::count_if(entries.begin(), entries.end(), [&](const auto& entry) { return asked.matches(entry); });
    std::printf("filtered by %s: %td fit, %.1f ms\n", name, fit, static_cast<double>(clock.nsecsElapsed()) / 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const QString like = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QString();
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5000;
  QTemporaryDir place;
  const QString folder = place.filePath("runs");
  for (int i = 0; i < runs; ++i) {
    const QString name = folder + QString("/2026-11-20T%1-run").arg(i, 6, 10, QChar('0'));
    n2nq::app::make_run(name, {});
    if (like.isEmpty()) continue;
    QFile::remove(name + "/summary.json");
    QFile::copy(like + "/summary.json", name + "/summary.json");
  }
  std::size_t count = 0;
  std::printf("summary of %lld bytes\n", static_cast<long long>(QFile(folder + "/2026-11-20T000000-run/summary.json").size()));
  double cpu_ms = 0;
  const double first = list_ms(folder, count, cpu_ms);
  std::printf("%zu results, index made anew: %.0f ms (processor %.0f ms)\n", count, first, cpu_ms);
  for (int i = 0; i < 3; ++i) {
    const double again = list_ms(folder, count, cpu_ms);
    std::printf("%zu results, with the index: %.0f ms (processor %.0f ms)\n", count, again, cpu_ms);
  }
  filter(folder);
}
