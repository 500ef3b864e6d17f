// SPDX-License-Identifier: GPL-3.0-or-later
// Lab machines: which there are, whether each can be used, how they reach each other, and for everything that is not right what to do.
#pragma once

#include <QTimer>
#include <QWidget>
#include <functional>

#include "app/host/host_book.h"
#include "app/host/host_report.h"
#include "ui/dialog/import_dialog.h"
#include "ui/model/throttle.h"
#include "ui/theme/theme.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;
class QTextBrowser;

namespace n2nq::ui {

class Card;
class HostsModel;

class HostsPage : public QWidget {
  Q_OBJECT
 public:
  struct Parts {
    app::HostBook* book = nullptr;
    app::HostChecker* checker = nullptr;         // null: there is nothing to check with
    std::function<ImportOffer()> ssh_offer;      // what ~/.ssh/config has; empty: nothing
    std::function<int()> broker_port;            // that of the settings; 0: any
    std::function<QString()> why_not_now;        // why a check may not begin, such as a run that it would disturb; empty: it may
  };
  HostsPage(Parts parts, const Theme& theme, QWidget* parent = nullptr);

  void check();
  /// What was typed into that field counts from now on.
  void take_local_address();
  /// What may be pressed, as everything stands now.
  void refresh();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* make_hosts_card();
  QWidget* make_local_row();
  QWidget* make_paths_card();
  QWidget* make_advice_card();
  void share_width();
  int needed_px(int column) const;
  void make_shortcuts();
  void add();
  void import();
  void edit();
  void remove();
  void undo();
  void take_hosts();
  void select_row_of(const std::string& name);
  void select(const QString& name);
  void show_advice();
  QString why_not_now() const;
  void tell(const QString& problem_of_deed);

  Parts parts_;
  const Theme& theme_;
  HostsModel* model_ = nullptr;
  QTableView *table_ = nullptr, *paths_ = nullptr;
  QWidget* rows_ = nullptr;  // the table of machines, or nothing while there are none
  QPushButton *check_ = nullptr, *edit_ = nullptr, *remove_ = nullptr, *undo_ = nullptr, *import_ = nullptr, *add_ = nullptr;
  QLabel* checked_ = nullptr;        // when that was, in this session
  Throttle advise_;                  // what to do is shown anew
  QTimer look_again_;                // while the file cannot be read: it may have been mended
  app::Hosts known_;                 // what the file said when it could be read last
  std::string chosen_;               // the machine of the current row; empty: none
  QString shown_address_;            // of this machine, before somebody typed
  QString address_problem_;  // why it is refused; empty: it is not
  bool tells_file_problems_ = false;
  QLineEdit* local_address_ = nullptr;
  QLabel *invitation_ = nullptr, *problem_ = nullptr, *paths_hint_ = nullptr;
  QWidget* below_ = nullptr;  // what there is to say once there are machines
  QTextBrowser* advice_ = nullptr;
};

}  // namespace n2nq::ui
