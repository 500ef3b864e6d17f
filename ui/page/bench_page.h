// SPDX-License-Identifier: GPL-3.0-or-later
// The Bench page: senders left, N2NQ in the middle, receivers right, charts below or, in a low window, on a page of their own.
#pragma once

#include <QList>
#include <QWidget>

#include "app/host/host_book.h"
#include "ui/model/request_desk.h"
#include "ui/model/run_actions.h"
#include "ui/model/throttle.h"
#include "ui/theme/theme.h"

class QSplitter;

namespace n2nq::ui {

class BrokerCard;
class ChartsCard;
class MessageBar;
class ReceiversCard;
class SendersCard;

class BenchPage : public QWidget {
  Q_OBJECT
 public:
  /// `messages`: where what the run says is shown.
  BenchPage(SettingsForm& form, RunActions& actions, const app::HostBook& hosts, MessageBar& messages, const Theme& theme,
            QWidget* parent = nullptr);

  MessageBar* messages() const { return &messages_; }
  ChartsCard* charts() const { return charts_; }
  /// Takes note of the charts' share of the page, while the window is high enough for them.
  void note_rows();
  /// The charts, to be put elsewhere; their share of the page is kept for when they come back.
  ChartsCard* release_charts();
  /// Takes the charts in below the cards.
  void hold_charts();
  /// Shows the field of a key and puts the cursor into it.
  void show_field(const QString& key);
  /// Asks for the log of the selected service: of the table that has the focus, else of the one that had a selection last.
  void request_selected_log();

  QByteArray layout_state() const;
  void restore_layout(const QByteArray& cards, const QByteArray& rows);
  QByteArray rows_state() const;

 signals:
  void log_requested(n2nq::app::Role role, int number);
  void broker_log_requested();
  void open_folder_requested();

 private:
  void connect_tables();
  void show_figures();
  void start_fresh();
  void show_message(const QString& text);
  void mark_states(app::Role role);
  void share_rows();

  SettingsForm& form_;
  RunActions& actions_;
  MessageBar& messages_;
  RequestDesk desk_;
  QSplitter *rows_, *cards_;
  SendersCard* senders_;
  BrokerCard* broker_;
  ReceiversCard* receivers_;
  ChartsCard* charts_;
  Throttle mark_events_;  // a fault of many services is an event of each
  QByteArray rows_kept_;  // their shares, with the charts; empty: the usual ones
  app::Role selected_role_ = app::Role::receivers;
};

}  // namespace n2nq::ui
