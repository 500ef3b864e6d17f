// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/elided_label.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QTest>
#include <QTextDocument>

#include "tests/ui/support/bench_window.h"
#include "ui/widget/setting_fields.h"

namespace {

using n2nq::ui::ElidedLabel;

const QString sentence = QStringLiteral(
    "the clocks of the hosts are known to ± 4453 µs, which is more than the median latency (4229 µs): the "
    "latencies between these hosts tell nothing finer");

class TestElidedLabel : public QObject {
  Q_OBJECT
 private slots:
  void what_there_is_no_room_for_is_in_the_tooltip();
  void what_a_host_says_is_no_html();
  void more_height_shows_more_lines_where_it_grows();
  void more_height_shows_what_stands_behind_the_first_line_where_it_grows();
  void a_word_longer_than_a_line_is_not_cut_off();
  void half_an_address_is_not_shown_as_a_whole_one();
  void of_a_path_the_end_is_shown();
  void as_many_lines_are_asked_for_as_the_text_needs_where_it_says_how_many_at_most();
  void what_is_cut_off_is_copied_whole();
  void a_problem_of_a_setting_is_copied_whole();

 private:
  /// A click on it, and Ctrl+C; gives what is in the clipboard then, in which "nothing" was before.
  static QString copied_from(ElidedLabel& label);
};

QString TestElidedLabel::copied_from(ElidedLabel& label) {
  QGuiApplication::clipboard()->setText(QStringLiteral("nothing"));
  QTest::mouseClick(&label, Qt::LeftButton);
  QTest::keyClick(&label, Qt::Key_C, Qt::ControlModifier);
  return QGuiApplication::clipboard()->text();
}

void TestElidedLabel::what_there_is_no_room_for_is_in_the_tooltip() {
  ElidedLabel label("", 2);
  label.resize(200, 200);
  label.set_text(sentence);
  QCOMPARE(label.text().count(u'\n'), 1);
  QVERIFY(label.text().endsWith(u'…'));
  QCOMPARE(label.toolTip().simplified(), sentence);
  QCOMPARE(label.sizeHint().height(), 2 * label.fontMetrics().lineSpacing());
}

void TestElidedLabel::what_a_host_says_is_no_html() {
  const QString said = QStringLiteral("h2: <img src=\"/etc/x.png\"> <b>not</b> there\n& the rest");
  ElidedLabel label;
  label.set_text(said);
  QTextDocument shown;
  shown.setHtml(label.toolTip());
  QCOMPARE(shown.toPlainText(), said);
  QCOMPARE(label.accessibleDescription(), said);
}

void TestElidedLabel::more_height_shows_more_lines_where_it_grows() {
  ElidedLabel label("", 2);
  label.set_grows();
  label.resize(200, 200);
  label.show();
  QVERIFY(QTest::qWaitForWindowExposed(&label, n2nq::ui_test::deadline_ms));
  label.set_text(sentence);
  QCOMPARE(label.text().simplified(), sentence);
  QCOMPARE(label.sizeHint().height(), 2 * label.fontMetrics().lineSpacing());
  label.resize(200, label.sizeHint().height());
  QCOMPARE(label.text().count(u'\n'), 1);
  QVERIFY(label.text().endsWith(u'…'));
}

void TestElidedLabel::a_word_longer_than_a_line_is_not_cut_off() {
  const QString path =
      QStringLiteral("lost while looking at .cache/n2nq-bench/bin/n2nq-receivers-") + QString(64, u'8') + QStringLiteral(" and then");
  ElidedLabel label("", 9);
  label.resize(200, 300);
  label.set_text(path);
  QCOMPARE(QString(label.text()).remove(u'\n').remove(u' '), QString(path).remove(u' '));
  for (const QString& line : label.text().split(u'\n')) QVERIFY2(label.fontMetrics().horizontalAdvance(line) <= 200, qPrintable(line));
}

void TestElidedLabel::more_height_shows_what_stands_behind_the_first_line_where_it_grows() {
  const QString reasons = QStringLiteral("• Receivers lost\n• 315 copies expired\n• ") + sentence;
  ElidedLabel label("", 2);
  label.set_grows();
  label.resize(200, 20 * label.fontMetrics().lineSpacing());
  label.set_text(reasons);
  QCOMPARE(label.text().simplified(), QString(reasons).simplified());
  QVERIFY(label.text().startsWith(QStringLiteral("• Receivers lost\n• 315 copies expired\n• the clocks")));
  label.resize(200, 3 * label.fontMetrics().lineSpacing());
  label.set_text(reasons);  // it hears of a size when it is shown
  QCOMPARE(label.text().count(u'\n'), 2);
  QVERIFY(label.text().endsWith(u'…'));
  ElidedLabel steady("", 2);
  steady.resize(200, 200);
  steady.set_text(reasons);
  QCOMPARE(steady.text(), QStringLiteral("• Receivers lost"));
}

void TestElidedLabel::half_an_address_is_not_shown_as_a_whole_one() {
  const QString before = QStringLiteral("Senders could not be started: dead-vm cannot be reached");
  ElidedLabel label;
  const QString address = QStringLiteral(" (10.77.77.9");
  label.resize(label.fontMetrics().horizontalAdvance(before + address + u'…'), 20);
  label.set_text(before + address + QStringLiteral("9 port 22: No route to host)"));
  QCOMPARE(label.text(), before + QStringLiteral(" …"));
  // Of a path what there is room for tells more than nothing.
  label.set_text(QStringLiteral("Exported: /") + QString(200, u'f'));
  QVERIFY2(label.text().startsWith(QStringLiteral("Exported: /fff")), qPrintable(label.text()));
  QVERIFY2(label.text().endsWith(QStringLiteral("f…")), qPrintable(label.text()));
}

void TestElidedLabel::of_a_path_the_end_is_shown() {
  ElidedLabel label;
  const QString folder = QStringLiteral("/home/ann/.local/share/") + QString(60, u'f');
  const auto shown = [&label](const QString& text) {
    label.set_text(text);
    return label.text();
  };
  const QString room = QStringLiteral("ℹ Copied to ") + QString(20, u'm') + QStringLiteral("; no editor");
  label.resize(label.fontMetrics().horizontalAdvance(room), 20);
  const QString exported = shown(QStringLiteral("ℹ Exported: ") + folder + QStringLiteral("/report.html"));
  QVERIFY2(exported.startsWith(QStringLiteral("ℹ Exported: …")), qPrintable(exported));
  QVERIFY2(exported.endsWith(QStringLiteral("f/report.html")), qPrintable(exported));
  QVERIFY(label.fontMetrics().horizontalAdvance(exported) <= label.width());
  // What stands behind it stays, too.
  const QString copied = shown(QStringLiteral("ℹ Copied to ") + folder + QStringLiteral("/own.yaml; no editor"));
  QVERIFY2(copied.endsWith(QStringLiteral("f/own.yaml; no editor")), qPrintable(copied));
  // Where there is no room for its last name, it is cut as words are.
  const QString words = shown(sentence + QStringLiteral(" (/home/ann/own.yaml)"));
  QVERIFY2(words.endsWith(u'…'), qPrintable(words));
  QCOMPARE(shown(QStringLiteral("/a/b")), QStringLiteral("/a/b"));
}

void TestElidedLabel::as_many_lines_are_asked_for_as_the_text_needs_where_it_says_how_many_at_most() {
  ElidedLabel label;
  label.set_lines_max(2);
  const int line_px = label.fontMetrics().lineSpacing();
  label.resize(200, 2 * line_px);
  label.set_text(QStringLiteral("Killed on purpose"));
  QCOMPARE(label.sizeHint().height(), line_px);
  label.set_text(sentence);
  QCOMPARE(label.sizeHint().height(), 2 * line_px);
  QCOMPARE(label.text().count(u'\n'), 1);
  QVERIFY(label.text().endsWith(u'…'));
  label.set_text(QStringLiteral("Killed on purpose"));
  QCOMPARE(label.sizeHint().height(), line_px);
}

void TestElidedLabel::what_is_cut_off_is_copied_whole() {
  ElidedLabel label;
  label.offer_copy();
  label.resize(200, 40);
  label.show();
  label.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&label, n2nq::ui_test::deadline_ms));
  QCOMPARE(copied_from(label), QStringLiteral("nothing"));  // and not an empty text
  label.set_text(sentence);
  QVERIFY(label.text().endsWith(u'…'));
  QCOMPARE(copied_from(label), sentence);
  // Also by the right mouse button.
  QCOMPARE(label.contextMenuPolicy(), Qt::ActionsContextMenu);
  QCOMPARE(label.actions().size(), 1);
  QCOMPARE(label.actions().first()->text(), QStringLiteral("Copy"));
}

void TestElidedLabel::a_problem_of_a_setting_is_copied_whole() {
  n2nq::ui::SettingsForm form;
  n2nq::ui::ProblemLine line(form, {QStringLiteral("senders.amount")});
  line.resize(60, 40);
  line.show();
  line.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&line, n2nq::ui_test::deadline_ms));
  form.set(QStringLiteral("senders.amount"), QStringLiteral("0"));
  const QString problem = QStringLiteral("✕ ") + form.problem(QStringLiteral("senders.amount"));
  QVERIFY2(line.text().endsWith(u'…') && line.text() != problem, qPrintable(line.text()));
  QCOMPARE(copied_from(line), problem);
}

}  // namespace

QTEST_MAIN(TestElidedLabel)
#include "test_elided_label.moc"
