// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/results_list.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

#include "app/results/comparison.h"
#include "app/results/result_note.h"
#include "ui/text/figures.h"
#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/focus_table.h"
#include "ui/widget/middle_elided.h"
#include "ui/widget/setting_fields.h"
#include "ui/widget/whole_rows.h"

namespace n2nq::ui {

namespace {

constexpr int column_px[] = {152, 176, 88, 70, 80, 84, 112, 116, 84, 62, 60};  // the last is never less than that
static_assert(std::size(column_px) == ResultsModel::column_count);
// As the room goes: names, which tell runs apart, are long, few runs were on other machines, only figures between two clocks need their ±,
// few runs were disturbed, and where there are no tags and notes their heads are enough.
constexpr int name_px_max = 640, tags_px_max = 160, noted_px = 62, machines_px_max = 144, plain_p50_px = 84, plain_p99_px = 88,
              latency_px_max = 190, words_px_max = 200;
constexpr int search_px = 200, combo_px = 124, compared_runs_max = 400;
constexpr int days_of[] = {0, 1, 7, 30};  // of the days' combo box: any, today, …

QComboBox* make_combo(const Theme& theme, const char* name, const QString& accessible_name, const QStringList& texts) {
  auto* combo = described(new ChoiceBox(theme), name, accessible_name, accessible_name);
  combo->addItems(texts);
  combo->setFixedWidth(combo_px);
  return combo;
}

}  // namespace

ResultsList::ResultsList(Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(space::card);
  all->addWidget(make_list(), 1);
  all->addWidget(make_details());
  refresh();
}

QWidget* ResultsList::make_list() {
  auto* card = new Card(QStringLiteral("Results"));
  const auto button = [&](const char* name, const QString& text, const QString& tooltip, void (ResultsList::*wanted)()) {
    auto* made = described(new QPushButton(text), name, text, tooltip);
    card->title_row()->addWidget(made);
    connect(made, &QPushButton::clicked, this, wanted);
    return made;
  };
  count_ = make_label(QString(), "secondary");
  count_->setObjectName(QStringLiteral("results_count"));
  card->title_row()->insertWidget(1, count_);
  doing_ = make_label(QString(), "secondary");
  doing_->setObjectName(QStringLiteral("results_doing"));
  card->title_row()->insertWidget(2, doing_);
  undo_ = button("button_result_undo", QStringLiteral("Undo"), QString(), &ResultsList::undo_requested);
  // Wherever the focus is in here; a text field takes back what was typed into it.
  auto* undo = new QShortcut(QKeySequence::Undo, this);
  undo->setContext(Qt::WidgetWithChildrenShortcut);
  connect(undo, &QShortcut::activated, undo_, &QPushButton::click);
  remove_ = button("button_result_delete", QStringLiteral("Delete"),
                   QStringLiteral("Deletes the chosen results (Delete); Undo brings them back until the next start"),
                   &ResultsList::remove_requested);
  compare_ = button("button_result_compare", QStringLiteral("Compare"), QString(), &ResultsList::compare_requested);
  open_ =
      button("button_result_open", QStringLiteral("Open"), QStringLiteral("Shows the chosen result (Enter)"), &ResultsList::open_requested);
  card->body()->addWidget(make_filters());

  model_ = new ResultsModel(theme_, this);
  table_ = described(new FocusTable(theme_), "results_table", QStringLiteral("Results"), QString());
  table_->setModel(model_);
  table_->horizontalHeader()->setSortIndicator(ResultsModel::started, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  table_->horizontalHeader()->setSortIndicatorShown(false);  // the heads have an arrow of their own
  for (const int column : {ResultsModel::name, ResultsModel::machines}) table_->setItemDelegateForColumn(column, new MiddleElided<>(table_));
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setTabKeyNavigation(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);  // asking five thousand rows for their height takes a while
  table_->verticalHeader()->setDefaultSectionSize(table_row_px + space::in_row);
  table_->horizontalHeader()->setHighlightSections(false);
  for (int i = 0; i < ResultsModel::column_count; ++i) table_->setColumnWidth(i, column_px[i]);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->installEventFilter(this);
  table_->viewport()->installEventFilter(this);
  connect(table_, &QTableView::doubleClicked, this, &ResultsList::open_requested);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &ResultsList::refresh);
  connect(model_, &QAbstractItemModel::modelReset, this, &ResultsList::refresh);
  card->body()->addWidget(rows_ = new WholeRows(table_), 1);
  invitation_ = make_label(QString(), "secondary");
  invitation_->setObjectName(QStringLiteral("results_invitation"));
  invitation_->setAlignment(Qt::AlignCenter);
  invitation_->setWordWrap(true);
  card->body()->addWidget(invitation_, 1);
  return card;
}

QWidget* ResultsList::make_filters() {
  auto* band = new QWidget;
  auto* row = new QHBoxLayout(band);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(space::between);
  search_ = described(new QLineEdit, "results_search", QStringLiteral("Search results"),
                      QStringLiteral("Words in name, title, case, machines, note or tags"));
  search_->setPlaceholderText(QStringLiteral("Search"));
  search_->setFixedWidth(search_px);
  mode_ = make_combo(theme_, "results_mode", QStringLiteral("Queue mode"), {"any mode"});
  for (const char* key : {"broadcaster", "load-balancer"}) mode_->addItem(ResultsModel::mode_words(key), QString::fromLatin1(key));
  verdict_ = make_combo(theme_, "results_verdict", QStringLiteral("Verdict"),
                        {"any verdict", "clean", "stopped", "degraded", "broken", "unfinished"});
  days_ = make_combo(theme_, "results_days", QStringLiteral("When it was started"), {"any time", "today", "last 7 days", "last 30 days"});
  kind_ =
      make_combo(theme_, "results_kind", QStringLiteral("Runs and test cases"), {"any kind", "test cases", "runs of cases", "single runs"});
  tag_ = make_combo(theme_, "results_tag", QStringLiteral("Tag"), {"any tag"});
  tag_->hide();  // until there are any
  row->addWidget(search_);
  for (QComboBox* combo : {kind_, mode_, verdict_, days_, tag_}) {
    row->addWidget(combo);
    connect(combo, &QComboBox::currentIndexChanged, this, &ResultsList::take_filter);
  }
  row->addStretch(1);
  connect(search_, &QLineEdit::textChanged, this, &ResultsList::take_filter);
  return band;
}

QWidget* ResultsList::make_details() {
  auto* card = new Card(QStringLiteral("Chosen"));
  chosen_ = new ElidedLabel("secondary");
  chosen_->setObjectName(QStringLiteral("results_chosen"));
  card->title_row()->insertWidget(1, chosen_, 100);
  const auto button = [&](const char* name, const QString& text, const QString& tooltip, void (ResultsList::*wanted)()) {
    auto* made = described(new QPushButton(text), name, text, tooltip);
    card->title_row()->addWidget(made);
    connect(made, &QPushButton::clicked, this, wanted);
    return made;
  };
  rerun_ = button("button_result_rerun", QStringLiteral("Use settings"),
                  QStringLiteral("Takes this run's settings to the page Bench, to be run again"), &ResultsList::rerun_requested);
  copy_ = button("button_result_copy", QStringLiteral("Copy command"), QStringLiteral("Copies the command line that runs it again"),
                 &ResultsList::copy_requested);
  folder_ = button("button_result_folder", QStringLiteral("Folder"), QStringLiteral("Opens its folder"), &ResultsList::folder_requested);
  export_ = button("button_result_export", QStringLiteral("Export"),
                   QStringLiteral("Writes report.html, figures (SVG, PNG, PDF) and tables (CSV, JSON, XLSX) into its folder"),
                   &ResultsList::export_requested);
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  note_ = described(new QLineEdit, "result_note", QStringLiteral("Note"), QStringLiteral("What there is to remember about this result"));
  note_->setMaxLength(app::ResultNote::note_letters_max);
  note_->setPlaceholderText(QStringLiteral("Note"));
  tags_ = described(new QLineEdit, "result_tags", QStringLiteral("Tags"), QStringLiteral("Words to find it by, with commas between them"));
  tags_->setPlaceholderText(QStringLiteral("Tags, with commas"));
  row->addWidget(note_, 3);
  row->addWidget(tags_, 1);
  card->body()->addLayout(row);
  for (QLineEdit* edit : {note_, tags_}) connect(edit, &QLineEdit::editingFinished, this, &ResultsList::take_note);
  return card;
}

void ResultsList::set_entries(std::vector<app::ResultEntry> entries) {
  QStringList folders;
  for (const app::ResultEntry& entry : chosen()) folders += entry.folder;
  const auto folder_of = [this](const QModelIndex& index) { return index.isValid() ? model_->entry(index.row()).folder : QString(); };
  const QString current = folder_of(table_->currentIndex());
  // Who reads further down goes on reading there; at the top the newest are to be seen. (It scrolls by rows.)
  QScrollBar* bar = table_->verticalScrollBar();
  const QString topmost = bar->value() > 0 ? folder_of(model_->index(bar->value(), 0)) : QString();
  loading_ = false;
  // For a moment nothing is chosen: what is being typed must not go with that.
  refilling_ = true;
  model_->set_entries(std::move(entries));
  refill_tags();
  table_->setAutoScroll(false);
  choose(folders);
  if (const int row = model_->row_of(current); row >= 0)
    table_->selectionModel()->setCurrentIndex(model_->index(row, 0), QItemSelectionModel::NoUpdate);
  table_->setAutoScroll(true);
  table_->doItemsLayout();  // until then there is nowhere to scroll to
  if (const int row = model_->row_of(topmost); row >= 0) bar->setValue(row);
  refilling_ = false;
  refresh();
  fit_columns();
}

// Only when there is another room for them: a person may have set widths.
void ResultsList::fit_columns() {
  const bool bounds = model_->any_bound();
  const auto px_of_text = [this](const QString& text) { return table_->fontMetrics().horizontalAdvance(text) + 2 * space::between; };
  const auto px_of = [&](double app::ResultEntry::*percentile, int with_bounds_px, int plain_px) {
    return std::max(bounds ? with_bounds_px : plain_px, std::min(px_of_text(model_->longest_latency(percentile)), latency_px_max));
  };
  // With its arrow, also while the list is sorted by another one: a click on a head moves nothing.
  const auto px_of_head = [&](ResultsModel::Column column) { return px_of_text(ResultsModel::sorted_head(column, Qt::AscendingOrder)); };
  const auto least_px = [&](ResultsModel::Column column) { return std::max(column_px[column], px_of_head(column)); };
  const auto px_of_column = [&](ResultsModel::Column column, int most) {
    return std::clamp(px_of_text(model_->longest_text(column)), least_px(column), most);
  };
  const Fit fit{table_->viewport()->width(),
                px_of_column(ResultsModel::name, name_px_max),
                px_of_column(ResultsModel::mode, words_px_max),
                px_of_column(ResultsModel::services, words_px_max),
                px_of_column(ResultsModel::machines, machines_px_max),
                px_of_column(ResultsModel::verdict, words_px_max),
                px_of(&app::ResultEntry::p50_us, column_px[ResultsModel::p50], plain_p50_px),
                px_of(&app::ResultEntry::p99_us, column_px[ResultsModel::p99], plain_p99_px),
                px_of_column(ResultsModel::deliveries, words_px_max),
                model_->any_noted()};
  if (fit == fitted_ || fit.room_px <= 0) return;
  fitted_ = fit;
  table_->setColumnWidth(ResultsModel::p50, fit.p50_px);
  table_->setColumnWidth(ResultsModel::p99, fit.p99_px);
  table_->setColumnWidth(ResultsModel::mode, fit.mode_px);
  table_->setColumnWidth(ResultsModel::services, fit.services_px);
  table_->setColumnWidth(ResultsModel::verdict, fit.verdict_px);
  table_->setColumnWidth(ResultsModel::deliveries, fit.deliveries_px);
  int rest = fit.room_px;
  for (const int column : {ResultsModel::started, ResultsModel::mode, ResultsModel::services, ResultsModel::verdict, ResultsModel::p50,
                           ResultsModel::p99, ResultsModel::deliveries}) {
    rest -= table_->columnWidth(column);
  }
  // What there is beyond the least of each goes to the name, as far as that needs it, then to machines, tags and notes.
  const int noted_px_min = fit.notes ? noted_px : 0;
  const int tags_px_min = std::max(noted_px_min, px_of_head(ResultsModel::tags));
  const int note_px_min = std::max(noted_px_min, px_of_head(ResultsModel::note));
  const int machines_px_min = least_px(ResultsModel::machines);
  const auto wider_px = [](int least, int over, int needed) { return std::max(least, std::min(least + over, needed)); };
  int over = rest - column_px[ResultsModel::name] - machines_px_min - tags_px_min - note_px_min;
  const int name = wider_px(column_px[ResultsModel::name], over, fit.name_px);
  over -= name - column_px[ResultsModel::name];
  const int machines = wider_px(machines_px_min, over, fit.machines_px);
  table_->setColumnWidth(ResultsModel::name, name);
  table_->setColumnWidth(ResultsModel::machines, machines);
  table_->setColumnWidth(ResultsModel::tags, std::clamp((rest - name - machines) * 2 / 5, tags_px_min, tags_px_max));
}

void ResultsList::set_loading(bool loading) {
  loading_ = loading;
  refresh();
}

void ResultsList::set_removed(const QString& name) {
  removed_ = name;
  undo_->setToolTip(name.isEmpty() ? QStringLiteral("Brings back what was deleted last (Ctrl+Z); nothing was")
                                   : QStringLiteral("Brings back %1 (Ctrl+Z)").arg(name));
  refresh();
}

void ResultsList::set_doing(const QString& words, bool moving, bool exporting) {
  doing_->setText(words);
  if (moving_ == moving && exporting_ == exporting) return;
  moving_ = moving;
  exporting_ = exporting;
  refresh();
}

void ResultsList::set_reported(const QStringList& folders) {
  reported_ = folders;
  reported_.sort();
  refresh();
}

bool ResultsList::are_reported(const std::vector<app::ResultEntry>& entries) const {
  if (entries.size() < 2 || static_cast<qsizetype>(entries.size()) != reported_.size()) return false;
  return std::all_of(entries.begin(), entries.end(), [this](const app::ResultEntry& entry) {
    return std::binary_search(reported_.begin(), reported_.end(), entry.folder);
  });
}

std::vector<app::ResultEntry> ResultsList::chosen() const {
  std::vector<app::ResultEntry> out;
  for (const QModelIndex& index : table_->selectionModel()->selectedRows()) out.push_back(model_->entry(index.row()));
  return out;
}

void ResultsList::choose(const QStringList& folders) {
  std::vector<int> rows;
  for (const QString& folder : folders) {
    if (const int row = model_->row_of(folder); row >= 0) rows.push_back(row);
  }
  const int first = rows.empty() ? -1 : rows.front();
  // Neighbours are one range: a selection of five thousand ranges takes a while.
  std::sort(rows.begin(), rows.end());
  QItemSelection selection;
  for (std::size_t from = 0, to = 0; from < rows.size(); from = ++to) {
    while (to + 1 < rows.size() && rows[to + 1] == rows[to] + 1) ++to;
    selection.select(model_->index(rows[from], 0), model_->index(rows[to], 0));
  }
  table_->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (first >= 0) table_->selectionModel()->setCurrentIndex(model_->index(first, 0), QItemSelectionModel::NoUpdate);
}

void ResultsList::refill_tags() {
  // The list is read whenever the window comes to the front: what is open is not to be emptied for the same ones.
  const QStringList tags = model_->all_tags();
  if (tags == all_tags_) return;
  all_tags_ = tags;
  const QSignalBlocker quiet(tag_);
  const QString present = tag_->currentIndex() > 0 ? tag_->currentText() : QString();
  tag_->clear();
  tag_->addItem(QStringLiteral("any tag"));
  tag_->addItems(tags);
  tag_->setCurrentIndex(std::max(0, tag_->findText(present)));
  tag_->setVisible(tag_->count() > 1);
  if (!present.isEmpty() && tag_->currentIndex() == 0) take_filter();  // nobody has that tag any more
}

void ResultsList::take_filter() {
  app::ResultFilter filter;
  filter.text = search_->text();
  filter.kind = static_cast<app::ResultFilter::Kind>(std::max(0, kind_->currentIndex()));  // in the order of the kinds
  filter.mode = mode_->currentData().toString();
  if (verdict_->currentIndex() > 0) filter.verdict = verdict_->currentText();
  if (tag_->currentIndex() > 0) filter.tag = tag_->currentText();
  if (const int days = days_of[std::max(0, days_->currentIndex())]; days > 0) filter.from = QDate::currentDate().addDays(1 - days);
  model_->set_filter(filter);
}

void ResultsList::take_note() {
  if (noted_.isEmpty()) return;
  for (const app::ResultEntry& entry : chosen()) {
    const QStringList tags = app::tags_from(tags_->text());
    if (entry.folder != noted_ || (entry.note == note_->text() && entry.tags == tags)) continue;
    emit note_changed(noted_, note_->text(), tags);
  }
}

bool ResultsList::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport() && event->type() == QEvent::Resize) fit_columns();
  if (watched != table_ || event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) return open_->isEnabled() ? emit open_requested() : void(), true;
  if (key->key() == Qt::Key_Delete) return remove_->isEnabled() ? emit remove_requested() : void(), true;
  return QWidget::eventFilter(watched, event);
}

void ResultsList::refresh() {
  if (refilling_) return;
  const auto entries = chosen();
  const auto count = static_cast<int>(entries.size());
  const bool one = count == 1, finished_one = one && entries.front().finished();
  const bool of_cases = std::any_of(entries.begin(), entries.end(), [](const app::ResultEntry& entry) { return entry.is_case; });
  // Of runs there may be more: repeats of one another are one of the two to eight.
  const bool comparable = count >= app::Comparison::sides_min && count <= (of_cases ? app::Comparison::sides_max : compared_runs_max) &&
                          std::all_of(entries.begin(), entries.end(), [](const app::ResultEntry& entry) { return entry.finished(); });
  open_->setEnabled(finished_one);
  set_style_property(open_, "main", finished_one);
  compare_->setEnabled(comparable);
  set_style_property(compare_, "main", comparable);
  compare_->setToolTip(
      comparable ? QStringLiteral("Shows the chosen results overlaid, with their differences; runs with the same settings are repeats")
                 : QStringLiteral("Choose two to eight finished results, or more with repeats among them (Ctrl or Shift and a click)"));
  remove_->setEnabled(count > 0 && !moving_);
  undo_->setEnabled(!removed_.isEmpty() && !moving_);
  const bool one_case = one && entries.front().is_case;
  rerun_->setEnabled(one && !one_case);
  rerun_->setToolTip(one_case ? QStringLiteral("The page Test cases goes on with a case, or runs it again")
                              : QStringLiteral("Takes this run's settings to the page Bench, to be run again"));
  copy_->setEnabled(one);
  const bool reported = are_reported(entries);
  folder_->setEnabled(one || reported);
  folder_->setToolTip(reported ? QStringLiteral("Opens the folder of their report") : QStringLiteral("Opens its folder"));
  export_->setEnabled((finished_one || comparable) && !exporting_);
  note_->setEnabled(one);
  tags_->setEnabled(one);
  const QString folder = one ? entries.front().folder : QString();
  const bool same = folder == noted_;
  noted_ = folder;
  // A field that a person is typing into keeps what it says.
  const auto fill = [same](QLineEdit* edit, const QString& stored) {
    const bool typed_into = edit->hasFocus() && edit->isModified();
    // The same text again would take the selection away, and the cursor from where it stands.
    if (same && (typed_into || edit->text() == stored)) return;
    edit->setText(stored);
  };
  fill(note_, one ? entries.front().note : QString());
  fill(tags_, one ? entries.front().tags.join(QStringLiteral(", ")) : QString());
  chosen_->set_text(count == 0  ? QStringLiteral("nothing")
                    : count > 1 ? QStringLiteral("%1 results").arg(count_text(count))
                                : entries.front().name +
                                      (entries.front().reason.isEmpty() ? QString() : QStringLiteral(" · ") + entries.front().reason));
  const int shown = model_->rowCount();
  const auto all = static_cast<int>(model_->all_count());
  count_->setText(all == 0       ? QString()
                  : shown == all ? count_text(all)
                                 : QStringLiteral("%1 of %2").arg(count_text(shown), count_text(all)));
  invitation_->setText(
      loading_ && all == 0 ? QStringLiteral("Reading the results …")
      : all == 0
          ? QStringLiteral("No result yet. Press F5 to start 10 senders and 10 receivers on this machine;\nwhat it leaves appears here.")
          : QStringLiteral("No result fits what is asked for."));
  invitation_->setVisible(shown == 0);
  // A table that is hidden would hand it on to the tabs, where Undo has no key.
  if (shown == 0 && table_->hasFocus()) setFocus(Qt::OtherFocusReason);
  rows_->setVisible(shown > 0);
  if (shown > 0 && hasFocus()) table_->setFocus(Qt::OtherFocusReason);
}

}  // namespace n2nq::ui
