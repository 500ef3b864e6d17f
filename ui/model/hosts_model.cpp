// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/hosts_model.h"

#include <algorithm>
#include <functional>

#include "ui/text/check_text.h"
#include "ui/text/figures.h"
#include "ui/text/tooltip.h"

namespace n2nq::ui {

namespace {

QVariant cell_data(const app::CheckCell& cell, const QString& meaning, const Theme& theme, int role) {
  switch (role) {
    case Qt::DisplayRole:
      return cell_text(cell);
    case Qt::ToolTipRole:
      return tooltip_of(cell_tooltip(cell, meaning));
    case Qt::AccessibleDescriptionRole:
      return cell_tooltip(cell, meaning);
    case Qt::ForegroundRole:
      return state_color(cell.state, theme.tokens());
    default:
      return {};
  }
}

constexpr int ssh_port = 22;  // not worth the room
constexpr std::chrono::milliseconds repaint_every(100);

/// A head as wide as sixty characters would leave no room for what stands below. Most names of machines differ at their ends, some at their
/// beginnings, and some between: the first way to shorten them that tells this one from the others is taken.
QString head_text(const QString& name, const QStringList& others) {
  constexpr qsizetype whole_chars = 17, few_chars = 4, many_chars = 8;
  if (name.size() <= whole_chars) return name;
  qsizetype same_chars = 0;  // at its beginning, with the one that is most like it there
  for (const QString& other : others) {
    const auto differ = std::mismatch(name.begin(), name.end(), other.begin(), other.end());
    if (other != name) same_chars = std::max(same_chars, static_cast<qsizetype>(differ.first - name.begin()));
  }
  const auto by_ends = [](const QString& whole, qsizetype first, qsizetype last) {
    // Dots beside the dots of what is left out look like more of them.
    QString head = whole.left(first), tail = whole.right(last);
    while (head.endsWith(u'.')) head.chop(1);
    while (tail.startsWith(u'.')) tail.remove(0, 1);
    return head + QStringLiteral("…") + tail;
  };
  const auto by_middle = [same_chars](const QString& whole) {
    return QStringLiteral("…") + whole.mid(std::max<qsizetype>(0, same_chars - few_chars), few_chars + many_chars) + QStringLiteral("…");
  };
  const std::function<QString(const QString&)> ways[] = {[&](const QString& whole) { return by_ends(whole, few_chars, many_chars); },
                                                         [&](const QString& whole) { return by_ends(whole, many_chars, few_chars); },
                                                         by_middle};
  for (const auto& shorten : ways) {
    const QString text = shorten(name);
    const auto is_alike = [&](const QString& other) { return other != name && shorten(other) == text; };
    if (std::none_of(others.begin(), others.end(), is_alike)) return text;
  }
  return name;
}

QString address_text(const app::Host& host) {
  if (host.ssh_target() == host.name && host.user.empty() && host.port == 0) return QStringLiteral("by that name");
  QString text = QString::fromStdString(host.ssh_target());
  if (!host.user.empty()) text.prepend(QString::fromStdString(host.user) + u'@');
  if (host.port != 0 && host.port != ssh_port) text += QStringLiteral(" port %1").arg(host.port);
  return text;
}

}  // namespace

MachinesModel::MachinesModel(const app::HostBook& book, const app::HostChecker* checker, const Theme& theme, QObject* parent)
    : QAbstractTableModel(parent), book_(book), checker_(checker), theme_(theme), repaint_(repaint_every, [this] { repaint(); }) {
  const auto all_new = [this] {
    beginResetModel();
    endResetModel();
  };
  connect(&book_, &app::HostBook::changed, this, all_new);
  connect(&theme_, &Theme::changed, this, &MachinesModel::repaint);
  if (checker_ != nullptr) connect(checker_, &app::HostChecker::changed, this, [this] { repaint_.request(); });
}

void MachinesModel::repaint() {
  emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int MachinesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : 1 + static_cast<int>(book_.hosts().hosts.size());
}

int HostsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : first_check_column + static_cast<int>(app::check_items_count);
}

const app::Host* HostsModel::host(int row) const {
  const auto& hosts = book_.hosts().hosts;
  return row >= 1 && static_cast<std::size_t>(row) <= hosts.size() ? &hosts[static_cast<std::size_t>(row) - 1] : nullptr;
}

QVariant HostsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const app::Host* of = host(index.row());
  if (index.column() < first_check_column) return said(of, index.column(), role);
  return found(of != nullptr ? of->name : std::string(app::local_host), index.column(), role);
}

QVariant HostsModel::said(const app::Host* host, int column, int role) const {
  if (role == Qt::ForegroundRole && column == address_column) return theme_.tokens().secondary;
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  if (column == name_column) {
    if (role == Qt::DisplayRole) return host != nullptr ? QString::fromStdString(host->name) : QStringLiteral("This machine");
    return host != nullptr ? QString::fromStdString(host->name) + QStringLiteral("\nEnter edits, Delete removes")
                           : QStringLiteral("Where the bench runs: Local in every Source");
  }
  if (host == nullptr) return role == Qt::DisplayRole ? QStringLiteral("runs the bench") : QString();
  if (role == Qt::DisplayRole) return address_text(*host);
  QStringList lines;
  for (const app::HostField& field : app::host_fields()) {
    const std::string text = field.text(*host);
    const std::string_view shown = text.empty() ? field.unset : std::string_view(text);
    lines << QStringLiteral("%1: %2").arg(QString::fromUtf8(field.label.data(), static_cast<qsizetype>(field.label.size())),
                                          QString::fromUtf8(shown.data(), static_cast<qsizetype>(shown.size())));
  }
  return lines.join(u'\n');
}

QVariant HostsModel::found(const std::string& name, int column, int role) const {
  const auto item = static_cast<std::size_t>(column - first_check_column);
  if (role == Qt::TextAlignmentRole) return {};
  static const app::HostReport none;
  const app::HostReport* report = &none;
  if (checker_ != nullptr) {
    const auto place = checker_->hosts().find(name);
    if (place != checker_->hosts().end()) report = &place->second;
  }
  return cell_data(report->cells[item], QString::fromUtf8(app::check_items()[item].meaning), theme_, role);
}

QVariant HostsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  if (section < first_check_column) {
    if (role != Qt::DisplayRole) return {};
    return section == name_column ? QStringLiteral("Machine") : QStringLiteral("SSH");
  }
  const app::CheckItemInfo& info = app::check_items()[static_cast<std::size_t>(section - first_check_column)];
  if (role == Qt::DisplayRole) return QString::fromUtf8(info.label);
  if (role == Qt::ToolTipRole) return tooltip_of(QString::fromUtf8(info.meaning));
  return {};
}

std::string PathsModel::name(int place) const {
  return place == 0 ? std::string(app::local_host) : book_.hosts().hosts[static_cast<std::size_t>(place) - 1].name;
}

QStringList PathsModel::names() const {
  QStringList all;
  for (int place = 0; place < rowCount(); ++place) all << host_words(name(place));
  return all;
}

int PathsModel::columnCount(const QModelIndex& parent) const {
  return rowCount(parent);
}

QVariant PathsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (index.row() == index.column()) return role == Qt::DisplayRole ? QVariant(QStringLiteral("·")) : QVariant();
  const std::string from = name(index.row()), to = name(index.column());
  static const app::CheckCell none;
  const app::CheckCell* cell = &none;
  if (checker_ != nullptr) {
    const auto place = checker_->paths().find({from, to});
    if (place != checker_->paths().end()) cell = &place->second;
  }
  const QString meaning =
      QStringLiteral("From %1 to %2: whether it gets through, and the smallest round trip").arg(host_words(from), host_words(to));
  return cell_data(*cell, meaning, theme_, role);
}

QVariant PathsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  if ((role != Qt::DisplayRole && role != Qt::ToolTipRole) || section >= rowCount()) return {};
  const QString whole = host_words(name(section)), host = role == Qt::ToolTipRole ? whole : head_text(whole, names());
  return orientation == Qt::Horizontal ? QStringLiteral("to ") + host : QStringLiteral("from ") + host;
}

}  // namespace n2nq::ui
