// SPDX-License-Identifier: GPL-3.0-or-later
// N2NQ, the queue between senders and receivers: its mode and rules, what became of the messages, and where the time goes.
#pragma once

#include "app/host/host_book.h"
#include "ui/model/run_actions.h"
#include "ui/widget/card.h"

class QButtonGroup;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace n2nq::ui {

class AdvancedPanel;
class LedgerPanel;
class RequestDesk;
class RequestsPanel;
class RunPanel;
class StageBar;
class Theme;

class BrokerCard : public Card {
  Q_OBJECT
 public:
  BrokerCard(SettingsForm& form, RunActions& actions, RequestDesk& desk, const app::HostBook& hosts, const Theme& theme, QWidget* parent = nullptr);

  void show_figures(const app::LiveFigures& figures);
  void clear_figures();
  /// Whether this remark about the settings stood in sight when the run began.
  bool has_told(const QString& remark) const;
  /// Unfolds the advanced settings, so that a field in there can be seen.
  void show_advanced(bool shown);
  /// What stands in the middle: the run, what receivers ask for (only while requests are on), or the ledger.
  enum class Page { run, requests, ledger };
  void show_page(Page page);

 signals:
  void log_requested();
  void open_folder_requested();

 private:
  void add_rules(const Theme& theme);
  void add_switches(const Theme& theme);
  void add_fold_row();
  void add_pages(const app::HostBook& hosts, const Theme& theme);
  QWidget* make_run_page(const app::HostBook& hosts, const Theme& theme);
  QWidget* make_stages(const Theme& theme);
  void refresh();

  SettingsForm& form_;
  RunActions& actions_;
  RequestDesk& desk_;
  const Theme& theme_;
  QWidget *remove_row_, *dispatch_row_;
  QPushButton *fold_, *log_, *requests_tab_;
  QButtonGroup* tabs_;
  QStackedWidget* pages_;
  QVBoxLayout* run_page_;
  RunPanel* panel_;
  LedgerPanel* ledger_;
  AdvancedPanel* advanced_;
  StageBar* stages_;
};

}  // namespace n2nq::ui
