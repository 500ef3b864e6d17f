// SPDX-License-Identifier: GPL-3.0-or-later
// Results as rows, newest first: those of the index that the filter lets through. Reads nothing itself.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <vector>

#include "app/results/result_index.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class ResultsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { started, name, mode, services, machines, verdict, p50, p99, deliveries, tags, note, column_count };

  explicit ResultsModel(const Theme& theme, QObject* parent = nullptr);

  void set_entries(std::vector<app::ResultEntry> entries);
  void set_filter(const app::ResultFilter& filter);
  const app::ResultEntry& entry(int row) const { return all_[shown_[static_cast<std::size_t>(row)]]; }
  /// The row of a folder; -1: it is not shown.
  int row_of(const QString& folder) const;
  std::size_t all_count() const { return all_.size(); }
  /// Whether any of them has figures between two clocks.
  bool any_bound() const;
  /// The longest text of a p50_us or p99_us; empty: there is none.
  QString longest_latency(double app::ResultEntry::*percentile) const;
  /// Of all, also of those that are not shown; empty: there is none.
  QString longest_text(Column column) const;
  /// Whether any of them has a note or tags.
  bool any_noted() const;
  QStringList all_tags() const;
  /// "load balancer" of "load-balancer".
  static QString mode_words(QString mode);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void refilter();
  QString text(const app::ResultEntry& entry, int column) const;

  const Theme& theme_;
  std::vector<app::ResultEntry> all_;
  std::vector<std::size_t> shown_;
  QHash<QString, int> rows_;  // of what is shown, by folder
  app::ResultFilter filter_;
};

}  // namespace n2nq::ui
