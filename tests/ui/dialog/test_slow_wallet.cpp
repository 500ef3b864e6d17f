// SPDX-License-Identifier: GPL-3.0-or-later
// A KWallet that takes its time, in a desktop session of the test's own (in_session.sh): the window's thread goes on meanwhile.
#include <QDBusConnection>
#include <QMutex>
#include <QTest>
#include <QThread>
#include <QWaitCondition>
#include <atomic>

#include "app/host/keyring.h"

using namespace n2nq;

namespace {

constexpr unsigned long hang_ms = 20'000;

/// Of KWallet what QtKeychain asks it for until a wallet is open, which is refused.
class Wallet : public QObject {
  Q_OBJECT
  Q_CLASSINFO("D-Bus Interface", "org.kde.KWallet")

 public:
  /// `window`: of the window's thread.
  explicit Wallet(QObject* window) : window_(window) {}
  /// How often.
  std::atomic<int> asked = 0, opened = 0;

 public slots:
  /// Says nothing before the window's thread has gone through its events. QtKeychain waits for it at first, for half a second, and then takes
  /// it for gone and asks somebody else.
  Q_SCRIPTABLE QString networkWallet() {
    ++asked;
    QMutexLocker lock(&mutex_);
    window_turned_ = false;
    QMetaObject::invokeMethod(window_, [this] {
      const QMutexLocker turned(&mutex_);
      window_turned_ = true;
      turned_.wakeAll();
    }, Qt::QueuedConnection);
    while (!window_turned_ && turned_.wait(&mutex_, hang_ms)) {
    }
    return QStringLiteral("kdewallet");
  }
  Q_SCRIPTABLE int open(const QString&, qlonglong, const QString&) {
    ++opened;
    return -1;
  }

 private:
  QObject* const window_;
  QMutex mutex_;
  QWaitCondition turned_;
  bool window_turned_ = false;
};

}  // namespace

class TestSlowWallet : public QObject {
  Q_OBJECT

 private slots:
  void the_windows_thread_turns_while_the_first_question_waits_for_the_wallet() {
    if (qEnvironmentVariableIsEmpty("N2NQ_KEYRING")) QSKIP("there is no dbus-run-session or gnome-keyring-daemon to make a desktop session with; tests/run installs both");
    QThread thread;
    Wallet wallet(this);
    wallet.moveToThread(&thread);
    thread.start();
    QDBusConnection bus = QDBusConnection::connectToBus(QDBusConnection::SessionBus, QStringLiteral("wallet"));
    QVERIFY(bus.registerObject(QStringLiteral("/modules/kwalletd5"), &wallet, QDBusConnection::ExportAllSlots));
    QVERIFY(bus.registerService(QStringLiteral("org.kde.kwalletd5")));

    app::Keyring keyring;
    bool answered = false;
    keyring.read(QStringLiteral("password of nobody"), [&](const auto& secret) {
      QVERIFY(!secret);
      QCOMPARE(QThread::currentThread(), thread_);
      answered = true;
    });
    QVERIFY(!answered);
    QVERIFY(QTest::qWaitFor([&] { return answered; }, 20'000));
    QVERIFY(wallet.asked > 0);
    QVERIFY2(wallet.opened > 0, "it was taken for gone: the window's thread stood still until its first answer");
    bus.unregisterService(QStringLiteral("org.kde.kwalletd5"));
    thread.quit();
    thread.wait();
  }

 private:
  QThread* const thread_ = QThread::currentThread();
};

QTEST_GUILESS_MAIN(TestSlowWallet)
#include "test_slow_wallet.moc"
