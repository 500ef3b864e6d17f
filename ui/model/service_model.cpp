// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/service_model.h"

#include <QGuiApplication>
#include <QPalette>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/text/tooltip.h"

namespace n2nq::ui {

namespace {

// The switch back lies lower than the switch, so that a column around 10 does not flicker.
// In ms and s a column keeps two decimals, because beside one long latency there are many short ones.
// Above 1,000, where the unit stays for a while, the thousands need the room.
int steady_decimals(double largest_shown, int present, const TimeScale& unit) {
  if (largest_shown > (present == 0 ? 950 : 999)) return 0;
  if (largest_shown < (present == 3 ? 1 : 0.8)) return 3;
  return unit.factor < 1 || largest_shown < (present == 1 ? 8 : 12) ? 2 : 1;
}

/// Of the largest in a column, in a unit that is kept or shared: three digits of it are in sight.
constexpr double kept_min = 0.1;
/// The same from where on it has more digits than a reader takes in, and than there is room for.
constexpr double shared_end = 9999.5;
constexpr double rate_without_decimals = 1000;

// With the column's decimals, and in the room of "888.8": "< 0.1" of what is more than nothing and would be rounded to it.
QString cell_figure(double value, int decimals) {
  const double least = std::pow(10, -decimals);
  const bool vanishes = value > 0 && value < least && fixed_text(value, decimals) == fixed_text(0, decimals);
  return vanishes ? QStringLiteral("< ") + fixed_text(least, decimals) : fixed_text(value, decimals);
}

// As wide as any count up to this one.
QString widest_count(std::int64_t count) {
  return count_text(std::min(count, counted_out - 1));
}

/// In which both columns can be read and compared at a glance: the smaller of their own, in which the larger has not too many digits, else
/// the larger, in which the smaller is still something; none: they lie too far apart, or one is not known.
std::optional<TimeScale> shared_unit(const std::array<TimeScale, 2>& own, const std::array<double, 2>& largest_us) {
  if (std::isnan(largest_us[0]) || std::isnan(largest_us[1])) return {};
  const auto& [small, large] = own[0].factor > own[1].factor ? std::pair(own[0], own[1]) : std::pair(own[1], own[0]);
  const auto [least_us, most_us] = std::minmax(largest_us[0], largest_us[1]);
  if (most_us * small.factor < shared_end) return small;
  if (least_us * large.factor >= kept_min) return large;
  return {};
}

// Unlike ==, takes two unknown figures for the same.
bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

bool ServiceModel::Row::operator==(const Row& other) const {
  return same(times_us[0], other.times_us[0]) && same(times_us[1], other.times_us[1]) && same(rate_per_s, other.rate_per_s) &&
         packets == other.packets && counts == other.counts;
}

const std::vector<ServiceModel::ColumnInfo>& ServiceModel::columns(app::Role role) {
  static const std::vector<ColumnInfo> senders = {
      {Kind::log, "", "Opens the service's log file", 0},
      {Kind::name, "sender", "The sending service", 0},
      {Kind::time, "delay", "Mean gap between two sends of this sender", 0},
      {Kind::rate, "rate", "Messages per second: over the last second or the last ten messages, at the end the mean of the run", 0},
      {Kind::packets, "packets", "Messages sent so far, of those planned", 0},
  };
  static const std::vector<ColumnInfo> receivers = {
      {Kind::log, "", "Opens the service's log file", 0},
      {Kind::name, "receiver", "The receiving service", 0},
      {Kind::time, "latency", "Mean time from actual send to receipt", 0},
      {Kind::time, "p99", "99 of 100 deliveries took at most this long", 1, Applies::always, 0.99},
      {Kind::rate, "rate", "Deliveries per second: over the last second or the last ten, at the end the mean of the run", 0},
      {Kind::packets, "packets", "Deliveries received so far", 0},
      {Kind::count, "confirmed", "Deliveries this receiver has confirmed: it has them, whole and checked", 0, Applies::with_responses},
      {Kind::count, "sent again", "Deliveries that were marked as sent again, because they had not been confirmed", 1,
       Applies::with_responses},
      {Kind::count, "expired", "Removed from the queue at their retention before this receiver got them", 2, Applies::with_skipped},
      {Kind::count, "skipped",
       "What this receiver will not get, for whatever reason: expired, not asked for, parked or cut off; what it has is delivered and not "
       "in here, even if N2NQ parked it",
       3, Applies::with_skipped},
      {Kind::rules, "asks for", "Which messages this receiver asks for now", 0, Applies::with_requests},
  };
  return role == app::Role::senders ? senders : receivers;
}

ServiceModel::ServiceModel(app::Role role, QObject* parent) : QAbstractTableModel(parent), role_(role) {
  if (role == app::Role::senders) units_[0] = time_scale(100'000);  // delays are usually set in ms
  choose_columns();
}

void ServiceModel::choose_columns() {
  columns_.clear();
  for (const ColumnInfo& column : columns(role_)) {
    const bool applies = column.applies == Applies::always || (column.applies == Applies::with_responses && extras_.responses) ||
                         (column.applies == Applies::with_skipped && extras_.skipped) ||
                         (column.applies == Applies::with_requests && extras_.requests);
    if (applies) columns_.push_back(&column);
  }
}

void ServiceModel::set_extras(const Extras& extras) {
  if (extras == extras_) return;
  beginResetModel();
  extras_ = extras;
  choose_columns();
  endResetModel();
}

void ServiceModel::set_rules(const std::vector<app::RequestRules>& rules) {
  if (rules == rules_) return;
  rules_ = rules;
  announce(0, static_cast<int>(rows_.size()) - 1);
}

bool ServiceModel::is_in(View view, int column) const {
  const ColumnInfo& info = info_of(column);
  switch (info.kind) {
    case Kind::log:
    case Kind::name:
      return true;
    case Kind::time:
    case Kind::rate:
      return view == View::latency;
    case Kind::packets:
      return view != View::deliveries;
    case Kind::count:
      return view == View::deliveries;
    case Kind::rules:
      return view == View::requests;
  }
  return false;
}

bool ServiceModel::is_elastic(int column) const {
  return info_of(column).kind == Kind::rules;
}

QString ServiceModel::rules_text(int row) const {
  const auto place = static_cast<std::size_t>(row);
  return place < rules_.size() ? rules_words(rules_[place]) : dash();
}

void ServiceModel::set_amount(int amount) {
  if (amount == static_cast<int>(rows_.size())) return;
  beginResetModel();
  has_unit_ = {};
  rows_.assign(static_cast<std::size_t>(std::max(amount, 0)), Row());
  endResetModel();
}

void ServiceModel::set_planned_each(std::optional<std::int64_t> planned) {
  if (planned_ == planned) return;
  planned_ = planned;
  announce(0, static_cast<int>(rows_.size()) - 1);
}

void ServiceModel::set_means(bool means) {
  if (means_ == means) return;
  means_ = means;
  if (means_) choose_units();
  emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

void ServiceModel::set_apart(bool apart) {
  if (apart_ == apart) return;
  apart_ = apart;
  emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

void ServiceModel::set_bound(const app::ClockBound& bound, bool known) {
  const QString before = bound_line();
  latencies_known_ = known;
  bound_ = bound;
  if (bound_line() != before) emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

QString ServiceModel::bound_line() const {
  if (latencies_known_) return bound_text(bound_);
  return header_lines() > 1 ? QStringLiteral("± ") + dash() : QString();
}

void ServiceModel::clear_figures() {
  set_bound({}, false);
  floor_us_ = app::unknown;
  has_unit_ = {};
  std::fill(rows_.begin(), rows_.end(), Row());
  announce(0, static_cast<int>(rows_.size()) - 1);
}

bool ServiceModel::put(int number, const Row& row) {
  if (number < 1 || number > static_cast<int>(rows_.size())) return false;
  Row& present = rows_[static_cast<std::size_t>(number - 1)];
  if (present == row) return false;
  present = row;
  return true;
}

void ServiceModel::update(const app::LiveFigures& figures) {
  int first = static_cast<int>(rows_.size()), last = -1;
  const auto note = [&](int number, const Row& row) {
    if (!put(number, row)) return;
    first = std::min(first, number - 1);
    last = std::max(last, number - 1);
  };
  if (role_ == app::Role::senders ? figures.lacks_senders() : figures.lacks_receivers()) return clear_figures();
  if (role_ == app::Role::senders) {
    for (const app::SenderRow& row : figures.senders) {
      note(row.number, {{row.delay_mean_ms * 1000, app::unknown}, row.rate_per_s, row.attempted, {}});
    }
  } else {
    floor_us_ = figures.floor_us;
    set_bound(figures.clocks.latency, figures.latency.count > 0);
    for (const app::ReceiverRow& row : figures.receivers) {
      note(row.number, {{row.latency_mean_us, row.latency_p99_us},
                        row.rate_per_s,
                        row.received,
                        {row.confirmed, row.redelivered, row.expired, row.skipped}});
    }
  }
  if (last < 0) return;
  choose_units();
  announce(first, last);
}

void ServiceModel::announce(int first, int last) {
  if (last < first) return;
  emit dataChanged(index(first, first_figure_column), index(last, columnCount() - 1), {Qt::DisplayRole, Qt::ToolTipRole, Qt::ForegroundRole});
}

// A smaller one would come and go with the rows that are in sight, and with each answer while there are few. But it has to show something.
TimeScale ServiceModel::kept_or(const TimeScale& wanted, const TimeScale& present, double largest_us) const {
  const bool keeps = !means_ && wanted.factor > present.factor && largest_us * present.factor >= kept_min;
  return keeps ? present : wanted;
}

void ServiceModel::choose_units() {
  std::array<double, 2> largest_us = {app::unknown, app::unknown};
  std::array<TimeScale, 2> chosen = units_;
  for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
    for (const Row& row : rows_) largest_us[slot] = std::fmax(largest_us[slot], row.times_us[slot]);
    chosen[slot] = steady_time_scale(largest_us[slot], units_[slot]);
  }
  if (const auto shared = shared_unit(chosen, largest_us)) {
    // Who has grown further stays there, if the other can come along.
    const bool have_units = has_unit_[0] && has_unit_[1];
    const TimeScale& grown = units_[0].factor < units_[1].factor ? units_[0] : units_[1];
    chosen.fill(have_units ? kept_or(*shared, grown, std::min(largest_us[0], largest_us[1])) : *shared);
  } else {
    for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
      if (has_unit_[slot]) chosen[slot] = kept_or(chosen[slot], units_[slot], largest_us[slot]);
    }
  }
  for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
    if (std::isnan(largest_us[slot])) continue;
    has_unit_[slot] = true;
    const int decimals = steady_decimals(largest_us[slot] * chosen[slot].factor, decimals_[slot], chosen[slot]);
    if (chosen[slot] == units_[slot] && decimals == decimals_[slot]) continue;
    units_[slot] = chosen[slot];
    decimals_[slot] = decimals;
    emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    announce(0, static_cast<int>(rows_.size()) - 1);
  }
}

QStringList ServiceModel::headers(int column) const {
  const ColumnInfo& info = info_of(column);
  const QString title = QString::fromUtf8(info.title);
  switch (info.kind) {
    case Kind::time: {
      const QStringList titles{title + QStringLiteral(", µs"), title + QStringLiteral(", ms")};
      if (role_ == app::Role::senders) return titles;
      // The widest ± also where none stands there: else the card would move when the groups come to be on hosts of their own, or when what
      // is known of their clocks changes while a run goes on.
      return titles + QStringList{QStringLiteral("± 88.8") + QChar(0x202F) + QStringLiteral("ms")};
    }
    case Kind::rate:
      return {title + QStringLiteral(", /s"), QStringLiteral("mean, /s")};
    default:
      return {title};
  }
}

QString ServiceModel::widest_text(int column) const {
  const ColumnInfo& info = info_of(column);
  switch (info.kind) {
    case Kind::name:
      return service_name(role_, static_cast<int>(rows_.size()));
    case Kind::time:
      return QStringLiteral("888.88");
    case Kind::rate:
      return QStringLiteral("888.8");
    case Kind::packets:
      if (role_ == app::Role::senders && planned_) return widest_count(*planned_) + QStringLiteral(" / ") + count_tight(*planned_);
      return count_text(88888);
    case Kind::count:
      return count_text(8888);
    case Kind::rules:
      return QStringLiteral("S001–S010");
    default:
      return QStringLiteral("log");
  }
}

int ServiceModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ServiceModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QString ServiceModel::shown(const Row& row, const ColumnInfo& column) const {
  switch (column.kind) {
    case Kind::time:
      return cell_figure(row.times_us[column.slot] * units_[column.slot].factor, decimals_[column.slot]);
    case Kind::rate:
      return cell_figure(row.rate_per_s, row.rate_per_s < rate_without_decimals ? 1 : 0);
    case Kind::packets: {
      if (row.packets < 0) return dash();
      const QString packets = count_tight(row.packets);
      return role_ == app::Role::senders && planned_ ? packets + QStringLiteral(" / ") + count_tight(*planned_) : packets;
    }
    case Kind::count: {
      const std::int64_t count = row.counts[static_cast<std::size_t>(column.slot)];
      return count < 0 ? dash() : count_tight(count);
    }
    default:
      return {};
  }
}

QString ServiceModel::exact(const Row& row, const ColumnInfo& column) const {
  switch (column.kind) {
    case Kind::packets: {
      if (row.packets < 0) return dash();
      const QString packets = count_text(row.packets);
      return role_ == app::Role::senders && planned_ ? packets + QStringLiteral(" / ") + count_text(*planned_) : packets;
    }
    case Kind::count: {
      const std::int64_t count = row.counts[static_cast<std::size_t>(column.slot)];
      return count < 0 ? dash() : count_text(count);
    }
    case Kind::rate:
      return fixed_text(row.rate_per_s, 1);
    case Kind::time:
      break;
    default:
      return shown(row, column);
  }
  const double value_us = row.times_us[column.slot];
  if (std::isnan(value_us)) return dash();
  const QString text = fixed_text(value_us, 3) + QStringLiteral(" µs");
  const bool is_latency = role_ == app::Role::receivers;
  const QString why_grey = is_latency ? percentile_doubt_words(floor_us_, value_us, column.share, row.packets) : QString();
  return (bound_.apart ? text + QStringLiteral(" ") + bound_explained(bound_, value_us) : text) + why_grey;
}

bool ServiceModel::is_grey(const Row& row, const ColumnInfo& column) const {
  if (role_ != app::Role::receivers || column.kind != Kind::time) return false;
  const double value_us = row.times_us[column.slot];
  if (std::isnan(value_us)) return false;  // nothing that could say less than it seems to
  return app::is_near_floor(floor_us_, value_us) || is_below(bound_, value_us) || has_few_above(column.share, row.packets);
}

QVariant ServiceModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
  const ColumnInfo& column = info_of(index.column());
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const QString name = service_name(role_, number_of(index.row()));
  switch (role) {
    case Qt::DisplayRole:
      if (column.kind == Kind::log) return QStringLiteral("log");
      if (column.kind == Kind::rules) return rules_text(index.row());
      return column.kind == Kind::name ? name : shown(row, column);
    case Qt::TextAlignmentRole:
      return static_cast<int>(column.kind == Kind::log ? Qt::AlignCenter : Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      return is_grey(row, column) ? QVariant(QGuiApplication::palette().placeholderText()) : QVariant();
    case Qt::AccessibleTextRole:
      return column.kind == Kind::log ? QStringLiteral("Open the log of %1").arg(name) : QVariant();
    case Qt::ToolTipRole:
      if (column.kind == Kind::log) return QStringLiteral("Open the log of %1 (Ctrl+L)").arg(name);
      if (column.kind == Kind::name) return QVariant();
      if (column.kind == Kind::rules) {
        const auto place = static_cast<std::size_t>(index.row());
        const int prefetch = place < rules_.size() ? rules_[place].prefetch : 1;
        return tooltip_of(QStringLiteral("%1 asks for: %2\nprefetch %3: so many deliveries may be under way to it")
                              .arg(name, rules_text(index.row()), count_text(prefetch)));
      }
      return tooltip_of(QStringLiteral("%1: %2\n%3").arg(name, exact(row, column), QString::fromUtf8(column.meaning)));
    case number_role:
      return number_of(index.row());
    default:
      return {};
  }
}

QVariant ServiceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const ColumnInfo& column = info_of(section);
  switch (role) {
    case Qt::DisplayRole: {
      const QString title = QString::fromUtf8(column.title);
      if (column.kind == Kind::time) {
        const QString unit = QStringLiteral(", ") + QString::fromUtf8(units_[column.slot].unit);
        return header_lines() > 1 ? title + unit + u'\n' + bound_line() : title + unit;
      }
      if (column.kind == Kind::rate) return (means_ ? QStringLiteral("mean") : title) + QStringLiteral(", /s");
      return title;
    }
    case Qt::TextAlignmentRole:
      return static_cast<int>(column.kind == Kind::log ? Qt::AlignLeft : Qt::AlignRight) | static_cast<int>(Qt::AlignVCenter);
    case Qt::ToolTipRole:
      if (column.kind == Kind::time && bound_.apart && latencies_known_)
        return tooltip_of(QString::fromUtf8(column.meaning) + QStringLiteral("; ") + bound_explained(bound_));
      return tooltip_of(QString::fromUtf8(column.meaning));
    default:
      return {};
  }
}

}  // namespace n2nq::ui
