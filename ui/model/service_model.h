// SPDX-License-Identifier: GPL-3.0-or-later
// The services of one group as rows of a table. Fed only by LiveFigures; what no answer has named yet is shown as a dash.
#pragma once

#include <QAbstractTableModel>
#include <optional>
#include <vector>

#include "app/control/live_figures.h"
#include "app/control/run_control.h"
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
  void clear_figures();
  /// Overwrites the named rows only; numbers outside the table are ignored.
  void update(const app::LiveFigures& figures);

  app::Role role() const { return role_; }
  /// About the longest text that a cell of the column will show; for its width.
  QString widest_text(int column) const;
  int number_of(int row) const { return row + 1; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  enum class Kind { log, name, time, rate, packets };
  struct ColumnInfo {
    Kind kind;
    const char* title;
    const char* meaning;
    int slot;  // in Row::times
  };
  struct Row {
    double times_us[2] = {app::unknown, app::unknown};
    double rate_per_s = app::unknown;
    std::int64_t packets = -1;
    bool operator==(const Row& other) const;
  };

  static const std::vector<ColumnInfo>& columns(app::Role role);
  bool put(int number, const Row& row);
  void announce(int first, int last);
  void choose_units();
  QString shown(const Row& row, const ColumnInfo& column) const;
  QString exact(const Row& row, const ColumnInfo& column) const;

  app::Role role_;
  std::vector<Row> rows_;
  std::optional<std::int64_t> planned_;
  bool means_ = false;
  TimeScale units_[2];
  int decimals_[2] = {1, 1};
};

}  // namespace n2nq::ui
