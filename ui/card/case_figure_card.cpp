// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/case_figure_card.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "app/figure/figure_scale.h"
#include "app/figure/figure_words.h"
#include "app/settings/all_digits.h"
#include "ui/chart/figure_view.h"
#include "ui/text/figures.h"
#include "ui/widget/card.h"
#include "ui/widget/setting_fields.h"
#include "ui/widget/whole_numbers.h"
#include "ui/widget/whole_rows.h"

namespace n2nq::ui {

namespace {

constexpr int chooser_px_min = 160, point_lines_shown = 4, table_rows_shown = 7, first_column_px = 120, column_px_min = 84,
              column_px_max = 200, only_column_px_max = 320;
const char* const marked_sign = " ◯";
const char* const no_point = "A clicked point says what it is; a marked one (◯) can be run again.";

/// Of a curve of percentiles, those that people ask for.
bool is_listed(const app::Figure& figure, double x) {
  if (!figure.x.percentiles) return true;
  constexpr double percents[] = {50, 75, 90, 95, 97.5, 99.0625, 99.90234375};
  return std::any_of(std::begin(percents), std::end(percents),
                     [x](double percent) { return std::abs(x * (1 - percent / 100) - 1) < 0.005; });
}

QString x_text(const app::Figure& figure, double x) {
  if (figure.x.percentiles) return QString::number(figure.x.told(x), 'g', 5) + QStringLiteral(" %");
  if (!figure.x.names.isEmpty()) return figure.x.names.value(static_cast<qsizetype>(x));
  return app::all_digits(x);
}

QString value_text(const app::FigurePoint& point) {
  if (std::isnan(point.y)) return dash() + QString::fromUtf8(marked_sign);
  QString text = fixed_text(point.y, decimals_for(point.y));
  if (point.low && point.high) {
    // An interval need not lie evenly around its value: the longer side is told.
    const double half = std::max(*point.high - point.y, point.y - *point.low);
    text += QStringLiteral(" ±") + fixed_text(half, decimals_for(half));
  }
  if (point.clock_bound_unknown) {
    text += QStringLiteral(" (clocks ±?)");
  } else if (point.clock_bound > 0) {
    const double shown = app::shown_bound(point.clock_bound, decimals_for, point.y);
    text += QStringLiteral(" (clocks ±%1)").arg(fixed_text(shown, decimals_for(shown)));
  }
  return point.why.isEmpty() ? text : text + QString::fromUtf8(marked_sign);
}

}  // namespace

CaseFigureCard::CaseFigureCard(Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  auto* card = new Card(QStringLiteral("Figure"));
  chooser_ =
      described(new ChoiceBox(theme_), "case_figure", QStringLiteral("Figure"), QStringLiteral("Which of the case's figures is shown"));
  chooser_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  const QString references = QStringLiteral("Reference values");
  references_ = described(new QPushButton(references), "button_case_references", references,
                          QStringLiteral("Draws ◇ into the figure: what is known of it from elsewhere, as from the thesis,\n"
                                         "and at scale Stress the knees that were found"));
  references_->setProperty("small", true);  // whose checked state is seen
  references_->setCheckable(true);
  references_->setChecked(true);
  again_ = described(new QPushButton(QStringLiteral("Run again")), "button_case_again", QStringLiteral("Run again"), QString());
  export_ = described(new QPushButton(QStringLiteral("Export")), "button_case_export", QStringLiteral("Export"), QString());
  chooser_->setMinimumWidth(chooser_px_min);
  card->title_row()->insertWidget(1, chooser_, 100);
  card->title_row()->addWidget(references_);
  card->title_row()->addWidget(export_);
  view_ = new FigureView(theme_);
  view_->setObjectName(QStringLiteral("case_figure_view"));
  view_->set_notes(false);
  card->body()->addWidget(view_, 3);
  text_ = make_label(QString(), "secondary");
  text_->setObjectName(QStringLiteral("case_figure_text"));
  text_->setAlignment(Qt::AlignCenter);
  text_->setWordWrap(true);
  card->body()->addWidget(text_, 3);
  point_ = make_label(QString(), "caption");
  point_->setObjectName(QStringLiteral("case_point"));
  point_->setWordWrap(true);
  point_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  point_->setFixedHeight(point_lines_shown *
                         QFontMetrics(theme_.font(TextStyle::caption)).lineSpacing());  // nothing moves when it is filled
  auto* chosen = new QHBoxLayout;
  chosen->setSpacing(space::between);
  chosen->addWidget(point_, 1);
  chosen->addWidget(again_);
  card->body()->addLayout(chosen);
  card->body()->addWidget(make_table(), 2);
  all->addWidget(card);
  connect(chooser_, &QComboBox::activated, this, &CaseFigureCard::figure_chosen);
  connect(chooser_, &QComboBox::currentTextChanged, this,
          [this](const QString& title) { chooser_->setToolTip(QStringLiteral("Which of the case's figures is shown: ") + title); });
  connect(references_, &QPushButton::toggled, this, &CaseFigureCard::renew);
  connect(again_, &QPushButton::clicked, this, [this] { emit run_again_requested(chosen_); });
  connect(export_, &QPushButton::clicked, this, &CaseFigureCard::export_requested);
  connect(view_, &FigureView::point_clicked, this, [this](const app::FigureHit& hit) { choose_point(hit); });
  show_text(QString());
  set_again(false, QStringLiteral("Nothing was run yet"));
  set_export(false, {});
}

QWidget* CaseFigureCard::make_table() {
  table_ = described(new QTableWidget, "case_table", QStringLiteral("The figure's values"), QString());
  show_whole_numbers(table_);
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setTabKeyNavigation(false);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_row_px);
  table_->horizontalHeader()->setHighlightSections(false);
  // Names of points and of curves begin alike.
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
  connect(table_, &QTableWidget::cellClicked, this, &CaseFigureCard::choose_cell);
  connect(table_, &QTableWidget::cellActivated, this, &CaseFigureCard::choose_cell);  // by Enter
  rows_ = new WholeRows(table_);
  rows_->setMinimumHeight(table_row_px * 4);
  rows_->setMaximumHeight(table_row_px * (table_rows_shown + 6));
  return rows_;
}

void CaseFigureCard::choose_cell(int row, int column) {
  const QTableWidgetItem* item = table_->item(row, column);
  if (!item || !item->data(Qt::UserRole).isValid()) return;
  const QPoint at = item->data(Qt::UserRole).toPoint();
  choose_point({at.x(), at.y()});
}

void CaseFigureCard::set_titles(const QStringList& titles) {
  QStringList present;
  for (int i = 0; i < chooser_->count(); ++i) present += chooser_->itemText(i);
  if (present == titles) return;
  chooser_->clear();
  chooser_->addItems(titles);
  chooser_->setVisible(!titles.isEmpty());
}

int CaseFigureCard::current() const {
  return chooser_->currentIndex();
}

int CaseFigureCard::count() const {
  return chooser_->count();
}

void CaseFigureCard::show_figure(const app::Figure& figure) {
  if (figure.id != figure_.id) forget_point();
  figure_ = figure;
  text_->hide();
  for (QWidget* widget : std::initializer_list<QWidget*>{view_, rows_, point_, again_}) widget->show();
  references_->setVisible(!figure.references.empty());
  renew();
  fill_table();
  choose_same_point();
}

void CaseFigureCard::renew() {
  app::Figure shown = figure_;
  if (!references_->isChecked()) shown.references.clear();
  view_->set_figure(shown);
}

void CaseFigureCard::show_text(const QString& text) {
  figure_ = {};
  forget_point();
  text_->setAlignment(text.contains(QStringLiteral("\n\n")) ? Qt::AlignLeft | Qt::AlignTop : Qt::AlignCenter);
  text_->setText(text);
  text_->show();
  for (QWidget* widget : std::initializer_list<QWidget*>{view_, rows_, point_, again_, references_}) widget->hide();
}

void CaseFigureCard::fill_table() {
  std::map<double, int> rows;
  for (const app::FigureSeries& series : figure_.series) {
    for (const app::FigurePoint& point : series.points) {
      if (is_listed(figure_, point.x)) rows.emplace(point.x, 0);
    }
  }
  int place = 0;
  for (auto& [x, row] : rows) row = place++;
  // The cell that a person is at stays the current one, wherever its row is then.
  const auto x_at = [this](int row) { return table_->item(row, 0) ? table_->item(row, 0)->text() : QString(); };
  const QString current_x = x_at(table_->currentRow());
  const auto head_at = [this](int column) { return table_->horizontalHeaderItem(column) ? table_->horizontalHeaderItem(column)->text() : QString(); };
  const QString current_head = head_at(table_->currentColumn());
  table_->clear();
  table_->setRowCount(place);
  table_->setColumnCount(static_cast<int>(figure_.series.size()) + 1);
  QStringList titles = {app::axis_title(figure_.x)};
  for (const app::FigureSeries& series : figure_.series)
    titles += app::axis_title({.title = app::series_title(figure_, series), .unit = figure_.y.unit});
  table_->setHorizontalHeaderLabels(titles);
  table_->horizontalHeaderItem(0)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table_->horizontalHeaderItem(0)->setToolTip(titles[0]);
  for (const auto& [x, row] : rows) {
    auto* item = new QTableWidgetItem(x_text(figure_, x));
    item->setToolTip(item->text());
    table_->setItem(row, 0, item);
  }
  for (std::size_t s = 0; s < figure_.series.size(); ++s) {
    const int column = static_cast<int>(s) + 1;
    table_->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table_->horizontalHeaderItem(column)->setToolTip(titles[column]);
    const auto& points = figure_.series[s].points;
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (!is_listed(figure_, points[p].x)) continue;
      auto* item = new QTableWidgetItem(value_text(points[p]));
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      item->setToolTip(app::point_lines(figure_, {static_cast<int>(s), static_cast<int>(p)}).join(u'\n'));
      item->setData(Qt::UserRole, QPoint(static_cast<int>(s), static_cast<int>(p)));
      if (points[p].is_grey()) item->setForeground(theme_.tokens().secondary);
      if (!points[p].why.isEmpty()) item->setForeground(theme_.tokens().warning);
      table_->setItem(rows.at(points[p].x), column, item);
    }
    if (!figure_.series[s].not_run.isEmpty() && place > 0) {
      auto* item = new QTableWidgetItem(QStringLiteral("not run"));
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      item->setToolTip(figure_.series[s].not_run);
      item->setForeground(theme_.tokens().secondary);
      table_->setItem(0, column, item);
    }
  }
  const int most = figure_.series.size() > 1 ? column_px_max : only_column_px_max;
  const QAbstractItemView* view = table_;
  for (int column = 0; column < table_->columnCount(); ++column) {
    const int least = column == 0 ? first_column_px : column_px_min;
    const int cells = view->sizeHintForColumn(column) + space::between;
    const int head = table_->horizontalHeader()->sectionSizeHint(column) + space::between;
    // Of names both ends stay where they are too long; of what was measured nothing is cut.
    const int needed = column == 0 ? std::min(std::max(cells, head), most) : std::max(cells, std::min(head, most));
    table_->setColumnWidth(column, std::max(needed, least));
  }
  table_->setAutoScroll(false);
  for (int row = 0; row < place && !current_x.isEmpty(); ++row) {
    if (x_at(row) != current_x) continue;
    for (int column = 0; column < table_->columnCount(); ++column) {
      if (head_at(column) == current_head) table_->setCurrentCell(row, column, QItemSelectionModel::NoUpdate);
    }
  }
  table_->setAutoScroll(true);
}

void CaseFigureCard::choose_point(const app::FigureHit& hit) {
  if (hit.series >= static_cast<int>(figure_.series.size())) return;
  const app::FigureSeries& series = figure_.series[static_cast<std::size_t>(hit.series)];
  if (hit.point >= static_cast<int>(series.points.size())) return;
  const app::FigurePoint& point = series.points[static_cast<std::size_t>(hit.point)];
  chosen_series_ = series.name;
  chosen_x_ = point.x;
  chosen_ = point.folders;
  chosen_marked_ = !point.why.isEmpty();
  const QString between = QStringLiteral(" · ");
  point_->setText(app::point_lines(figure_, hit, app::Digits::few).join(between));
  point_->setToolTip(app::point_lines(figure_, hit).join(between));  // with all digits, and what four lines may not hold
  refresh_again();
}

/// Of a figure that was made anew: it may have more runs, or be mended.
void CaseFigureCard::choose_same_point() {
  const auto same = chosen_x_ ? find_point(figure_, chosen_series_, *chosen_x_) : std::nullopt;
  same ? choose_point(*same) : forget_point();
}

void CaseFigureCard::forget_point() {
  chosen_series_.clear();
  chosen_x_.reset();
  chosen_.clear();
  chosen_marked_ = false;
  point_->setText(QString::fromUtf8(no_point));
  point_->setToolTip(QString());
  refresh_again();
}

void CaseFigureCard::set_again(bool possible, const QString& reason) {
  again_possible_ = possible;
  again_reason_ = reason;
  refresh_again();
}

void CaseFigureCard::refresh_again() {
  const bool can = again_possible_ && chosen_marked_ && !chosen_.isEmpty();
  again_->setEnabled(can);
  again_->setToolTip(can                ? QStringLiteral("Makes the marked runs of the chosen point once more; the first ones stay")
                     : !again_possible_ ? again_reason_
                                        : QStringLiteral("Choose a marked point (◯) in the figure or its table"));
}

void CaseFigureCard::set_export(bool possible, const QString& text) {
  export_->setEnabled(possible);
  export_->setToolTip(text.isEmpty() ? QStringLiteral("Nothing was run yet") : text);
}

}  // namespace n2nq::ui
