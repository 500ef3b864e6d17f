// SPDX-License-Identifier: GPL-3.0-or-later
// Harm done on purpose, as a menu: to the process of a card, and to the services that are selected in its table. What cannot be done now
// stays in the menu and says why.
#pragma once

#include <QMenu>

#include "app/control/fault.h"
#include "ui/model/run_actions.h"

namespace n2nq::ui {

class ServiceTable;

class FaultMenu : public QMenu {
  Q_OBJECT
 public:
  FaultMenu(app::Role role, RunActions& actions, QWidget* parent);
  /// Whose selected rows the entries for single services are about; opens for a row of it as well (right button, Menu key).
  void set_table(ServiceTable* table);

 private:
  void fill();
  void add_title(const QString& text);
  void add_process_faults();
  void add_service_faults();
  /// `numbers`: of the services; {0} for the process.
  QAction* add_fault(const QString& text, app::FaultKind kind, const QList<int>& numbers);
  void tell_common_reason();
  QString reason(const app::Fault& fault) const;

  app::Role role_;
  RunActions& actions_;
  ServiceTable* table_ = nullptr;
};

}  // namespace n2nq::ui
