// SPDX-License-Identifier: GPL-3.0-or-later
// The senders: what they are to send, what they have sent, and each of them.
#pragma once

#include "app/host/host_book.h"
#include "ui/model/run_actions.h"
#include "ui/model/service_model.h"
#include "ui/widget/card.h"
#include "ui/widget/service_table.h"
#include "ui/widget/tile.h"

namespace n2nq::ui {

class SendersCard : public Card {
  Q_OBJECT
 public:
  SendersCard(SettingsForm& form, RunActions& actions, const app::HostBook& hosts, const Theme& theme, QWidget* parent = nullptr);

  void show_figures(const app::LiveFigures& figures);
  void clear_figures();
  ServiceTable* table() const { return table_; }

 private:
  void add_tiles(const Theme& theme);
  void take_settings();

  RunActions& actions_;
  ServiceModel* model_;
  ServiceTable* table_;
  Tile *sent_, *rate_, *delay_;
};

}  // namespace n2nq::ui
