// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/log/run_logs.h"

#include "app/control/role.h"
#include "app/settings/host_name.h"
#include "ui/text/figures.h"

namespace n2nq::ui {

RunLogs::RunLogs(RunActions& actions, LogViewers& viewers, QObject* parent)
    : QObject(parent), actions_(actions), run_(actions.run()), viewers_(viewers) {}

LogWindow* RunLogs::open(app::Role role, int number) {
  const QString path = run_.log_path(role, number);
  const bool writes_none = !run_.folder().isEmpty() && run_.run_settings().log == app::LogMode::off;
  if (path.isEmpty() || writes_none) {
    emit none(writes_none ? QStringLiteral("The services of this run write no logs (Advanced, Log: off).")
                          : QStringLiteral("There is no log yet: a service's log begins when it is started (F5)."));
    return nullptr;
  }
  return follow(viewers_.open(title(service_name(role, number), role), path), role, number);
}

void RunLogs::open_of_broker() {
  const QString path = run_.broker_log_path();
  if (!path.isEmpty()) follow(viewers_.open(title(QStringLiteral("N2NQ"), app::Role::broker), path), app::Role::broker, 0);
}

/// With the machine where it is written, and whose clock the stamps are of.
QString RunLogs::title(const QString& whose, app::Role role) const {
  const std::string host = app::host_of(role, run_.run_settings());
  const QString on_host = host == app::local_host ? QString() : QStringLiteral(" on %1").arg(QString::fromStdString(host));
  return QStringLiteral("Log of %1%2").arg(whose, on_host);
}

LogWindow* RunLogs::follow(LogWindow* window, app::Role role, int number) {
  if (!actions_.is_on() || window->is_awaited()) return window;
  run_.follow_log(role, number, true);
  window->set_awaited(true);
  connect(&run_, &app::RunControl::state_changed, window, [this, window, role, number] {
    // The next run's log is another file.
    window->set_awaited(actions_.is_on() && run_.log_path(role, number) == window->path());
  });
  connect(window, &LogWindow::closed, this, [this, role, number](const QString& path) {
    const QString now = run_.log_path(role, number);  // empty: no process of it came as far as to write one
    if (now.isEmpty() || now == path) run_.follow_log(role, number, false);
  });
  return window;
}

}  // namespace n2nq::ui
