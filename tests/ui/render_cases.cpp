// SPDX-License-Identifier: GPL-3.0-or-later
// Renders the page of test cases in both themes and two sizes to PNG files: before anything was run, running, paused, done, a marked point,
// a file with mistakes, with lab machines.
//
//   render_cases [FOLDER]     the folder is made; default: rendered, beside the program
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QTableView>
#include <QTableWidget>

#include "tests/ui/support/bench_window.h"
#include "tests/ui/support/page_pictures.h"
#include "ui/card/case_figure_card.h"
#include "ui/page/cases_page.h"

namespace {

using n2nq::ui::CasesDesk;
using n2nq::ui_test::BenchWindow;
using n2nq::ui_test::draws_once;
using n2nq::ui_test::PagePictures;

const char* const own_case = R"(format: 1
title: Small sweep
about: A sweep of a few seconds, with two curves.
settings: { senders: { messages: 20, delay_ms: 20 } }
axes:
  mode:
    title: Queue mode
    values:
      - { name: broadcaster, set: { queue.mode: broadcaster } }
      - { name: load balancer, set: { queue.mode: load-balancer } }
  services: { title: "Senders and receivers, each", keys: [senders.amount, receivers.amount], values: [1, 5, 10, 20] }
repeats: 3
figures:
  - { id: latency, title: Latency by services, x: services, y: latency_us.mean_lowest_95, series: mode, known: [{ text: "p. 1: about 150 µs at 10 services", x: 10, y: 150, series: broadcaster }] }
  - { id: percentiles, title: Latency by percentile, kind: percentiles, series: services, where: { mode: broadcaster } }
)";

class Pages {
 public:
  explicit Pages(const QString& folder)
      : pictures_(bench_, folder, QStringLiteral("cases"), QStringLiteral("Test cases"), [this] { settled(); }) {
    QDir().mkpath(bench_.folder() + QStringLiteral("/cases"));
    write(QStringLiteral("sweep"), draws_once ? QByteArray(own_case).replace("repeats: 3", "repeats: 1") : QByteArray(own_case));
    write(QStringLiteral("wrong"), QByteArray(own_case).replace("axes:", "axis:").replace("amount, recei", "amont, recei"));
  }
  bool render() {
    bench_.window().show();
    bench_.window().show_page(QStringLiteral("Test cases"));
    if (!settled()) return false;
    pictures_.save_all(QStringLiteral("none"));
    select(8);
    pictures_.save_all(QStringLiteral("mistakes"));
    for (int row : desk().ticked_rows()) desk().set_ticked(row, false);
    desk().set_ticked(7, true);
    desk().set_ticked(6, true);
    select(7);
    desk().run({7, 6}, CasesDesk::Begin::anew);
    if (!BenchWindow::wait_for([this] { return desk().rows()[7].runs_done >= (draws_once ? 3 : 10); })) return false;
    pictures_.save_all(QStringLiteral("running"));
    if (!bench_.click(QStringLiteral("button_cases_pause"))) return false;
    pictures_.save(QStringLiteral("pausing"));
    if (!BenchWindow::wait_for([this] { return !desk().is_on(); })) return false;
    pictures_.save_all(QStringLiteral("paused"));
    desk().set_ticked(6, false);
    if (!bench_.click(QStringLiteral("button_cases_resume"))) return false;
    if (!BenchWindow::wait_for([this] { return !desk().is_on() && desk().rows()[7].state == CasesDesk::State::done; })) return false;
    pictures_.save_all(QStringLiteral("done"));
    auto* table = bench_.find<QTableWidget>(QStringLiteral("case_table"));
    emit table->cellClicked(1, 1);
    pictures_.save_all(QStringLiteral("point"));
    auto* card = bench_.window().cases_page()->findChild<n2nq::ui::CaseFigureCard*>();
    auto* chooser = bench_.find<QComboBox>(QStringLiteral("case_figure"));
    chooser->setCurrentIndex(1);
    emit card->figure_chosen();
    pictures_.save_all(QStringLiteral("percentiles"));
    n2nq::app::Host host;
    for (const char* name : {"n2nq-vm", "senders-vm", "receivers-vm"}) {
      host.name = name;
      bench_.hosts().put(host);
    }
    int place = 0;
    for (const char* box : {"case_host_broker", "case_host_senders", "case_host_receivers"}) {
      auto* places = bench_.find<QComboBox>(QString::fromLatin1(box));
      places->setCurrentIndex(++place);
      emit places->activated(place);
    }
    select(4);
    settled();
    pictures_.save_all(QStringLiteral("hosts"));
    return true;
  }

 private:
  CasesDesk& desk() { return bench_.window().cases_page()->desk(); }
  bool settled() {
    return BenchWindow::wait_for([this] { return !bench_.window().cases_page()->is_busy(); });
  }
  void write(const QString& name, const QByteArray& text) {
    QFile file(bench_.folder() + QStringLiteral("/cases/") + name + QStringLiteral(".yaml"));
    if (file.open(QIODevice::WriteOnly)) file.write(text);
  }
  void select(int row) {
    auto* table = bench_.find<QTableView>(QStringLiteral("cases_table"));
    table->setCurrentIndex(table->model()->index(row, 1));
    settled();
  }
  BenchWindow bench_;
  PagePictures pictures_;
};

}  // namespace

int main(int argc, char** argv) {
  return n2nq::ui_test::draw_pages(argc, argv, "[FOLDER]", [](const QString& folder, const QStringList&) { return Pages(folder).render(); });
}
