// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/service_table.h"

#include <QFontMetrics>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ui/text/tabular.h"
#include "ui/theme/glyph_icon.h"

namespace n2nq::ui {

namespace {

constexpr int button_height_px = 18;
constexpr int glyph_px = 12;
constexpr int scroll_bar_px = 10;    // as in the style sheet
constexpr int cell_padding_px = 12;  // two sides and the border, as in the style sheet

QRect button_box(const QRect& cell, const QSize& size) {
  return {cell.left() + space::in_row, cell.top() + (cell.height() - size.height()) / 2, size.width(), size.height()};
}

}  // namespace

QSize LogButtonDelegate::button_size(const Theme& theme) {
  const QFontMetrics metrics(theme.font(TextStyle::caption));
  return {glyph_px + metrics.horizontalAdvance(QStringLiteral("log")) + 3 * space::in_row - 4, button_height_px};
}

void LogButtonDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem background = option;
  initStyleOption(&background, index);
  background.text.clear();
  const QWidget* view = option.widget;
  view->style()->drawControl(QStyle::CE_ItemViewItem, &background, painter, view);

  const Tokens& t = theme_.tokens();
  const QRect box = button_box(option.rect, button_size(theme_));
  const bool hovered = option.state.testFlag(QStyle::State_MouseOver);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(hovered ? t.primary : t.border, 1));
  painter->setBrush(hovered ? mixed(t.primary, t.surface, 0.12) : t.surface);
  painter->drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  draw_glyph(*painter, Glyph::list, QRectF(box.left() + space::in_row, box.top() + (box.height() - glyph_px) / 2.0, glyph_px, glyph_px),
             t.primary);
  painter->setFont(theme_.font(TextStyle::caption));
  painter->setPen(t.primary);
  painter->drawText(box.adjusted(glyph_px + 2 * space::in_row - 2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("log"));
  painter->restore();
}

bool LogButtonDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                                    const QModelIndex& index) {
  if (event->type() == QEvent::MouseButtonRelease) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    if (mouse->button() == Qt::LeftButton && button_box(option.rect, button_size(theme_)).contains(mouse->pos())) {
      emit clicked(index.data(ServiceModel::number_role).toInt());
      return true;
    }
  }
  // A double click on the button is two clicks on it, not an activation of the row as well.
  if (event->type() == QEvent::MouseButtonDblClick) return true;
  return QStyledItemDelegate::editorEvent(event, model, option, index);
}

void FigureDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem background = option;
  initStyleOption(&background, index);
  const QString text = option.fontMetrics.elidedText(background.text, Qt::ElideRight, option.rect.width() - cell_padding_px + 1);
  background.text.clear();
  option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &background, painter, option.widget);
  painter->save();
  painter->setFont(option.font);
  const QVariant own = index.data(Qt::ForegroundRole);
  painter->setPen(own.isValid() ? own.value<QBrush>().color() : theme_.tokens().text);
  const QFontMetricsF metrics(option.font);
  const double left = option.rect.right() + 1 - cell_padding_px / 2.0 - tabular_width(metrics, text);
  const double baseline = option.rect.top() + (option.rect.height() + metrics.ascent() - metrics.descent()) / 2;
  draw_tabular(*painter, QPointF(left, baseline), text);
  painter->restore();
}

ServiceTable::ServiceTable(const Theme& theme, ServiceModel* model, QWidget* parent) : FocusTable(theme, parent), services_(model) {
  setModel(model);
  const bool senders = model->role() == app::Role::senders;
  setObjectName(senders ? QStringLiteral("senders_table") : QStringLiteral("receivers_table"));
  setAccessibleName(senders ? QStringLiteral("Senders") : QStringLiteral("Receivers"));
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setMouseTracking(true);
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  verticalHeader()->setDefaultSectionSize(table_row_px);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setSectionsClickable(false);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);

  setItemDelegate(new FigureDelegate(theme, this));
  auto* delegate = new LogButtonDelegate(theme, this);
  setItemDelegateForColumn(ServiceModel::log_column, delegate);
  connect(delegate, &LogButtonDelegate::clicked, this, &ServiceTable::log_requested);
  connect(this, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    if (index.column() != ServiceModel::log_column) emit log_requested(services_->number_of(index.row()));
  });
  // Another set of columns takes nobody's choice away.
  connect(model, &QAbstractItemModel::modelAboutToBeReset, this, [this] { kept_ = selected_numbers(); });
  connect(model, &QAbstractItemModel::modelReset, this, [this] {
    for (const int number : std::exchange(kept_, {})) {
      if (number > services_->rowCount()) continue;
      const QModelIndex row = services_->index(number - 1, ServiceModel::name_column);
      selectionModel()->setCurrentIndex(row, QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
    fit_columns();
    tell_visible_rows();
  });
  connect(model, &QAbstractItemModel::headerDataChanged, this, &ServiceTable::fit_columns);
  connect(&theme, &Theme::changed, this, [this] {
    setFont(theme_.font(TextStyle::body));
    fit_columns();
  });
  setFont(theme.font(TextStyle::body));
}

int ServiceTable::selected_number() const {
  const QModelIndex current = currentIndex();
  return current.isValid() ? services_->number_of(current.row()) : 0;
}

QList<int> ServiceTable::selected_numbers() const {
  QList<int> numbers;
  for (const QModelIndex& row : selectionModel()->selectedRows(ServiceModel::name_column)) numbers << services_->number_of(row.row());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void ServiceTable::set_view(ServiceModel::View view) {
  view_ = view;
  fit_columns();
}

void ServiceTable::keyPressEvent(QKeyEvent* event) {
  const bool opens = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space;
  if (opens && selected_number() > 0) return emit log_requested(selected_number());
  FocusTable::keyPressEvent(event);
}

void ServiceTable::focusInEvent(QFocusEvent* event) {
  FocusTable::focusInEvent(event);
  emit focused();
  const bool by_key = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
  // The view itself makes one the current row, and selects none: the first Down would leave it.
  if (!by_key || services_->rowCount() == 0 || selectionModel()->hasSelection()) return;
  const QModelIndex row = services_->index(std::max(currentIndex().row(), 0), ServiceModel::name_column);
  selectionModel()->setCurrentIndex(row, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

void ServiceTable::resizeEvent(QResizeEvent* event) {
  FocusTable::resizeEvent(event);
  fit_columns();
  tell_visible_rows();
}

void ServiceTable::showEvent(QShowEvent* event) {
  FocusTable::showEvent(event);
  tell_visible_rows();
}

void ServiceTable::hideEvent(QHideEvent* event) {
  FocusTable::hideEvent(event);
  tell_visible_rows();
}

void ServiceTable::scrollContentsBy(int dx, int dy) {
  FocusTable::scrollContentsBy(dx, dy);
  tell_visible_rows();
}

void ServiceTable::tell_visible_rows() {
  int first = 1, last = 0;
  if (isVisible() && services_->rowCount() > 0) {
    const int top = rowAt(0), bottom = rowAt(viewport()->height() - 1);
    first = services_->number_of(std::max(top, 0));
    last = bottom < 0 ? services_->rowCount() : services_->number_of(bottom);
  }
  if (first == first_ && last == last_) return;
  first_ = first;
  last_ = last;
  emit visible_rows_changed(first, last);
}

int ServiceTable::width_of(int column) const {
  if (column == ServiceModel::log_column) return LogButtonDelegate::button_size(theme_).width() + space::in_row;
  const QFontMetricsF metrics(font());
  double widest = tabular_width(metrics, services_->widest_text(column));
  for (const QString& header : services_->headers(column)) widest = std::max(widest, metrics.horizontalAdvance(header));
  return static_cast<int>(std::ceil(widest)) + cell_padding_px;
}

// All of them where there is room, else those of the view.
void ServiceTable::choose_columns(const std::vector<int>& widths) {
  int all = 0;
  for (const int width : widths) all += width;
  const bool shows_all = all <= viewport()->width();
  for (int column = 0; column < services_->columnCount(); ++column) {
    setColumnHidden(column, !shows_all && !services_->is_in(view_, column));
  }
  if (shows_all == shows_all_) return;
  shows_all_ = shows_all;
  emit room_changed();
}

// Every column gets what its header and its longest figure need; what is left is shared evenly, or is an elastic column's.
void ServiceTable::fit_columns() {
  horizontalHeader()->setFixedHeight(table_row_px + space::in_row + (services_->header_lines() - 1) * fontMetrics().height());
  const int columns = services_->columnCount();
  std::vector<int> widths;
  std::array<int, 3> least{};  // by view
  for (int column = 0; column < columns; ++column) {
    widths.push_back(width_of(column));
    for (const auto view : {ServiceModel::View::latency, ServiceModel::View::deliveries, ServiceModel::View::requests}) {
      if (services_->is_in(view, column)) least[static_cast<std::size_t>(view)] += widths.back();
    }
  }
  setMinimumWidth(*std::max_element(least.begin(), least.end()) + scroll_bar_px);
  choose_columns(widths);
  int needed = 0, sharing = 0, last = 0;
  bool elastic = false;
  for (int column = 0; column < columns; ++column) {
    if (isColumnHidden(column)) continue;
    needed += widths[static_cast<std::size_t>(column)];
    if (column == ServiceModel::log_column) continue;
    elastic = elastic || services_->is_elastic(column);
    ++sharing;
    last = column;
  }
  const int spare = std::max(0, viewport()->width() - needed);
  const int share = elastic ? 0 : spare / std::max(sharing, 1);
  for (int column = 0; column < columns; ++column) {
    if (isColumnHidden(column)) continue;
    const bool takes_rest = elastic ? services_->is_elastic(column) : column == last;
    int extra = column == ServiceModel::log_column ? 0 : share;
    if (takes_rest) extra = elastic ? spare : spare - share * (sharing - 1);
    setColumnWidth(column, widths[static_cast<std::size_t>(column)] + extra);
  }
}

}  // namespace n2nq::ui
