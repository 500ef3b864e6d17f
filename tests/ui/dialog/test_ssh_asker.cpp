// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of connections, answered by key and by mouse.
#include "ui/dialog/ssh_asker.h"

#include <QAbstractButton>
#include <QDialog>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "tests/ui/support/lab_window.h"

using namespace n2nq;

class TestSshAsker : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    window = std::make_unique<QWidget>();
    window->show();
    asker = std::make_unique<ui::SshAsker>();
    asker->set_window(window.get(), theme);
  }
  void cleanup() {
    asker.reset();
    window.reset();
  }

  void an_unknown_machine_is_refused_unless_somebody_says_yes() {
    const auto answered = [this](Qt::Key key, const char* click) {
      std::optional<bool> answer;
      asker->ask_host_key(key_question(), [&](bool yes) { answer = yes; });
      QDialog* dialog = this->dialog();
      if (dialog == nullptr) return answer;
      if (dialog->findChild<QLineEdit*>("host_key_fingerprint")->text() != key_question().fingerprint) return answer;
      if (click != nullptr) {
        QTest::mouseClick(dialog->findChild<QAbstractButton*>(QString::fromLatin1(click)), Qt::LeftButton);
      } else {
        QTest::keyClick(dialog, key);
      }
      return answer;
    };
    QCOMPARE(answered(Qt::Key_Return, nullptr), std::optional(false));
    QCOMPARE(answered(Qt::Key_Escape, nullptr), std::optional(false));
    QCOMPARE(answered(Qt::Key_unknown, "host_key_no"), std::optional(false));
    QCOMPARE(answered(Qt::Key_unknown, "host_key_yes"), std::optional(true));
  }

  void secrets_are_typed_unseen_and_handed_over_once() {
    app::SecretQuestion question;
    question.kind = app::SecretQuestion::Kind::keyboard_interactive;
    question.host = "lab-1", question.user = "measure";
    question.prompts = {{"Password:", false}, {"Room:", true}};
    std::optional<std::vector<app::Secret>> answer;
    asker->ask_secrets(question, [&](auto given) { answer = std::move(given); });
    QVERIFY(dialog() != nullptr);
    auto* first = dialog()->findChild<QLineEdit*>("secret_1");
    auto* second = dialog()->findChild<QLineEdit*>("secret_2");
    QCOMPARE(first->echoMode(), QLineEdit::Password);
    QCOMPARE(second->echoMode(), QLineEdit::Normal);
    first->setFocus();
    QTest::keyClicks(first, "dream");
    QTest::keyClick(first, Qt::Key_Return);
    QVERIFY2(!answer, "the second is still empty");
    QCOMPARE(dialog()->focusWidget(), second);
    QTest::keyClicks(second, "7");
    QTest::keyClick(second, Qt::Key_Return);
    QVERIFY(answer && answer->size() == 2);
    QCOMPARE(std::string(answer->at(1).text()), std::string("7"));
  }

  void a_machine_that_asks_for_much_is_answered_on_a_small_screen() {
    app::SecretQuestion question;
    question.kind = app::SecretQuestion::Kind::keyboard_interactive;
    question.host = "lab-1", question.user = "measure", question.instruction = QString("Mind the rules of this house. ").repeated(30);
    question.once_more = true;
    for (int i = 1; i <= 16; ++i) question.prompts.push_back({QString("Code %1:").arg(i), false});
    std::optional<std::vector<app::Secret>> answer;
    asker->ask_secrets(question, [&](auto given) { answer = std::move(given); });
    QVERIFY(dialog() != nullptr);
    QVERIFY2(dialog()->height() <= 560, qPrintable(QString::number(dialog()->height())));
    for (const auto* label : dialog()->findChildren<QLabel*>()) {
      if (label->isVisible()) QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
    }
    const auto labels = dialog()->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().contains("asks once more"); }));
    QTest::mouseClick(dialog()->findChild<QAbstractButton*>("secrets_log_in"), Qt::LeftButton);
    QVERIFY(answer && answer->size() == 16);
  }

  void a_long_name_is_whole() {
    const QString name = "WWW_measurement_cluster_north_building_n2nq_broker_machine_no_01";
    const auto title_fits = [this, &name] {
      for (const auto* label : dialog()->findChildren<QLabel*>()) {
        if (!label->text().remove(QChar(0x200b)).contains(name)) continue;
        const QRect needed = label->fontMetrics().boundingRect(QRect(0, 0, label->width(), 1000), Qt::TextWordWrap, label->text());
        if (needed.width() > label->width() || needed.height() > label->height()) return false;
      }
      return true;
    };
    app::HostKeyQuestion key = key_question();
    key.host = name;
    key.beside = "/home/me/.ssh/known_hosts:3 is for host certificates, which are not understood here. ";
    asker->ask_host_key(key, [](bool) {});
    QVERIFY(title_fits());
    const auto labels = dialog()->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
      return label->text().remove(QChar(0x200b)).contains("no known_hosts file. " + key.beside + "Its fingerprint:");
    }));
    QTest::keyClick(dialog(), Qt::Key_Escape);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    app::SecretQuestion question;
    question.kind = app::SecretQuestion::Kind::password;
    question.host = name, question.user = "measure";
    question.prompts = {{"Password:", false}};
    asker->ask_secrets(question, [](auto) {});
    QVERIFY(title_fits());
    QTest::keyClick(dialog(), Qt::Key_Escape);
  }

  void what_was_answered_wrong_comes_before_another_machines_question() {
    const auto ask = [this](const QString& host, bool again) {
      app::SecretQuestion question;
      question.kind = app::SecretQuestion::Kind::password;
      question.host = host, question.user = "measure", question.again = again;
      question.prompts = {{"Password:", false}};
      asker->ask_secrets(question, [](auto) {});
    };
    const auto is_of = [this](const QString& host) {
      const auto labels = dialog()->findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().contains(host); });
    };
    for (const QString host : {"lab-1", "lab-2", "lab-3"}) ask(host, false);
    QVERIFY(is_of("lab-1"));
    for (const QString host : {"lab-4", "lab-5"}) ask(host, true);
    for (const QString host : {"lab-1", "lab-4", "lab-5", "lab-2", "lab-3"}) {
      QTRY_VERIFY(dialog() != nullptr && is_of(host));
      QTest::keyClick(dialog(), Qt::Key_Escape);
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
  }

  void who_does_not_want_to_answer_says_nothing() {
    app::SecretQuestion question;
    question.prompts = {{"Password:", false}};
    bool asked = false, answered = false;
    asker->ask_secrets(question, [&](auto given) { asked = true, answered = given.has_value(); });
    QTest::keyClick(dialog(), Qt::Key_Escape);
    QVERIFY(asked && !answered);
  }

  void one_question_is_shown_at_a_time() {
    std::vector<int> answers;
    for (int i = 0; i < 3; ++i) asker->ask_host_key(key_question(), [&, i](bool) { answers.push_back(i); });
    for (int i = 0; i < 3; ++i) {
      QVERIFY(dialog() != nullptr);
      QCOMPARE(window->findChildren<QDialog*>().size(), 1);
      QTest::keyClick(dialog(), Qt::Key_Escape);
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    QCOMPARE(answers, (std::vector<int>{0, 1, 2}));
    QVERIFY(dialog() == nullptr);
  }

  void what_nobody_wants_to_know_any_more_goes_away() {
    std::vector<int> answers;
    std::vector<std::unique_ptr<QObject>> asking;
    for (int i = 0; i < 3; ++i) {
      app::HostKeyQuestion question = key_question();
      asking.push_back(std::make_unique<QObject>());
      question.asked_by = asking.back().get();
      asker->ask_host_key(question, [&answers, i](bool yes) { answers.push_back(yes ? -1 : i); });
    }
    QVERIFY(!dialog()->isModal());  // what asks can be stopped in the window
    asking[1].reset();
    QCOMPARE(answers, (std::vector<int>{1}));
    asking[0].reset();
    QCOMPARE(answers, (std::vector<int>{1, 0}));
    QTRY_VERIFY(dialog() != nullptr);  // the third is shown
    QTest::mouseClick(dialog()->findChild<QAbstractButton*>("host_key_yes"), Qt::LeftButton);
    QCOMPARE(answers, (std::vector<int>{1, 0, -1}));
    asking.clear();
    QVERIFY(dialog() == nullptr);
  }

  void who_is_typing_when_a_question_goes_away_types_nothing_into_the_next_one() {
    app::SecretQuestion question;
    question.kind = app::SecretQuestion::Kind::password;
    question.prompts = {{"Password:", false}};
    auto asked_by = std::make_unique<QObject>();
    question.asked_by = asked_by.get();
    asker->ask_secrets(question, [](auto) {});
    question.asked_by = nullptr;
    asker->ask_secrets(question, [](auto) {});
    QTest::keyClicks(dialog()->findChild<QLineEdit*>("secret_1"), "dre");
    asked_by.reset();
    QVERIFY(dialog() == nullptr);
    QElapsedTimer since_key;
    since_key.start();
    for (int i = 0; i < 10; ++i) {  // a key each tenth of a second
      QTest::keyClick(window.get(), Qt::Key_A, Qt::NoModifier, 100);
      if (since_key.restart() > 400) break;  // the machine has paused, and so it is asked
      QVERIFY(dialog() == nullptr);
    }
    QTRY_VERIFY(dialog() != nullptr);
    QCOMPARE(dialog()->findChild<QLineEdit*>("secret_1")->text(), QString());
  }

  void a_question_that_was_put_off_and_went_away_lets_none_interrupt() {
    qint64 now_ms = 0;
    asker = std::make_unique<ui::SshAsker>(nullptr, nullptr, [&now_ms] { return now_ms; });
    asker->set_window(window.get(), theme);
    QTest::keyClick(window.get(), Qt::Key_A);
    auto asked_by = std::make_unique<QObject>();
    app::HostKeyQuestion question = key_question();
    question.asked_by = asked_by.get();
    asker->ask_host_key(question, [](bool) {});
    asked_by.reset();
    now_ms += 5100;  // as long as one is put off at most
    QTest::keyClick(window.get(), Qt::Key_A);
    asker->ask_host_key(key_question(), [](bool) {});
    QVERIFY(dialog() == nullptr);
    now_ms += 500;
    QTRY_VERIFY(dialog() != nullptr);
    asker.reset();  // before its clock
  }

  void who_types_on_and_on_is_asked_all_the_same() {
    QTest::keyClick(window.get(), Qt::Key_A);
    asker->ask_host_key(key_question(), [](bool) {});
    QVERIFY(dialog() == nullptr);
    for (int i = 0; i < 100 && dialog() == nullptr; ++i) QTest::keyClick(window.get(), Qt::Key_A, Qt::NoModifier, 100);
    QVERIFY(dialog() != nullptr);
  }

  void a_question_waits_until_a_dialog_that_has_the_window_to_itself_is_gone() {
    auto modal = std::make_unique<QDialog>(window.get());
    modal->open();
    asker->ask_host_key(key_question(), [](bool) {});
    QTest::qWait(700);
    QCOMPARE(dialog(), nullptr);
    modal.reset();
    QTRY_VERIFY(dialog() != nullptr);
  }

  void questions_end_with_a_no_when_nobody_can_answer_any_more() {
    std::vector<bool> answers;
    asker->ask_host_key(key_question(), [&](bool yes) { answers.push_back(yes); });
    asker->ask_host_key(key_question(), [&](bool yes) { answers.push_back(yes); });
    window.reset();
    QCOMPARE(answers, (std::vector<bool>{false, false}));
    asker->ask_host_key(key_question(), [&](bool yes) { answers.push_back(yes); });
    QCOMPARE(answers.size(), 3u);
  }

 private:
  static app::HostKeyQuestion key_question() {
    return {"lab-1", "10.77.0.11 port 22", "ED25519", "SHA256:9mZ2oF0vS1yXqkq6w1y0k3hW8E0p9Q3m2c7v1b5n4a0", "/home/me/.ssh/known_hosts"};
  }
  QDialog* dialog() { return ui_test::open_question(); }

  ui::Theme theme;
  std::unique_ptr<QWidget> window;
  std::unique_ptr<ui::SshAsker> asker;
};

QTEST_MAIN(TestSshAsker)
#include "test_ssh_asker.moc"
