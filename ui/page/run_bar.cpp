// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/page/run_bar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <algorithm>

#include "ui/text/figures.h"
#include "ui/widget/card.h"
#include "ui/widget/hint_button.h"
#include "ui/widget/menu_button.h"
#include "ui/widget/progress_strip.h"
#include "ui/widget/save_as_dialog.h"
#include "ui/widget/state_light.h"

namespace n2nq::ui {

namespace {
constexpr int preset_px = 232;  // fixed, with room for "Thesis baseline · modified"
constexpr app::Role roles[] = {app::Role::broker, app::Role::senders, app::Role::receivers};
}  // namespace

RunBar::RunBar(SettingsForm& form, PresetChoice& presets, RunActions& actions, const Theme& theme, QWidget* parent)
    : QFrame(parent), form_(form), presets_(presets), actions_(actions), theme_(theme) {
  setObjectName(QStringLiteral("run_bar"));
  setProperty("band", true);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(space::card, space::between, space::card, space::between);
  row->setSpacing(space::between);
  add_buttons(row);
  add_presets(row);
  row->addStretch(1);
  add_states(row);
  connect(&actions_.run(), &app::RunControl::process_changed, this, &RunBar::refresh);
  connect(&actions_.run(), &app::RunControl::state_changed, this, &RunBar::refresh);
  connect(&actions_.run(), &app::RunControl::bringing_back_changed, this, &RunBar::refresh_progress);
  connect(&form_, &SettingsForm::changed, this, &RunBar::refresh);
  connect(&presets_, &PresetChoice::changed, this, &RunBar::refresh_preset);
  connect(&actions_.run(), &app::RunControl::state_changed, this, &RunBar::refresh_preset);
  connect(&theme_, &Theme::changed, this, [this] {
    refresh();
    refresh_preset();
  });
  refresh();
  refresh_preset();
}

void RunBar::follow(const CasesDesk& cases) {
  cases_ = &cases;
  connect(cases_, &CasesDesk::on_changed, this, &RunBar::refresh);
  connect(cases_, &CasesDesk::progressed, this, [this] {
    refresh_lights();
    refresh_progress();
  });
  refresh();
}

void RunBar::add_buttons(QHBoxLayout* row) {
  start_ = described(new HintButton(QStringLiteral("Start all"), QStringLiteral("F5")), "button_start_all", QStringLiteral("Start all"),
                     QString());
  stop_ =
      described(new HintButton(QStringLiteral("Stop"), QStringLiteral("Shift+F5")), "button_stop_all", QStringLiteral("Stop"), QString());
  connect(start_, &QPushButton::clicked, &actions_, &RunActions::start_all);
  connect(&actions_, &RunActions::hold_changed, this, &RunBar::refresh);
  connect(stop_, &QPushButton::clicked, &actions_, &RunActions::stop_all);
  row->addWidget(start_);
  row->addWidget(stop_);
  row->addSpacing(space::between);
}

void RunBar::add_presets(QHBoxLayout* row) {
  preset_ = described(new MenuButton(theme_), "button_preset", QStringLiteral("Preset"), QString());
  preset_->setFixedWidth(preset_px);
  auto* menu = new QMenu(preset_);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] { fill_preset_menu(menu); });
  preset_->setMenu(menu);
  save_ = described(new QPushButton(QStringLiteral("Save as…")), "button_save_as", QStringLiteral("Save as preset"),
                    QStringLiteral("Saves these settings as a preset of yours (Ctrl+Shift+S)"));
  connect(save_, &QPushButton::clicked, this, &RunBar::ask_save_as);
  row->addWidget(make_label(QStringLiteral("Preset"), "secondary"));
  row->addWidget(preset_);
  row->addWidget(save_);
}

void RunBar::add_states(QHBoxLayout* row) {
  for (std::size_t i = 0; i < std::size(roles); ++i) {
    lights_[i] = new StateLight(theme_, roles[i]);
    lights_[i]->setObjectName(QStringLiteral("light_") + role_word(roles[i]));
    row->addWidget(lights_[i]);
  }
  progress_ = new ProgressStrip(theme_);
  row->addSpacing(space::between);
  row->addWidget(progress_);
}

void RunBar::fill_preset_menu(QMenu* menu) {
  menu->clear();
  menu->setToolTipsVisible(true);
  bool had_built_in = false, own_is_chosen = false;
  for (const app::Preset& preset : presets_.list()) {
    if (!preset.built_in && had_built_in) menu->addSeparator();
    had_built_in = preset.built_in;
    const QString name = QString::fromStdString(preset.name);
    own_is_chosen = own_is_chosen || (!preset.built_in && name == presets_.name());
    QAction* action = menu->addAction(QString::fromStdString(preset.title));
    action->setObjectName(QStringLiteral("preset_") + name);
    action->setToolTip(QString::fromStdString(preset.description));
    action->setCheckable(true);
    action->setChecked(name == presets_.name());
    action->setEnabled(!actions_.is_on());
    connect(action, &QAction::triggered, this, [this, name] {
      const QString error = presets_.choose(name);
      if (!error.isEmpty()) emit problem(error);
    });
  }
  if (!own_is_chosen) return;
  menu->addSeparator();
  QAction* remove = menu->addAction(QStringLiteral("Delete \"%1\"…").arg(presets_.title()));
  remove->setObjectName(QStringLiteral("delete_preset"));
  remove->setToolTip(QStringLiteral("Deletes the chosen preset; its settings stay in the window"));
  remove->setEnabled(!actions_.is_on());
  connect(remove, &QAction::triggered, this, &RunBar::ask_delete_preset);
}

void RunBar::ask_delete_preset() {
  QMessageBox question(QMessageBox::NoIcon, QStringLiteral("Delete the preset?"),
                       QStringLiteral("The preset \"%1\" is deleted for good. Its settings stay in the window until others are chosen.")
                           .arg(presets_.title()),
                       QMessageBox::NoButton, window());
  question.setObjectName(QStringLiteral("delete_preset_question"));
  const QAbstractButton* remove = question.addButton(QStringLiteral("Delete"), QMessageBox::DestructiveRole);
  question.setDefaultButton(question.addButton(QStringLiteral("Keep it"), QMessageBox::RejectRole));  // Enter alone deletes nothing
  question.exec();
  if (question.clickedButton() != remove) return;
  const QString error = presets_.remove_chosen();
  if (!error.isEmpty()) emit problem(error);
}

void RunBar::ask_save_as() {
  SaveAsDialog dialog(presets_, window());
  dialog.exec();
}

void RunBar::refresh() {
  const bool on = actions_.is_on();
  start_->setEnabled(actions_.can_start_all());
  start_->setToolTip(actions_.hold().isEmpty() ? QStringLiteral("Starts N2NQ, the senders and the receivers (F5)") : actions_.hold());
  stop_->setEnabled(on);
  // The one main button is the one that makes sense now.
  set_style_property(start_, "main", !on && actions_.hold().isEmpty());
  set_style_property(stop_, "main", on);
  const Tokens& t = theme_.tokens();
  start_->setIcon(theme_.icon(Glyph::play, on || !actions_.hold().isEmpty() ? t.text : t.on_primary));
  stop_->setIcon(theme_.icon(Glyph::stop, on ? t.on_primary : t.text));
  refresh_lights();
  refresh_progress();
}

void RunBar::refresh_lights() {
  const bool of_case = cases_ != nullptr && cases_->is_on();
  const app::RunControl* run = of_case ? cases_->run() : &actions_.run();
  if (run == nullptr) {  // the next one of the case is coming
    for (StateLight* light : lights_) light->set_state({}, 0);
    return;
  }
  const app::Settings& settings = of_case ? run->settings() : actions_.shown_settings();
  const int amounts[] = {0, settings.senders.amount, settings.receivers.amount};
  for (std::size_t i = 0; i < std::size(roles); ++i) lights_[i]->set_state(run->process(roles[i]), amounts[i]);
}

void RunBar::show_case_progress() {
  stop_->setToolTip(QStringLiteral("A test case runs: Stop on the page Test cases ends it"));
  const app::RunControl* run = cases_->run();
  const double share = run != nullptr ? run->progress() : 0;
  QString text = cases_->run_text();
  // 100 % is said by the next one.
  if (share > 0) text += QStringLiteral(" · %1 %").arg(std::min(99, static_cast<int>(share * 100)));
  progress_->set_progress(share, text);
}

void RunBar::refresh_progress() {
  if (cases_ != nullptr && cases_->is_on()) return show_case_progress();
  const app::RunControl& run = actions_.run();
  const bool ending = run.state() == app::RunState::ending;
  stop_->setToolTip(!ending                     ? QStringLiteral("Ends the run in order: senders, what is queued, receivers, N2NQ (Shift+F5)")
                    : run.brought_back() >= 0 ? QStringLiteral("Leaves the rest of the logs on the machines; the run says where (Shift+F5)")
                                              : QStringLiteral("Ends now, without waiting for what is still queued: who does not say within a "
                                                               "second what it knows is killed; once more kills at once (Shift+F5)"));
  switch (run.state()) {
    case app::RunState::idle:
      return progress_->set_progress(0, QStringLiteral("not started"));
    case app::RunState::preparing:
      came_ = 0;
      return progress_->set_progress(0, QStringLiteral("preparing"));
    case app::RunState::ending:
      if (run.brought_back() >= 0) {
        const int percent = std::min(99, static_cast<int>(run.brought_back() * 100));
        return progress_->set_progress(run.brought_back(), QStringLiteral("fetching logs · %1 %").arg(percent));
      }
      return progress_->set_progress(share_sent(), QStringLiteral("ending"));
    case app::RunState::finished:
      if (!run.traffic_started()) return progress_->set_progress(0, QStringLiteral("not started"));
      return show_end();
    case app::RunState::running:
      break;
  }
  const double left_s = run.seconds_left();
  came_ = run.draining() ? 1 : run.progress();
  if (run.warming_up()) {
    QString text = QStringLiteral("warm-up");
    if (left_s >= 0) text += QStringLiteral(" · %1").arg(span_text(left_s));
    return progress_->set_progress(std::max(run.progress(), 0.0), text);
  }
  if (run.draining()) return progress_->set_progress(1, QStringLiteral("draining ≤ %1").arg(span_text(left_s)));
  if (run.progress() < 0) {
    const double t_s = std::max(run.figures().t_s, 0.0);
    return progress_->set_progress(-1, QStringLiteral("open end · %1").arg(span_text(t_s)));
  }
  // 100 % is said by "finished" only.
  const int percent = std::min(99, static_cast<int>(run.progress() * 100));
  QString text = QStringLiteral("%1 %").arg(percent);
  if (left_s >= 0) text += QStringLiteral(" · %1 left").arg(span_text(left_s));
  progress_->set_progress(run.progress(), text);
}

// How it ended and where: that it was carried out as planned is said of no other run.
void RunBar::show_end() {
  const app::RunOutcome& outcome = actions_.run().outcome();
  const bool broken = outcome.verdict == app::Verdict::broken;
  const double share = share_sent();
  QString text = outcome.stopped_by_user ? QStringLiteral("stopped") : broken ? QStringLiteral("broken") : QStringLiteral("ended");
  const app::LiveFigures& figures = actions_.run().figures();
  const auto part = knows_share_sent() ? figures.attempted * 100 / figures.planned : static_cast<std::int64_t>(share * 100);
  if (share >= 1 && (knows_share_sent() || figures.planned <= 0)) {
    text = outcome.stopped_by_user || broken ? text + QStringLiteral(" · all sent") : QStringLiteral("finished");
  } else if (knows_share_sent()) {
    text += QStringLiteral(" · %1 % sent").arg(part);
  } else if (share >= 0) {
    text += QStringLiteral(" · plan at %1 %").arg(part);
  }
  progress_->set_progress(share, text, broken ? ProgressStrip::Tone::bad : ProgressStrip::Tone::good);
}

bool RunBar::knows_share_sent() const {
  const app::LiveFigures& figures = actions_.run().figures();
  return figures.planned > 0 && !figures.lacks_senders();
}

// Once nothing is sent any more the plan's clock says nothing, which went on while senders could not send: how far the run came is how much
// of what was planned it sent. Where nobody knows that, it is how far the plan had come.
double RunBar::share_sent() const {
  if (!knows_share_sent()) return came_;
  const app::LiveFigures& figures = actions_.run().figures();
  return static_cast<double>(figures.attempted) / static_cast<double>(figures.planned);
}

void RunBar::refresh_preset() {
  QString text = presets_.title();
  if (presets_.is_modified()) text += QStringLiteral(" · modified");
  preset_->set_text(text);
  const bool on = actions_.is_on();
  preset_->setEnabled(!on);
  preset_->setToolTip(text + (on ? QStringLiteral("\nLocked while a run is on. Stop it to choose another one.")
                                 : QStringLiteral("\nChooses the settings of a whole run")));
}

}  // namespace n2nq::ui
