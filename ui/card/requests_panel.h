// SPDX-License-Identifier: GPL-3.0-or-later
// What receivers ask for: a form that makes a request, before a run or while messages flow, and what is asked for now, with a way back.
#pragma once

#include <QWidget>

#include "ui/model/request_desk.h"
#include "ui/theme/theme.h"

class QGridLayout;
class QHBoxLayout;
class QPushButton;

namespace n2nq::ui {

class ElidedLabel;
class UnitEdit;

class RequestsPanel : public QWidget {
  Q_OBJECT
 public:
  RequestsPanel(RequestDesk& desk, const Theme& theme, QWidget* parent = nullptr);

 private:
  UnitEdit* make_field(const char* object_name, const QString& name, const QString& unit, const QString& tooltip, int width_px);
  QHBoxLayout* make_row();
  QWidget* make_list();
  /// What the fields say; empty where they are wrong, which they say then.
  std::optional<app::ReceiverRequest> read();
  void make_request();
  void refresh();
  void refresh_list();
  void refresh_state();

  RequestDesk& desk_;
  const Theme& theme_;
  UnitEdit *receivers_, *senders_, *sizes_, *prefetch_;
  ElidedLabel *whom_problem_, *what_problem_, *state_;
  QPushButton *make_, *all_back_;
  QGridLayout* list_;
  QString shown_;  // what the list was made of
};

}  // namespace n2nq::ui
