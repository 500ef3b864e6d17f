// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/broker_card.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>

#include "ui/card/advanced_panel.h"
#include "ui/card/ledger_panel.h"
#include "ui/card/process_head.h"
#include "ui/card/requests_panel.h"
#include "ui/card/run_panel.h"
#include "ui/widget/process_notice.h"
#include "ui/widget/segmented_control.h"
#include "ui/widget/setting_fields.h"
#include "ui/widget/small_button.h"
#include "ui/widget/stage_bar.h"
#include "ui/widget/switch_field.h"

namespace n2nq::ui {

namespace {

constexpr int broker_field_px = 64;
const QString remove_key = QStringLiteral("queue.remove");
const QString retention_key = QStringLiteral("queue.retention_s");
const QString dispatch_key = QStringLiteral("queue.dispatch");
const QString responses_key = QStringLiteral("queue.responses");
const QString requests_key = QStringLiteral("queue.requests");

}  // namespace

BrokerCard::BrokerCard(SettingsForm& form, RunActions& actions, RequestDesk& desk, const app::HostBook& hosts, const Theme& theme,
                       QWidget* parent)
    : Card(QStringLiteral("N2NQ"), parent), form_(form), actions_(actions), desk_(desk), theme_(theme) {
  setObjectName(QStringLiteral("broker_card"));
  auto* head = new ProcessHead(*this, app::Role::broker, form, actions, hosts, theme);
  add_rules(theme);
  add_switches(theme);
  add_fold_row();
  add_pages(hosts, theme);
  body()->addWidget(head->notice());
  connect(&form_, &SettingsForm::changed, this, &BrokerCard::refresh);
  connect(&actions_.run(), &app::RunControl::process_changed, this, &BrokerCard::refresh);
  connect(&actions_.run(), &app::RunControl::state_changed, this, &BrokerCard::refresh);
  connect(&theme_, &Theme::changed, this, &BrokerCard::refresh);
  connect(&desk_, &RequestDesk::changed, this, &BrokerCard::refresh);
  refresh();
  show_page(Page::run);
}

void BrokerCard::add_rules(const Theme& theme) {
  auto* mode = new QVBoxLayout;
  mode->setSpacing(space::in_row);
  mode->addWidget(make_label(QStringLiteral("Queue mode"), "caption"));
  mode->addWidget(
      new SegmentedControl(form_, QStringLiteral("queue.mode"), {QStringLiteral("1 · Broadcaster"), QStringLiteral("2 · Load balancer")}));
  body()->addLayout(mode);

  // One row serves both modes, so that changing over moves nothing below it.
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  auto* remove = new QHBoxLayout(remove_row_ = new QWidget);
  remove->setContentsMargins(0, 0, 0, 0);
  remove->setSpacing(space::between);
  remove->addWidget(make_label(QStringLiteral("Remove"), "secondary"));
  remove->addWidget(new WordField(form_, remove_key, {QStringLiteral("when all have it"), QStringLiteral("after a set time")}, theme));
  remove->addWidget(make_label(QStringLiteral("retention"), "secondary"));
  auto* dispatch = new QHBoxLayout(dispatch_row_ = new QWidget);
  dispatch->setContentsMargins(0, 0, 0, 0);
  dispatch->setSpacing(space::between);
  dispatch->addWidget(make_label(QStringLiteral("Dispatch"), "secondary"));
  dispatch->addWidget(
      new WordField(form_, dispatch_key, {QStringLiteral("random"), QStringLiteral("round robin"), QStringLiteral("next free")}, theme));
  dispatch->addWidget(make_label(QStringLiteral("retention"), "secondary"));
  auto* retention = new TextField(form_, retention_key);
  retention->setFixedWidth(broker_field_px);
  row->addWidget(remove_row_);
  row->addWidget(dispatch_row_);
  row->addWidget(retention);
  row->addStretch(1);
  auto* both = new QVBoxLayout;
  both->setSpacing(0);
  both->addLayout(row);
  both->addWidget(new ProblemLine(form_, {retention_key, remove_key, dispatch_key}));
  body()->addLayout(both);
}

void BrokerCard::add_switches(const Theme& theme) {
  auto* row = new QHBoxLayout;
  row->setSpacing(space::card);
  row->addWidget(
      new SwitchField(form_, responses_key,
                      QStringLiteral("Confirmed: the receiver has the message, whole and checked; N2NQ keeps messages in memory only, so "
                                     "nothing outlives N2NQ itself."),
                      theme));
  auto* requests = new SwitchField(form_, requests_key, QStringLiteral("N2NQ sends a receiver only what it asks for."), theme);
  row->addWidget(requests);
  row->addStretch(1);
  body()->addLayout(row);
  connect(requests, &SwitchField::switched, this, [this](bool on) {
    if (on) show_page(Page::requests);
  });
}

void BrokerCard::add_fold_row() {
  auto* row = new QHBoxLayout;
  row->setSpacing(space::in_row);
  tabs_ = new QButtonGroup(this);
  const auto add_tab = [&](Page page, const char* name, const QString& text, const QString& tooltip) {
    QPushButton* tab = small_button(name, text, tooltip);
    tab->setCheckable(true);
    tabs_->addButton(tab, static_cast<int>(page));
    row->addWidget(tab);
    return tab;
  };
  add_tab(Page::run, "tab_run", QStringLiteral("Run"), QStringLiteral("Shows the counts, the verdict and where the time goes"));
  requests_tab_ = add_tab(Page::requests, "tab_requests", QStringLiteral("Requests"), QStringLiteral("Shows what receivers ask for"));
  add_tab(Page::ledger, "tab_ledger", QStringLiteral("Ledger"), QStringLiteral("Shows what became of every message and every copy"));
  fold_ =
      small_button("button_advanced", QStringLiteral("Advanced"), QStringLiteral("Shows or hides responses, limits, seed, logs and port"));
  fold_->setCheckable(true);
  log_ = small_button("button_broker_log", QStringLiteral("N2NQ's log"), QStringLiteral("Opens the log file of N2NQ itself"));
  row->addStretch(1);
  row->addWidget(fold_);
  row->addWidget(log_);
  body()->addLayout(row);
  connect(tabs_, &QButtonGroup::idClicked, this, [this](int id) { show_page(static_cast<Page>(id)); });
  connect(fold_, &QPushButton::toggled, this, &BrokerCard::show_advanced);
  connect(log_, &QPushButton::clicked, this, &BrokerCard::log_requested);
}

void BrokerCard::add_pages(const app::HostBook& hosts, const Theme& theme) {
  pages_ = new QStackedWidget;
  pages_->addWidget(make_run_page(hosts, theme));
  pages_->addWidget(new RequestsPanel(desk_, theme));
  pages_->addWidget(ledger_ = new LedgerPanel(actions_, theme));
  body()->addWidget(pages_, 1);
}

QWidget* BrokerCard::make_run_page(const app::HostBook& hosts, const Theme& theme) {
  auto* page = new QWidget;
  auto* all = run_page_ = new QVBoxLayout(page);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(space::between);
  // What becomes of a run is in sight beside the drawer, which opens below it; of one that is over the verdict alone, for as long.
  panel_ = new RunPanel(form_, actions_, hosts, theme);
  advanced_ = new AdvancedPanel(form_, theme);
  advanced_->hide();
  all->addWidget(panel_, 1);
  all->addWidget(advanced_, 1);
  all->addWidget(make_stages(theme));
  connect(panel_, &RunPanel::open_folder_requested, this, &BrokerCard::open_folder_requested);
  return page;
}

QWidget* BrokerCard::make_stages(const Theme& theme) {
  auto* well = new QFrame;
  well->setProperty("well", true);
  auto* layout = new QVBoxLayout(well);
  layout->setContentsMargins(space::between, space::between, space::between, space::between);
  layout->setSpacing(space::in_row);
  stages_ = new StageBar(theme);
  auto* heading = make_label(stages_->heading(), "caption");
  heading->setObjectName(QStringLiteral("stages_heading"));
  heading->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a longer one must not widen the card
  layout->addWidget(heading);
  connect(stages_, &StageBar::heading_changed, heading, &QLabel::setText);
  layout->addWidget(stages_);
  return well;
}

void BrokerCard::show_page(Page page) {
  pages_->setCurrentIndex(static_cast<int>(page));
  tabs_->button(static_cast<int>(page))->setChecked(true);
  // The drawer has its room on the run's page only.
  if (page != Page::run) show_advanced(false);
}

void BrokerCard::show_advanced(bool shown) {
  fold_->setChecked(shown);
  if (shown) show_page(Page::run);
  advanced_->setVisible(shown);
  stages_->parentWidget()->setVisible(!shown);  // on a low screen the drawer would be a slit beside it
  panel_->set_compact(shown);
  run_page_->setStretchFactor(panel_, shown ? 0 : 1);
  fold_->setIcon(theme_.icon(shown ? Glyph::chevron_down : Glyph::chevron_right, theme_.tokens().secondary));
}

void BrokerCard::refresh() {
  const bool balancer = form_.settings().queue.mode == app::QueueMode::load_balancer;
  remove_row_->setVisible(!balancer);
  dispatch_row_->setVisible(balancer);
  requests_tab_->setVisible(desk_.is_on());
  const auto asked = static_cast<qint64>(desk_.entries().size());
  requests_tab_->setText(asked > 0 ? QStringLiteral("Requests (%1)").arg(asked) : QStringLiteral("Requests"));
  if (!desk_.is_on() && pages_->currentIndex() == static_cast<int>(Page::requests)) show_page(Page::run);
  log_->setIcon(theme_.icon(Glyph::list, theme_.tokens().secondary));
  log_->setEnabled(!actions_.run().broker_log_path().isEmpty());
  log_->setToolTip(log_->isEnabled() ? QStringLiteral("Opens the log file of N2NQ itself")
                                     : QStringLiteral("There is no log before N2NQ has been started"));
  show_advanced(fold_->isChecked());
}

void BrokerCard::show_figures(const app::LiveFigures& figures) {
  stages_->set_figures(figures);
  ledger_->show_figures(figures);
  panel_->show_figures(figures);
}

bool BrokerCard::has_told(const QString& remark) const {
  return panel_->has_told(remark);
}

void BrokerCard::clear_figures() {
  stages_->clear();
  ledger_->clear_figures();
  panel_->clear_figures();
}

}  // namespace n2nq::ui
