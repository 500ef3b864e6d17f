// SPDX-License-Identifier: GPL-3.0-or-later
// What became of the messages: before a run an invitation, during it the counts so far, after it the verdict with its reasons.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "app/host/host_book.h"
#include "ui/model/run_actions.h"
#include "ui/widget/tile.h"

class QLabel;
class QPushButton;

namespace n2nq::ui {

class ElidedLabel;

class RunPanel : public QWidget {
  Q_OBJECT
 public:
  RunPanel(SettingsForm& form, RunActions& actions, const app::HostBook& hosts, const Theme& theme, QWidget* parent = nullptr);

  void show_figures(const app::LiveFigures& figures);
  void show_in_flight_bound(const app::LiveFigures& figures);
  void clear_figures();
  /// Leaves room to what stands below: nothing is shown that is not about a run; and of a run that is over when this is called, only the
  /// verdict, until the next one starts.
  void set_compact(bool compact);
  /// Whether this remark about the settings stood here, in sight, when the run began.
  bool has_told(const QString& remark) const { return told_.contains(remark); }

 signals:
  void open_folder_requested();

 private:
  QWidget* make_invitation();
  QWidget* make_verdict();
  QWidget* make_counts();
  /// The verdict's reasons, and what disturbed the run.
  QStringList why() const;
  void show_reasons();
  void refresh();
  QString invitation() const;
  QString waiting_words() const;

  SettingsForm& form_;
  RunActions& actions_;
  const app::HostBook& hosts_;
  const Theme& theme_;
  QLabel *invitation_, *remarks_, *verdict_;
  ElidedLabel *disturbed_, *story_;
  QPushButton* reasons_;
  QPushButton* folder_;
  QWidget *invitation_box_, *verdict_row_, *counts_;
  std::vector<Tile*> tiles_;
  Tile* lost_;  // in the place of what is in flight, once that is over
  QStringList told_;  // remarks that were in sight when the run began
  bool preparing_ = false;
  bool compact_ = false;
  bool gives_room_ = false;  // compact, and no run was on since then: what one brings is in sight, and stays there when it is over
};

}  // namespace n2nq::ui
