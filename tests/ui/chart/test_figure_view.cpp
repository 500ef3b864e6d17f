// SPDX-License-Identifier: GPL-3.0-or-later
// A figure on screen: what mouse and keys tell about its points.
#include <QSignalSpy>
#include <QTest>

#include "app/figure/number_text.h"
#include "tests/app/figure/sample_figures.h"
#include "tests/ui/support/bench_window.h"
#include "ui/chart/figure_view.h"

using n2nq::app::FigureHit;
using n2nq::ui::FigureView;
using n2nq::ui::Theme;

class TestFigureView : public QObject {
  Q_OBJECT
 private slots:
  void a_click_on_a_point_gives_its_folders() {
    Theme theme;
    FigureView view(theme);
    auto figure = n2nq::app::sample_lines();
    figure.series[2].points[3].folders = {"/runs/one", "/runs/two"};
    view.set_figure(figure);
    view.resize(700, 460);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view, n2nq::ui_test::deadline_ms));
    view.grab();
    QSignalSpy clicks(&view, &FigureView::point_clicked);
    QTest::mouseClick(&view, Qt::LeftButton, {}, view.place_of({2, 3}).toPoint());
    QCOMPARE(clicks.size(), 1);
    QCOMPARE(clicks[0][0].value<FigureHit>(), (FigureHit{2, 3}));
    QCOMPARE(clicks[0][1].toStringList(), QStringList({"/runs/one", "/runs/two"}));
    QVERIFY2(view.accessibleDescription().contains("0.2 s, services 50"), qPrintable(view.accessibleDescription()));
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(2, 2));
    QCOMPARE(clicks.size(), 1);
  }

  void keys_go_from_point_to_point() {
    Theme theme;
    FigureView view(theme);
    view.set_figure(n2nq::app::sample_lines());
    view.resize(700, 460);
    view.show();
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Down);
    QVERIFY2(view.accessibleDescription().contains("0.5 s, services 10"), qPrintable(view.accessibleDescription()));
    QVERIFY2(view.accessibleDescription().contains("the host was busy"), qPrintable(view.accessibleDescription()));
  }

  void keys_pass_over_a_curve_without_points() {
    Theme theme;
    FigureView view(theme);
    auto figure = n2nq::app::sample_lines();
    figure.series[0].points.clear();
    figure.series[2].points.clear();
    view.set_figure(figure);
    view.resize(700, 460);
    view.show();
    const auto reads = [&](const char* what) { return view.accessibleDescription().contains(QString::fromLatin1(what)); };
    for (const auto& [key, first] : {std::pair(Qt::Key_Right, "0.5 s, services 1,"), {Qt::Key_Down, "0.5 s, services 1,"},
                                     {Qt::Key_Left, "0.5 s, services 100,"}}) {
      QTest::keyClick(&view, Qt::Key_Escape);
      QTest::keyClick(&view, key);
      QVERIFY2(reads(first), qPrintable(view.accessibleDescription()));
    }
    QTest::keyClick(&view, Qt::Key_Left);
    QTest::keyClick(&view, Qt::Key_Down);
    QVERIFY2(reads("0.1 s, services 50"), qPrintable(view.accessibleDescription()));
    QTest::keyClick(&view, Qt::Key_Down);  // the last one is empty as well
    QVERIFY2(reads("0.1 s, services 50"), qPrintable(view.accessibleDescription()));
    QTest::keyClick(&view, Qt::Key_Up);
    QVERIFY2(reads("0.5 s, services 50"), qPrintable(view.accessibleDescription()));
    for (auto& series : figure.series) series.points.clear();
    view.set_figure(figure);
    for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Left, Qt::Key_Down, Qt::Key_Up, Qt::Key_Return}) QTest::keyClick(&view, key);
    QCOMPARE(view.accessibleDescription(), QString());
  }

  void a_point_that_is_read_stays_while_the_figure_still_has_it() {
    Theme theme;
    FigureView view(theme);
    auto figure = n2nq::app::sample_lines();
    figure.series[0].points[1].folders = {"/runs/one"};
    view.set_figure(figure);
    view.resize(700, 460);
    view.show();
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Right);
    QVERIFY2(view.accessibleDescription().contains("1.0 s, services 10"), qPrintable(view.accessibleDescription()));
    // Another run was added to it, and another curve.
    figure.series[0].points[1].repeats = 4;
    figure.series[0].points.erase(figure.series[0].points.begin());
    figure.series.insert(figure.series.begin(), {.name = "2.0 s", .points = {{.x = 10, .y = 60}}, .not_run = {}});
    view.set_figure(figure);
    QVERIFY2(view.accessibleDescription().contains("1.0 s, services 10"), qPrintable(view.accessibleDescription()));
    QVERIFY2(view.accessibleDescription().contains("4 repeats"), qPrintable(view.accessibleDescription()));
    QCOMPARE(view.cursor().shape(), Qt::PointingHandCursor);
    QSignalSpy clicks(&view, &FigureView::point_clicked);
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(clicks.size(), 1);
    QCOMPARE(clicks[0][0].value<FigureHit>(), (FigureHit{1, 0}));
    figure.series[1].points.clear();
    view.set_figure(figure);
    QCOMPARE(view.accessibleDescription(), QString());
    QCOMPARE(view.cursor().shape(), Qt::ArrowCursor);
  }

  void a_point_tells_all_digits() {
    Theme theme;
    FigureView view(theme);
    auto figure = n2nq::app::sample_lines();
    for (const auto& [y, told] : {std::pair(12'345'678.0, n2nq::app::count_text(12'345'678)),
                                  {1234.567891, n2nq::app::fixed_text(1234.567891, 6)},
                                  {0.1 + 0.2, QString("0.3")},
                                  {0.0000123456, QString("0.0000123456")}}) {
      figure.series[0].points[0].y = y;
      view.set_figure(figure);
      view.show();
      QTest::keyClick(&view, Qt::Key_Escape);
      QTest::keyClick(&view, Qt::Key_Right);
      QVERIFY2(view.accessibleDescription().contains(' ' + told + QString::fromUtf8(" µs")), qPrintable(view.accessibleDescription()));
    }
  }
};

QTEST_MAIN(TestFigureView)
#include "test_figure_view.moc"
