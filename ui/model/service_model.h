// SPDX-License-Identifier: GPL-3.0-or-later
// The services of one group as rows of a table. Fed only by LiveFigures; what no answer has named yet is shown as a dash.
#pragma once

#include <QAbstractTableModel>
#include <array>
#include <optional>
#include <vector>

#include "app/control/live_figures.h"
#include "app/control/run_control.h"
#include "app/settings/requests.h"
#include "ui/text/figures.h"

namespace n2nq::ui {

class ServiceModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { log_column, name_column, first_figure_column };
  /// What the log column's cells answer to Qt::UserRole: the service's number.
  static constexpr int number_role = Qt::UserRole;

  /// `role`: senders or receivers.
  explicit ServiceModel(app::Role role, QObject* parent = nullptr);

  /// As many rows as the settings ask for; forgets the figures when the amount changes.
  void set_amount(int amount);
  /// "31 / 50" in the packets column; empty: until stopped, only "31".
  void set_planned_each(std::optional<std::int64_t> planned);
  /// Whether the rates are the run's means, which the heading says then.
  void set_means(bool means);
  /// Whether the senders are on another host: then each latency is between two clocks, and its heading has a line for what they may err.
  void set_apart(bool apart);
  /// Which columns apply beside those that always do; receivers only.
  struct Extras {
    bool responses = false;  // confirmed, sent again
    bool skipped = false;    // expired, skipped
    bool requests = false;   // what each asks for
    bool operator==(const Extras&) const = default;
  };
  void set_extras(const Extras& extras);
  const Extras& extras() const { return extras_; }
  /// By row, what the receiver asks for.
  void set_rules(const std::vector<app::RequestRules>& rules);
  /// Columns that are looked at together where there is no room for all of them.
  enum class View { latency, deliveries, requests };
  bool is_in(View view, int column) const;
  /// Takes what room is left, and gives of its own where there is too little.
  bool is_elastic(int column) const;

  void clear_figures();
  /// Overwrites the named rows only; numbers outside the table are ignored.
  void update(const app::LiveFigures& figures);

  app::Role role() const { return role_; }
  /// About the longest text that a cell of the column will show; for its width.
  QString widest_text(int column) const;
  /// What the column's header may say while a run goes on; for its width, which must not change then.
  QStringList headers(int column) const;
  /// How many lines the tallest header has, also before a run says what is in them.
  int header_lines() const { return apart_ || bound_.apart ? 2 : 1; }
  int number_of(int row) const { return row + 1; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  enum class Kind { log, name, time, rate, packets, count, rules };
  enum class Applies { always, with_responses, with_skipped, with_requests };
  struct ColumnInfo {
    Kind kind;
    const char* title;
    const char* meaning;
    int slot;  // in Row::times_us or Row::counts
    Applies applies = Applies::always;
    double share = 0;  // of a percentile, between 0 and 1
  };
  struct Row {
    double times_us[2] = {app::unknown, app::unknown};
    double rate_per_s = app::unknown;
    std::int64_t packets = -1;
    std::array<std::int64_t, 4> counts = {-1, -1, -1, -1};  // confirmed, sent again, expired, skipped
    bool operator==(const Row& other) const;
  };

  static const std::vector<ColumnInfo>& columns(app::Role role);
  void choose_columns();
  const ColumnInfo& info_of(int column) const { return *columns_[static_cast<std::size_t>(column)]; }
  QString rules_text(int row) const;
  bool put(int number, const Row& row);
  void announce(int first, int last);
  /// Of each column of times: one for both, where that can be.
  void choose_units();
  /// `present`, while a run is on and it is the larger unit, in which `largest_us` shows something; else `wanted`.
  TimeScale kept_or(const TimeScale& wanted, const TimeScale& present, double largest_us) const;
  QString shown(const Row& row, const ColumnInfo& column) const;
  QString exact(const Row& row, const ColumnInfo& column) const;
  QString bound_line() const;
  void set_bound(const app::ClockBound& bound, bool known);
  /// Of a receiver's latency, which says more about the machine than about the queue.
  bool is_grey(const Row& row, const ColumnInfo& column) const;

  app::Role role_;
  std::vector<const ColumnInfo*> columns_;  // those that apply
  Extras extras_;
  std::vector<app::RequestRules> rules_;
  std::vector<Row> rows_;
  std::optional<std::int64_t> planned_;
  bool means_ = false;
  std::array<TimeScale, 2> units_;
  std::array<bool, 2> has_unit_{};  // of what is shown, since it was cleared
  int decimals_[2] = {1, 1};
  app::ClockBound bound_;  // of the receivers' latencies
  bool apart_ = false, latencies_known_ = false;
  double floor_us_ = app::unknown;
};

}  // namespace n2nq::ui
