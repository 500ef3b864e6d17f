// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/report_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "app/settings/qt_text.h"
#include "ui/chart/figure_view.h"
#include "ui/text/figures.h"
#include "ui/text/tooltip.h"
#include "ui/widget/card.h"
#include "ui/widget/whole_numbers.h"
#include "ui/widget/whole_rows.h"
#include "workers/measure/log_line.h"

namespace n2nq::ui {

namespace {

constexpr int parts_px = 240;
constexpr int slow_px = 210;
constexpr int slow_px_min = 5 * table_row_px;
constexpr double slow_share = 0.3;  // of the height: the rest is the curve's
constexpr int column_px_max = 320;
constexpr int head_letters_max = 12;  // on one line
const char* const over_time = "latency-over-time";
const QString key_tip = QStringLiteral("In files: %1");

QTableWidget* make_table(const char* name, const QString& accessible_name) {
  auto* table = described(new QTableWidget, name, accessible_name, QString());
  show_whole_numbers(table);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setTextElideMode(Qt::ElideMiddle);  // names of runs and of points begin alike, and so do folders
  table->setTabKeyNavigation(false);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(table_row_px);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  return table;
}

/// Of `room` to those that lack something, the same to each as far as it needs it.
void share_room(int room, std::vector<std::pair<int, int>> lacking, QTableWidget* table) {
  std::ranges::sort(lacking);
  for (std::size_t i = 0; i < lacking.size(); ++i) {
    const auto& [lacks, column] = lacking[i];
    const int more = std::min(lacks, room / static_cast<int>(lacking.size() - i));
    table->setColumnWidth(column, table->columnWidth(column) + more);
    room -= more;
  }
}

/// With air between them as far as there is room; what is left then has what a long text made too wide. `contents_px`: of each column.
void fit_columns(QTableWidget* table, const std::vector<int>& contents_px) {
  const int columns = table->columnCount();
  if (contents_px.size() != static_cast<std::size_t>(columns)) return;  // others are being put in
  int needed = 0;
  std::vector<std::pair<int, int>> lacking;  // how much, and which column
  for (int column = 0; column < columns; ++column) {
    const int width = contents_px[static_cast<std::size_t>(column)];
    needed += std::min(width, column_px_max);
    if (width > column_px_max) lacking.emplace_back(width - column_px_max, column);
  }
  // A vertical scroll bar that is not there yet takes its room once the rows are.
  const QScrollBar* bar = table->verticalScrollBar();
  const int room = table->viewport()->width() - (bar->isVisible() ? 0 : bar->sizeHint().width());
  const int air = columns == 0 ? 0 : std::clamp((room - needed) / columns, 0, static_cast<int>(space::between));
  for (int column = 0; column < columns; ++column) {
    table->setColumnWidth(column, std::min(contents_px[static_cast<std::size_t>(column)], column_px_max) + air);
  }
  share_room(std::max(0, room - needed - air * columns), std::move(lacking), table);
}

/// A long head in two lines, parted at the space next to its middle: its column need not be wider than its numbers then.
QString head_lines(QString head) {
  if (head.size() <= head_letters_max) return head;
  const qsizetype middle = head.size() / 2, before = head.lastIndexOf(u' ', middle), behind = head.indexOf(u' ', middle);
  const qsizetype at = before < 0 || (behind >= 0 && behind - middle < middle - before) ? behind : before;
  if (at >= 0) head[at] = u'\n';
  return head;
}

QTableWidgetItem* text_item(const QString& text) {
  return new QTableWidgetItem(text);
}

QTableWidgetItem* number_item(const QString& text) {
  auto* item = new QTableWidgetItem(text);
  item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  return item;
}

/// Of a time between two clocks, as its column shows it.
QString bound_us_text(double limit_us) {
  return fixed_text(app::rounded_up(limit_us, 1), 1);
}

/// The same behind a unit.
QString bound_in_head(double limit_us) {
  if (std::isnan(limit_us)) return {};
  return std::isinf(limit_us) ? QStringLiteral(" ± ?") : QStringLiteral(" ± ") + bound_us_text(limit_us);
}

/// As the log has them.
QString flags_text(std::uint16_t flags) {
  measure::ReceivedLine line;
  line.flags = flags;
  std::array<char, measure::line_bytes_max> text;
  const auto size = measure::format_line(text.data(), line);
  const QString flagged = QString::fromLatin1(text.data(), static_cast<qsizetype>(size)).trimmed().section('\t', -1);
  return flagged == QLatin1String("-") ? dash() : flagged;
}

}  // namespace

ReportView::ReportView(Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(space::card);
  parts_ = described(new QListWidget, "report_parts", QStringLiteral("What there is to see of this result"), QString());
  parts_->setFixedWidth(parts_px);
  parts_->setWordWrap(true);  // titles that begin alike are told apart by their ends
  parts_->setTextElideMode(Qt::ElideNone);
  parts_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  row->addWidget(parts_);
  auto* right = new QVBoxLayout;
  right->setSpacing(space::between);
  title_ = make_label(QString(), "strong");
  title_->setObjectName(QStringLiteral("report_part_title"));
  lead_ = make_label(QString(), "secondary");
  lead_->setObjectName(QStringLiteral("report_lead"));
  lead_->setWordWrap(true);
  lead_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  stack_ = new QStackedWidget;
  auto* drawn = new QWidget;
  auto* drawn_box = new QVBoxLayout(drawn);
  drawn_box->setContentsMargins(0, 0, 0, 0);
  drawn_box->setSpacing(space::between);
  figure_ = new FigureView(theme_);
  figure_->setObjectName(QStringLiteral("report_figure"));
  drawn_box->addWidget(figure_, 1);
  drawn_box->addWidget(slow_part_ = make_slow());
  auto* tabled = new QWidget;
  auto* tabled_box = new QVBoxLayout(tabled);
  tabled_box->setContentsMargins(0, 0, 0, 0);
  tabled_box->setSpacing(space::between);
  table_ = make_table("report_table", QStringLiteral("The table of this part"));
  tabled_box->addWidget(new WholeRows(table_), 1);
  below_ = make_label(QString(), "secondary");
  below_->setObjectName(QStringLiteral("report_below"));
  below_->setWordWrap(true);
  tabled_box->addWidget(below_);
  stack_->addWidget(drawn);
  stack_->addWidget(tabled);
  right->addWidget(title_);
  right->addWidget(lead_);
  right->addWidget(stack_, 1);
  row->addLayout(right, 1);
  for (QTableWidget* table : {table_, slow_}) table->viewport()->installEventFilter(this);
  connect(parts_, &QListWidget::currentRowChanged, this, &ReportView::show_row);
  connect(&theme_, &Theme::changed, this, [this] { show_row(parts_->currentRow()); });  // grey cells have the theme's grey
  connect(figure_, &FigureView::point_clicked, this, [this](const app::FigureHit& hit) {
    if (figure_->figure().id == QLatin1String(over_time)) show_slice(hit.point);
  });
}

QWidget* ReportView::make_slow() {
  auto* part = new QWidget;
  auto* box = new QVBoxLayout(part);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(space::in_row);
  slow_title_ = make_label(QString(), "secondary");
  slow_title_->setObjectName(QStringLiteral("slow_title"));
  slow_ = make_table("slow_table", QStringLiteral("The slowest messages of the clicked moment"));
  slow_->setToolTip(QStringLiteral("Double-click or Enter opens the receiver's log at that line"));
  box->addWidget(slow_title_);
  slow_rows_ = new WholeRows(slow_);
  slow_rows_->hide();  // until there is something in it
  box->addWidget(slow_rows_);
  connect(slow_, &QTableWidget::cellActivated, this, [this](int row) { open_log(row); });
  return part;
}

void ReportView::show_report(const app::Report& report, std::optional<app::RunDigest> digest) {
  report_ = report;
  digest_ = std::move(digest);
  slice_ = -1;
  const QSignalBlocker quiet(parts_);
  parts_->clear();
  const auto add = [this](const QString& title) { parts_->addItem(title); };
  for (const app::Table& table : report_.tables) {
    if (table.id == QLatin1String("figures") || table.id == QLatin1String("comparison")) add(table.title);
  }
  for (const app::Figure& figure : report_.figures) add(figure.title);
  for (const auto* tables : {&report_.tables, &report_.appendix}) {
    for (const app::Table& table : *tables) {
      if (tables == &report_.appendix && table.rows.empty()) continue;  // nothing differs, as it says above
      if (table.id != QLatin1String("figures") && table.id != QLatin1String("comparison")) add(table.title);
    }
  }
  lead_->setText(report_.lead.join(QStringLiteral(" · ")));
  lead_->setVisible(!report_.lead.isEmpty());
  parts_->setCurrentRow(0);
  for (int i = 0; i < parts_->count(); ++i) parts_->item(i)->setToolTip(parts_->item(i)->text());
  show_row(0);
}

bool ReportView::show_part(const QString& title) {
  const auto found = parts_->findItems(title, Qt::MatchExactly);
  if (found.isEmpty()) return false;
  parts_->setCurrentItem(found.first());
  return true;
}

void ReportView::show_row(int row) {
  const QListWidgetItem* item = parts_->item(row);
  if (item == nullptr) return;
  title_->setText(item->text());
  for (const app::Figure& figure : report_.figures) {
    if (figure.title != item->text()) continue;
    figure_->set_figure(figure);
    const bool slices = figure.id == QLatin1String(over_time) && digest_;
    slow_part_->setVisible(slices);
    if (slices) show_slice(slice_);
    return stack_->setCurrentIndex(0);
  }
  for (const auto* tables : {&report_.tables, &report_.appendix}) {
    for (const app::Table& table : *tables) {
      if (table.title == item->text()) return show_table(table);
    }
  }
}

void ReportView::show_table(const app::Table& table) {
  table_->clear();
  table_->setRowCount(static_cast<int>(table.rows.size()));
  table_->setColumnCount(static_cast<int>(table.columns.size()));
  std::vector<bool> numbers;  // by column
  for (qsizetype c = 0; c < table.columns.size(); ++c) {
    const QString& key = table.columns[c];
    const QString words = table.read(key);
    auto* head = new QTableWidgetItem(head_lines(words));
    head->setToolTip(words != key ? key_tip.arg(key) : tooltip_of(words));  // a name may be longer than there is room
    numbers.push_back(table.has_numbers(static_cast<std::size_t>(c)));
    if (numbers.back()) head->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table_->setHorizontalHeaderItem(static_cast<int>(c), head);
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      const app::Cell& cell = table.rows[r][c];
      const bool is_text = std::holds_alternative<QString>(cell), is_key = is_text && table.has_keys(c);
      const QString all = app::cell_text(cell);  // all digits, and what a narrow column cuts off
      const QString shown = is_key ? table.read(all) : app::cell_short(cell);
      QTableWidgetItem* item = numbers[c] ? number_item(shown) : text_item(shown);
      item->setToolTip(is_key && shown != all ? key_tip.arg(all) : all);
      if (const QString doubt = table.doubt(r, c); !doubt.isEmpty()) {
        make_grey(item);
        item->setToolTip(QStringLiteral("%1 (%2)").arg(app::cell_text(cell), doubt));
      }
      table_->setItem(static_cast<int>(r), static_cast<int>(c), item);
    }
  }
  table_->horizontalHeader()->setStretchLastSection(table.is_of_keys());  // its values are sentences, some of them
  QStringList below{table.remark, app::grey_words({&table, 1})};
  below.removeAll(QString());
  below_->setText(below.join(u' '));
  below_->setVisible(!below.isEmpty());
  stack_->setCurrentIndex(1);
  measure_columns(table_);
  // Not where somebody had read on in the one before.
  table_->verticalScrollBar()->setValue(0);
  table_->horizontalScrollBar()->setValue(0);
}

void ReportView::show_slice(int slice) {
  slice_ = slice;
  slow_->clear();
  slow_->setRowCount(0);
  const bool chosen = digest_ && slice >= 0 && slice < static_cast<int>(digest_->slowest.size());
  slow_rows_->setVisible(chosen);
  if (!chosen) {
    slow_title_->setText(QStringLiteral("A click on the curve lists the slowest messages of that moment."));
    return;
  }
  const double to_broker_us = digest_->to_broker_limit_us, to_receiver_us = digest_->to_receiver_limit_us,
               latency_us = digest_->latency_limit_us;
  const QStringList heads = {"received at s",
                             "receiver",
                             "sender",
                             "message",
                             QStringLiteral("lag µs"),
                             QStringLiteral("to N2NQ µs") + bound_in_head(to_broker_us),
                             QStringLiteral("in queue µs"),
                             QStringLiteral("to receiver µs") + bound_in_head(to_receiver_us),
                             QStringLiteral("latency µs") + bound_in_head(latency_us),
                             "delivery",
                             "flags"};
  slow_->setColumnCount(static_cast<int>(heads.size()));
  slow_->setHorizontalHeaderLabels(heads);
  const auto& slowest = digest_->slowest[static_cast<std::size_t>(slice)];
  const double from_s = digest_->slices[static_cast<std::size_t>(slice)].from_s;
  slow_title_->setText(
      QStringLiteral("The %1 slowest messages received from %2 s to %3 s; double-click opens the receiver's log at that line")
          .arg(slowest.size())
          .arg(from_s, 0, 'g', 6)
          .arg(from_s + digest_->slice_s, 0, 'g', 6));
  bool any_grey = false;
  slow_->setRowCount(static_cast<int>(slowest.size()));
  for (const int column : {0, 3, 4, 5, 6, 7, 8, 9})
    slow_->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  for (int row = 0; row < static_cast<int>(slowest.size()); ++row) {
    const app::SlowMessage& message = slowest[static_cast<std::size_t>(row)];
    int column = 0;
    slow_->setItem(row, column++, number_item(fixed_text(message.at_s, 4)));
    slow_->setItem(row, column++, text_item(service_name(app::Role::receivers, message.receiver)));
    slow_->setItem(row, column++, text_item(service_name(app::Role::senders, message.sender)));
    slow_->setItem(row, column++, number_item(count_text(message.index)));
    for (const auto& [part_us, limit_us] : {std::pair{message.lag_us, std::nan("")},
                                            {message.to_broker_us, to_broker_us},
                                            {message.in_queue_us, std::nan("")},
                                            {message.to_receiver_us, to_receiver_us},
                                            {message.latency_us, latency_us}}) {
      QTableWidgetItem* item = number_item(fixed_text(part_us, 1));
      if (std::isfinite(limit_us) && std::abs(part_us) < limit_us) {
        make_grey(item);
        item->setToolTip(QStringLiteral("%1 (less than its ± of %2 µs: the clocks tell nothing finer)").arg(item->text(), bound_us_text(limit_us)));
        any_grey = true;
      }
      slow_->setItem(row, column++, item);
    }
    slow_->setItem(row, column++, number_item(QString::number(message.attempt)));
    slow_->setItem(row, column++, text_item(flags_text(message.flags)));
  }
  if (any_grey) slow_title_->setText(slow_title_->text() + QStringLiteral(". Grey: less than its ±"));
  measure_columns(slow_);
}

void ReportView::make_grey(QTableWidgetItem* item) const {
  item->setForeground(theme_.tokens().secondary);
}

// Once for what is put in: there may be ten thousands of cells.
void ReportView::measure_columns(QTableWidget* table) {
  table->resizeColumnsToContents();
  std::vector<int>& contents_px = contents_px_[table];
  contents_px.clear();
  for (int column = 0; column < table->columnCount(); ++column) contents_px.push_back(table->columnWidth(column));
  fit_columns(table, contents_px);
}

void ReportView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  slow_rows_->setFixedHeight(std::clamp(static_cast<int>(height() * slow_share), slow_px_min, slow_px));
}

// A table that is out of sight has its room when it is shown.
bool ReportView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) {
    for (QTableWidget* table : {table_, slow_}) {
      if (watched == table->viewport()) fit_columns(table, contents_px_[table]);
    }
  }
  return QWidget::eventFilter(watched, event);
}

void ReportView::open_log(int row) {
  if (!digest_ || slice_ < 0) return;
  const auto& slowest = digest_->slowest[static_cast<std::size_t>(slice_)];
  if (row < 0 || row >= static_cast<int>(slowest.size())) return;
  const app::SlowMessage& message = slowest[static_cast<std::size_t>(row)];
  emit log_requested('R', message.receiver, QString::number(message.received_ns));
}

}  // namespace n2nq::ui
