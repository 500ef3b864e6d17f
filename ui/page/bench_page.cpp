// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/page/bench_page.h"

#include <QLineEdit>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/card/advanced_panel.h"
#include "ui/card/broker_card.h"
#include "ui/card/charts_card.h"
#include "ui/card/receivers_card.h"
#include "ui/card/senders_card.h"
#include "ui/text/figures.h"
#include "ui/widget/message_bar.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

namespace {

const QString run_topic = QStringLiteral("run");
const QString fetching_topics = QStringLiteral("fetching ");  // and the role
constexpr std::chrono::milliseconds mark_events_within{50};
constexpr int card_shares[] = {393, 415, 424};
constexpr int row_shares[] = {460, 340};  // the cards; the charts

QSplitter* make_splitter(Qt::Orientation orientation, const char* name) {
  auto* splitter = new QSplitter(orientation);
  splitter->setObjectName(QString::fromLatin1(name));
  splitter->setChildrenCollapsible(false);
  splitter->setHandleWidth(space::card);
  return splitter;
}

}  // namespace

BenchPage::BenchPage(SettingsForm& form, RunActions& actions, const app::HostBook& hosts, MessageBar& messages, const Theme& theme,
                     QWidget* parent)
    : QWidget(parent), form_(form), actions_(actions), messages_(messages), desk_(form, actions),
      mark_events_(mark_events_within, [this] { charts_->set_events(actions_.run().events()); }) {
  setObjectName(QStringLiteral("bench_page"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  all->setSpacing(space::card);
  cards_ = make_splitter(Qt::Horizontal, "splitter_cards");
  senders_ = new SendersCard(form, actions, hosts, theme);
  broker_ = new BrokerCard(form, actions, desk_, hosts, theme);
  receivers_ = new ReceiversCard(form, actions, desk_, hosts, theme);
  for (QWidget* card : std::initializer_list<QWidget*>{senders_, broker_, receivers_}) cards_->addWidget(card);
  for (int i = 0; i < cards_->count(); ++i) cards_->setStretchFactor(i, card_shares[i]);
  rows_ = make_splitter(Qt::Vertical, "splitter_rows");
  rows_->addWidget(cards_);
  charts_ = new ChartsCard(theme);
  rows_->addWidget(charts_);
  for (int i = 0; i < rows_->count(); ++i) rows_->setStretchFactor(i, row_shares[i]);
  all->addWidget(rows_, 1);

  // The shares a person chose, not those that a window on its way to being low leaves.
  connect(rows_, &QSplitter::splitterMoved, this, [this] { rows_kept_ = rows_->saveState(); });
  connect_tables();
  connect(broker_, &BrokerCard::log_requested, this, &BenchPage::broker_log_requested);
  connect(broker_, &BrokerCard::open_folder_requested, this, &BenchPage::open_folder_requested);
  connect(&actions_, &RunActions::fresh_run, this, &BenchPage::start_fresh);
  connect(&actions_, &RunActions::refused, this, &BenchPage::show_field);
  connect(&actions_.run(), &app::RunControl::figures_changed, this, &BenchPage::show_figures);
  connect(&actions_.run(), &app::RunControl::process_changed, this, &BenchPage::mark_states);
  connect(&actions_.run(), &app::RunControl::state_changed, this, [this] { charts_->set_running(actions_.is_on()); });
  connect(&actions_.run(), &app::RunControl::events_changed, this, [this] { mark_events_.request(); });
  connect(&actions_.run(), &app::RunControl::message, this, &BenchPage::show_message);
  connect(&actions_.run(), &app::RunControl::fetching_waits, this, [this](app::Role role, const QString& why) {
    messages_.replace(MessageBar::Kind::remark, why, fetching_topics + role_word(role));
  });
  start_fresh();
}

void BenchPage::connect_tables() {
  for (ServiceTable* table : {senders_->table(), receivers_->table()}) {
    const app::Role role = table == senders_->table() ? app::Role::senders : app::Role::receivers;
    connect(table, &ServiceTable::log_requested, this, [this, role](int number) { emit log_requested(role, number); });
    connect(table, &ServiceTable::visible_rows_changed, this,
            [this, role](int first, int last) { actions_.run().set_visible_rows(role, first, last); });
    // Not with the selection: it is set again when a table's rows are made anew, and a click on the row that is selected changes none.
    connect(table, &ServiceTable::focused, this, [this, role] { selected_role_ = role; });
  }
}

// Not before the page is laid out: until then sizes are those of an empty page.
void BenchPage::note_rows() {
  if (rows_->isVisible() && charts_->isVisible() && rows_->count() == 2) rows_kept_ = rows_->saveState();
}

ChartsCard* BenchPage::release_charts() {
  return charts_;
}

void BenchPage::hold_charts() {
  rows_->addWidget(charts_);
  charts_->show();
  share_rows();
}

void BenchPage::show_field(const QString& key) {
  if (AdvancedPanel::holds(key)) broker_->show_advanced(true);
  if (auto* field = findChild<QWidget*>(field_object_name(key))) {
    field->setFocus(Qt::OtherFocusReason);
    if (auto* edit = qobject_cast<QLineEdit*>(field)) edit->selectAll();
  }
}

void BenchPage::request_selected_log() {
  const ServiceTable* table = selected_role_ == app::Role::senders ? senders_->table() : receivers_->table();
  emit log_requested(selected_role_, table->selected_number() > 0 ? table->selected_number() : 1);
}

void BenchPage::show_figures() {
  const app::LiveFigures& figures = actions_.run().figures();
  senders_->show_figures(figures);
  receivers_->show_figures(figures);
  broker_->show_figures(figures);
  charts_->add_sample(figures);
}

void BenchPage::start_fresh() {
  messages_.withdraw(run_topic);
  senders_->clear_figures();
  receivers_->clear_figures();
  broker_->clear_figures();
  charts_->clear();
}

void BenchPage::show_message(const QString& text) {
  if (broker_->has_told(text)) return;
  bool died = false;
  for (const app::Role role : {app::Role::broker, app::Role::senders, app::Role::receivers}) {
    const app::ProcessStatus status = actions_.run().process(role);
    if (status.state != app::ProcessState::died) continue;
    died = true;
    if (text == status.error) return;  // stands in the process's card
  }
  const bool not_started = actions_.is_beginning() || text == actions_.run().refusal();
  if (not_started) messages_.withdraw(run_topic);
  messages_.add(died || not_started ? MessageBar::Kind::bad : MessageBar::Kind::remark,
                not_started ? QStringLiteral("Not started: ") + text : text, run_topic);
}

void BenchPage::mark_states(app::Role role) {
  const app::ProcessStatus status = actions_.run().process(role);
  // What was done on purpose is marked as an event, and who never was there did not die.
  const bool marked = status.state == app::ProcessState::died && !is_killed_on_purpose(status) && !status.never_ran;
  if (marked) charts_->mark(role_word(role) + u' ' + state_word(status));
}

QByteArray BenchPage::layout_state() const {
  return cards_->saveState();
}

QByteArray BenchPage::rows_state() const {
  return rows_->count() == 2 ? rows_->saveState() : rows_kept_;
}

void BenchPage::restore_layout(const QByteArray& cards, const QByteArray& rows) {
  if (cards.isEmpty() || !cards_->restoreState(cards)) cards_->setSizes({card_shares[0], card_shares[1], card_shares[2]});
  rows_kept_ = rows;
  share_rows();
}

void BenchPage::share_rows() {
  if (rows_kept_.isEmpty() || !rows_->restoreState(rows_kept_)) rows_->setSizes({row_shares[0], row_shares[1]});
}

}  // namespace n2nq::ui
