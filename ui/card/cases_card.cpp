// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/cases_card.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <utility>

#include "app/settings/qt_text.h"
#include "app/settings/text_value.h"
#include "ui/card/case_menu.h"
#include "ui/model/cases_model.h"
#include "ui/text/figures.h"
#include "ui/text/tooltip.h"
#include "ui/widget/card.h"
#include "ui/widget/cell_delegate.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/focus_table.h"
#include "ui/widget/progress_line.h"
#include "ui/widget/setting_fields.h"
#include "ui/widget/whole_rows.h"

namespace n2nq::ui {

namespace {

constexpr int column_px[] = {46, 172, 100, 100, 62, 96};
constexpr int name_px_max = 260;
constexpr int around_px = 13;  // what a cell has beside its text, and what rounding takes
constexpr int rows_shown_min = 7;
static_assert(std::size(column_px) == CasesModel::column_count);
constexpr int number_px = 72, place_px = 148;
constexpr double warm_up_s_max = 3600;
const char* const scale_names[] = {"Quick", "Thesis", "Stress"};
const char* const scale_meanings[] = {"The shape in minutes: short runs, few values",
                                      "The numbers of the thesis, three repeats unless said otherwise",
                                      "Each curve until the knee: up to which load it keeps up"};
const char* const run_selected_meaning = "Begins the ticked cases, one after the other";
const char* const run_all_meaning = "Ticks all cases and begins them anew, one after the other, about %1";
const char* const runs_already = "A test case runs: pause or stop it first";
const char* const none_ticked = "No case is ticked: click the box before a case, or press Space";
const char* const none_ticked_yet = "No case is ticked: tick one for Run selected, or press Run all";
const char* const works_elsewhere = "%1: another bench works on it";
const char* const time_of_ticked = "The time is that of the ticked cases";
const char* const time_of_all = "The time is that of all cases, as none is ticked";
const char* const being_read = "Reading the test cases …";
const char* const ticking_meaning = "Space ticks the chosen case";
const char* const locked = "A test case runs: what is chosen belongs to it";
const char* const hosts_wanted = "External sets: choose all three machines, or none";
const char* const repeats_of_stress = "At Stress each load runs until it is clear whether it is too much, at most three times";

/// Marks the field. Empty: nothing is wrong with it.
QString tell_problem(UnitEdit* field, const app::Problem& problem) {
  const QString text = problem ? qt_text(*problem) : QString();
  field->set_refused(!text.isEmpty());
  field->setAccessibleDescription(text);
  return text.isEmpty() ? text : field->accessibleName() + u' ' + text;
}

QString place_meaning(const QString& whose) {
  return QStringLiteral("Where %1 run in external sets; internal ones run beside N2NQ").arg(whose);
}

/// Boxes to tick that are locked while a case runs, and say so.
class TickDelegate : public CellDelegate {
 public:
  TickDelegate(const CasesDesk& desk, QObject* parent) : CellDelegate(parent), desk_(desk) {}

  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) override {
    return !desk_.is_on() && CellDelegate::editorEvent(event, model, option, index);
  }
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option, const QModelIndex& index) override {
    if (!desk_.is_on() || event->type() != QEvent::ToolTip) return CellDelegate::helpEvent(event, view, option, index);
    QToolTip::showText(event->globalPos(), QString::fromLatin1(locked), view);
    return true;
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    CellDelegate::initStyleOption(option, index);
    if (desk_.is_on()) option->state.setFlag(QStyle::State_Enabled, false);
  }

 private:
  const CasesDesk& desk_;
};

}  // namespace

CasesCard::CasesCard(CasesDesk& desk, app::HostBook& hosts, const QString& cases_folder, Theme& theme, QWidget* parent)
    : QWidget(parent), desk_(desk), hosts_(hosts), theme_(theme) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  auto* card = new Card(QStringLiteral("Test cases"));
  const QString copy_meaning = QStringLiteral("Copies the chosen case into a file of your own in %1, chooses it, and opens it");
  copy_ = make_button("button_case_copy", QStringLiteral("Copy"), tooltip_of(copy_meaning.arg(cases_folder)));
  copy_->setAccessibleName(QStringLiteral("Copy the chosen case"));
  run_selected_ = make_button("button_cases_run", QStringLiteral("Run selected"), QString::fromLatin1(run_selected_meaning));
  run_all_ = make_button("button_cases_run_all", QStringLiteral("Run all"), QString::fromLatin1(run_all_meaning));
  for (QPushButton* button : {copy_, run_selected_, run_all_}) card->title_row()->addWidget(button);
  card->body()->addWidget(make_list(), 1);
  card->body()->addWidget(make_choice());
  card->body()->addWidget(make_progress());
  all->addWidget(card);
  connect(copy_, &QPushButton::clicked, this, [this] { emit copy_requested(current_row()); });
  connect(run_selected_, &QPushButton::clicked, this, [this] { desk_.run(selected_rows(), CasesDesk::Begin::anew); });
  connect(run_all_, &QPushButton::clicked, this, &CasesCard::run_all);
  connect(pause_, &QPushButton::clicked, &desk_, &CasesDesk::pause);
  connect(stop_, &QPushButton::clicked, &desk_, &CasesDesk::stop_now);
  connect(resume_, &QPushButton::clicked, this, [this] { desk_.run(desk_.resumable(), CasesDesk::Begin::go_on); });
  connect(&desk_, &CasesDesk::on_changed, this, &CasesCard::refresh);
  connect(&desk_, &CasesDesk::progressed, this, &CasesCard::refresh_progress);
  connect(&desk_, &CasesDesk::row_changed, this, &CasesCard::refresh);
  connect(&desk_, &CasesDesk::row_changed, this, [this] {
    if (runs_px() > table_->columnWidth(CasesModel::runs)) fit_columns();  // at Stress there may be more than were planned
  });
  connect(&desk_, &CasesDesk::hold_changed, this, &CasesCard::refresh);
  connect(&desk_, &CasesDesk::choice_changed, this, &CasesCard::refresh);
  connect(&desk_, &CasesDesk::rows_changed, this, [this] {
    // The list was made anew: the same case stays chosen, unless another one was waited for.
    const auto& rows = desk_.rows();
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
      const app::LibraryCase& file = rows[static_cast<std::size_t>(row)].file;
      if (file.built_in) continue;
      if (awaited_ticked_.erase(file.name) > 0) desk_.set_ticked(row, true);
      if (file.name != awaited_own_) continue;
      current_name_ = std::exchange(awaited_own_, {});
      current_is_own_ = true;
    }
    const auto same = std::find_if(rows.begin(), rows.end(), [this](const CasesDesk::Row& row) {
      return row.file.name == current_name_ && row.file.built_in != current_is_own_;
    });
    if (!rows.empty()) select(same == rows.end() ? 0 : static_cast<int>(same - rows.begin()));
    fit_columns();
    refresh();
  });
  connect(&hosts_, &app::HostBook::changed, this, &CasesCard::fill_hosts);
  fill_hosts();
  refresh();
}

QPushButton* CasesCard::make_button(const char* name, const QString& text, const QString& tooltip) {
  return described(new QPushButton(text), name, text, tooltip);
}

QWidget* CasesCard::make_list() {
  model_ = new CasesModel(desk_, theme_, this);
  table_ = described(new FocusTable(theme_), "cases_table", QStringLiteral("Test cases"), QString::fromLatin1(ticking_meaning));
  table_->setModel(model_);
  table_->setItemDelegateForColumn(CasesModel::tick, new TickDelegate(desk_, table_));
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setTabKeyNavigation(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(table_row_px);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setMinimumSectionSize(column_px[0]);
  for (int i = 0; i < CasesModel::column_count; ++i) table_->setColumnWidth(i, column_px[i]);
  table_->horizontalHeader()->setSectionResizeMode(CasesModel::sweep, QHeaderView::Stretch);
  table_->installEventFilter(this);
  table_->viewport()->installEventFilter(this);
  menu_ = new CaseMenu(desk_, table_, this);
  connect(&desk_, &CasesDesk::on_changed, this, [this] { table_->viewport()->update(); });  // all boxes at once
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) {
      const app::LibraryCase& file = desk_.rows()[static_cast<std::size_t>(current.row())].file;
      current_name_ = file.name;
      current_is_own_ = !file.built_in;
      emit row_selected(current.row());
    }
    refresh();
  });
  auto* rows = new WholeRows(table_);
  rows->setMinimumHeight((rows_shown_min + 1) * table_row_px + space::between);
  return rows;
}

int CasesCard::contents_px(int column) const {
  int widest = 0;
  for (int row = 0; row < model_->rowCount(); ++row) {
    widest = std::max(widest, table_->fontMetrics().horizontalAdvance(model_->index(row, column).data().toString()));
  }
  return widest + around_px;
}

/// As wide as it is when all runs are done, so that nothing moves while they come.
int CasesCard::runs_px() const {
  int most = 0;
  for (const CasesDesk::Row& row : desk_.rows()) most = std::max(most, row.runs_all);
  return table_->fontMetrics().horizontalAdvance(QStringLiteral("%1/%1").arg(most)) + around_px;
}

// Nothing is cut. Where there is no room for all columns, the figures' numbers stand in the list of figures alone.
void CasesCard::fit_columns() {
  const int name = std::clamp(contents_px(CasesModel::name), column_px[CasesModel::name], name_px_max);
  const int figures = std::max(contents_px(CasesModel::figures), column_px[CasesModel::figures]);
  const int sweep = std::max(contents_px(CasesModel::sweep), column_px[CasesModel::sweep]);
  const int runs = std::max(runs_px(), column_px[CasesModel::runs]);
  table_->setColumnWidth(CasesModel::name, name);
  table_->setColumnWidth(CasesModel::figures, figures);
  table_->setColumnWidth(CasesModel::runs, runs);
  const int others = column_px[CasesModel::tick] + runs + column_px[CasesModel::state];
  table_->setColumnHidden(CasesModel::figures, name + sweep + figures + others > table_->viewport()->width());
}

bool CasesCard::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport() && event->type() == QEvent::Resize) {
    fit_columns();
    if (table_->currentIndex().isValid()) table_->scrollTo(table_->currentIndex());  // a window that was made smaller
  }
  if (watched == table_ && event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
    toggle_current();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void CasesCard::toggle_current() {
  const int row = current_row();
  if (row < 0 || desk_.is_on()) return;
  const CasesDesk::Row& at = desk_.rows()[static_cast<std::size_t>(row)];
  if (at.file.read.file) desk_.set_ticked(row, !at.ticked);
}

QWidget* CasesCard::make_choice() {
  auto* part = new QWidget;
  auto* box = new QVBoxLayout(part);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(space::between);
  box->addWidget(make_scales());
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  repeats_ = described(new UnitEdit(QString()), "case_repeats", QStringLiteral("Repeats of each run"),
                       QStringLiteral("How often each run is made, 1 to 1 000; empty: what the case says for this scale"));
  warm_up_ = described(new UnitEdit(QStringLiteral("s")), "case_warm_up", QStringLiteral("Warm-up"),
                       QStringLiteral("Traffic before the measurement, in no figure; empty: what the case says for this scale"));
  for (UnitEdit* edit : {repeats_, warm_up_}) {
    edit->setFixedWidth(number_px);
    edit->setPlaceholderText(QStringLiteral("auto"));
    connect(edit, &QLineEdit::textEdited, this, &CasesCard::take_fields);
  }
  row->addWidget(make_label(QStringLiteral("Repeat each run"), "secondary"));
  row->addWidget(repeats_);
  row->addSpacing(space::card);
  row->addWidget(make_label(QStringLiteral("Warm-up"), "secondary"));
  row->addWidget(warm_up_);
  row->addSpacing(space::card);
  // There is room for it whether there is anything to say or not.
  problem_ = new ElidedLabel("problem", 2);
  problem_->setObjectName(QStringLiteral("cases_problem"));
  problem_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  row->addWidget(problem_, 1);
  box->addLayout(row);
  box->addWidget(make_hosts());
  return part;
}

QWidget* CasesCard::make_scales() {
  auto* part = new QWidget;
  part->setAccessibleName(QStringLiteral("Scale"));
  auto* row = new QHBoxLayout(part);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  auto* group = new QButtonGroup(part);
  for (const app::Scale scale : app::all_scales) {
    const auto place = static_cast<std::size_t>(scale);
    const QString name = QString::fromLatin1(scale_names[place]);
    QPushButton* button = described(new QPushButton(name), qPrintable(QStringLiteral("scale_") + qt_text(app::scale_word(scale))),
                                    QStringLiteral("Scale: ") + name, QString::fromLatin1(scale_meanings[place]));
    button->setCheckable(true);
    button->setProperty("segment", place == 0 ? "first" : place + 1 == scales_.size() ? "last" : "middle");
    group->addButton(button);
    row->addWidget(button, 1);
    scales_[place] = button;
    connect(button, &QPushButton::clicked, this, [this, scale] { choose_scale(scale); });
  }
  return part;
}

QWidget* CasesCard::make_hosts() {
  auto* part = new QWidget;
  auto* row = new QHBoxLayout(part);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(space::between);
  row->addWidget(make_label(QStringLiteral("External sets"), "secondary"));
  static const char* const names[] = {"case_host_broker", "case_host_senders", "case_host_receivers"};
  static const char* const whose[] = {"N2NQ", "senders", "receivers"};
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const QString what = QString::fromLatin1(whose[i]);
    places_[i] = described(new ChoiceBox(theme_), names[i], QStringLiteral("External sets: host of ") + what,
                           place_meaning(what));
    places_[i]->setMinimumWidth(place_px);
    row->addWidget(places_[i], 1);
    connect(places_[i], &QComboBox::activated, this, &CasesCard::take_hosts);
  }
  no_hosts_ = make_label(QStringLiteral("run here, or not at all: no lab machine is known (page Hosts)"), "secondary");
  no_hosts_->setObjectName(QStringLiteral("case_no_hosts"));
  row->addWidget(no_hosts_, 1);
  return part;
}

QWidget* CasesCard::make_progress() {
  auto* part = new QWidget;
  auto* box = new QVBoxLayout(part);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(space::in_row);
  line_ = described(new ProgressLine(theme_), "cases_progress", QStringLiteral("Progress of the test cases"), QString());
  box->addWidget(line_);
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(0);
  texts->addWidget(doing_ = new ElidedLabel("caption"));
  texts->addWidget(left_ = new ElidedLabel("caption"));
  doing_->setObjectName(QStringLiteral("cases_doing"));
  left_->setObjectName(QStringLiteral("cases_left"));
  row->addLayout(texts, 1);
  pause_ = make_button("button_cases_pause", QStringLiteral("Pause"),
                       QStringLiteral("Ends the run in progress as planned, and begins no other"));
  stop_ = make_button("button_cases_stop", QStringLiteral("Stop"),
                      QStringLiteral("Stops the run in progress in order; it counts as not run. Once more waits for nothing"));
  resume_ = make_button("button_cases_resume", QStringLiteral("Resume"), QString());
  for (QPushButton* button : {pause_, stop_, resume_}) row->addWidget(button);
  box->addLayout(row);
  return part;
}

int CasesCard::current_row() const {
  const QModelIndex index = table_->currentIndex();
  return index.isValid() ? index.row() : -1;
}

void CasesCard::select(int row) {
  table_->setCurrentIndex(model_->index(row, CasesModel::name));
}

void CasesCard::select_when_listed(const std::string& own_name, bool ticked) {
  awaited_own_ = own_name;
  if (ticked) awaited_ticked_.insert(own_name);
}

void CasesCard::choose_scale(app::Scale scale) {
  app::CaseChoice choice = desk_.choice();
  choice.scale = scale;
  desk_.choose(choice);
  refresh();
}

// Each by itself: at Stress, Repeats cannot be mended, and is not to keep the warm-up out.
void CasesCard::take_fields() {
  app::CaseChoice choice = desk_.choice();
  std::int64_t repeats = 0;
  double warm_up_s = 0;
  const std::string repeats_text = repeats_->text().trimmed().toStdString(), warm_up_text = warm_up_->text().trimmed().toStdString();
  const auto of = [](const std::string& text, const app::Problem& problem) { return text.empty() ? app::Problem() : problem; };
  repeats_problem_ = tell_problem(repeats_, of(repeats_text, app::parse_integer(repeats_text, 1, app::case_repeats_max, repeats)));
  warm_up_problem_ = tell_problem(warm_up_, of(warm_up_text, app::parse_decimal(warm_up_text, 0, warm_up_s_max, 3, warm_up_s)));
  refresh();
  if (repeats_problem_.isEmpty()) choice.repeats = repeats_text.empty() ? std::nullopt : std::optional(static_cast<int>(repeats));
  if (warm_up_problem_.isEmpty()) choice.warm_up_s = warm_up_text.empty() ? std::nullopt : std::optional(warm_up_s);
  desk_.choose(choice);
}

void CasesCard::take_hosts() {
  app::CaseChoice choice = desk_.choice();
  choice.hosts.reset();
  if (hosts_chosen() == places_.size()) {
    const auto name = [this](std::size_t i) { return places_[i]->currentData().toString().toStdString(); };
    choice.hosts = app::CaseHosts{name(0), name(1), name(2)};
  }
  desk_.choose(choice);
  refresh();
}

/// The first entry of a box stands for none.
std::size_t CasesCard::hosts_chosen() const {
  return static_cast<std::size_t>(
      std::count_if(places_.begin(), places_.end(), [](const QComboBox* box) { return box->currentIndex() > 0; }));
}

bool CasesCard::some_hosts_missing() const {
  return hosts_chosen() > 0 && hosts_chosen() < places_.size();
}

void CasesCard::fill_hosts() {
  // With mistakes in the file nothing is known of any host.
  if (!hosts_.problems().isEmpty() && places_.front()->count() > 0) return;
  const auto& known = hosts_.hosts().hosts;
  static const char* const none[] = {"N2NQ on …", "senders on …", "receivers on …"};
  bool any_chosen = false;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    QComboBox* box = places_[i];
    const QString present = box->currentIndex() > 0 ? box->currentData().toString() : QString();
    any_chosen = any_chosen || !present.isEmpty();
    const QSignalBlocker quiet(box);
    box->clear();
    box->addItem(QString::fromUtf8(none[i]));
    const QString whose = QString::fromUtf8(none[i]).section(u' ', 0, 0);
    for (const app::Host& host : known) box->addItem(QStringLiteral("%1: %2").arg(whose, qt_text(host.name)), qt_text(host.name));
    // What was chosen stays so until a person chooses something else: it is what the next case is begun with.
    const bool unknown = !present.isEmpty() && box->findData(present) < 0;
    if (unknown) box->addItem(QStringLiteral("%1: %2 (unknown)").arg(whose, present), present);
    box->setCurrentIndex(std::max(0, box->findData(present)));
    place_meanings_[i] =
        unknown ? QStringLiteral("There is no machine %1 on the page Hosts any more: choose another").arg(present) : place_meaning(whose);
  }
  for (QComboBox* box : places_) box->setVisible(!known.empty() || any_chosen);
  no_hosts_->setVisible(known.empty() && !any_chosen);
  take_hosts();
}

/// Those that can be run at the chosen scale, and that nobody else works on.
std::vector<int> CasesCard::runnable_rows() const {
  std::vector<int> out;
  for (int row = 0; row < static_cast<int>(desk_.rows().size()); ++row) {
    const CasesDesk::Row& at = desk_.rows()[static_cast<std::size_t>(row)];
    if (at.file.read.file && !at.is_elsewhere && problem_of(at).isEmpty()) out.push_back(row);
  }
  return out;
}

std::vector<int> CasesCard::selected_rows() const {
  std::vector<int> out = desk_.ticked_rows();
  std::erase_if(out, [this](int row) { return desk_.rows()[static_cast<std::size_t>(row)].is_elsewhere; });
  return out;
}

QString CasesCard::without(const QString& meaning, const QStringList& left_out) {
  return left_out.isEmpty() ? meaning : QStringLiteral("%1, without:\n%2").arg(meaning, left_out.join(u'\n'));
}

QString CasesCard::problem_of(const CasesDesk::Row& row) const {
  const QString& problem = row.estimates[static_cast<std::size_t>(desk_.choice().scale)].problem;
  return problem.isEmpty() ? QString() : QStringLiteral("%1: %2").arg(qt_text(row.file.read.file->title), problem);
}

QString CasesCard::choice_problem() const {
  const bool stress = desk_.choice().scale == app::Scale::stress;  // which goes by no repeats
  if (!stress && !repeats_problem_.isEmpty()) return repeats_problem_;
  if (!warm_up_problem_.isEmpty()) return warm_up_problem_;
  return some_hosts_missing() ? QString::fromLatin1(hosts_wanted) : QString();
}

void CasesCard::run_all() {
  const std::vector<int> rows = runnable_rows();
  for (const int row : rows) desk_.set_ticked(row, true);
  desk_.run(rows, CasesDesk::Begin::anew);
}

double CasesCard::seconds_of(const std::vector<int>& rows, app::Scale scale) const {
  double seconds = 0;
  for (const int row : rows) seconds += desk_.rows()[static_cast<std::size_t>(row)].estimates[static_cast<std::size_t>(scale)].seconds;
  return seconds;
}

void CasesCard::refresh() {
  const bool on = desk_.is_on();
  const auto selected = selected_rows();
  const auto resumable = desk_.resumable();
  const QString hold = on ? QString::fromLatin1(runs_already) : desk_.hold();
  const QString unfit = choice_problem();
  const QString refused = !desk_.is_loaded() ? QString::fromUtf8(being_read) : hold.isEmpty() ? unfit : hold;
  QString in_the_way;  // of the ticked ones
  for (const int row : selected) {
    if (in_the_way.isEmpty()) in_the_way = problem_of(desk_.rows()[static_cast<std::size_t>(row)]);
  }
  QStringList left_out, ticked_left_out;
  for (const CasesDesk::Row& row : desk_.rows()) {
    if (!row.file.read.file) continue;
    if (row.is_elsewhere) {
      left_out += QString::fromLatin1(works_elsewhere).arg(qt_text(row.file.read.file->title));
      if (row.ticked) ticked_left_out += left_out.last();
    } else if (const QString problem = problem_of(row); !problem.isEmpty()) {
      left_out += problem;
    }
  }
  const std::vector<int> runnable = runnable_rows();
  copy_->setEnabled(current_row() >= 0);
  run_selected_->setText(selected.empty() ? QStringLiteral("Run selected") : QStringLiteral("Run selected %1").arg(selected.size()));
  run_selected_->setEnabled(refused.isEmpty() && !selected.empty() && in_the_way.isEmpty());
  const QString none_selected = ticked_left_out.isEmpty() ? QString::fromLatin1(none_ticked) : ticked_left_out.join(u'\n');
  run_selected_->setToolTip(!refused.isEmpty()     ? refused
                            : selected.empty()     ? none_selected
                            : in_the_way.isEmpty() ? without(QString::fromLatin1(run_selected_meaning), ticked_left_out)
                                                   : QStringLiteral("Cannot be run at this scale: ") + in_the_way);
  run_all_->setText(desk_.is_loaded() ? QStringLiteral("Run all %1").arg(runnable.size()) : QStringLiteral("Run all"));
  run_all_->setEnabled(refused.isEmpty() && !runnable.empty());
  const QString all_take = span_text(seconds_of(runnable, desk_.choice().scale));
  run_all_->setToolTip(refused.isEmpty() ? without(QString::fromLatin1(run_all_meaning).arg(all_take), left_out) : refused);
  pause_->setEnabled(on && !desk_.is_pausing());
  stop_->setEnabled(on);
  // What was begun goes on with the choice of then; what waits since a pause begins with the present one.
  const bool begins = std::any_of(resumable.begin(), resumable.end(),
                                  [this](int row) { return desk_.rows()[static_cast<std::size_t>(row)].waits_to_begin(); });
  const QString& not_resumed = begins || !desk_.is_loaded() ? refused : hold;
  resume_->setEnabled(not_resumed.isEmpty() && !resumable.empty());
  // The one main button: what was begun goes on before anything begins anew.
  set_style_property(resume_, "main", resume_->isEnabled());
  set_style_property(run_all_, "main", run_all_->isEnabled() && !resume_->isEnabled());
  const QString goes_on = resumable.size() == 1 ? QStringLiteral("1 ticked case") : QStringLiteral("%1 ticked cases").arg(resumable.size());
  resume_->setToolTip(!not_resumed.isEmpty() ? not_resumed
                      : resumable.empty()    ? QStringLiteral("No ticked case was begun and not finished")
                                             : QStringLiteral("Goes on with %1; what is finished stays").arg(goes_on));
  std::vector<int> timed = selected;  // what cannot be run at a scale takes no time there
  for (int row = 0; selected.empty() && row < static_cast<int>(desk_.rows().size()); ++row) {
    if (!desk_.rows()[static_cast<std::size_t>(row)].is_elsewhere) timed.push_back(row);
  }
  const char* const whose_time = selected.empty() ? time_of_all : time_of_ticked;
  for (const app::Scale scale : app::all_scales) {
    const auto at = static_cast<std::size_t>(scale);
    const double seconds = seconds_of(timed, scale);
    const QString name = QString::fromLatin1(scale_names[at]), meaning = QString::fromLatin1(scale_meanings[at]);
    scales_[at]->setText(seconds <= 0 ? name : QStringLiteral("%1 (%2)").arg(name, span_text(seconds)));
    scales_[at]->setChecked(scale == desk_.choice().scale);
    scales_[at]->setEnabled(!on);
    scales_[at]->setToolTip(on ? QString::fromLatin1(locked) : seconds <= 0 ? meaning : meaning + u'\n' + QString::fromLatin1(whose_time));
  }
  const QString lock = on ? QString::fromLatin1(locked) : QString();
  const QString repeats_meaning = QStringLiteral("How often each run is made, 1 to 1 000; empty: what the case says for this scale");
  const QString warm_up_meaning = QStringLiteral("Traffic before the measurement, in no figure; empty: what the case says for this scale");
  const QString no_repeats = desk_.choice().scale == app::Scale::stress ? QString::fromLatin1(repeats_of_stress) : lock;
  repeats_->set_locked(no_repeats, no_repeats.isEmpty() ? repeats_meaning : no_repeats);
  warm_up_->set_locked(lock, on ? lock : warm_up_meaning);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    QComboBox* box = places_[i];
    const bool missing = !on && some_hosts_missing() && box->currentIndex() <= 0;
    const QString why = missing ? QString::fromLatin1(hosts_wanted) : QString();
    set_style_property(box, "refused", missing);
    box->setAccessibleDescription(why);
    box->setToolTip(on ? lock : missing ? why + u'\n' + place_meanings_[i] : place_meanings_[i]);
    box->setEnabled(!on);
  }
  problem_->set_text(on || unfit.isEmpty() ? QString() : QStringLiteral("✕ ") + unfit);
  table_->setToolTip(on ? lock : QString::fromLatin1(ticking_meaning));
  refresh_progress();
}

void CasesCard::refresh_progress() {
  const bool on = desk_.is_on();
  line_->set_share(desk_.share());
  if (on) {
    doing_->set_text(desk_.progress_text());
    left_->set_text(desk_.time_text());
    return;
  }
  if (!desk_.is_loaded()) {
    doing_->set_text(QString::fromUtf8(being_read));
    left_->set_text(QString());
    return;
  }
  const auto readable =
      std::count_if(desk_.rows().begin(), desk_.rows().end(), [](const CasesDesk::Row& row) { return row.file.read.file.has_value(); });
  const auto ticked_count = desk_.ticked_rows().size();
  const QString ticked = ticked_count == 0 ? QString::fromLatin1(none_ticked_yet)
                                           : QStringLiteral("%1 of %2 cases ticked").arg(ticked_count).arg(readable);
  const QString rest = rest_text();
  doing_->set_text(rest.isEmpty() ? ticked : rest);
  left_->set_text(rest.isEmpty() ? QString() : ticked);
}

QString CasesCard::rest_text() const {
  const CasesDesk::Progress progress = desk_.progress();
  if (progress.runs_all == 0) return {};
  const QString done = QStringLiteral("%1 of %2 runs done").arg(count_text(progress.runs_done), count_text(progress.runs_all));
  const int left = progress.runs_left();
  if (left == 0) return done;
  const QString runs = left == 1 ? QStringLiteral("1 run") : QStringLiteral("%1 runs").arg(count_text(left));
  return done + QStringLiteral("; Resume goes on with %1, about %2").arg(runs, span_text(progress.seconds_left));
}

}  // namespace n2nq::ui
