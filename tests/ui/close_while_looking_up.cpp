// SPDX-License-Identifier: GPL-3.0-or-later
// The program's own window, given a file of lab machines: begins a check, closes when it goes on, and ends as the program does.
// For tests/end_to_end/test_name_service.py.
#include <QApplication>
#include <QPushButton>
#include <QTimer>
#include <cstdio>

#include "ui/main_window.h"
#include "ui/run_window.h"

namespace {

constexpr int look_ms = 100;
constexpr int looks_up_ms = 500;  // from the click on; the thread that does it has begun by then

void check_and_close() {
  auto* looks = new QTimer(qApp);
  QObject::connect(looks, &QTimer::timeout, qApp, [looks] {
    for (QWidget* top : QApplication::topLevelWidgets()) {
      auto* window = qobject_cast<n2nq::ui::MainWindow*>(top);
      auto* check = window != nullptr ? window->findChild<QPushButton*>(QStringLiteral("button_host_check")) : nullptr;
      if (check == nullptr || !check->isEnabled()) continue;
      looks->stop();
      check->click();
      std::printf("%s\n", check->text() == QStringLiteral("Cancel") ? "checking" : "no check");
      QTimer::singleShot(looks_up_ms, window, &QWidget::close);
    }
  });
  looks->start(look_ms);
}
Q_COREAPP_STARTUP_FUNCTION(check_and_close)

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: close_while_looking_up HOSTS-FILE\n", stderr);
    return 2;
  }
  const int code = n2nq::ui::run_window(argc, argv, QString::fromLocal8Bit(argv[1]));
  std::puts("ended as it began");  // where nothing was left to be looked up
  return code;
}
