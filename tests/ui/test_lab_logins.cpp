// SPDX-License-Identifier: GPL-3.0-or-later
// What machines ask for, typed into the window: real sshd on pretend hosts. Run in a desktop session with a keyring of its own
// (in_session.sh).
#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHostAddress>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTableView>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTemporaryFile>
#include <QTest>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <future>

#include "tests/app/support/pretend_lab.h"
#include "tests/app/support/soundness.h"
#include "tests/ui/support/bench_window.h"
#include "tests/ui/support/blocked_meter.h"
#include "tests/ui/support/lab_window.h"
#include "tests/ui/support/secret_search.h"
#include "ui/widget/elided_label.h"

using namespace n2nq;
using app::testing::PretendLab;
using ui_test::BenchWindow;
using ui_test::LabWindow;
using ui_test::open_question;

namespace {

/// Nobody else has it, such as another test in its arguments.
QByteArray unique(const QByteArray& words) {
  return words + ' ' + QByteArray::number(QRandomGenerator::system()->generate64(), 16);
}

const QByteArray passphrase = unique("open sesame, dear cave"), wrong = unique("this is not it, either");

/// A port of this machine behind which another one is, as behind a router.
class Forwarded : public QObject {
 public:
  Forwarded(const QString& address, quint16 port) {
    server_.listen(QHostAddress::LocalHost);
    connect(&server_, &QTcpServer::newConnection, this, [this, address, port] {
      while (QTcpSocket* near = server_.nextPendingConnection()) {
        auto* far = new QTcpSocket(near);
        far->connectToHost(address, port);
        for (const auto& [from, to] : {std::pair(near, far), {far, near}}) {
          connect(from, &QTcpSocket::readyRead, to, [from = from, to = to] { to->write(from->readAll()); });
          connect(from, &QTcpSocket::disconnected, to, &QTcpSocket::disconnectFromHost);
        }
        connect(near, &QTcpSocket::disconnected, near, &QObject::deleteLater);
      }
    });
  }
  int port() const { return server_.serverPort(); }

 private:
  QTcpServer server_;
};

}  // namespace

class TestLabLogins : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    lab = PretendLab::take_up(3);
    if (!lab) QSKIP(qPrintable(PretendLab::why_not));
    qputenv("HOME", lab->home().toUtf8());
    qunsetenv("SSH_AUTH_SOCK");
    QVERIFY(key.open());
    key.write(file_text(lab->key_file()));
    key.close();
    QCOMPARE(QProcess::execute(QStringLiteral("ssh-keygen"),
                               {QStringLiteral("-q"), QStringLiteral("-p"), QStringLiteral("-P"), QString(), QStringLiteral("-N"),
                                QString::fromLatin1(passphrase), QStringLiteral("-f"), key.fileName()}),
             0);
    // Whose config would name the key without a passphrase.
    QFile config(lab->home() + QStringLiteral("/.ssh/config"));
    QVERIFY(config.open(QIODevice::ReadWrite));
    const QString named = QString::fromUtf8(config.readAll());
    QVERIFY(config.resize(0) && config.seek(0));
    config.write(
        QString(named).remove(QRegularExpression(QStringLiteral("^ *IdentityFile .*$"), QRegularExpression::MultilineOption)).toUtf8());
    config.close();
    allow(1, "password");
    allow(2, "keyboard-interactive");
    allow(3, "publickey");
  }
  void cleanupTestCase() { lab.reset(); }
  void cleanup() { bench.reset(); }

  void a_search_for_secrets_finds_what_is_there() {
    const QByteArray in_file = unique("in a file"), in_argument = unique("in an argument"), in_environment = unique("in the environment");
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral(".below/kept"));
    QVERIFY(ui_test::write_text(path, QByteArray(ui_test::piece_bytes - 3, '.') + in_file));  // begins in one piece, ends in the next
    QCOMPARE(ui_test::holders({in_file}, {folder.path()}), (QStringList{path}));
    QVERIFY(!ui_test::holders({in_file}, {path + QStringLiteral("/nowhere")}).isEmpty());
    QProcess child;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("KEPT"), QString::fromLatin1(in_environment));
    child.setProcessEnvironment(environment);
    child.start(QStringLiteral("sh"), {QStringLiteral("-c"), QStringLiteral("read over"), QString::fromLatin1(in_argument)});
    QVERIFY(child.waitForStarted());
    const QString of_child = QStringLiteral("/proc/%1/").arg(child.processId());
    const QStringList both = {of_child + QStringLiteral("cmdline"), of_child + QStringLiteral("environ")};
    QVERIFY(waits([&] { return ui_test::holders({in_argument, in_environment}, {}) == both; }));
    child.closeWriteChannel();
    QVERIFY(waits([&] { return child.state() == QProcess::NotRunning; }));
  }

  void each_machine_is_asked_for_by_itself_and_what_is_wrong_once_more() {
    open({host(1), host(2), host(3)});
    check();
    QMap<QString, int> asked;
    QVERIFY(waits([&] {
      QDialog* question = open_question();
      if (question == nullptr) return bench->is_checked();
      const QString title = question->windowTitle();
      const bool again = words_in(question).contains(QStringLiteral("✕ That was not right"));
      if (again != (asked[title]++ > 0)) return true;
      answer(question, again ? right_for(title) : wrong);
      return false;
    }));
    QVERIFY(open_question() == nullptr);
    for (int i = 1; i <= 3; ++i) QCOMPARE(asked[QStringLiteral("Log in to h%1").arg(i)], 2);
    for (const auto& [name, report] : bench->checker().hosts()) {
      for (const app::CheckCell& cell : report.cells) QVERIFY2(cell.state != app::CheckState::bad, qPrintable(cell.detail));
    }
    // What was typed is known from now on: nobody is asked for a run.
    bench->window().show_page(QStringLiteral("Bench"));
    for (const auto& [field, name] : {std::pair("field_broker_host", "h1"), {"field_senders_host", "h2"}, {"field_receivers_host", "h3"}})
      QVERIFY(bench->choose(field, name));
    for (const auto& [setting, value] :
         {std::pair("senders.amount", "3"), {"receivers.amount", "3"}, {"senders.messages", "10"}, {"senders.delay_ms", "300"}})
      QVERIFY(bench->window().form().set(QString::fromLatin1(setting), QString::fromLatin1(value)));
    QVERIFY(bench->click("button_start_all"));
    QVERIFY(waits([&] { return bench->run().figures().received > 5 || bench->is_over() || open_question() != nullptr; }));
    QVERIFY(open_question() == nullptr);
    QVERIFY2(!bench->is_over(), qPrintable(bench->run().outcome().reasons.join(u'\n')));
    QVERIFY2(!ui_test::holders({QByteArray("bin/n2nq-receivers-")}, {}).isEmpty(), "processes on the hosts are looked at");
    nothing_typed_is_kept();
    if (QTest::currentTestFailed()) return;
    QVERIFY(waits([&] { return bench->is_over() || open_question() != nullptr; }));
    QVERIFY(open_question() == nullptr);
    nothing_typed_is_kept();
    if (QTest::currentTestFailed()) return;
    QVERIFY2(app::testing::is_sound(bench->run().outcome()), qPrintable(bench->run().outcome().reasons.join(u'\n')));
    QCOMPARE(bench->run().figures().received, 90);
  }

  /// A disk that others write to may do so once; what the window does by itself it does each time.
  void no_check_that_asks_holds_up_the_window_each_time() {
    std::array<double, 3> longest_ms{};
    for (double& ms : longest_ms) {
      open({host(1), host(2), host(3)});  // without connections, and without what was typed
      ui_test::BlockedMeter meter;
      int answered = 0;
      meter.begin();
      check();
      const bool ended = waits([&] {
        QDialog* question = open_question();
        if (question == nullptr) return bench->is_checked();
        answer(question, right_for(question->windowTitle()));
        return ++answered > 3;
      });
      meter.end();
      QVERIFY(ended);
      QCOMPARE(answered, 3);
      ms = meter.blocked().max_ms;
    }
    std::printf("checks that ask: stood still for %.1f, %.1f, %.1f ms at most\n", longest_ms[0], longest_ms[1], longest_ms[2]);
#ifdef N2NQ_AS_PEOPLE_USE_IT  // with sanitizers it waits for locks whose holders have no core for longer
    QVERIFY(*std::min_element(longest_ms.begin(), longest_ms.end()) <= 50);
#endif
  }

  void a_start_that_is_over_asks_for_nothing_any_more() {
    open({host(1), host(2), host(3)});
    bench->window().show_page(QStringLiteral("Bench"));
    for (const auto& [field, name] : {std::pair("field_broker_host", "h1"), {"field_senders_host", "h2"}, {"field_receivers_host", "h3"}})
      QVERIFY(bench->choose(field, name));
    // Refused by the person, and stopped while it asks: by a click, for the window can be used meanwhile.
    for (const bool refused : {true, false}) {
      QVERIFY(bench->click("button_start_all"));
      QVERIFY(waits([&] { return all_ask(); }));
      if (refused) {
        QTest::keyClick(open_question(), Qt::Key_Escape);
      } else {
        QVERIFY(bench->click("button_stop_all"));
      }
      QVERIFY(waits([&] { return bench->is_over(); }));
      QVERIFY(waits([&] { return open_question() == nullptr && no_log_in_is_left(); }));
      QVERIFY(open_question() == nullptr);
      // Whoever it was: N2NQ's machine, too, is named in the middle of the window.
      if (refused)
        QVERIFY(bench->window().findChild<ui::ElidedLabel*>("verdict_story")->full_text().contains(bench->run().outcome().reasons.first()));
    }
  }

  void a_start_that_has_failed_begins_no_question() {
    app::Host refused = host(2);
    refused.port = 1;  // nobody listens there
    open({host(1), refused, host(3)});
    bench->window().show_page(QStringLiteral("Bench"));
    for (const auto& [field, name] : {std::pair("field_broker_host", "h1"), {"field_senders_host", "h2"}, {"field_receivers_host", "h3"}})
      QVERIFY(bench->choose(field, name));
    QVERIFY(bench->click("button_start_all"));
    QDialog* asked_before = nullptr;
    bool failed = false, asked_since = false;
    QVERIFY(waits([&] {
      if (!std::exchange(failed, bench->run().state() == app::RunState::ending || bench->is_over())) asked_before = open_question();
      asked_since = asked_since || (failed && open_question() != nullptr && open_question() != asked_before);
      return bench->is_over();
    }));
    QVERIFY(!asked_since);
    QVERIFY(waits([&] { return open_question() == nullptr && no_log_in_is_left(); }));
    const app::RunOutcome& outcome = bench->run().outcome();
    QCOMPARE(outcome.reasons.size(), 1);
    QVERIFY2(outcome.reasons[0].contains(QStringLiteral("h2")), qPrintable(outcome.reasons[0]));
  }

  void a_check_that_asks_can_be_cancelled_by_a_click() {
    open({host(1), host(2), host(3)});
    check();
    QVERIFY(waits([&] { return all_ask(); }));
    QVERIFY(bench->click("button_host_check"));
    QVERIFY(waits([&] { return bench->is_checked() && open_question() == nullptr && no_log_in_is_left(); }));
    QVERIFY(open_question() == nullptr);
    check();  // and begun anew
    QVERIFY(waits([] { return open_question() != nullptr; }));
    QVERIFY(bench->click("button_host_check"));
    QVERIFY(waits([&] { return bench->is_checked() && open_question() == nullptr; }));
  }

  void a_machine_that_is_removed_while_it_asks_asks_no_more_and_the_others_are_found() {
    open({host(1), host(2), host(3)});
    check();
    QVERIFY(waits([&] { return all_ask(); }));
    const QString first = open_question()->windowTitle();
    const std::string removed = first.section(QLatin1Char(' '), -1).toStdString();
    auto* table = bench->window().findChild<QTableView*>(QStringLiteral("hosts_table"));
    QVERIFY(table != nullptr);
    table->setCurrentIndex(table->model()->index(removed.back() - '0', 0));  // behind this machine
    QVERIFY(bench->click("button_host_remove"));
    QVERIFY(bench->book().hosts().find(removed) == nullptr);
    QVERIFY(waits([&] { return open_question() == nullptr || open_question()->windowTitle() != first; }));
    QVERIFY(waits([&] {
      QDialog* question = open_question();
      if (question == nullptr) return bench->is_checked();
      const QString title = question->windowTitle();
      if (title == first) return true;
      answer(question, right_for(title));
      return false;
    }));
    QVERIFY(open_question() == nullptr);
    QCOMPARE(bench->checker().hosts().count(removed), std::size_t{0});
    QCOMPARE(bench->checker().hosts().size(), std::size_t{3});
    for (const auto& [name, report] : bench->checker().hosts()) {
      for (const app::CheckCell& cell : report.cells) QVERIFY2(cell.state != app::CheckState::bad, qPrintable(cell.detail));
    }
  }

  void a_window_that_is_closed_while_it_asks_is_gone() {
    open({host(1)});
    bench->window().show_page(QStringLiteral("Bench"));
    for (const char* field : {"field_broker_host", "field_senders_host", "field_receivers_host"}) QVERIFY(bench->choose(field, "h1"));
    QVERIFY(bench->click("button_start_all"));
    QVERIFY(waits([] { return open_question() != nullptr; }));
    bench->window().close();
    QVERIFY(waits([&] { return !bench->window().isVisible() && open_question() == nullptr; }));
    open({host(1)});
    check();
    QVERIFY(waits([] { return open_question() != nullptr; }));
    bench->window().close();
    QVERIFY(waits([&] { return !bench->window().isVisible() && open_question() == nullptr; }));
  }

  void what_the_keyring_keeps_is_right_also_where_the_host_hangs_up_over_what_is_not() {
    if (qEnvironmentVariableIsEmpty("N2NQ_KEYRING")) QSKIP("there can be no desktop session with a keyring here");
    lab->change_sshd(1, QStringLiteral("$aMaxAuthTries 1"));
    const auto checks = [this](const QByteArray& typed) {
      check();
      if (!waits([&] { return open_question() != nullptr || bench->is_checked(); })) return QStringLiteral("nothing happens");
      if (open_question() == nullptr && !typed.isEmpty()) return QStringLiteral("nobody was asked");
      if (open_question() != nullptr && typed.isEmpty()) return QStringLiteral("somebody was asked");
      if (open_question() != nullptr) answer(open_question(), typed, true);
      if (!waits([&] { return bench->is_checked(); })) return QStringLiteral("it does not end");
      const app::CheckCell& cell = bench->checker().hosts().at("h1").of(app::CheckItem::login);
      return cell.state == app::CheckState::good ? QString() : cell.what_to_do;
    };
    const QByteArray right = lab->password().toUtf8();
    open({host(1)});
    QVERIFY(checks(wrong).contains(QStringLiteral("nothing of it is kept")));
    QCOMPARE(checks(right), QString());
    QVERIFY(waits([this] { return keyring_has_password_of(1); }));
    open({host(1)});  // as the next day: memory has nothing
    QCOMPARE(checks({}), QString());
    // What is not right any more is forgotten.
    set_password(1, "another one");
    open({host(1)});
    QVERIFY(checks({}).contains(QStringLiteral("nothing of it is kept")));
    QCOMPARE(checks("another one"), QString());
    set_password(1, right);
  }

  void two_machines_behind_one_address_are_two_machines() {
    Forwarded a(lab->address(1), 22), b(lab->address(2), 22);
    allow(2, "password");
    const QByteArray other = "the password of the second";
    set_password(2, other);
    app::Host first = host(1), second = host(2);
    first.name = "a", second.name = "b";
    first.address = second.address = "127.0.0.1";
    first.port = a.port(), second.port = b.port();
    const auto refusals = [this] { return sshd_log(1).count("Failed password") + sshd_log(2).count("Failed password"); };
    const auto before = refusals();
    open({first, second});
    check();
    QStringList asked;
    QVERIFY(waits([&] {
      QDialog* question = open_question();
      if (question == nullptr) return bench->is_checked();
      if (auto* yes = question->findChild<QAbstractButton*>(QStringLiteral("host_key_yes"))) {
        QTest::mouseClick(yes, Qt::LeftButton);
        return false;
      }
      asked << question->windowTitle();
      answer(question, asked.back() == QStringLiteral("Log in to a") ? lab->password().toUtf8() : other);
      return asked.size() > 2;
    }));
    asked.sort();
    QCOMPARE(asked, (QStringList{QStringLiteral("Log in to a"), QStringLiteral("Log in to b")}));
    QCOMPARE(refusals(), before);
    for (const char* name : {"a", "b"}) {
      const app::CheckCell& cell = bench->checker().hosts().at(name).of(app::CheckItem::login);
      QVERIFY2(cell.state == app::CheckState::good, qPrintable(cell.detail));
    }
  }

 private:
  static bool waits(const std::function<bool()>& condition) { return BenchWindow::wait_for(condition); }
  static QByteArray file_text(const QString& path) { return ui_test::file_text(path); }
  static QStringList words_in(const QDialog* question) {
    QStringList out;
    for (const QLabel* label : question->findChildren<QLabel*>()) out << label->text();
    return out;
  }
  static void answer(QDialog* question, const QByteArray& typed, bool kept = false) {
    QTest::keyClicks(question->findChild<QLineEdit*>(QStringLiteral("secret_1")), QString::fromUtf8(typed));
    if (kept) QTest::keyClick(question->findChild<QCheckBox*>(QStringLiteral("secrets_keyring")), Qt::Key_Space);
    QTest::mouseClick(question->findChild<QAbstractButton*>(QStringLiteral("secrets_log_in")), Qt::LeftButton);
  }
  /// By a person who ticked no keyring: it is in no file, argument, environment variable or log, here or on a host. Not looked at are the
  /// lab's own facts, which have the password.
  void nothing_typed_is_kept() {
    const QString own = QDir::cleanPath(bench->run().folder() + QStringLiteral("/../.."));  // of the LabWindow
    for (const char* name : {"hosts.yaml", "runs"}) QVERIFY2(QFileInfo::exists(own + u'/' + QLatin1String(name)), name);
    QStringList folders = {own, lab->home(), lab->folder() + QStringLiteral("/hosts")};
    const QJsonObject facts = QJsonDocument::fromJson(file_text(lab->folder() + QStringLiteral("/lab.json"))).object();
    const QJsonArray hosts = facts.value(QStringLiteral("hosts")).toArray();
    QCOMPARE(hosts.size(), 3);
    for (qsizetype i = 0; i < hosts.size(); ++i) {
      const QString root = QStringLiteral("/proc/%1/root/").arg(hosts.at(i).toObject().value(QStringLiteral("pid")).toInt());
      for (const char* name : {"home", "root", "tmp", "var", "run", "dev/shm"}) folders << root + QLatin1String(name);
    }
    // What the program has beside that, were it asked to, and all that this session's keyring writes.
    using Places = QStandardPaths;
    for (const auto& [place, name] : {std::pair(Places::GenericConfigLocation, "/n2nq"), {Places::GenericConfigLocation, "/n2nq-bench"},
                                      {Places::GenericDataLocation, "/n2nq"}}) {
      const QString folder = Places::writableLocation(place) + QLatin1String(name);
      if (QFileInfo(folder).isDir()) folders << folder;
    }
    if (!qEnvironmentVariableIsEmpty("N2NQ_KEYRING")) folders << qEnvironmentVariable("XDG_RUNTIME_DIR");
    // Beside the window, which goes on: a run whose bench stands still for long would be no sound one.
    const QList<QByteArray> typed = {passphrase, wrong, lab->password().toUtf8()};
    auto search = std::async(std::launch::async, [typed, folders] { return ui_test::holders(typed, folders); });
    QVERIFY(waits([&] { return search.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    const QStringList found = search.get();
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
  }
  QByteArray right_for(const QString& title) const {
    return title == QStringLiteral("Log in to h3") ? passphrase : lab->password().toUtf8();
  }
  app::Host host(int number) const {
    app::Host out = lab->host(number);
    out.identity_file = number == 3 ? key.fileName().toStdString() : std::string();
    return out;
  }
  void allow(int number, const char* methods) {
    lab->change_sshd(number, QStringLiteral("/^AuthenticationMethods/d"));
    lab->change_sshd(number, QStringLiteral("$aAuthenticationMethods ") + QLatin1String(methods));
  }
  void set_password(int number, const QByteArray& password) {
    // By itself: the host has no PAM for it.
    const QString said =
        lab->inside(number, {QStringLiteral("chpasswd"), QStringLiteral("-c"), QStringLiteral("SHA512")}, "lab:" + password + '\n');
    QVERIFY2(said.isEmpty(), qPrintable(said));
  }
  /// It does not say by itself when it has it.
  bool keyring_has_password_of(int number) {
    app::SecretQuestion question;
    question.host = QStringLiteral("h%1").arg(number);
    question.user = QStringLiteral("lab");
    question.address = lab->address(number) + QStringLiteral(" port 22");
    app::Keyring keyring;
    std::optional<bool> has;
    keyring.read(app::Keyring::name_of(question), [&has](const std::optional<app::Secret>& kept) { has = kept.has_value(); });
    return waits([&has] { return has.has_value(); }) && *has;
  }
  QByteArray sshd_log(int number) const { return file_text(lab->folder() + QStringLiteral("/hosts/h%1/sshd.log").arg(number)); }
  void open(const std::vector<app::Host>& hosts) {
    bench.reset();
    bench = std::make_unique<LabWindow>(hosts);
    bench->window().show_page(QStringLiteral("Hosts"));
  }
  void check() {
    bench->window().show_page(QStringLiteral("Hosts"));
    QVERIFY(bench->click("button_host_check"));
  }
  /// A question is open, and each machine has somebody before its door.
  bool all_ask() {
    if (open_question() == nullptr) return false;
    for (int i = 1; i <= 3; ++i) {
      if (sessions(i).isEmpty()) return false;
    }
    return true;
  }
  bool no_log_in_is_left() {
    for (int i = 1; i <= 3; ++i) {
      if (!sessions(i).isEmpty()) return false;
    }
    return true;
  }
  QString sessions(int number) const {
    return lab
        ->inside(number,
                 {QStringLiteral("sh"), QStringLiteral("-c"), QStringLiteral("ps -e -o args= | grep 'sshd: lab' | grep -v grep || true")})
        .trimmed();
  }

  std::unique_ptr<PretendLab> lab;
  QTemporaryFile key;
  std::unique_ptr<LabWindow> bench;
};

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  TestLabLogins test;
  return PretendLab::exit_code(QTest::qExec(&test, argc, argv));
}
#include "test_lab_logins.moc"
