// SPDX-License-Identifier: GPL-3.0-or-later
// Renders the page of results in both themes and two sizes to PNG files: nothing there yet, the list, each part of a run's view, a
// comparison.
//
//   render_results [FOLDER [CASE...]]     the folder is made; default: rendered, beside the program. Folders of test cases are shown and
//                                         compared too
#include <QComboBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QListWidget>
#include <QTableView>
#include <algorithm>
#include <filesystem>

#include "tests/app/results/made_runs.h"
#include "tests/ui/support/bench_window.h"
#include "tests/ui/support/page_pictures.h"
#include "ui/card/report_view.h"
#include "ui/chart/figure_view.h"
#include "ui/page/results_page.h"

namespace {

using n2nq::ui_test::BenchWindow;
using n2nq::ui_test::PagePictures;

class Pages {
 public:
  Pages(const QString& folder, QStringList cases)
      : cases_(std::move(cases)), pictures_(bench_, folder, QStringLiteral("results"), QStringLiteral("Results"), [this] { settled(); }) {}
  bool render() {
    bench_.window().show();
    pictures_.save_all(QStringLiteral("none"));
    for (const char* mode : {"broadcaster", "load-balancer"}) {
      if (!run(mode)) return false;
    }
    make_others();
    show_results();
    if (!settled()) return false;
    pictures_.save_all(QStringLiteral("list"));
    return render_parts() && render_comparison() && (cases_.isEmpty() || render_cases());
  }

 private:
  QTableView* table() { return bench_.find<QTableView>(QStringLiteral("results_table")); }
  n2nq::ui::ResultsPage& page() { return *bench_.window().results_page(); }
  bool settled() {
    return BenchWindow::wait_for([this] { return !page().is_busy(); });
  }
  void show_results() {
    bench_.window().show_page(QStringLiteral("Bench"));
    bench_.window().show_page(QStringLiteral("Results"));
  }

  bool run(const char* mode) {
    bench_.window().show_page(QStringLiteral("Bench"));
    bench_.window().presets().choose(QStringLiteral("quick"));
    bench_.set({{"queue.mode", mode}, {"senders.messages", "200"}, {"senders.delay_ms", "10"}});
    return bench_.click(QStringLiteral("button_start_all")) && bench_.wait_for_state(n2nq::app::RunState::finished);
  }

  void make_others() {
    const QString runs = bench_.folder() + QStringLiteral("/runs/");
    const char* const verdicts[] = {"clean", "degraded", "broken", "stopped", "clean"};
    for (int i = 0; i < 40; ++i) {
      const std::string started =
          QStringLiteral("2026-11-%1T%2:17:05.000Z").arg(19 - i / 8, 2, 10, QChar('0')).arg(9 + i % 8, 2, 10, QChar('0')).toStdString();
      n2nq::app::make_run(runs + QStringLiteral("2026-11-%1-made").arg(i), {.started = started.c_str(),
                                                                            .mode = i % 3 == 0 ? "load-balancer" : "broadcaster",
                                                                            .verdict = verdicts[i % 5],
                                                                            .p50_us = 80.0 + i * 7});
    }
    n2nq::app::make_settings(runs + QStringLiteral("2026-11-20-under-way"));
  }

  bool render_parts() {
    table()->selectRow(1);
    bench_.find<QLineEdit>(QStringLiteral("result_note"))->setText(QStringLiteral("before the new disk"));
    bench_.find<QLineEdit>(QStringLiteral("result_tags"))->setText(QStringLiteral("baseline, old disk"));
    emit bench_.find<QLineEdit>(QStringLiteral("result_tags"))->editingFinished();
    if (!settled()) return false;
    pictures_.save_all(QStringLiteral("chosen"));
    if (!bench_.click(QStringLiteral("button_result_open")) || !settled()) return false;
    auto* parts = bench_.find<QListWidget>(QStringLiteral("report_parts"));
    for (int row = 0; row < parts->count(); ++row) {
      parts->setCurrentRow(row);
      const bool over_time = page().report_view()->figure_view()->figure().id == QLatin1String("latency-over-time");
      if (over_time) emit page().report_view()->figure_view()->point_clicked({0, 3}, {});
      if (row == 0 || over_time) {
        pictures_.save_all(QStringLiteral("part-%1").arg(row));
      } else {
        pictures_.save(QStringLiteral("part-%1").arg(row));
      }
    }
    return bench_.click(QStringLiteral("button_results_back"));
  }

  bool render_comparison() {
    table()->clearSelection();
    table()->setSelectionMode(QAbstractItemView::MultiSelection);
    table()->selectRow(1);
    table()->selectRow(2);
    if (!bench_.click(QStringLiteral("button_result_compare")) || !settled()) return false;
    pictures_.save_all(QStringLiteral("compared"));
    if (!page().report_view()->show_part(QStringLiteral("Latency by percentile"))) return false;
    pictures_.save_all(QStringLiteral("compared-percentiles"));
    return true;
  }

  /// The given ones: one opened, all of them compared, and the runs of the first with their repeats.
  bool render_cases() {
    if (!bench_.click(QStringLiteral("button_results_back"))) return false;
    for (const QString& each : cases_) {
      const QString to = bench_.folder() + QStringLiteral("/runs/") + QFileInfo(each).fileName();
      std::filesystem::copy(each.toStdString(), to.toStdString(), std::filesystem::copy_options::recursive);
    }
    show_results();
    if (!settled()) return false;
    auto* kind = bench_.find<QComboBox>(QStringLiteral("results_kind"));
    kind->setCurrentText(QStringLiteral("test cases"));
    table()->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table()->selectRow(0);
    pictures_.save_all(QStringLiteral("cases"));
    if (!bench_.click(QStringLiteral("button_result_open")) || !settled()) return false;
    pictures_.save_all(QStringLiteral("case"));
    if (!bench_.click(QStringLiteral("button_results_back"))) return false;
    const auto compare = [this](const char* what) {
      table()->selectAll();
      if (!bench_.click(QStringLiteral("button_result_compare")) || !settled()) return false;
      auto* parts = bench_.find<QListWidget>(QStringLiteral("report_parts"));
      for (int row = 0; row < std::min(parts->count(), 4); ++row) {
        parts->setCurrentRow(row);
        pictures_.save_all(QStringLiteral("%1-%2").arg(QLatin1String(what)).arg(row));
      }
      return bench_.click(QStringLiteral("button_results_back"));
    };
    if (cases_.size() > 1 && !compare("compared-cases")) return false;
    kind->setCurrentText(QStringLiteral("runs of cases"));
    return compare("compared-repeats");
  }

  QStringList cases_;
  BenchWindow bench_;
  PagePictures pictures_;
};

}  // namespace

int main(int argc, char** argv) {
  return n2nq::ui_test::draw_pages(argc, argv, "[FOLDER [CASE...]]",
                                   [](const QString& folder, const QStringList& cases) { return Pages(folder, cases).render(); });
}
