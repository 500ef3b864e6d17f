// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/keyring_thread.h"

#include <QCoreApplication>
#include <QThread>

namespace n2nq::app {

namespace {

constexpr int keyring_ends_ms_max = 1'000;  // QtKeychain stands still for half of that at most

struct RunningKeyring {
  QThread thread;
  QObject there;
};

RunningKeyring* running_keyring = nullptr;

void end_keyring() {
  running_keyring->thread.quit();
  // One that stands still all the same is left to the end of the process.
  if (running_keyring->thread.wait(keyring_ends_ms_max)) delete running_keyring;
  running_keyring = nullptr;
}

}  // namespace

void KeyringThread::run(std::function<void()> job) {
  if (running_keyring == nullptr) {
    running_keyring = new RunningKeyring;
    running_keyring->thread.setObjectName("keyring");
    running_keyring->there.moveToThread(&running_keyring->thread);
    running_keyring->thread.start();
    qAddPostRoutine(end_keyring);
  }
  QMetaObject::invokeMethod(&running_keyring->there, std::move(job), Qt::QueuedConnection);
}

}  // namespace n2nq::app
