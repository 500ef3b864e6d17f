// SPDX-License-Identifier: GPL-3.0-or-later
// The page of results, clicked through over real runs: list, filter, note, open, a spike's slowest messages, compare, export, use again.
#include <QAbstractButton>
#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QUrl>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/figure/figure_export.h"
#include "tests/ui/support/results_page_test.h"
#include "ui/card/report_view.h"
#include "ui/chart/figure_view.h"
#include "ui/model/results_model.h"
#include "ui/page/results_page.h"
#include "ui/text/figures.h"
#include "ui/widget/elided_label.h"

using n2nq::ui::ResultsModel;
using n2nq::ui_test::BenchWindow;

class TestResults : public n2nq::ui_test::ResultsPageTest {
  Q_OBJECT

  QString opened;  // what a file manager was asked for last

  QString tags_and_note(int row) { return cell(row, ResultsModel::tags) + u'|' + cell(row, ResultsModel::note); }

 public slots:
  /// In place of the desktop's file manager.
  void open_folder(const QUrl& folder) { opened = folder.toLocalFile(); }

 private slots:
  void the_newest_stands_first_and_filters_narrow() {
    QCOMPARE(rows(), 2);
    QCOMPARE(cell(0, ResultsModel::mode), QStringLiteral("load balancer"));
    QCOMPARE(cell(1, ResultsModel::mode), QStringLiteral("broadcaster"));
    auto* mode = bench->find<QComboBox>(QStringLiteral("results_mode"));
    for (const QString& words : {QStringLiteral("load balancer"), QStringLiteral("broadcaster")}) {
      mode->setCurrentText(words);
      QCOMPARE(rows(), 1);
      QCOMPARE(cell(0, ResultsModel::mode), words);
    }
    mode->setCurrentIndex(0);
    QVERIFY(bench->type(QStringLiteral("results_search"), QStringLiteral("nothing like it")));
    QCOMPARE(rows(), 0);
    QVERIFY(bench->type(QStringLiteral("results_search"), QString()));
    bench->find<QLineEdit>(QStringLiteral("results_search"))->clear();
    QCOMPARE(rows(), 2);
  }

  void a_note_stays_with_the_run() {
    table()->selectRow(1);
    QVERIFY(bench->type(QStringLiteral("result_note"), QStringLiteral("the first one")));
    QVERIFY(bench->type(QStringLiteral("result_tags"), QStringLiteral("old, disk")));
    table()->setFocus();
    QVERIFY(BenchWindow::wait_for([this] { return tags_and_note(1) == QStringLiteral("old, disk|the first one"); }));
  }

  void what_is_being_typed_stays_when_the_list_is_read_again() {
    auto* note = bench->find<QLineEdit>(QStringLiteral("result_note"));
    auto* tags = bench->find<QLineEdit>(QStringLiteral("result_tags"));
    bench->window().activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&bench->window(), n2nq::ui_test::deadline_ms));
    QVERIFY(settled());
    table()->selectRow(1);
    QVERIFY(bench->type(QStringLiteral("result_tags"), QStringLiteral("old, di")));
    page().refresh();
    QVERIFY(settled());
    QVERIFY(tags->hasFocus());
    QCOMPARE(tags->text(), QStringLiteral("old, di"));
    QCOMPARE(note->text(), QStringLiteral("the first one"));
    // Leaving the note saves it, and so reads the list: it arrives between two letters of the tags.
    QVERIFY(bench->type(QStringLiteral("result_note"), QStringLiteral("the first one of two")));
    QTest::keyClick(note, Qt::Key_Tab);
    QVERIFY(tags->hasFocus());
    tags->selectAll();
    QTest::keyClicks(tags, QStringLiteral("old, d"));
    QVERIFY(settled());
    QTest::keyClicks(tags, QStringLiteral("isk"));
    QCOMPARE(tags->text(), QStringLiteral("old, disk"));
    QCOMPARE(note->text(), QStringLiteral("the first one of two"));
    table()->setFocus();
    QVERIFY(BenchWindow::wait_for([this] { return tags_and_note(1) == QStringLiteral("old, disk|the first one of two"); }));
    QVERIFY(settled());
  }

  void who_reads_further_down_goes_on_reading_there_when_the_list_is_read_again() {
    const int height_px = table()->height();
    const auto back = qScopeGuard([&] { table()->setFixedHeight(height_px), table()->setMinimumHeight(0), table()->setMaximumHeight(QWIDGETSIZE_MAX); });
    table()->setFixedHeight(table()->horizontalHeader()->height() + table()->rowHeight(0) * 3 / 2);
    QCoreApplication::processEvents();
    table()->selectRow(0);
    table()->scrollToBottom();
    const int value = table()->verticalScrollBar()->value();
    QVERIFY(value > 0);
    page().refresh();
    QVERIFY(settled());
    QCOMPARE(table()->verticalScrollBar()->value(), value);
    QCOMPARE(table()->selectionModel()->selectedRows().value(0).row(), 0);
  }

  void a_run_opens_with_its_figures_and_a_spike_tells_its_slowest_messages() {
    table()->selectRow(1);
    QVERIFY(bench->click(QStringLiteral("button_result_open")));
    QVERIFY(settled());
    auto* parts = bench->find<QListWidget>(QStringLiteral("report_parts"));
    QVERIFY(parts->isVisible());
    for (const char* part :
         {"Figures", "Latency by percentile", "Histogram of the latency", "CDF of the latency", "Latency of each receiver",
          "Median latency by pair", "Means of the stages", "Ledger", "Settings", "Environment"}) {
      QVERIFY2(page().report_view()->show_part(QString::fromLatin1(part)), part);
    }
    QVERIFY(page().report_view()->show_part(QStringLiteral("Latency over time")));
    auto* view = page().report_view()->figure_view();
    QVERIFY(!bench->find<QTableWidget>(QStringLiteral("slow_table"))->isVisible());  // the room is the curve's
    QVERIFY2(view->height() > page().report_view()->height() * 3 / 4, qPrintable(QString::number(view->height())));
    view->grab();
    int point = 5;
    while (point < n2nq::app::RunDigest::slices_max && view->place_of({0, point}).isNull()) ++point;  // in which nothing came
    QTest::mouseClick(view, Qt::LeftButton, {}, view->place_of({0, point}).toPoint());
    auto* slow = bench->find<QTableWidget>(QStringLiteral("slow_table"));
    QVERIFY(slow->isVisible() && slow->rowCount() > 0);
    QVERIFY2(view->height() > page().report_view()->height() / 2, qPrintable(QString::number(view->height())));
    QSignalSpy asked(&page(), &n2nq::ui::ResultsPage::log_requested);
    slow->setFocus();
    slow->setCurrentCell(0, 0);
    emit slow->cellActivated(0, 0);
    QCOMPARE(asked.size(), 1);
    const QString title = asked[0][0].toString(), path = asked[0][1].toString(), text = asked[0][2].toString();
    const QString name = bench->find<n2nq::ui::ElidedLabel>(QStringLiteral("result_name"))->full_text();
    QCOMPARE(title, QStringLiteral("Log of %1 · %2").arg(QFileInfo(path).completeBaseName(), name));
    QVERIFY2(n2nq::ui_test::file_text(path).contains('\t' + text.toUtf8() + '\t'), qPrintable(path + ' ' + text));
    n2nq::ui::LogWindow* log = bench->window().logs().open(QString(), path);
    auto* found = log->findChild<QLabel*>(QStringLiteral("log_found"));
    QVERIFY(BenchWindow::wait_for([found] { return found->text().startsWith(QStringLiteral("line")); }));
    log->close();
  }

  /// Of a run on several machines; this one is on one.
  void slowest_messages_have_their_bound_and_are_grey_below_it() {
    n2nq::app::RunDigest digest;
    digest.slices.resize(n2nq::app::RunDigest::slices_max);
    digest.slowest.assign(digest.slices.size(), {{.receiver = 1, .sender = 2, .to_broker_us = 20, .to_receiver_us = 900, .latency_us = 930}});
    digest.latency_limit_us = 33;
    digest.to_broker_limit_us = 21.42;
    digest.to_receiver_limit_us = INFINITY;
    auto* view = page().report_view();
    const n2nq::app::Report report = view->report();
    view->show_report(report, digest);
    const auto back = qScopeGuard([&] { view->show_report(report, {}); });
    QVERIFY(view->show_part(QStringLiteral("Latency over time")));
    view->figure_view()->grab();
    QTest::mouseClick(view->figure_view(), Qt::LeftButton, {}, view->figure_view()->place_of({0, 5}).toPoint());
    auto* slow = bench->find<QTableWidget>(QStringLiteral("slow_table"));
    QStringList heads;
    for (int column = 4; column < 9; ++column) heads += slow->horizontalHeaderItem(column)->text();
    QCOMPARE(heads.join(u'|'), QStringLiteral("lag µs|to N2NQ µs ± 21.5|in queue µs|to receiver µs ± ?|latency µs ± 33.0"));
    QVERIFY2(slow->item(0, 5)->toolTip().contains(QStringLiteral("less than its ± of 21.5 µs")), qPrintable(slow->item(0, 5)->toolTip()));
    QVERIFY(slow->item(0, 5)->foreground() != slow->item(0, 8)->foreground());
    QVERIFY(bench->find<QLabel>(QStringLiteral("slow_title"))->text().endsWith(QStringLiteral("Grey: less than its ±")));
    // In the other theme in that one's grey.
    const auto grey_now = [&] { return slow->item(0, 5)->foreground().color() == bench->window().theme().tokens().secondary; };
    for (const auto choice : {n2nq::ui::ThemeChoice::dark, n2nq::ui::ThemeChoice::light}) {
      bench->window().theme().choose(choice);
      QVERIFY(grey_now());
    }
  }

  void tables_have_words_where_files_have_keys() {
    auto* shown = bench->find<QTableWidget>(QStringLiteral("report_table"));
    const auto heads = [shown] {
      QStringList out;
      for (int column = 0; column < shown->columnCount(); ++column) out += shown->horizontalHeaderItem(column)->text().replace(u'\n', u' ');
      return out;
    };
    QVERIFY(page().report_view()->show_part(QStringLiteral("Figures")));
    QCOMPARE(heads().mid(2).join(u'|'), QStringLiteral("count|mean|mean of the lowest 95 %|left out|min|p50|p90|p95|p99|p99.9|max"));
    QVERIFY(page().report_view()->show_part(QStringLiteral("Receivers")));
    for (const char* head :
         {"service", "latency p50 µs", "latency from plan p99 µs", "latency count", "sent again", "wrong checksum", "bytes"})
      QVERIFY2(heads().contains(QString::fromUtf8(head)), qPrintable(heads().join(u'\n')));
    const auto at = static_cast<int>(heads().indexOf(QStringLiteral("latency p50 µs")));
    QCOMPARE(shown->horizontalHeaderItem(at)->toolTip(), QStringLiteral("In files: latency_us.p50 (µs)"));
    QCOMPARE(shown->horizontalHeaderItem(at)->text(), QStringLiteral("latency\np50 µs"));  // or its column were as wide as that
    const QString below = bench->find<QLabel>(QStringLiteral("report_below"))->text();
    QVERIFY2(below.startsWith(QStringLiteral("p50 and p99 of one service are known to 0.8 %.")), qPrintable(below));
    QVERIFY(page().report_view()->show_part(QStringLiteral("Plan")));
    QCOMPARE(shown->item(0, 0)->text(), QStringLiteral("plan kept"));
    QCOMPARE(shown->item(0, 0)->toolTip(), QStringLiteral("In files: kept"));
    const bool kept = shown->item(0, 1)->text() == QStringLiteral("yes");  // on a busy machine it is not
    QCOMPARE(shown->item(0, 1)->toolTip(), kept ? QStringLiteral("In files: true") : QStringLiteral("In files: false"));
    QVERIFY(page().report_view()->show_part(QStringLiteral("Ledger")));
    QStringList counts;
    for (int row = 0; row < shown->rowCount(); ++row) counts += shown->item(row, 0)->text();
    for (const char* count : {"lost before queue", "copies accepted", "parked, delivered", "cut off", "out of order"})
      QVERIFY2(counts.contains(QString::fromUtf8(count)), qPrintable(counts.join(u'\n')));
    for (const QString& words : heads() + counts) QVERIFY2(!words.contains(u'_'), qPrintable(words));
  }

  /// What is left of one would read as another one.
  void a_number_that_is_partly_out_of_sight_is_not_shown() {
    const QString title = QStringLiteral("Figures");
    n2nq::app::Table of_numbers{.id = QStringLiteral("figures"), .title = title, .columns = {}, .rows = {}, .doubts = {}};
    of_numbers.rows.resize(2);
    for (int column = 0; column < 12; ++column) {
      of_numbers.columns += QStringLiteral("8.8");  // narrower than what is below it
      of_numbers.rows[0].push_back(111'999.0);  // as wide in any font
      of_numbers.rows[1].push_back(999'111.0);
    }
    n2nq::app::Report report;
    report.tables = {of_numbers};
    n2nq::ui::ReportView view(bench->window().theme());
    view.resize(600, 300);
    view.show_report(report, {});
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view, n2nq::ui_test::deadline_ms));
    auto* shown = view.findChild<QTableWidget*>(QStringLiteral("report_table"));
    shown->setFocusPolicy(Qt::NoFocus);
    QWidget *cells = shown->viewport(), *heads = shown->horizontalHeader()->viewport();
    QScrollBar* bar = shown->horizontalScrollBar();
    QVERIFY(bar->maximum() > 0);
    const auto head = [&](int column, const QRect& seen, const QString& text) {
      shown->horizontalHeaderItem(column)->setText(text);
      return heads->grab({seen.left(), 0, seen.width(), heads->height()}).toImage();
    };
    int cut = 0, whole = 0;
    for (int from_px = 0; from_px <= bar->maximum(); from_px += 9) {
      bar->setValue(from_px);
      for (int column = 0; column < shown->columnCount(); ++column) {
        const QRect cell = shown->visualItemRect(shown->item(0, column)), seen = cell & cells->rect();
        if (seen.isEmpty()) continue;
        const QRect below = shown->visualItemRect(shown->item(1, column)) & cells->rect();
        const bool is_whole = seen == cell;
        ++(is_whole ? whole : cut);
        QCOMPARE(cells->grab(seen).toImage() != cells->grab(below).toImage(), is_whole);
        if (seen.width() > cell.width() / 2) continue;
        const QImage of_one = head(column, seen, QStringLiteral("11 999.1"));
        QCOMPARE(head(column, seen, QStringLiteral("99 111.9")), of_one);
      }
    }
    QVERIFY2(cut > 0 && whole > 0, qPrintable(QStringLiteral("%1 cut, %2 whole").arg(cut).arg(whole)));
  }

  void one_click_exports_what_is_open() {
    const QString name = bench->find<n2nq::ui::ElidedLabel>(QStringLiteral("result_name"))->full_text();
    const QString folder = bench->folder() + QStringLiteral("/runs/") + name;
    QVERIFY(bench->click(QStringLiteral("button_report_export")));
    QVERIFY(settled());
    for (const char* file : {"report.html", "report.xlsx", "report.json", "charts/percentiles.pdf", "tables/figures.csv"}) {
      QVERIFY2(QFile::exists(folder + '/' + QString::fromLatin1(file)), file);
    }
    QVERIFY2(bench->messages().contains(QStringLiteral("Exported: ")), qPrintable(bench->messages()));
    QVERIFY(bench->click(QStringLiteral("button_results_back")));
  }

  void an_export_goes_on_and_says_so_wherever_one_looks() {
    const auto* in_list = bench->find<QLabel>(QStringLiteral("results_doing"));
    const auto* in_report = bench->find<QLabel>(QStringLiteral("result_busy"));
    const auto* export_of_list = bench->find<QAbstractButton>(QStringLiteral("button_result_export"));
    const auto* export_of_report = bench->find<QAbstractButton>(QStringLiteral("button_report_export"));
    table()->selectRow(1);
    QVERIFY(export_of_list->isEnabled());
    QVERIFY(bench->click(QStringLiteral("button_result_open")));
    QCOMPARE(in_list->text(), QStringLiteral("reading …"));
    QVERIFY(settled());
    QCOMPARE(in_list->text(), QString());
    // That it is done is heard of with a later turn of this thread's events: until then it goes on, however quick the disk is.
    QVERIFY(bench->click(QStringLiteral("button_report_export")));
    QCOMPARE(in_report->text(), QStringLiteral("exporting …"));
    QVERIFY(bench->click(QStringLiteral("button_results_back")));
    QVERIFY(in_list->isVisible());
    QCOMPARE(in_list->text(), QStringLiteral("exporting …"));
    QCOMPARE(page().cursor().shape(), Qt::BusyCursor);
    QVERIFY(!export_of_list->isEnabled() && !export_of_report->isEnabled());
    QVERIFY(bench->click(QStringLiteral("button_result_open")));
    QCOMPARE(in_list->text(), QStringLiteral("reading … · exporting …"));
    QVERIFY(settled());
    QVERIFY(in_list->text().isEmpty() && in_report->text().isEmpty());
    QCOMPARE(page().cursor().shape(), Qt::ArrowCursor);
    QVERIFY(bench->click(QStringLiteral("button_results_back")));
    QVERIFY(export_of_list->isEnabled() && export_of_report->isEnabled());
  }

  void latencies_between_two_clocks_say_so_and_a_long_reason_keeps_the_windows_width() {
    const QString runs = bench->folder() + QStringLiteral("/runs/");
    const QString of = QDir(runs).entryList({QStringLiteral("*broadcaster*")}, QDir::Dirs).first();
    const QString folder = runs + QStringLiteral("2020-01-01T00-00-00-apart");
    QVERIFY(QDir().mkpath(folder));
    for (const char* name : {"settings.yaml", "latency.hgrm"})
      QVERIFY(QFile::copy(runs + of + '/' + QLatin1String(name), folder + '/' + QLatin1String(name)));
    nlohmann::json summary = nlohmann::json::parse(n2nq::ui_test::file_text(runs + of + QStringLiteral("/summary.json")).toStdString());
    summary["started"] = "2020-01-01T00:00:00.000Z";
    summary["latency_us"]["p50"] = 4229;
    summary["environment"]["floor"]["receivers"]["loopback_echo_p50_ns"] = 3'000'000;
    for (const char* key : {"latency_us", "latency_from_plan_us"}) summary[key]["bound_us"] = 4452.6;
    summary["stages"]["to_broker_us"]["bound_us"] = 2226.2;
    summary["stages"]["to_receiver_us"]["bound_us"] = 2226.4;
    summary["reasons"] = {
        "the clocks of the hosts are known to ± 4453 µs, which is more than the median latency (4229 µs): the latencies between these "
        "hosts tell "
        "nothing finer",
        "the other reason is this one"};
    QFile file(folder + QStringLiteral("/summary.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(summary.dump()));
    file.close();
    bench->window().resize(1280, 720);
    bench->window().show_page(QStringLiteral("Bench"));
    QVERIFY(show_list());
    QCOMPARE(rows(), 3);
    QVERIFY2(cell(2, ResultsModel::p50).contains(QStringLiteral("229 ± 4")), qPrintable(cell(2, ResultsModel::p50)));
    const auto color = [this](int row, int column) {
      return table()->model()->index(row, column).data(Qt::ForegroundRole).value<QColor>();
    };
    QCOMPARE(color(2, ResultsModel::p50), color(2, ResultsModel::tags));  // near the floor: as grey as a tag
    QVERIFY(color(2, ResultsModel::p50) != color(2, ResultsModel::deliveries));
    const QString why = table()->model()->index(2, ResultsModel::p50).data(Qt::ToolTipRole).toString();
    QVERIFY2(why.contains(QStringLiteral("they tell nothing finer\nGrey, because it is below twice")), qPrintable(why));
    table()->selectRow(2);
    QVERIFY(bench->click(QStringLiteral("button_result_open")));
    QVERIFY(settled());
    QCOMPARE(bench->window().width(), 1280);
    const QString lead = bench->find<QLabel>(QStringLiteral("report_lead"))->text();
    QVERIFY2(lead.contains(QStringLiteral("± 4\u202f453 µs, which")), qPrintable(lead));
    QVERIFY(page().report_view()->show_part(QStringLiteral("Latency by percentile")));
    const n2nq::app::Figure& figure = page().report_view()->figure_view()->figure();
    QVERIFY2(figure.remarks.last().contains(QStringLiteral("tells nothing finer")), qPrintable(figure.remarks.join('\n')));
    QCOMPARE(figure.series.front().points.front().clock_bound, 4452.6);
    QVERIFY2(n2nq::app::figure_svg(figure).contains(">clocks ±</text>"), "its legend says what the band is");
    QVERIFY(page().report_view()->show_part(QStringLiteral("Means of the stages")));
    QCOMPARE(page().report_view()->figure_view()->figure().remarks,
             QStringList(QStringLiteral("to N2NQ ± 2\u202f227 µs (more than itself), to receiver ± 2\u202f227 µs (more than itself): between the clocks "
                                        "of two hosts.")));
    const auto* grey = bench->find<QLabel>(QStringLiteral("report_below"));
    QVERIFY(page().report_view()->show_part(QStringLiteral("Figures")));
    QVERIFY2(grey->isVisible() && grey->text().startsWith(QStringLiteral("Grey: ")) && grey->text().contains(QStringLiteral("less than its ±")),
             qPrintable(grey->text()));
    QVERIFY(page().report_view()->show_part(QStringLiteral("Settings")));
    QVERIFY2(!grey->isVisible(), qPrintable(grey->text()));
    QVERIFY(bench->click(QStringLiteral("button_results_back")));
    QVERIFY(QDir(folder).removeRecursively());
    bench->window().show_page(QStringLiteral("Bench"));
    QVERIFY(show_list());
    QCOMPARE(rows(), 2);
  }

  void what_is_wrong_with_the_list_is_told_until_it_is_not() {
    const QString index = bench->folder() + QStringLiteral("/runs/.index.sqlite");
    const QString why = QStringLiteral("The index %1 cannot be written").arg(index);
    QVERIFY(QFile::remove(index) && QDir().mkpath(index));
    page().refresh();
    QVERIFY(settled());
    QVERIFY2(bench->messages().contains(why), qPrintable(bench->messages()));
    // Also behind what else is told of results.
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_copy")));
    QVERIFY2(bench->messages().contains(QStringLiteral("Copied: ")) && bench->messages().contains(why), qPrintable(bench->messages()));
    QVERIFY(QDir().rmdir(index));
    page().refresh();
    QVERIFY(settled());
    QVERIFY2(!bench->messages().contains(why), qPrintable(bench->messages()));
  }

  void the_list_says_where_runs_were() {
    QCOMPARE(cell(0, ResultsModel::machines), QStringLiteral("local"));
    QVERIFY(bench->type(QStringLiteral("results_search"), QStringLiteral("local")));
    QCOMPARE(rows(), 2);
    bench->find<QLineEdit>(QStringLiteral("results_search"))->clear();
  }

  void two_runs_are_compared() {
    table()->selectAll();
    QVERIFY(bench->click(QStringLiteral("button_result_compare")));
    QVERIFY(settled());
    auto* shown = bench->find<QTableWidget>(QStringLiteral("report_table"));
    QVERIFY(shown->isVisible());
    QCOMPARE(shown->item(0, 0)->text(), QStringLiteral("verdict"));
    QVERIFY(!shown->item(0, 2)->text().isEmpty());
    QCOMPARE(shown->item(1, 0)->text(), QStringLiteral("latency mean of the lowest 95 %"));
    QCOMPARE(shown->item(1, 0)->toolTip(), QStringLiteral("In files: latency_us.mean_lowest_95"));
    const QString above = bench->find<QLabel>(QStringLiteral("report_lead"))->text();
    QVERIFY2(above.contains(QStringLiteral("Settings that differ: queue.mode load-balancer / broadcaster")), qPrintable(above));
    QVERIFY2(above.contains(QStringLiteral("Environment: the same")), qPrintable(above));
    QStringList heads;
    for (int column = 2; column < 6; ++column) heads += shown->horizontalHeaderItem(column)->text();
    QCOMPARE(heads, QStringList({"A", "B", "B against A", QString::fromUtf8("B − A")}));
    QVERIFY(!shown->item(0, 3)->text().isEmpty());
    QCOMPARE(shown->item(1, 4)->text(), QStringLiteral("under 5 repeats: no statement"));
    QVERIFY(page().report_view()->show_part(QStringLiteral("Latency by percentile")));
    QCOMPARE(page().report_view()->figure_view()->figure().series.size(), std::size_t(2));
    QVERIFY(bench->click(QStringLiteral("button_report_export")));
    QVERIFY(settled());
    QVERIFY2(bench->messages().contains(QStringLiteral("/reports/")), qPrintable(bench->messages()));
    QTest::keyClick(bench->find<QListWidget>(QStringLiteral("report_parts")), Qt::Key_Escape);
    QVERIFY(table()->isVisible());
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "open_folder");
    const auto back = qScopeGuard([] { QDesktopServices::unsetUrlHandler(QStringLiteral("file")); });
    QVERIFY(bench->click(QStringLiteral("button_result_folder")));
    QVERIFY2(QFile::exists(opened + QStringLiteral("/report.html")), qPrintable(opened));
    QCOMPARE(QFileInfo(QFileInfo(opened).path()).fileName(), QStringLiteral("reports"));
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_folder")));
    QCOMPARE(QFileInfo(QFileInfo(opened).path()).fileName(), QStringLiteral("runs"));
  }

  void a_long_text_has_the_room_that_is_left_and_what_is_empty_is_no_part() {
    const QString text(80, u'n');
    n2nq::app::Table settings{.id = QStringLiteral("settings"),
                              .title = QStringLiteral("Settings that differ"),
                              .columns = {QStringLiteral("key"), QStringLiteral("A"), QStringLiteral("B")},
                              .rows = {{QStringLiteral("queue.requests"), QStringLiteral("false"), text}},
                              .doubts = {}};
    n2nq::app::Table environment{.id = QStringLiteral("environment"),
                                 .title = QStringLiteral("Environment that differs"),
                                 .columns = settings.columns,
                                 .rows = {},
                                 .doubts = {}};
    n2nq::app::Report report;
    report.appendix = {settings, environment};
    n2nq::ui::ReportView view(bench->window().theme());
    view.resize(1400, 600);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view, n2nq::ui_test::deadline_ms));
    view.show_report(report, {});
    QVERIFY(view.show_part(settings.title));
    QVERIFY(!view.show_part(environment.title));
    const auto* shown = view.findChild<QTableWidget*>(QStringLiteral("report_table"));
    const int needed_px = shown->fontMetrics().horizontalAdvance(text);
    const auto width_px = [shown] { return shown->columnWidth(2); };
    const auto fits = [shown] { return shown->horizontalHeader()->length() <= shown->viewport()->width(); };
    view.resize(1402, 600);
    QVERIFY2(BenchWindow::wait_for([&] { return width_px() >= needed_px && fits(); }),
             qPrintable(QStringLiteral("%1 of %2").arg(width_px()).arg(needed_px)));
    view.resize(700, 600);
    QVERIFY2(BenchWindow::wait_for([&] { return width_px() < needed_px; }), qPrintable(QString::number(width_px())));
  }

  void a_head_that_is_cut_is_whole_under_the_mouse() {
    const QString name = QStringLiteral("load-balancer,") + QString(80, u'n');
    n2nq::app::Table runs{.id = QStringLiteral("runs"),
                          .title = QStringLiteral("Runs"),
                          .columns = {QStringLiteral("run"), name},
                          .rows = {{QStringLiteral("0001"), QStringLiteral("clean")}},
                          .doubts = {}};
    n2nq::app::Report report;
    report.tables = {runs};
    n2nq::ui::ReportView view(bench->window().theme());
    view.resize(600, 300);
    view.show_report(report, {});
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view, n2nq::ui_test::deadline_ms));
    const auto* shown = view.findChild<QTableWidget*>(QStringLiteral("report_table"));
    QVERIFY(shown->columnWidth(1) < shown->horizontalHeader()->sectionSizeHint(1));
    QCOMPARE(shown->horizontalHeaderItem(1)->toolTip(), name);
  }

  void a_report_that_is_resized_shares_its_room_and_measures_no_cell_again() {
    struct Counting : QStyledItemDelegate {
      mutable int measured = 0;
      QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        ++measured;
        return QStyledItemDelegate::sizeHint(option, index);
      }
    } counting;
    const QString text(80, u'n');
    n2nq::app::Table settings{.id = QStringLiteral("settings"),
                              .title = QStringLiteral("Settings"),
                              .columns = {QStringLiteral("key"), QStringLiteral("A"), QStringLiteral("B")},
                              .rows = {{QStringLiteral("queue.requests"), text, QStringLiteral("false")}},
                              .doubts = {}};
    n2nq::app::Report report;
    report.tables = {settings};
    n2nq::ui::ReportView view(bench->window().theme());
    auto* shown = view.findChild<QTableWidget*>(QStringLiteral("report_table"));
    shown->setItemDelegate(&counting);
    // Out of sight its room is not known yet.
    view.resize(1400, 600);
    view.show_report(report, {});
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view, n2nq::ui_test::deadline_ms));
    QVERIFY(counting.measured > 0);
    counting.measured = 0;
    const auto width_px = [shown] { return shown->columnWidth(1); };
    const int needed_px = shown->fontMetrics().horizontalAdvance(text);
    QVERIFY2(BenchWindow::wait_for([&] { return width_px() >= needed_px; }), qPrintable(QString::number(width_px())));
    view.resize(700, 600);
    QVERIFY2(BenchWindow::wait_for([&] { return width_px() < needed_px; }), qPrintable(QString::number(width_px())));
    view.resize(1400, 600);
    QVERIFY2(BenchWindow::wait_for([&] { return width_px() >= needed_px; }), qPrintable(QString::number(width_px())));
    QCOMPARE(counting.measured, 0);
  }

  void escape_leads_back_from_a_figure_that_has_the_focus() {
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_open")));
    QVERIFY(settled());
    QVERIFY(page().report_view()->show_part(QStringLiteral("Latency by percentile")));
    auto* figure = bench->find<n2nq::ui::FigureView>(QStringLiteral("report_figure"));
    figure->setFocus();
    QTest::keyClick(figure, Qt::Key_Right);
    QVERIFY(!figure->accessibleDescription().isEmpty());
    QTest::keyClick(figure, Qt::Key_Escape);  // from the point that is read, then from the report
    QVERIFY(figure->isVisible() && figure->accessibleDescription().isEmpty());
    QTest::keyClick(figure, Qt::Key_Escape);
    QVERIFY(table()->isVisible());
    QVERIFY(settled());
  }

  void a_runs_settings_are_used_again() {
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_copy")));
    QVERIFY(QGuiApplication::clipboard()->text().contains(QRegularExpression(QStringLiteral("^'?(/.*/)?n2nq-bench'? run '/"))));
    page().set_hosts_file(QStringLiteral("/lab's/hosts.yaml"));
    QVERIFY(bench->click(QStringLiteral("button_result_copy")));
    QVERIFY(QGuiApplication::clipboard()->text().endsWith(QStringLiteral("/settings.yaml' --hosts '/lab'\\''s/hosts.yaml'")));
    bench->set({{"senders.messages", "7"}});
    QVERIFY(bench->click(QStringLiteral("button_result_rerun")));
    QCOMPARE(bench->form().text(QStringLiteral("senders.messages")), QStringLiteral("40"));
    QCOMPARE(bench->form().text(QStringLiteral("queue.mode")), QStringLiteral("load-balancer"));
    QCOMPARE(bench->window().presets().name(), QString());
    QVERIFY2(bench->messages().contains(QStringLiteral("Settings of \"Quick look (modified)\" taken over")), qPrintable(bench->messages()));
    // As a preset that has the same.
    QCOMPARE(bench->window().presets().save_as(QStringLiteral("as that run")), QString());
    QCOMPARE(bench->window().presets().choose(QStringLiteral("quick")), QString());
    QVERIFY(!bench->messages().contains(QStringLiteral("taken over")));
    QVERIFY(show_list());
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_rerun")));
    QCOMPARE(bench->window().presets().name(), QStringLiteral("as that run"));
    QVERIFY(!bench->window().presets().is_modified());
    QVERIFY(bench->messages().contains(QStringLiteral("taken over")));
  }

  void who_comes_back_to_the_window_finds_what_is_there_by_then() {
    QVERIFY(show_list());
    QCOMPARE(rows(), 2);
    // As a command in a terminal leaves one.
    const QString runs = bench->folder() + QStringLiteral("/runs/"), folder = runs + QStringLiteral("2020-01-01T00-00-00-elsewhere");
    const QString of = QDir(runs).entryList({QStringLiteral("*broadcaster*")}, QDir::Dirs).first();
    const auto leave_one = [&] {
      QVERIFY(QDir().mkpath(folder));
      for (const char* name : {"settings.yaml", "summary.json"})
        QVERIFY(QFile::copy(runs + of + '/' + QLatin1String(name), folder + '/' + QLatin1String(name)));
    };
    leave_one();
    QVERIFY(bench->come_back());
    QVERIFY(BenchWindow::wait_for([this] { return rows() == 3; }));
    QVERIFY(settled());
    // Also while it exports one, which ends without a look at the list.
    QVERIFY(QDir(folder).removeRecursively());
    table()->selectRow(0);
    QVERIFY(bench->click(QStringLiteral("button_result_export")));
    QVERIFY(page().is_busy());
    QEvent comes(QEvent::WindowActivate);  // by which it hears of that, before it can hear that the export is done
    QCoreApplication::sendEvent(&bench->window(), &comes);
    QVERIFY(settled());
    QCOMPARE(rows(), 2);
    leave_one();
    QVERIFY(bench->come_back());
    QVERIFY(BenchWindow::wait_for([this] { return rows() == 3; }));
    QVERIFY(settled());
    // Not beside a run, which it would take a core from.
    bench->window().show_page(QStringLiteral("Bench"));
    bench->set({{"senders.messages", "1000000"}});
    QVERIFY(bench->click(QStringLiteral("button_start_all")));
    QVERIFY(bench->wait_for_state(n2nq::app::RunState::running));
    QVERIFY(show_list());
    const int beside_it = rows();
    QVERIFY(QDir(folder).removeRecursively());
    QVERIFY(bench->come_back());
    QVERIFY(!page().is_busy());
    QCOMPARE(rows(), beside_it);
    QVERIFY(bench->click(QStringLiteral("button_stop_all")));
    QVERIFY(bench->wait_for_state(n2nq::app::RunState::finished));
    QVERIFY(BenchWindow::wait_for([&] { return rows() == beside_it - 1; }));
  }
};

QTEST_MAIN(TestResults)
#include "test_results.moc"
