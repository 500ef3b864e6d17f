// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/main_window.h"

#include <QAction>
#include <QActionGroup>
#include <QCloseEvent>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QScreen>
#include <QShortcut>
#include <QStackedWidget>
#include <QTabBar>
#include <QUrl>

#include "ui/card/charts_card.h"
#include "ui/closing.h"
#include "ui/page/bench_page.h"
#include "ui/page/cases_page.h"
#include "ui/page/help_page.h"
#include "ui/page/hosts_page.h"
#include "ui/page/results_page.h"
#include "ui/page/run_bar.h"
#include "ui/page/status_strip.h"
#include "ui/widget/card.h"
#include "ui/widget/focus_keeper.h"
#include "ui/widget/message_bar.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {

constexpr QSize size_at_first(1440, 900);
constexpr int frame_px = 40;  // about what a desktop puts around a window, title and all, which is not known before it is shown
constexpr int cpu_every_ms = 1000;
constexpr int pages_by_key_max = 9;
const char* const first_preset = "quick";
const QString preset_topic = QStringLiteral("preset"), taken_over_topic = QStringLiteral("taken over"),
              refused_topic = QStringLiteral("refused"), results_topic = QStringLiteral("results"),
              results_listed_topic = QStringLiteral("results listed"),
              cases_topic = QStringLiteral("cases"), cases_refused_topic = QStringLiteral("cases refused"),
              cases_listed_topic = QStringLiteral("cases listed"), cases_remarks_topic = QStringLiteral("cases remarks"),
              log_topic = QStringLiteral("log");
const QString bench_name = QStringLiteral("Bench");
const QString charts_name = QStringLiteral("Charts");
const QString cases_name = QStringLiteral("Test cases");
const QString results_name = QStringLiteral("Results");
const QString hosts_name = QStringLiteral("Hosts");
const QString help_name = QStringLiteral("Help");

app::RunControl::Options run_options(const QString& runs_folder) {
  app::RunControl::Options options;
  options.runs_folder = runs_folder;
  return options;
}

}  // namespace

MainWindow::MainWindow(Parts parts)
    : hosts_(*parts.hosts),
      checker_(parts.checker),
      memory_(std::move(parts.memory)),
      run_(run_options(parts.runs_folder), std::move(parts.launchers)),
      presets_(form_, app::Presets(parts.presets_folder)),
      actions_(run_, form_, presets_),
      logs_(theme_),
      run_logs_(actions_, logs_),
      runs_folder_(parts.runs_folder) {
  setObjectName(QStringLiteral("main_window"));
  setWindowTitle(QStringLiteral("N2NQ Test Bench"));
  theme_.choose(memory_.theme());
  build(parts);
  make_actions();
  make_menu();
  connect_parts();
  restore();
  refresh_actions();
  new FocusKeeper(*this);
  stalls_.begin();
}

// The widgets use the members; left to the base class they would outlive them.
MainWindow::~MainWindow() {
  logs_.close_all();
  delete closing_;
  delete takeCentralWidget();
}

void MainWindow::build(Parts& parts) {
  auto* content = new QWidget;
  auto* all = new QVBoxLayout(content);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  all->addWidget(bar_ = new RunBar(form_, presets_, actions_, theme_));
  all->addWidget(make_tab_row());
  pages_ = new QStackedWidget;
  bench_ = new BenchPage(form_, actions_, hosts_, *messages_, theme_);
  charts_page_ = new QWidget;
  charts_page_->setObjectName(QStringLiteral("charts_page"));
  auto* charts = new QVBoxLayout(charts_page_);
  charts->setContentsMargins(space::card, space::card, space::card, space::card);
  hosts_page_ =
      new HostsPage({&hosts_, parts.checker, std::move(parts.ssh_offer), [this] { return form_.settings().broker.port; },
                     [this] { return why_not_now(Busy::check, busy()); }},
                    theme_);
  cases_ = new CasesPage({runs_folder_, parts.cases_folder, parts.programs_folder, &hosts_, std::move(parts.case_launchers),
                          [this] { return why_not_now(Busy::cases, busy()); }},
                         theme_);
  results_page_ = new ResultsPage(runs_folder_, theme_);
  help_ = new HelpPage(theme_, runs_folder_);
  for (QWidget* page : std::initializer_list<QWidget*>{bench_, charts_page_, cases_, results_page_, hosts_page_, help_})
    pages_->addWidget(page);
  all->addWidget(pages_, 1);
  all->addWidget(status_ = new StatusStrip(form_, actions_, theme_));
  setCentralWidget(content);
}

QWidget* MainWindow::make_tab_row() {
  auto* band = new QFrame;
  band->setProperty("band", true);
  auto* row = new QHBoxLayout(band);
  row->setContentsMargins(space::card, 0, space::card, 0);
  row->setSpacing(space::between);
  tabs_ = described(new QTabBar, "page_tabs", QStringLiteral("Pages"), QString());
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  tabs_->setUsesScrollButtons(false);
  tabs_->setFocusPolicy(Qt::TabFocus);  // who clicks sees which page it is
  menu_button_ = small_button("button_menu", QStringLiteral("Menu"), QStringLiteral("Everything there is to do (F10)"));
  // Has its room in this row whether there is a message or not, so that nothing moves when one comes.
  messages_ = new MessageBar(theme_);
  row->addWidget(tabs_);
  auto* place = new QVBoxLayout;
  place->setContentsMargins(0, 1, 0, 1);
  place->addWidget(messages_);
  row->addLayout(place, 1);
  row->addStretch(0);
  row->addWidget(menu_button_);
  for (const QString& name : {bench_name, cases_name, results_name, hosts_name, help_name}) tabs_->addTab(name);
  connect(tabs_, &QTabBar::currentChanged, this, &MainWindow::show_tab);
  return band;
}

QAction* MainWindow::add_action(const char* object_name, const QString& text, const QKeySequence& keys, const QString& tooltip) {
  auto* action = new QAction(text, this);
  action->setObjectName(QString::fromLatin1(object_name));
  action->setShortcut(keys);
  action->setToolTip(tooltip);
  addAction(action);
  return action;
}

void MainWindow::make_actions() {
  start_all_ =
      add_action("action_start_all", QStringLiteral("Start all"), QKeySequence(Qt::Key_F5), QStringLiteral("Starts all processes"));
  stop_all_ =
      add_action("action_stop_all", QStringLiteral("Stop"), QKeySequence(Qt::SHIFT | Qt::Key_F5), QStringLiteral("Ends the run in order"));
  save_as_ = add_action("action_save_as", QStringLiteral("Save as preset…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
                        QStringLiteral("Saves these settings as a preset"));
  log_ = add_action("action_log", QStringLiteral("Log of the selected service"), QKeySequence(Qt::CTRL | Qt::Key_L),
                    QStringLiteral("Opens the log of the service selected in a table"));
  broker_log_ = add_action("action_broker_log", QStringLiteral("N2NQ's log"), {}, QStringLiteral("Opens the log of N2NQ itself"));
  folder_ =
      add_action("action_folder", QStringLiteral("Open the run's folder"), {}, QStringLiteral("Opens the folder with logs and summary"));
  show_help_ =
      add_action("action_help", QStringLiteral("Help"), QKeySequence(Qt::Key_F1), QStringLiteral("Steps, words, verdicts and keys"));
  quit_ = add_action("action_quit", QStringLiteral("Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q),
                     QStringLiteral("Stops a run that is on, then quits"));
  connect(start_all_, &QAction::triggered, &actions_, &RunActions::start_all);
  connect(&actions_, &RunActions::about_to_start, hosts_page_, &HostsPage::take_local_address);
  connect(&actions_, &RunActions::about_to_start, &hosts_, &app::HostBook::glance);
  connect(stop_all_, &QAction::triggered, &actions_, &RunActions::stop_all);
  connect(save_as_, &QAction::triggered, bar_, &RunBar::ask_save_as);
  connect(log_, &QAction::triggered, bench_, &BenchPage::request_selected_log);
  connect(broker_log_, &QAction::triggered, &run_logs_, &RunLogs::open_of_broker);
  connect(folder_, &QAction::triggered, this, &MainWindow::open_folder);
  connect(show_help_, &QAction::triggered, this, [this] { show_page(help_name); });
  connect(quit_, &QAction::triggered, this, &QWidget::close);
  for (int i = 0; i < pages_by_key_max; ++i) {
    const auto key = static_cast<Qt::Key>(Qt::Key_1 + i);
    connect(new QShortcut(QKeySequence(Qt::CTRL | key), this), &QShortcut::activated, this, [this, i] {
      if (i < tabs_->count()) tabs_->setCurrentIndex(i);
    });
  }
  connect(new QShortcut(QKeySequence(Qt::Key_F10), this), &QShortcut::activated, menu_button_, &QPushButton::showMenu);
}

void MainWindow::make_menu() {
  auto* menu = new QMenu(menu_button_);
  menu->addAction(start_all_);
  menu->addAction(stop_all_);
  menu->addSeparator();
  preset_menu_ = menu->addMenu(QStringLiteral("Preset"));
  connect(preset_menu_, &QMenu::aboutToShow, this, [this] { bar_->fill_preset_menu(preset_menu_); });
  menu->addAction(save_as_);
  menu->addSeparator();
  menu->addAction(log_);
  menu->addAction(broker_log_);
  menu->addAction(folder_);
  menu->addSeparator();
  QMenu* pages = menu->addMenu(QStringLiteral("Page"));
  connect(pages, &QMenu::aboutToShow, this, [this, pages] { fill_pages_menu(pages); });
  QMenu* view = menu->addMenu(QStringLiteral("Theme"));
  auto* themes = new QActionGroup(this);
  const std::pair<const char*, ThemeChoice> choices[] = {
      {"Like the desktop", ThemeChoice::system}, {"Light", ThemeChoice::light}, {"Dark", ThemeChoice::dark}};
  for (const auto& [text, choice] : choices) {
    QAction* action = view->addAction(QString::fromLatin1(text));
    action->setCheckable(true);
    action->setChecked(choice == theme_.choice());
    themes->addAction(action);
    connect(action, &QAction::triggered, this, [this, choice = choice] { choose_theme(choice); });
  }
  menu->addSeparator();
  menu->addAction(show_help_);
  menu->addAction(quit_);
  menu_button_->setMenu(menu);
  const auto icon = [this] { menu_button_->setIcon(theme_.icon(Glyph::menu, theme_.tokens().secondary)); };
  connect(&theme_, &Theme::changed, this, icon);
  icon();
}

void MainWindow::fill_pages_menu(QMenu* menu) {
  menu->clear();
  for (int i = 0; i < tabs_->count(); ++i) {
    // The keys are shown only; the window's own shortcuts answer them.
    QAction* action = menu->addAction(QStringLiteral("%1\tCtrl+%2").arg(tabs_->tabText(i)).arg(i + 1));
    action->setCheckable(true);
    action->setChecked(i == tabs_->currentIndex());
    connect(action, &QAction::triggered, this, [this, i] { tabs_->setCurrentIndex(i); });
  }
}

void MainWindow::connect_parts() {
  connect(bench_, &BenchPage::log_requested, &run_logs_, &RunLogs::open);
  connect(bench_, &BenchPage::broker_log_requested, &run_logs_, &RunLogs::open_of_broker);
  connect(&run_logs_, &RunLogs::none, this, [this](const QString& why) { messages_->replace(MessageBar::Kind::remark, why, log_topic); });
  connect(bench_, &BenchPage::open_folder_requested, this, &MainWindow::open_folder);
  connect(bar_, &RunBar::problem, this, [this](const QString& text) { messages_->add(MessageBar::Kind::bad, text, preset_topic); });
  connect(&presets_, &PresetChoice::chosen, this, [this] {
    messages_->withdraw(preset_topic);
    messages_->withdraw(taken_over_topic);
  });
  connect(&actions_, &RunActions::refused, this, &MainWindow::refuse);
  connect(&form_, &SettingsForm::changed, this, [this] {
    if (form_.first_problem_key().isEmpty()) messages_->withdraw(refused_topic);
  });
  connect(&actions_, &RunActions::fresh_run, this, &MainWindow::remember);
  connect(&actions_, &RunActions::fresh_run, this, [this] {
    messages_->withdraw(log_topic);
    messages_->withdraw(taken_over_topic);
  });
  connect(&run_, &app::RunControl::figures_changed, bar_, &RunBar::refresh_progress);
  connect(&run_, &app::RunControl::state_changed, this, &MainWindow::refresh_actions);
  connect(&run_, &app::RunControl::process_changed, this, &MainWindow::refresh_actions);
  connect(&form_, &SettingsForm::lock_changed, this, &MainWindow::refresh_actions);
  connect(&run_, &app::RunControl::finished, results_page_, &ResultsPage::refresh);
  results_page_->set_run_folder([this] { return actions_.is_on() ? run_.folder() : QString(); });
  if (hosts_.path() != app::default_hosts_path()) results_page_->set_hosts_file(QFileInfo(hosts_.path()).absoluteFilePath());
  results_page_->set_exported_elsewhere([this] { return cases_->exported_folder(); });
  connect(results_page_, &ResultsPage::settings_requested, this, &MainWindow::use_settings);
  connect(results_page_, &ResultsPage::log_requested, this,
          [this](const QString& title, const QString& path, const QString& text) { logs_.open(title, path)->look_for(text); });
  connect(results_page_, &ResultsPage::told, this, [this](const QString& text, bool bad) {
    messages_->replace(bad ? MessageBar::Kind::bad : MessageBar::Kind::remark, text, results_topic);
  });
  connect(results_page_, &ResultsPage::list_remarked, this,
          [this](const QString& remark) { messages_->replace(MessageBar::Kind::remark, remark, results_listed_topic); });
  connect_cases();
  closing_ = new Closing(*this, actions_, cases_->desk(), *messages_, this);
  connect(closing_, &Closing::agreed, this, &MainWindow::remember);
  cpu_before_s_ = process_cpu_s();
  connect(&cpu_timer_, &QTimer::timeout, this, &MainWindow::measure_cpu);
  cpu_timer_.start(cpu_every_ms);
}

std::optional<Busy> MainWindow::busy() const {
  if (actions_.is_on()) return Busy::run;
  if (cases_ != nullptr && cases_->desk().is_on()) return Busy::cases;  // null: the pages are being made
  if (checker_ != nullptr && checker_->is_checking()) return Busy::check;
  return std::nullopt;
}

void MainWindow::refresh_hold() {
  cases_->desk().refresh_hold();
  actions_.set_hold(why_not_now(Busy::run, busy()));
}

void MainWindow::connect_cases() {
  CasesDesk& desk = cases_->desk();
  bar_->follow(desk);
  status_->follow(desk);
  if (checker_ != nullptr) {
    connect(checker_, &app::HostChecker::changed, this, &MainWindow::refresh_hold);
    connect(checker_, &app::HostChecker::checked, this, &MainWindow::refresh_hold);
  }
  connect(&desk, &CasesDesk::not_all_listed, this,
          [this](const QString& remark) { messages_->replace(MessageBar::Kind::remark, remark, cases_listed_topic); });
  connect(cases_, &CasesPage::told, this, [this](const QString& text, bool bad) {
    messages_->replace(bad ? MessageBar::Kind::bad : MessageBar::Kind::remark, text, cases_topic);
  });
  connect(&desk, &CasesDesk::remarked, this,
          [this](const QString& text) { messages_->add(MessageBar::Kind::remark, text, cases_remarks_topic); });
  connect(&desk, &CasesDesk::asked_anew, this, [this] { messages_->withdraw(cases_remarks_topic); });
  const auto no_more_refused = [this] { messages_->withdraw(cases_refused_topic); };
  connect(&desk, &CasesDesk::refused, this, [this](const QString& why) {
    messages_->replace(MessageBar::Kind::bad, QStringLiteral("Not begun: ") + why, cases_refused_topic);
  });
  // What was in the way is not any more, or something else is.
  connect(&desk, &CasesDesk::hold_changed, this, no_more_refused);
  connect(&desk, &CasesDesk::on_changed, this, no_more_refused);
  connect(&actions_, &RunActions::hold_changed, this, &MainWindow::refresh_actions);
  connect(&desk, &CasesDesk::on_changed, this, &MainWindow::refresh_hold);
  connect(&desk, &CasesDesk::figures_changed, results_page_, &ResultsPage::refresh);
  // At once, so that a session that is killed is gone on with as it was chosen.
  const auto keep = [this, &desk] {
    if (desk.is_loaded()) memory_.set_cases(desk.ticked_names(), desk.choice().scale);
  };
  connect(&desk, &CasesDesk::ticks_changed, this, keep);
  connect(&desk, &CasesDesk::choice_changed, this, keep);
}

void MainWindow::restore() {
  if (memory_.is_first_start()) {
    presets_.choose(QString::fromLatin1(first_preset));
  } else {
    form_.load(memory_.settings());
    presets_.restore(memory_.preset());
  }
  if (const auto cases = memory_.cases()) cases_->desk().restore(cases->ticked, cases->scale);
  const WindowMemory::Layout layout = memory_.layout();
  const bool restored = !layout.geometry.isEmpty() && restoreGeometry(layout.geometry);
  const bool fits = size() == size().boundedTo(screen()->availableSize());  // the screen may be a smaller one than last time
  if (!restored || !fits) fit_to_screen();
  bench_->restore_layout(layout.cards, layout.rows);
  place_charts();
}

// A window of a first start is as large as it likes to be; where the screen has no room for that and for a frame, it has all of the screen.
void MainWindow::fit_to_screen() {
  const QRect room = screen()->availableGeometry();
  const QSize fitting = size_at_first.boundedTo(room.size());
  resize(fitting);
  move(room.left() + (room.width() - fitting.width()) / 2, room.top() + (room.height() - fitting.height()) / 2);
  // Last, because a size takes it back.
  if (room.width() < size_at_first.width() + frame_px || room.height() < size_at_first.height() + frame_px)
    setWindowState(windowState() | Qt::WindowMaximized);
}

void MainWindow::remember() {
  // Without a preset nobody knows next time what they were changed from.
  memory_.set_settings(presets_.name().isEmpty() ? presets_.settings_to_run() : form_.settings(), presets_.name());
  memory_.set_layout({saveGeometry(), bench_->layout_state(), bench_->rows_state()});
}

QStringList MainWindow::page_names() const {
  QStringList names;
  for (int i = 0; i < tabs_->count(); ++i) names << tabs_->tabText(i);
  return names;
}

void MainWindow::show_page(const QString& name) {
  const qsizetype index = page_names().indexOf(name);
  if (index >= 0) tabs_->setCurrentIndex(static_cast<int>(index));
}

void MainWindow::show_tab(int index) {
  if (pages_ == nullptr || index < 0) return;
  const QString name = tabs_->tabText(index);
  const QHash<QString, QWidget*> pages = {{bench_name, bench_},          {charts_name, charts_page_}, {cases_name, cases_},
                                          {results_name, results_page_}, {hosts_name, hosts_page_},   {help_name, help_}};
  pages_->setCurrentWidget(pages.value(name));
}

void MainWindow::place_charts() {
  const bool on_page = height() < charts_page_below_px;
  if (!on_page && !charts_on_page_) bench_->note_rows();
  if (on_page == charts_on_page_) return;
  charts_on_page_ = on_page;
  if (on_page) {
    charts_page_->layout()->addWidget(bench_->release_charts());
    bench_->charts()->show();
    tabs_->insertTab(1, charts_name);
  } else {
    if (tabs_->tabText(tabs_->currentIndex()) == charts_name) tabs_->setCurrentIndex(0);
    tabs_->removeTab(1);
    bench_->hold_charts();
  }
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (bench_ != nullptr) place_charts();
}

bool MainWindow::event(QEvent* event) {
  if (event->type() == QEvent::ThemeChange && theme_.choice() == ThemeChoice::system) theme_.follow_desktop();
  if (event->type() == QEvent::WindowActivate) {  // somebody may come from an editor
    hosts_.glance();
    if (cases_ != nullptr) cases_->refresh();
    // Beside a run the list would take a core from it.
    if (results_page_ != nullptr && !results_page_->will_list() && !busy()) results_page_->refresh();
  }
  return QMainWindow::event(event);
}

void MainWindow::choose_theme(ThemeChoice choice) {
  theme_.choose(choice);
  memory_.set_theme(choice);
}

void MainWindow::open_folder() {
  const QString folder = run_.folder();
  if (folder.isEmpty() || QDesktopServices::openUrl(QUrl::fromLocalFile(folder))) return;
  messages_->add(MessageBar::Kind::remark, QStringLiteral("The run's folder is %1 (no file manager opened it)").arg(folder));
}

/// Those of a result, to be run again: only while nothing is on that uses others.
void MainWindow::use_settings(const app::Settings& settings) {
  if (actions_.is_on()) {
    return messages_->replace(MessageBar::Kind::remark, QStringLiteral("A run is on: its settings cannot change. Stop it first (Shift+F5)."),
                              results_topic);
  }
  messages_->withdraw(results_topic);
  presets_.take_up(settings);
  const QString run =
      settings.title.empty() ? QStringLiteral("the run") : QStringLiteral("\"%1\"").arg(QString::fromStdString(settings.title));
  messages_->replace(MessageBar::Kind::remark, QStringLiteral("Settings of %1 taken over").arg(run), taken_over_topic);
  show_page(bench_name);
}

void MainWindow::refuse(const QString& key) {
  show_page(bench_name);
  QString text = QStringLiteral("Not started: %1 %2").arg(SettingsForm::label(key), form_.problem(key));
  if (const qsizetype more = form_.problem_keys().size() - 1; more > 0) text += QStringLiteral(" (and %1 more)").arg(more);
  messages_->replace(MessageBar::Kind::bad, text, refused_topic);
}

void MainWindow::refresh_actions() {
  start_all_->setEnabled(actions_.can_start_all());
  stop_all_->setEnabled(actions_.is_on());
  broker_log_->setEnabled(!run_.broker_log_path().isEmpty());
  folder_->setEnabled(!run_.folder().isEmpty());
  hosts_page_->refresh();
  cases_->desk().refresh_hold();
}

void MainWindow::measure_cpu() {
  const double now_s = process_cpu_s();
  status_->set_bench_cpu((now_s - cpu_before_s_) * 1000 / cpu_every_ms * 100);
  cpu_before_s_ = now_s;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!closing_->may_close()) return event->ignore();
  if (checker_ != nullptr) checker_->cancel();  // what it asks for is asked beside the window
  logs_.close_all();
  event->accept();
}

}  // namespace n2nq::ui
