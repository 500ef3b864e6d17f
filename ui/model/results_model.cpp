// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/results_model.h"

#include <QDir>
#include <QLocale>
#include <QSet>
#include <algorithm>
#include <cmath>

#include "app/figure/figure_doubts.h"
#include "app/results/stored_run.h"
#include "ui/text/figures.h"
#include "ui/text/tabular.h"
#include "ui/text/verdict_text.h"

namespace n2nq::ui {

namespace {

int no_decimals(double /*value*/) {
  return 0;
}

constexpr double tenths_end_us = 999.95;  // from there on they tell nothing: latency_lines() have all digits

/// With what two clocks leave open of it, beside which tenths of a microsecond say nothing.
QString us_text(double value, double clock_bound_us) {
  if (std::isnan(value)) return dash();
  if (std::isnan(clock_bound_us) || clock_bound_us == 0) return fixed_text(value, value < tenths_end_us ? 1 : 0);
  if (std::isinf(clock_bound_us)) return fixed_text(value, 0) + QStringLiteral(" ± ?");
  return QStringLiteral("%1 ± %2").arg(fixed_text(value, 0), fixed_text(app::shown_bound(clock_bound_us, no_decimals, value), 0));
}

/// NaN: the column shows none.
double latency_us(const app::ResultEntry& of, int column) {
  return column == ResultsModel::p50 ? of.p50_us : column == ResultsModel::p99 ? of.p99_us : std::nan("");
}

bool has_few_samples(const app::ResultEntry& of, int column) {
  return app::has_few_samples(column == ResultsModel::p50 ? "latency_us.p50" : "latency_us.p99", static_cast<double>(of.samples));
}

/// Of few samples, less than its ±, or near the floor. latency_lines() say so in words.
bool tells_little(const app::ResultEntry& of, int column) {
  const double latency_us = ui::latency_us(of, column);
  if (!std::isnan(latency_us) && has_few_samples(of, column)) return true;
  return of.clock_bound_us >= std::abs(latency_us) || app::is_near_floor(of.floor_us, latency_us);
}

/// All its digits, and what makes it tell little, a line each.
QString latency_lines(const app::ResultEntry& of, int column) {
  const double latency_us = ui::latency_us(of, column);
  QStringList lines;
  if (!std::isnan(latency_us)) lines += fixed_text(latency_us, 3) + QStringLiteral(" µs");
  if (!std::isnan(latency_us) && has_few_samples(of, column))
    lines += QStringLiteral("Grey, because it has ") + app::few_samples_words();
  if (std::isinf(of.clock_bound_us) && !std::isnan(latency_us))
    lines += QStringLiteral("Between the clocks of two hosts, and not known how far they are apart");
  else if (of.clock_bound_us >= std::abs(of.p50_us))
    lines += QStringLiteral("The clocks of the hosts are known to ± %1 µs, more than the median: they tell nothing finer")
                 .arg(fixed_text(app::rounded_up(of.clock_bound_us, 0), 0));
  if (const QString near = app::near_floor_words(of.floor_us, latency_us); !near.isEmpty())
    lines += QStringLiteral("Grey, because it is ") + near;
  return lines.join(QLatin1Char('\n'));
}

QString head_of(int column) {
  static const QStringList heads = {"started", "run", "mode", "services", "machines", "verdict", QStringLiteral("p50 µs"),
                                    QStringLiteral("p99 µs"), "deliveries", "tags", "note"};
  return heads.value(column);
}

/// "▤ Delay · quick · 12 of 30 runs".
QString case_text(const app::ResultEntry& entry) {
  const QString runs = entry.runs_planned > 0 ? QStringLiteral("%1 of %2 runs").arg(entry.runs_done).arg(entry.runs_planned)
                                              : QStringLiteral("%1 runs").arg(entry.runs_done);
  return QStringLiteral("▤ %1 · %2 · %3").arg(entry.title.isEmpty() ? entry.name : entry.title, entry.scale, runs);
}

}  // namespace

ResultsModel::ResultsModel(const Theme& theme, QObject* parent) : QAbstractTableModel(parent), theme_(theme) {
  connect(&theme_, &Theme::changed, this, [this] {
    if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
  });
}

void ResultsModel::set_entries(std::vector<app::ResultEntry> entries) {
  // The same ones: a reset would take a click for the first one of a double click.
  const auto same = [](const app::ResultEntry& a, const app::ResultEntry& b) { return a.folder == b.folder; };
  std::vector<std::size_t> shown = arranged(entries);
  if (shown == shown_ && std::equal(entries.begin(), entries.end(), all_.begin(), all_.end(), same)) {
    all_ = std::move(entries);
    if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
    return;
  }
  beginResetModel();
  all_ = std::move(entries);
  show(std::move(shown));
  endResetModel();
}

void ResultsModel::set_filter(const app::ResultFilter& filter) {
  beginResetModel();
  filter_ = filter;
  show(arranged(all_));
  endResetModel();
}

void ResultsModel::sort(int column, Qt::SortOrder order) {
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  const std::vector<std::size_t> was = shown_;
  sorted_by_ = column;
  order_ = order;
  show(arranged(all_));
  const QModelIndexList before = persistentIndexList();
  QModelIndexList after;
  for (const QModelIndex& each : before)
    after += index(row_of(all_[was[static_cast<std::size_t>(each.row())]].folder), each.column());
  changePersistentIndexList(before, after);
  emit layoutChanged({}, VerticalSortHint);
  emit headerDataChanged(Qt::Horizontal, 0, column_count - 1);
}

ResultsModel::SortKey ResultsModel::sort_key(const app::ResultEntry& entry, int column) const {
  const auto of_numbers = [](double first, double second = 0) { return SortKey{true, {first, second, QString()}}; };
  switch (column) {
    case services:
      return entry.is_case && entry.senders <= 0 ? SortKey() : of_numbers(entry.senders, entry.receivers);
    case p50:
    case p99: {
      const double value_us = latency_us(entry, column);
      return std::isnan(value_us) ? SortKey() : of_numbers(value_us);
    }
    case deliveries:
      return entry.finished() ? of_numbers(static_cast<double>(entry.deliveries)) : SortKey();
    default: {
      const QString words = column == verdict ? entry.verdict : text(entry, column);  // without its sign
      return {!words.isEmpty() && words != dash(), {0, 0, words.toCaseFolded()}};
    }
  }
}

std::vector<std::size_t> ResultsModel::arranged(const std::vector<app::ResultEntry>& entries) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (filter_.matches(entries[i])) out.push_back(i);
  }
  const bool rises = order_ == Qt::AscendingOrder;
  if (sorted_by_ == started) {
    // As the index has them, where a case stands with its newest run.
    if (rises) std::reverse(out.begin(), out.end());
    return out;
  }
  std::vector<SortKey> keys(entries.size());
  for (const std::size_t at : out) keys[at] = sort_key(entries[at], sorted_by_);
  std::stable_sort(out.begin(), out.end(), [&keys, rises](std::size_t a, std::size_t b) {
    if (keys[a].is_there != keys[b].is_there) return keys[a].is_there;
    return rises ? keys[a].value < keys[b].value : keys[b].value < keys[a].value;
  });
  return out;
}

void ResultsModel::show(std::vector<std::size_t> shown) {
  shown_ = std::move(shown);
  rows_.clear();
  for (std::size_t row = 0; row < shown_.size(); ++row) rows_.insert(all_[shown_[row]].folder, static_cast<int>(row));
}

bool ResultsModel::any_bound() const {
  return std::any_of(all_.begin(), all_.end(), [](const app::ResultEntry& entry) { return !std::isnan(entry.clock_bound_us); });
}

QString ResultsModel::longest_latency(double app::ResultEntry::*percentile) const {
  QString longest;
  for (const app::ResultEntry& entry : all_) {
    if (std::isnan(entry.*percentile)) continue;
    if (const QString text = us_text(entry.*percentile, entry.clock_bound_us); text.size() > longest.size()) longest = text;
  }
  return longest;
}

QString ResultsModel::longest_text(Column column) const {
  QString longest;
  for (const app::ResultEntry& entry : all_) {
    if (const QString shown = text(entry, column); shown.size() > longest.size()) longest = shown;
  }
  return longest;
}

bool ResultsModel::any_noted() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const app::ResultEntry& entry) { return !entry.note.isEmpty() || !entry.tags.isEmpty(); });
}

int ResultsModel::row_of(const QString& folder) const {
  return rows_.value(folder, -1);
}

QStringList ResultsModel::all_tags() const {
  QSet<QString> tags_seen;
  for (const app::ResultEntry& entry : all_) tags_seen.unite(QSet<QString>(entry.tags.begin(), entry.tags.end()));
  QStringList out(tags_seen.begin(), tags_seen.end());
  out.sort(Qt::CaseInsensitive);
  return out;
}

int ResultsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

int ResultsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

// The arrow of the style would lie on the heads of numbers, which end where it is.
QString ResultsModel::sorted_head(int column, Qt::SortOrder order) {
  return (order == Qt::AscendingOrder ? QStringLiteral("↑ ") : QStringLiteral("↓ ")) + head_of(column);
}

QString ResultsModel::mode_words(QString mode) {
  return mode.replace('-', ' ');
}

QString ResultsModel::text(const app::ResultEntry& entry, int column) const {
  switch (column) {
    case started:
      return entry.started.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    case name:
      if (entry.is_case) return case_text(entry);
      return entry.test_case.isEmpty() ? (entry.title.isEmpty() ? entry.name : entry.title)
                                       : entry.name + QStringLiteral(" · ") + entry.test_case;  // what tells one from another first
    case mode:
      if (entry.mode.contains(',')) return QStringLiteral("both");
      return entry.mode.isEmpty() ? dash() : mode_words(entry.mode);
    case services:
      if (entry.is_case && entry.senders <= 0) return dash();
      return (entry.is_case ? QStringLiteral("≤ %1 × %2") : QStringLiteral("%1 × %2"))
          .arg(count_text(entry.senders), count_text(entry.receivers));
    case machines:
      return entry.machines.isEmpty() ? dash() : entry.machines;
    case verdict:
      if (entry.is_being_made)
        return entry.verdict == QLatin1String("unfinished") ? QStringLiteral("● running") : verdict_sign(entry.verdict) + QStringLiteral(" · running");
      return verdict_sign(entry.verdict) + disturbed_sign(!entry.disturbed.isEmpty());
    case p50:
      return us_text(entry.p50_us, entry.clock_bound_us);
    case p99:
      return us_text(entry.p99_us, entry.clock_bound_us);
    case deliveries:
      return entry.finished() ? count_text(entry.deliveries) : dash();
    case tags:
      return entry.tags.join(QStringLiteral(", "));
    case note:
      return entry.note.simplified();
    default:
      return {};
  }
}

QVariant ResultsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const app::ResultEntry& of = entry(index.row());
  const int column = index.column();
  const bool is_number = column == p50 || column == p99 || column == deliveries || column == services;
  switch (role) {
    case Qt::DisplayRole:
      return text(of, column);
    case Qt::TextAlignmentRole:
      return QVariant((is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (column == verdict) return verdict_color(of.verdict, theme_.tokens());
      if (tells_little(of, column)) return theme_.tokens().secondary;
      return column == note || column == tags ? QVariant(theme_.tokens().secondary) : QVariant();
    case Qt::ToolTipRole:
      if (column == verdict && !of.disturbed.isEmpty()) return QStringList({of.reason, of.disturbed}).join('\n').trimmed();
      if (column == verdict && !of.reason.isEmpty()) return of.reason;
      if (column == note) return of.note;
      if (column == machines) return of.machines;
      if (column == p50 || column == p99) return latency_lines(of, column);
      if (column == tags) return text(of, tags);
      if (column == name) return text(of, name) + u'\n' + of.folder;
      return QVariant();
    default:
      return {};
  }
}

QVariant ResultsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const QString title = head_of(section);
  const bool is_sorted = section == sorted_by_, rises = order_ == Qt::AscendingOrder;
  if (role == Qt::DisplayRole) return is_sorted ? sorted_head(section, order_) : title;
  if (role == Qt::AccessibleTextRole && is_sorted)
    return title + (rises ? QStringLiteral(", ascending") : QStringLiteral(", descending"));
  if (role == Qt::InitialSortOrderRole && section == started) return static_cast<int>(Qt::DescendingOrder);
  const bool is_number = section == p50 || section == p99 || section == deliveries || section == services;
  if (role == Qt::TextAlignmentRole) return QVariant((is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::ToolTipRole) return {};
  QString meaning = title;
  if (section == services) meaning = QStringLiteral("Senders × receivers");
  if (section == machines)
    meaning = QStringLiteral("Where N2NQ, senders and receivers ran, in this order; one name where all were on the same machine\n"
                             "Of a test case: every machine of its runs");
  if (section == p50 || section == p99) meaning = QStringLiteral("Latency, from the actual send, in µs");
  return meaning + QStringLiteral("\nA click sorts by it, another one the other way round");
}

}  // namespace n2nq::ui
