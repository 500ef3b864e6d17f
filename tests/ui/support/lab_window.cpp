// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/support/lab_window.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QTest>

#include "app/host/host_launchers.h"
#include "ui/model/service_model.h"
#include "ui/widget/service_table.h"

namespace n2nq::ui_test {

LabWindow::LabWindow(const std::vector<app::Host>& hosts)
    : book_(folder_.filePath(QStringLiteral("hosts.yaml"))),
      asker_(&keyring_),
      questions_(keyring_, asker_),
      pool_(questions_, QStringLiteral(N2NQ_PROGRAMS)),
      checker_(pool_) {
  for (const app::Host& host : hosts) book_.put(host);
  ui::MainWindow::Parts parts;
  parts.hosts = &book_;
  parts.checker = &checker_;
  parts.launchers = std::make_unique<app::HostLaunchers>(book_, [this](const app::Host& host) { return pool_.launcher(host); });
  parts.runs_folder = folder_.filePath(QStringLiteral("runs"));
  parts.presets_folder = folder_.filePath(QStringLiteral("presets"));
  parts.memory = std::make_unique<QSettings>(folder_.filePath(QStringLiteral("memory.ini")), QSettings::IniFormat);
  window_ = std::make_unique<ui::MainWindow>(std::move(parts));
  asker_.set_window(window_.get(), window_->theme());
  window_->setWindowState(Qt::WindowNoState);
  window_->resize(1440, 900);
  window_->show();
}

LabWindow::~LabWindow() = default;

bool LabWindow::is_checked() const {
  return window_->findChild<QAbstractButton*>(QStringLiteral("button_host_check"))->text() == QStringLiteral("Check");
}

bool LabWindow::click(const char* name) {
  auto* button = window_->findChild<QAbstractButton*>(QString::fromLatin1(name));
  if (button == nullptr || !button->isVisible() || !button->isEnabled()) return false;
  QTest::mouseClick(button, Qt::LeftButton);
  return true;
}

bool LabWindow::choose(const char* name, const char* entry) {
  auto* box = window_->findChild<QComboBox*>(QString::fromLatin1(name));
  if (box == nullptr) return false;
  QTest::keyClick(box, Qt::Key_Home);
  while (box->currentText() != QLatin1String(entry) && box->currentIndex() + 1 < box->count()) QTest::keyClick(box, Qt::Key_Down);
  return box->currentText() == QLatin1String(entry);
}

ui::LogWindow* LabWindow::click_log(app::Role role, int number) {
  const QLatin1String name(role == app::Role::senders ? "senders_table" : "receivers_table");
  const auto* table = window_->findChild<ui::ServiceTable*>(name);
  const QRect cell = table->visualRect(table->model()->index(number - 1, ui::ServiceModel::log_column));
  if (!table->isVisible() || cell.isEmpty() || !table->viewport()->rect().contains(cell)) return nullptr;
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, QPoint(cell.left() + 12, cell.center().y()));
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    auto* log = qobject_cast<ui::LogWindow*>(widget);
    if (log != nullptr && log->isVisible() && log->path() == run().log_path(role, number)) return log;
  }
  return nullptr;
}

QDialog* open_question() {
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    const QString name = widget->objectName();
    const bool asks = name == QStringLiteral("host_key_dialog") || name == QStringLiteral("secrets_dialog");
    if (asks && widget->isVisible()) return qobject_cast<QDialog*>(widget);
  }
  return nullptr;
}

}  // namespace n2nq::ui_test
