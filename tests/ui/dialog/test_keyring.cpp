// SPDX-License-Identifier: GPL-3.0-or-later
// Secrets in a real keyring, in a desktop session of the test's own (in_session.sh): kept for who ticks it, and for nobody else.
#include <QAbstractButton>
#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "app/host/keyring.h"
#include "tests/ui/support/lab_window.h"
#include "ui/dialog/ssh_asker.h"

using namespace n2nq;

class TestKeyring : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    if (qEnvironmentVariableIsEmpty("N2NQ_KEYRING")) QSKIP("there can be no desktop session with a keyring here");
  }
  void init() {
    window = std::make_unique<QWidget>();
    window->show();
    keyring = std::make_unique<app::Keyring>();
    asker = std::make_unique<ui::SshAsker>(keyring.get());
    asker->set_window(window.get(), theme);
    questions = std::make_unique<app::KeyringQuestions>(*keyring, *asker);
  }
  void cleanup() {
    questions.reset();
    asker.reset();
    keyring.reset();
    window.reset();
  }

  void what_is_ticked_is_not_asked_for_again_until_it_is_wrong() {
    QCOMPARE(answered(password(), "dream", false), QByteArray("dream"));
    QCOMPARE(answered(password(), "dream", true), QByteArray("dream"));  // was not kept the first time
    QCOMPARE(answered(password()), QByteArray("dream"));
    questions->answered(password(), false);
    app::SecretQuestion again = password();
    again.again = true;
    questions->ask_secrets(again, [](auto) {});
    QVERIFY(wait_for_dialog());
    QStringList words;
    for (const QLabel* label : dialog()->findChildren<QLabel*>()) words << label->text();
    QVERIFY2(words.contains(QStringLiteral("✕ What the keyring has is not right")), qPrintable(words.join(u'\n')));
    QTest::keyClick(dialog(), Qt::Key_Escape);
    QCOMPARE(answered(password(), "day", false), QByteArray("day"));  // forgotten
  }
  void what_was_typed_and_is_wrong_takes_nothing_away_that_was_not_tried() {
    app::SecretQuestion question = password();
    question.host = QStringLiteral("lab-4");
    QCOMPARE(answered(question, "dream", true), QByteArray("dream"));
    // As if it had been locked when it was asked: nothing came from there.
    questions = std::make_unique<app::KeyringQuestions>(*keyring, *asker);
    app::SecretQuestion again = question;
    again.again = true;
    for (const bool ticked : {false, true}) QCOMPARE(answered(again, "dreem", ticked, false), QByteArray("dreem"));
    QCOMPARE(answered(question), QByteArray("dream"));
  }
  void what_was_kept_and_is_wrong_by_now_is_forgotten_though_it_was_not_read_again() {
    app::SecretQuestion question = password();
    question.host = QStringLiteral("lab-5");
    QCOMPARE(answered(question, "dream", true), QByteArray("dream"));
    questions->answered(question, false);  // of another connection, by what is remembered
    QTest::qWait(300);
    QCOMPARE(answered(question, "day", false), QByteArray("day"));
  }
  void what_the_host_did_not_take_or_never_judged_is_not_kept() {
    QCOMPARE(answered(password(), "night", true, false), QByteArray("night"));
    QCOMPARE(answered(password(), "dawn", true, std::nullopt), QByteArray("dawn"));
    QCOMPARE(answered(password(), "day", false), QByteArray("day"));
  }
  void what_nobody_wants_to_know_any_more_is_not_asked_when_the_keyring_has_nothing() {
    app::SecretQuestion question = password();
    question.host = QStringLiteral("lab-3");
    auto asking = std::make_unique<QObject>();
    question.asked_by = asking.get();
    bool asked = false;
    questions->ask_secrets(question, [&](auto) { asked = true; });
    asking.reset();
    QVERIFY(QTest::qWaitFor([&] { return asked; }, 20'000));
    QVERIFY(dialog() == nullptr);
  }
  void a_passphrase_is_kept_for_its_key() {
    app::SecretQuestion question = password();
    question.kind = app::SecretQuestion::Kind::passphrase;
    question.key_file = QStringLiteral("/home/me/.ssh/lab");
    QCOMPARE(answered(question, "sesame", true), QByteArray("sesame"));
    question.host = QStringLiteral("lab-2");
    QCOMPARE(answered(question), QByteArray("sesame"));
  }
  void a_code_is_never_offered_to_be_kept() {
    app::SecretQuestion question = password();
    question.kind = app::SecretQuestion::Kind::keyboard_interactive;
    for (const char* prompt : {"Verification code:", "One-time password:", "New password:", "Password + token:"}) {
      question.prompts = {{QString::fromLatin1(prompt), false}};
      questions->ask_secrets(question, [](auto) {});
      QVERIFY(wait_for_dialog());
      QVERIFY2(!dialog()->findChild<QCheckBox*>("secrets_keyring")->isVisible(), prompt);
      QTest::keyClick(dialog(), Qt::Key_Escape);
    }
  }
  void a_host_that_asks_for_the_password_itself_is_no_exception() {
    app::SecretQuestion question = password();
    question.kind = app::SecretQuestion::Kind::keyboard_interactive;
    question.host = QStringLiteral("lab-9");
    question.prompts = {{QStringLiteral("Password:"), false}};
    QCOMPARE(answered(question, "dream", true), QByteArray("dream"));
    QCOMPARE(answered(question), QByteArray("dream"));
    question.again = true;
    QCOMPARE(answered(question, "night", false), QByteArray("night"));
  }
  void a_password_that_was_refused_with_a_code_is_asked_for_and_goes_when_another_is_right() {
    app::SecretQuestion question = password();
    question.host = QStringLiteral("lab-5");
    app::SecretQuestion refused = question;
    refused.several = true;
    QCOMPARE(answered(question, "dream", true), QByteArray("dream"));
    QCOMPARE(answered(question, nullptr, false, std::nullopt), QByteArray("dream"));
    questions->answered(refused, false);
    QCOMPARE(answered(question, "dream", false), QByteArray("dream"));  // the code was wrong
    QCOMPARE(answered(question, nullptr, false, std::nullopt), QByteArray("dream"));
    questions->answered(refused, false);
    QCOMPARE(answered(question, "night", false), QByteArray("night"));
    QCOMPARE(answered(question, "night", false), QByteArray("night"));  // nothing is there any more
  }
  void another_machine_that_has_the_name_by_now_does_not_get_the_password() {
    QCOMPARE(answered(password(), "dream", true), QByteArray("dream"));
    QCOMPARE(answered(password()), QByteArray("dream"));
    app::SecretQuestion question = password();
    question.address = QStringLiteral("10.0.0.2 port 22");
    questions->ask_secrets(question, [](auto) {});
    QVERIFY(wait_for_dialog());
    QTest::keyClick(dialog(), Qt::Key_Escape);
  }
  void without_a_session_the_box_says_why() {
    const QByteArray bus = qgetenv("DBUS_SESSION_BUS_ADDRESS"), folder = qgetenv("XDG_RUNTIME_DIR");
    qunsetenv("DBUS_SESSION_BUS_ADDRESS");
    qunsetenv("XDG_RUNTIME_DIR");
    questions->ask_secrets(password(), [](auto) {});
    QVERIFY(wait_for_dialog());
    auto* box = dialog()->findChild<QCheckBox*>("secrets_keyring");
    QVERIFY(!box->isEnabled());
    const auto* why = dialog()->findChild<QLabel*>("secrets_no_keyring");
    QVERIFY(why->isVisible() && !why->text().isEmpty());
    QTest::keyClick(dialog(), Qt::Key_Escape);
    qputenv("DBUS_SESSION_BUS_ADDRESS", bus);
    if (!folder.isNull()) qputenv("XDG_RUNTIME_DIR", folder);
  }

 private:
  static app::SecretQuestion password() {
    app::SecretQuestion question;
    question.host = QStringLiteral("lab-1"), question.user = QStringLiteral("measure");
    question.address = QStringLiteral("10.0.0.1 port 22");
    question.prompts = {{QStringLiteral("Password of measure on lab-1"), false}};
    return question;
  }
  static QDialog* dialog() { return ui_test::open_question(); }
  static bool wait_for_dialog() {
    return QTest::qWaitFor([] { return dialog() != nullptr; }, 20'000);
  }
  /// What came of a question to which a person types this; null: nobody is to be asked. `right`: what the host says of it, if it does.
  QByteArray answered(const app::SecretQuestion& question, const char* typed = nullptr, bool ticked = false,
                      std::optional<bool> right = true) {
    std::optional<QByteArray> answer;
    questions->ask_secrets(question, [&](auto given) { answer = given ? QByteArray(given->front().text()) : QByteArray("nothing"); });
    if (typed != nullptr) {
      if (!wait_for_dialog()) return "nobody was asked";
      QTest::keyClicks(dialog()->findChild<QLineEdit*>("secret_1"), QString::fromLatin1(typed));
      if (ticked) QTest::keyClick(dialog()->findChild<QCheckBox*>("secrets_keyring"), Qt::Key_Space);
      QTest::mouseClick(dialog()->findChild<QAbstractButton*>("secrets_log_in"), Qt::LeftButton);
    }
    if (!QTest::qWaitFor([&] { return answer.has_value() || (typed == nullptr && dialog() != nullptr); }, 20'000) || !answer)
      return "somebody was asked";
    if (right) questions->answered(question, *right);
    QTest::qWait(300);  // the keyring is told, and does not say when it is done
    return *answer;
  }

  std::unique_ptr<QWidget> window;
  std::unique_ptr<app::Keyring> keyring;
  std::unique_ptr<ui::SshAsker> asker;
  std::unique_ptr<app::KeyringQuestions> questions;
  ui::Theme theme;
};

QTEST_MAIN(TestKeyring)
#include "test_keyring.moc"
