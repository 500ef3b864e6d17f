// SPDX-License-Identifier: GPL-3.0-or-later
// Results as rows: those of the index that the filter lets through, newest first as it has them until another column is asked for. Reads
// nothing itself.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <tuple>
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
  /// Of a column, as it is while the list is sorted by it.
  static QString sorted_head(int column, Qt::SortOrder order);
  /// "load balancer" of "load-balancer".
  static QString mode_words(QString mode);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  /// Numbers as numbers, words whatever their case, and what has none behind all that have, either way round. Equal ones stay newest first,
  /// and what is chosen stays chosen.
  void sort(int column, Qt::SortOrder order) override;

 private:
  struct SortKey {
    bool is_there = false;
    std::tuple<double, double, QString> value;
  };
  SortKey sort_key(const app::ResultEntry& entry, int column) const;
  /// Which of them are shown, in the order of the rows.
  std::vector<std::size_t> arranged(const std::vector<app::ResultEntry>& entries) const;
  void show(std::vector<std::size_t> shown);
  QString text(const app::ResultEntry& entry, int column) const;

  const Theme& theme_;
  std::vector<app::ResultEntry> all_;
  std::vector<std::size_t> shown_;
  QHash<QString, int> rows_;  // of what is shown, by folder
  app::ResultFilter filter_;
  int sorted_by_ = started;
  Qt::SortOrder order_ = Qt::DescendingOrder;
};

}  // namespace n2nq::ui
