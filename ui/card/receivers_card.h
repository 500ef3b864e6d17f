// SPDX-License-Identifier: GPL-3.0-or-later
// The receivers: how many, what they have received and how long it took, and each of them.
#pragma once

#include "app/host/host_book.h"
#include "ui/model/request_desk.h"
#include "ui/model/run_actions.h"
#include "ui/model/service_model.h"
#include "ui/widget/card.h"
#include "ui/widget/service_table.h"
#include "ui/widget/tile.h"

class QButtonGroup;
class QHBoxLayout;

namespace n2nq::ui {

class ReceiversCard : public Card {
  Q_OBJECT
 public:
  ReceiversCard(SettingsForm& form, RunActions& actions, RequestDesk& desk, const app::HostBook& hosts, const Theme& theme,
                QWidget* parent = nullptr);

  void show_figures(const app::LiveFigures& figures);
  void clear_figures();
  ServiceTable* table() const { return table_; }

 private:
  void add_form();
  void add_views(QHBoxLayout* row);
  void take_requests();
  void take_extras();
  void show_views();
  void add_tiles(const Theme& theme);
  void take_settings();
  void tell_planned(const app::LiveFigures& figures);

  SettingsForm& form_;
  RunActions& actions_;
  RequestDesk& desk_;
  ServiceModel* model_;
  ServiceTable* table_;
  QButtonGroup* views_;
  QWidget* views_row_;
  bool skips_ = false;  // some receiver of the run that is shown will not get something
  Tile *received_, *rate_, *lowest_, *p50_, *p95_, *p99_;
};

}  // namespace n2nq::ui
