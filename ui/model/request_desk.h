// SPDX-License-Identifier: GPL-3.0-or-later
// Where requests are made: before a run they are settings, while messages flow they apply at once. Knows no widget.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "ui/model/run_actions.h"

namespace n2nq::ui {

class RequestDesk : public QObject {
  Q_OBJECT
 public:
  struct Entry {
    std::optional<app::NumberRanges> receivers;  // none: all
    app::RequestRules rules;
  };

  RequestDesk(SettingsForm& form, RunActions& actions, QObject* parent = nullptr);

  /// Receivers get only what they ask for.
  bool is_on() const;
  /// Whether a request applies to a run at once; otherwise it goes into the settings.
  bool is_live() const;
  /// Whether these settings are those of a run that is being prepared; otherwise, where it is not live, of the next one.
  bool is_for_this_run() const;
  /// Why none can be made now; empty: it can.
  QString problem() const;
  /// From now on these receivers (none: all) ask for this, in place of what they asked before.
  void make(const app::ReceiverRequest& request);
  /// These receivers ask for anything again.
  void put_back(const std::optional<app::NumberRanges>& receivers);
  /// What is asked for other than anything: in the run from its traffic on until it is over, else in the settings.
  std::vector<Entry> entries() const;
  /// By receiver, of the run that is shown, else of the settings, as while it is being prepared; empty while requests are off.
  std::vector<app::RequestRules> shown_rules() const;
  /// How many a request can name, from where entries() are.
  int receivers() const;
  int senders() const;
  /// Of the run that is over, in a word; empty before the first one and while one is on.
  QString verdict() const;
  /// What made it so, the first of its reasons; empty where there is nothing to tell.
  QString reason() const;

 signals:
  void changed();

 private:
  /// What is shown and changed here is the form's; otherwise the run's.
  bool is_of_form() const;
  const app::Settings& settings() const;
  std::vector<Entry> live_entries() const;
  void make_live(const app::ReceiverRequest& request);
  void make_setting(const app::ReceiverRequest& request);

  SettingsForm& form_;
  RunActions& actions_;
};

/// "R001–R025, R030"; "all receivers" for none.
QString receivers_text(const std::optional<app::NumberRanges>& receivers);

}  // namespace n2nq::ui
