// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractButton>
#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "ui/log/log_heading.h"
#include "ui/log/log_tail.h"
#include "ui/log/log_viewers.h"

namespace {

using namespace n2nq::ui;

constexpr int deadline_ms = 20'000;

void append(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::Append));
  file.write(bytes);
}

QByteArray lines_of(qint64 bytes) {
  QByteArray lines;
  for (int i = 0; lines.size() < bytes; ++i) lines += QByteArray::number(i).rightJustified(99, '.') + '\n';
  return lines;
}

class TestLogWindow : public QObject {
  Q_OBJECT
 private slots:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    path_ = folder_->filePath(QStringLiteral("R001.log"));
    viewers_ = std::make_unique<LogViewers>(theme_);
  }
  void cleanup() { viewers_.reset(); }

  void it_follows_a_file_that_grows();
  void it_waits_for_a_file_that_is_not_there_yet();
  void of_a_file_that_will_never_come_it_says_that_there_is_none();
  void it_says_how_long_nothing_came_as_long_as_more_is_expected();
  void it_begins_anew_when_the_file_is_replaced();
  void a_large_file_is_entered_near_its_end();
  void a_file_that_grows_beyond_what_is_shown_goes_on_near_its_end();
  void what_a_person_reads_stays_when_a_file_grows_beyond_what_is_shown();
  void search_goes_both_ways_and_around();
  void a_search_in_vain_moves_nothing();
  void what_is_asked_for_is_found_before_the_part_that_is_shown_or_said_to_be_nowhere();
  void copy_takes_the_selection_or_everything();
  void a_long_path_cuts_off_nothing_else_below_the_lines();
  void a_path_that_is_cut_off_is_copied_whole();
  void one_window_per_file();
  void the_columns_stay_above_the_lines();

 private:
  QString label(LogWindow* window, const char* name) { return window->findChild<QLabel*>(QString::fromLatin1(name))->text(); }

  Theme theme_;
  std::unique_ptr<QTemporaryDir> folder_;
  QString path_;
  std::unique_ptr<LogViewers> viewers_;
};

void TestLogWindow::it_follows_a_file_that_grows() {
  append(path_, "# header\nfirst\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_COMPARE_WITH_TIMEOUT(window->text(), QStringLiteral("# header\nfirst\n"), deadline_ms);
  append(path_, "second\nthi");
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("second\nthi")), deadline_ms);
  append(path_, "rd\n");
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("second\nthird\n")), deadline_ms);
  QVERIFY(window->is_following());
}

void TestLogWindow::it_waits_for_a_file_that_is_not_there_yet() {
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  window->set_awaited(true);
  QTRY_VERIFY_WITH_TIMEOUT(label(window, "log_position").contains(QStringLiteral("is here yet")), deadline_ms);
  append(path_, "here\n");
  QTRY_COMPARE_WITH_TIMEOUT(window->text(), QStringLiteral("here\n"), deadline_ms);
}

void TestLogWindow::of_a_file_that_will_never_come_it_says_that_there_is_none() {
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  const auto says = [&](const char* what) { return label(window, "log_position").contains(QString::fromLatin1(what)); };
  QTRY_VERIFY_WITH_TIMEOUT(says("no such file here"), deadline_ms);
  QVERIFY(!says("yet"));
  // So it is where its run ends before it came.
  window->set_awaited(true);
  QTRY_VERIFY_WITH_TIMEOUT(says("is here yet"), deadline_ms);
  window->set_awaited(false);
  QTRY_VERIFY_WITH_TIMEOUT(says("no such file here"), deadline_ms);
}

void TestLogWindow::it_says_how_long_nothing_came_as_long_as_more_is_expected() {
  append(path_, "first\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  window->set_awaited(true);
  QTRY_VERIFY_WITH_TIMEOUT(label(window, "log_position").contains(QStringLiteral(" · nothing new for ")), deadline_ms);
  append(path_, "second\n");
  QTRY_VERIFY_WITH_TIMEOUT(!label(window, "log_position").contains(QStringLiteral("nothing new")), deadline_ms);
  QTRY_VERIFY_WITH_TIMEOUT(label(window, "log_position").contains(QStringLiteral("nothing new")), deadline_ms);
  window->set_awaited(false);
  QTRY_VERIFY_WITH_TIMEOUT(!label(window, "log_position").contains(QStringLiteral("nothing new")), deadline_ms);
}

void TestLogWindow::it_begins_anew_when_the_file_is_replaced() {
  append(path_, "a long first content\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_VERIFY_WITH_TIMEOUT(!window->text().isEmpty(), deadline_ms);
  QFile file(path_);
  QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
  file.write("new\n");
  file.close();
  QTRY_COMPARE_WITH_TIMEOUT(window->text(), QStringLiteral("new\n"), deadline_ms);
}

void TestLogWindow::a_large_file_is_entered_near_its_end() {
  QByteArray lines;
  for (int i = 0; i < 200'000; ++i) lines += QByteArray::number(i).rightJustified(9, '0') + '\n';
  append(path_, lines);
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("000199999\n")), deadline_ms);
  QVERIFY(window->text().size() <= LogTail::tail_bytes);
  QCOMPARE(window->text().indexOf(u'\n'), 9);  // begins with a whole line
  const qsizetype before = window->text().size();
  auto* earlier = window->findChild<QAbstractButton*>(QStringLiteral("log_earlier"));
  QVERIFY(earlier->isVisible());
  QTest::mouseClick(earlier, Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(window->text().size() > before, deadline_ms);
  QStringList shown = window->text().split(u'\n', Qt::SkipEmptyParts);
  for (int i = 1; i < shown.size(); ++i) QCOMPARE(shown[i].toInt(), shown[i - 1].toInt() + 1);  // seamless
}

void TestLogWindow::a_file_that_grows_beyond_what_is_shown_goes_on_near_its_end() {
  append(path_, "first\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_COMPARE_WITH_TIMEOUT(window->text(), QStringLiteral("first\n"), deadline_ms);
  append(path_, lines_of(LogWindow::shown_bytes_max + LogTail::behind_max) + "last\n");
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("last\n")), deadline_ms);
  QVERIFY(window->text().size() <= LogWindow::shown_bytes_max);
  QVERIFY(window->is_following());
}

void TestLogWindow::what_a_person_reads_stays_when_a_file_grows_beyond_what_is_shown() {
  const QByteArray before = lines_of(64 * 1024);
  append(path_, before);
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_COMPARE_WITH_TIMEOUT(window->text().size(), before.size(), deadline_ms);
  auto* bar = window->findChild<QPlainTextEdit*>(QStringLiteral("log_text"))->verticalScrollBar();
  bar->setValue(3);
  const QString read = window->text();
  append(path_, lines_of(LogWindow::shown_bytes_max + LogTail::behind_max) + "last\n");
  QTRY_VERIFY_WITH_TIMEOUT(!window->is_following(), deadline_ms);
  QTRY_VERIFY_WITH_TIMEOUT(label(window, "log_position").contains(QStringLiteral("no longer followed, to keep what you read")), deadline_ms);
  QVERIFY(window->text().startsWith(read));
  QVERIFY(window->text().size() <= LogWindow::shown_bytes_max);
  QCOMPARE(bar->value(), 3);
  const QStringList shown = window->text().mid(read.size()).split(u'\n', Qt::SkipEmptyParts);
  for (qsizetype i = 0; i + 1 < shown.size(); ++i)  // no gap; the last line may be a part of one
    QCOMPARE(shown[i], QString::number(i).rightJustified(99, u'.'));
  // Who looks for something else now reads something else.
  window->look_for(QStringLiteral("last"));
  QTRY_COMPARE_WITH_TIMEOUT(label(window, "log_found"), QStringLiteral("found"), deadline_ms);
  QVERIFY(window->text().endsWith(QStringLiteral("last\n")));
  QTRY_VERIFY_WITH_TIMEOUT(!label(window, "log_position").contains(QStringLiteral("no longer followed")), deadline_ms);
  QVERIFY(window->is_following());
}

void TestLogWindow::search_goes_both_ways_and_around() {
  append(path_, "alpha\nbeta\nalpha beta\ngamma\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("gamma\n")), deadline_ms);
  auto* search = window->findChild<QLineEdit*>(QStringLiteral("log_search"));
  QTest::keyClicks(search, QStringLiteral("beta"));
  window->find_next();
  QCOMPARE(label(window, "log_found"), QStringLiteral("line 2"));
  QCOMPARE(window->findChild<QLabel*>(QStringLiteral("log_found"))->accessibleDescription(), QStringLiteral("line 2"));
  window->find_next();
  QCOMPARE(label(window, "log_found"), QStringLiteral("line 3"));
  window->find_next();
  QVERIFY(label(window, "log_found").startsWith(QStringLiteral("line 2, ")));
  window->find_previous();
  QVERIFY(label(window, "log_found").startsWith(QStringLiteral("line 3, ")));
}

void TestLogWindow::a_search_in_vain_moves_nothing() {
  QByteArray lines;
  for (int i = 0; i < 400; ++i) lines += "line " + QByteArray::number(i) + '\n';
  append(path_, lines);
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("line 399\n")), deadline_ms);
  auto* bar = window->findChild<QPlainTextEdit*>(QStringLiteral("log_text"))->verticalScrollBar();
  bar->setValue(bar->maximum() / 2);
  const int place = bar->value();
  QVERIFY(place > 0);
  auto* search = window->findChild<QLineEdit*>(QStringLiteral("log_search"));
  search->setText(QStringLiteral("delta"));
  window->find_next();
  QCOMPARE(label(window, "log_found"), QStringLiteral("not found"));
  QCOMPARE(bar->value(), place);
  window->find_previous();
  QCOMPARE(bar->value(), place);
}

void TestLogWindow::what_is_asked_for_is_found_before_the_part_that_is_shown_or_said_to_be_nowhere() {
  const auto line = [](int number) { return QByteArray::number(number).rightJustified(99, '.') + '\n'; };
  QByteArray lines;
  for (int number = 100'000; lines.size() < 12 * (1 << 20); ++number) lines += line(number);
  append(path_, lines);
  const int last = 100'000 + static_cast<int>(lines.size() / 100) - 1;
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  const QString wanted = QString::number(last - 30'000);  // 3 MB before the end
  window->look_for(wanted);
  QTRY_COMPARE_WITH_TIMEOUT(label(window, "log_found"), QStringLiteral("found"), deadline_ms);
  QCOMPARE(window->findChild<QPlainTextEdit*>()->textCursor().selectedText(), wanted);
  window->look_for(QStringLiteral("100001"));  // farther away than is ever shown
  QTRY_COMPARE_WITH_TIMEOUT(label(window, "log_found"), QStringLiteral("not in the loaded part"), deadline_ms);
  QVERIFY(window->text().size() <= LogWindow::shown_bytes_max);
}

void TestLogWindow::copy_takes_the_selection_or_everything() {
  append(path_, "one two\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  QTRY_COMPARE_WITH_TIMEOUT(window->text(), QStringLiteral("one two\n"), deadline_ms);
  auto* copy = window->findChild<QAbstractButton*>(QStringLiteral("log_copy"));
  QTest::mouseClick(copy, Qt::LeftButton);
  QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("one two\n"));
  window->findChild<QLineEdit*>(QStringLiteral("log_search"))->setText(QStringLiteral("two"));
  window->find_next();
  QTest::mouseClick(copy, Qt::LeftButton);
  QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("two"));
}

void TestLogWindow::a_long_path_cuts_off_nothing_else_below_the_lines() {
  const QString folder = folder_->filePath(QString(200, u'f'));
  QVERIFY(QDir().mkpath(folder));
  path_ = folder + QStringLiteral("/R001.log");
  append(path_, "first\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  window->set_awaited(true);
  window->resize(700, 400);
  const auto* position = window->findChild<QLabel*>(QStringLiteral("log_position"));
  const QString before = QStringLiteral("6 B · nothing new for ");
  QTRY_VERIFY_WITH_TIMEOUT(position->text().startsWith(before), deadline_ms);
  QVERIFY2(position->text().contains(u'…') && position->text().endsWith(QStringLiteral("f/R001.log")), qPrintable(position->text()));
  QVERIFY(position->fontMetrics().horizontalAdvance(position->text()) <= position->width());
  QVERIFY2(position->toolTip().startsWith(before) && position->toolTip().endsWith(path_), qPrintable(position->toolTip()));
  QCOMPARE(position->accessibleDescription(), position->toolTip().replace(u'\n', u' '));
}

void TestLogWindow::a_path_that_is_cut_off_is_copied_whole() {
  const QString folder = folder_->filePath(QString(200, u'f'));
  QVERIFY(QDir().mkpath(folder));
  path_ = folder + QStringLiteral("/R001.log");
  append(path_, "first\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  window->resize(700, 400);
  window->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(window, deadline_ms));
  auto* position = window->findChild<QLabel*>(QStringLiteral("log_position"));
  QTRY_VERIFY_WITH_TIMEOUT(position->text().startsWith(QStringLiteral("6 B · ")), deadline_ms);
  QVERIFY2(position->text().contains(u'…') && position->text().endsWith(QStringLiteral("f/R001.log")), qPrintable(position->text()));
  QGuiApplication::clipboard()->clear();
  QTest::mouseClick(position, Qt::LeftButton);
  QTest::keyClick(position, Qt::Key_C, Qt::ControlModifier);
  QCOMPARE(QGuiApplication::clipboard()->text(), path_);
  // Also by the right mouse button.
  QCOMPARE(position->contextMenuPolicy(), Qt::ActionsContextMenu);
  QGuiApplication::clipboard()->clear();
  position->actions().first()->trigger();
  QCOMPARE(QGuiApplication::clipboard()->text(), path_);
}

void TestLogWindow::one_window_per_file() {
  append(path_, "text\n");
  LogWindow* first = viewers_->open(QStringLiteral("R001"), path_);
  QCOMPARE(viewers_->open(QStringLiteral("R001"), path_), first);
  QSignalSpy closed(first, &LogWindow::closed);
  for (int i = 0; i < LogViewers::windows_max + 3; ++i) viewers_->open(QString::number(i), folder_->filePath(QString::number(i)));
  int open = 0;
  for (QWidget* widget : QApplication::topLevelWidgets()) open += qobject_cast<LogWindow*>(widget) ? 1 : 0;
  QCOMPARE(open, LogViewers::windows_max);
  QCOMPARE(closed.size(), 1);  // or its log would be fetched on from another host
}

void TestLogWindow::the_columns_stay_above_the_lines() {
  append(path_, "# format: 1\n# title: a\ttab\n# index\tsize\tsent_ns\tflags\n");
  LogWindow* window = viewers_->open(QStringLiteral("R001"), path_);
  auto* heading = window->findChild<LogHeading*>();
  QTRY_COMPARE_WITH_TIMEOUT(heading->columns(), QStringLiteral("index\tsize\tsent_ns\tflags"), deadline_ms);
  QVERIFY(heading->isVisible());
  QByteArray lines;
  for (int i = 0; i < 50'000; ++i) lines += QByteArray::number(i).rightJustified(16, '0') + "\t50\t12345678901234\t-\n";
  append(path_, lines);
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("49999\t50\t12345678901234\t-\n")), deadline_ms);
  QCOMPARE(heading->columns(), QStringLiteral("index\tsize\tsent_ns\tflags"));
  // Also where the head of the file was never loaded.
  viewers_ = std::make_unique<LogViewers>(theme_);
  window = viewers_->open(QStringLiteral("R001"), path_);
  heading = window->findChild<LogHeading*>();
  QTRY_VERIFY_WITH_TIMEOUT(window->text().endsWith(QStringLiteral("49999\t50\t12345678901234\t-\n")), deadline_ms);
  QVERIFY(!window->text().contains(u'#'));
  QCOMPARE(heading->columns(), QStringLiteral("index\tsize\tsent_ns\tflags"));
  QVERIFY(heading->isVisible());
  // A log without columns has no such line.
  const QString broker = folder_->filePath(QStringLiteral("broker.log"));
  append(broker, "0.000\tlistening\n");
  window = viewers_->open(QStringLiteral("N2NQ"), broker);
  QTRY_VERIFY_WITH_TIMEOUT(!window->text().isEmpty(), deadline_ms);
  QVERIFY(!window->findChild<LogHeading*>()->isVisible());
}

}  // namespace

QTEST_MAIN(TestLogWindow)
#include "test_log_window.moc"
