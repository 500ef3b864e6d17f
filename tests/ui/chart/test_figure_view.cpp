// SPDX-License-Identifier: GPL-3.0-or-later
// A figure on screen: what mouse and keys tell about its points.
#include <QSignalSpy>
#include <QTest>

#include "tests/app/figure/sample_figures.h"
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
    QVERIFY(QTest::qWaitForWindowExposed(&view));
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
};

QTEST_MAIN(TestFigureView)
#include "test_figure_view.moc"
