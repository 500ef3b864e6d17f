// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/cases_model.h"

#include <algorithm>
#include <set>

#include "app/settings/all_digits.h"
#include "app/settings/qt_text.h"
#include "ui/text/figures.h"

namespace n2nq::ui {

namespace {

/// "3" of "3-delay"; empty where a name has no number.
QString number_of(const std::string& name) {
  const auto end = name.find_first_not_of("0123456789");
  return end == 0 || end == std::string::npos || name[end] != '-' ? QString() : qt_text(name.substr(0, end));
}

}  // namespace

QString case_state_text(const CasesDesk::Row& row) {
  if (row.is_elsewhere) return QStringLiteral("● elsewhere");
  switch (row.state) {
    case CasesDesk::State::unreadable:
      return QStringLiteral("✕ mistakes");
    case CasesDesk::State::not_begun:
      return QStringLiteral("○ not begun");
    case CasesDesk::State::queued:
      return QStringLiteral("◔ queued");
    case CasesDesk::State::running:
      return QStringLiteral("● running");
    case CasesDesk::State::paused:
      return QStringLiteral("◕ paused");
    case CasesDesk::State::stopped:
      return QStringLiteral("◕ stopped");
    case CasesDesk::State::done:
      return QStringLiteral("✓ done");
  }
  return {};
}

QString sweep_text(const app::CaseFile& file, app::Scale scale) {
  QStringList parts;
  std::size_t sets = 1;  // of values without numbers
  for (const app::CaseAxis& axis : file.axes) {
    const auto& values = axis.at(scale);
    if (values.size() < 2) continue;
    if (!axis.has_numbers(scale)) {
      sets *= values.size();
      continue;
    }
    const auto [low, high] = std::minmax_element(values.begin(), values.end(),
                                                 [](const app::CaseValue& a, const app::CaseValue& b) { return *a.number < *b.number; });
    const QString unit = qt_text(axis.unit.empty() ? axis.id : axis.unit);
    parts += QStringLiteral("%1–%2 %3").arg(app::all_digits(*low->number), app::all_digits(*high->number), unit);
  }
  if (sets > 1) parts += QStringLiteral("%1 sets").arg(sets);
  return parts.join(QStringLiteral(" × "));
}

QString sets_text(const app::CaseFile& file, app::Scale scale) {
  QStringList parts;
  for (const app::CaseAxis& axis : file.axes) {
    const auto& values = axis.at(scale);
    if (values.size() < 2 || axis.has_numbers(scale)) continue;
    QStringList names;
    for (const app::CaseValue& value : values) names += qt_text(value.name);
    parts += names.join(QStringLiteral(", "));
  }
  return parts.join(QStringLiteral(" × "));
}

std::optional<int> figure_number(const app::CaseFigure& figure) {
  bool is_number = false;
  const int number = qt_text(figure.id).mid(4).toInt(&is_number);
  return figure.id.starts_with("fig-") && is_number ? std::optional(number) : std::nullopt;
}

QString figures_text(const app::CaseFile& file) {
  std::set<int> numbers;
  for (const app::CaseFigure& figure : file.figures) {
    if (const auto number = figure_number(figure)) numbers.insert(*number);
  }
  if (numbers.empty()) return file.figures.size() == 1 ? QStringLiteral("1 figure") : QStringLiteral("%1 figures").arg(file.figures.size());
  QStringList parts;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1) ++last;
    parts += first == last ? QString::number(first) : QStringLiteral("%1–%2").arg(first).arg(last);
  }
  return QStringLiteral("Fig. ") + parts.join(QStringLiteral(", "));
}

CasesModel::CasesModel(CasesDesk& desk, const Theme& theme, QObject* parent)
    : QAbstractTableModel(parent), desk_(desk), theme_(theme), count_(static_cast<int>(desk.rows().size())) {
  connect(&desk_, &CasesDesk::rows_changed, this, [this] {
    // Files are read whenever the window comes to the front, perhaps by a click on one of these rows: it must not be taken from under that.
    if (count_ > 0 && count_ == static_cast<int>(desk_.rows().size())) {
      emit dataChanged(index(0, 0), index(count_ - 1, column_count - 1));
      return;
    }
    beginResetModel();
    count_ = static_cast<int>(desk_.rows().size());
    endResetModel();
  });
  connect(&desk_, &CasesDesk::row_changed, this, [this](int row) { emit dataChanged(index(row, 0), index(row, column_count - 1)); });
}

int CasesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count_;
}

int CasesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

QString CasesModel::text(const CasesDesk::Row& row, int column) const {
  if (column == tick) return number_of(row.file.name);
  if (column == state) return case_state_text(row);
  if (!row.file.read.file) return column == name ? qt_text(row.file.name) : QString();
  const app::CaseFile& file = *row.file.read.file;
  if (column == name) return qt_text(file.title);
  if (column == sweep) return sweep_text(file, desk_.choice().scale);
  if (column == figures) return figures_text(file);
  if (column == runs) return QStringLiteral("%1/%2").arg(row.runs_done).arg(row.runs_all);
  return {};
}

QString CasesModel::tooltip(const CasesDesk::Row& row) const {
  QStringList lines;
  for (const app::FileError& error : row.file.read.errors) lines += qt_text(error.text());
  if (!row.file.read.file) return lines.join(u'\n');
  const app::CaseFile& file = *row.file.read.file;
  lines += qt_text(file.title) + (row.file.built_in ? QString() : QStringLiteral(", your own: ") + row.file.path);
  for (const std::string& text : {file.about, file.source}) {
    if (!text.empty()) lines += qt_text(text);
  }
  const app::Scale scale = desk_.choice().scale;
  if (const QString sets = sets_text(file, scale); !sets.isEmpty()) lines += QStringLiteral("Sets: ") + sets;
  const CasesDesk::Estimate& estimate = row.estimates[static_cast<std::size_t>(scale)];
  lines +=
      estimate.problem.isEmpty() ? QStringLiteral("%1 runs, %2").arg(estimate.runs).arg(span_text(estimate.seconds)) : estimate.problem;
  if (row.is_elsewhere)
    lines += QStringLiteral("Another bench works on it, and nothing of it is begun here.\nWhat is done, and when it has ended, is seen when you come back to this page");
  if (row.marked > 0) lines += QStringLiteral("%1 marked").arg(row.marked);
  if (!row.folder.isEmpty()) lines += row.folder;
  return lines.join(u'\n');
}

QVariant CasesModel::color(const CasesDesk::Row& row, int column) const {
  const Tokens& tokens = theme_.tokens();
  if (column == sweep || column == figures) return tokens.secondary;
  if (column != state) return {};
  if (row.is_elsewhere) return tokens.primary;
  switch (row.state) {
    case CasesDesk::State::unreadable:
      return tokens.bad;
    case CasesDesk::State::running:
      return tokens.primary;
    case CasesDesk::State::done:
      return tokens.good;
    case CasesDesk::State::paused:
    case CasesDesk::State::stopped:
      return tokens.warning;
    default:
      return tokens.secondary;
  }
}

QVariant CasesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const CasesDesk::Row& row = desk_.rows()[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return text(row, index.column());
    case Qt::ToolTipRole:
      return tooltip(row);
    case Qt::ForegroundRole:
      return color(row, index.column());
    case Qt::CheckStateRole:
      if (index.column() == tick && row.file.read.file) return row.ticked ? Qt::Checked : Qt::Unchecked;
      return {};
    case Qt::TextAlignmentRole:
      if (index.column() == runs) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
      return {};
    case Qt::AccessibleTextRole:
      if (index.column() == tick)
        return QStringLiteral("%1, %2").arg(text(row, name), row.ticked ? QStringLiteral("chosen") : QStringLiteral("not chosen"));
      return {};
    default:
      return {};
  }
}

bool CasesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole || index.column() != tick) return false;
  desk_.set_ticked(index.row(), value.toInt() == Qt::Checked);
  return true;
}

QVariant CasesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  static const char* const titles[] = {"#", "Case", "Sweep", "Figures", "Runs", "State"};
  if (role == Qt::DisplayRole) return QString::fromLatin1(titles[section]);
  if (role == Qt::TextAlignmentRole) return QVariant((section == runs ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

Qt::ItemFlags CasesModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags out = Qt::ItemIsSelectable | Qt::ItemIsEnabled;
  if (index.column() == tick && desk_.rows()[static_cast<std::size_t>(index.row())].file.read.file) out |= Qt::ItemIsUserCheckable;
  return out;
}

}  // namespace n2nq::ui
