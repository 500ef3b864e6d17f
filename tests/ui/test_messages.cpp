// SPDX-License-Identifier: GPL-3.0-or-later
// What the window tells, in its strip of messages: whole, and moving nothing.
#include <QAbstractButton>
#include <QTest>

#include "tests/ui/support/bench_window.h"
#include "ui/page/bench_page.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/message_bar.h"

namespace {

using namespace n2nq;
using ui_test::BenchWindow;

class TestMessages : public QObject {
  Q_OBJECT
 private slots:
  void messages_and_problems_move_nothing();
  void details_of_messages_leave_the_window_as_it_is();
  void a_long_message_has_two_lines_and_moves_nothing();
  void a_message_goes_when_it_is_not_so_any_more();
  void to_dismiss_them_leaves_the_keyboard_where_it_was();
  void so_it_does_by_keys();
};

QPoint place(BenchWindow& bench, const char* name) {
  auto* widget = bench.find<QWidget>(QString::fromLatin1(name));
  return widget->mapTo(&bench.window(), QPoint(0, 0));
}

void TestMessages::messages_and_problems_move_nothing() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  QCoreApplication::processEvents();
  const char* const names[] = {"senders_table", "receivers_table", "field_senders_delay_ms", "button_advanced", "stage_bar",
                               "tile_sent",     "tile_p50"};
  QList<QPoint> before;
  for (const char* name : names) before << place(bench, name);
  for (const char* field :
       {"field_senders_amount", "field_senders_messages", "field_senders_delay_ms", "field_receivers_amount", "field_queue_retention_s"}) {
    QVERIFY(bench.type(QString::fromLatin1(field), QStringLiteral("x")));
  }
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QVERIFY(bench.find<QWidget>(QStringLiteral("message_bar"))->isVisible());
  QCoreApplication::processEvents();
  QList<QPoint> after;
  for (const char* name : names) after << place(bench, name);
  QCOMPARE(after, before);
  QCOMPARE(bench.window().size(), QSize(1280, 720));
}

void TestMessages::to_dismiss_them_leaves_the_keyboard_where_it_was() {
  BenchWindow bench;
  bench.find<QWidget>(QStringLiteral("field_senders_amount"))->setFocus();
  QWidget* const before = bench.window().focusWidget();
  QVERIFY(before != nullptr);
  bench.window().bench_page()->messages()->add(ui::MessageBar::Kind::bad, QStringLiteral("Something is wrong"));
  QVERIFY(bench.click(QStringLiteral("message_close")));
  QVERIFY(!bench.find<QWidget>(QStringLiteral("message_bar"))->isVisible());
  QCOMPARE(bench.window().focusWidget(), before);
}

void TestMessages::so_it_does_by_keys() {
  BenchWindow bench;
  bench.window().activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&bench.window(), ui_test::deadline_ms));
  bench.window().bench_page()->messages()->add(ui::MessageBar::Kind::bad, QStringLiteral("Something is wrong"));
  auto* const before = bench.find<QWidget>(QStringLiteral("page_tabs"));
  before->setFocus(Qt::TabFocusReason);
  for (const char* next : {"message_more", "message_close"}) {
    QTest::keyClick(bench.window().focusWidget(), Qt::Key_Tab);
    QCOMPARE(bench.window().focusWidget(), bench.find<QWidget>(QString::fromLatin1(next)));
  }
  QTest::keyClick(bench.window().focusWidget(), Qt::Key_Space);
  QVERIFY(!bench.find<QWidget>(QStringLiteral("message_bar"))->isVisible());
  QCOMPARE(bench.window().focusWidget(), before);
}

void TestMessages::details_of_messages_leave_the_window_as_it_is() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  for (int i = 0; i < 30; ++i) bench.window().bench_page()->messages()->add(ui::MessageBar::Kind::bad, QStringLiteral("Message %1").arg(i));
  QVERIFY(bench.click(QStringLiteral("message_more")));
  QVERIFY(bench.find<QWidget>(QStringLiteral("messages_popup"))->isVisible());
  QCoreApplication::processEvents();
  QCOMPARE(bench.window().size(), QSize(1280, 720));
  bench.find<QWidget>(QStringLiteral("messages_popup"))->close();
}

void TestMessages::a_long_message_has_two_lines_and_moves_nothing() {
  BenchWindow bench;
  bench.window().resize(1280, 720);
  QCoreApplication::processEvents();
  const QPoint before = place(bench, "senders_table");
  ui::MessageBar* messages = bench.window().bench_page()->messages();
  const auto* text = bench.find<ui::ElidedLabel>(QStringLiteral("message_text"));
  const auto shown = [&](const QString& message) {
    messages->replace(ui::MessageBar::Kind::bad, message, QStringLiteral("tried"));
    QCoreApplication::processEvents();
    return text->text();
  };
  const QString brief = QStringLiteral("Copied");
  QCOMPARE(shown(brief), QStringLiteral("✕ ") + brief);
  const int letters_px = text->fontMetrics().height();
  // Too long for a line at 1280, where it was cut.
  const QString remark = QStringLiteral("External sets are to run on lab-7, but there is no such machine on the page Hosts any more: choose others, or mend it there.");
  QVERIFY(text->fontMetrics().horizontalAdvance(remark) > text->width());
  QCOMPARE(QString(shown(remark)).replace(u'\n', u' '), QStringLiteral("✕ ") + remark);
  QCOMPARE(text->text().count(u'\n'), 1);
  QVERIFY(text->height() >= 2 * text->fontMetrics().lineSpacing());
  QCOMPARE(place(bench, "senders_table"), before);
  QCOMPARE(text->toolTip().simplified(), QStringLiteral("✕ ") + remark);
  QCOMPARE(shown(brief), QStringLiteral("✕ ") + brief);
  QCOMPARE(text->fontMetrics().height(), letters_px);
}

void TestMessages::a_message_goes_when_it_is_not_so_any_more() {
  BenchWindow bench;
  QVERIFY(bench.type(QStringLiteral("field_receivers_amount"), QStringLiteral("none")));
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  const ui::MessageBar* messages = bench.window().bench_page()->messages();
  QCOMPARE(messages->messages().size(), 1);
  QVERIFY(bench.click(QStringLiteral("button_start_all")));
  QCOMPARE(messages->messages().size(), 1);  // not one more for each try
  bench.window().presets().choose(QStringLiteral("thesis-baseline"));
  QVERIFY(messages->messages().isEmpty());
  QVERIFY(!messages->isVisible());
}

}  // namespace

QTEST_MAIN(TestMessages)
#include "test_messages.moc"
