// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/support/hosts_page_test.h"

#include <QApplication>
#include <QLineEdit>
#include <QTableView>
#include <QTest>
#include <QTimer>

namespace n2nq::ui_test {

void HostsPageTest::in_dialog(const std::function<void(QWidget& dialog)>& act) {
  QTimer::singleShot(0, [act] {
    QWidget* dialog = QApplication::activeModalWidget();
    QVERIFY2(dialog != nullptr, "no dialog opened");
    act(*dialog);
    if (QApplication::activeModalWidget() == dialog) dialog->close();
  });
}

void HostsPageTest::type_into(QWidget& dialog, const char* name, const QString& text) {
  auto* field = dialog.findChild<QLineEdit*>(QString::fromLatin1(name));
  QVERIFY2(field != nullptr, name);
  field->setFocus();
  field->selectAll();
  QTest::keyClicks(field, text);
}

app::Host HostsPageTest::named(const char* name) {
  app::Host host;
  host.name = name;
  return host;
}

QTableView* HostsPageTest::table() {
  return bench->find<QTableView>("hosts_table");
}

void HostsPageTest::init() {
  bench = std::make_unique<BenchWindow>();
  bench->window().show_page(QStringLiteral("Hosts"));
  bench->window().activateWindow();  // shortcuts are an active window's
  QVERIFY(QTest::qWaitForWindowActive(&bench->window(), deadline_ms));
}

}  // namespace n2nq::ui_test
