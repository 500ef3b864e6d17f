// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/process_head.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "app/control/role.h"
#include "ui/card/fault_menu.h"
#include "ui/text/figures.h"
#include "ui/widget/card.h"
#include "ui/widget/process_notice.h"
#include "ui/widget/small_button.h"
#include "ui/widget/source_field.h"

namespace n2nq::ui {

namespace {
const QString unknown_place = QStringLiteral("Source unknown"), internal_place = QStringLiteral("Source internal"),
              external_place = QStringLiteral("Source external");
}

ProcessHead::ProcessHead(Card& card, app::Role role, SettingsForm& form, RunActions& actions, const app::HostBook& hosts,
                         const Theme& theme)
    : QObject(&card),
      role_(role),
      form_(form),
      actions_(actions),
      hosts_(hosts),
      theme_(theme),
      button_(new QPushButton),
      notice_(new ProcessNotice(role)) {
  const QString who = role_word(role);
  const QString key = QString::fromLatin1(app::role_key(role)) + QStringLiteral(".host");
  auto* source = new SourceField(form, key, hosts, theme);
  place_ = make_label(QString(), "caption");
  place_->setObjectName(QStringLiteral("place_") + who);
  place_->setBuddy(source);
  card.set_subtitle(place_, source);
  connect(&form_, &SettingsForm::changed, this, &ProcessHead::show_place);
  connect(&hosts_, &app::HostBook::changed, this, &ProcessHead::show_place);
  show_place();
  faults_button_ =
      small_button(qPrintable(QStringLiteral("button_faults_") + who), QStringLiteral("Faults"),
                   QStringLiteral("Harm to do on purpose while messages flow: to this process, or to the rows selected below"));
  if (role == app::Role::broker)
    faults_button_->setToolTip(QStringLiteral("Harm to do on purpose while messages flow: pause, kill or start again"));
  faults_button_->setAccessibleName(QStringLiteral("Faults of %1").arg(who));
  faults_button_->setMenu(faults_ = new FaultMenu(role, actions, faults_button_));
  card.title_row()->addWidget(faults_button_);
  button_->setObjectName(QStringLiteral("button_") + who);
  card.title_row()->addWidget(button_);

  connect(button_, &QPushButton::clicked, this, [this] {
    if (actions_.run().can_stop(role_)) {
      actions_.stop(role_);
    } else {
      actions_.start(role_);
    }
  });
  connect(&actions.run(), &app::RunControl::process_changed, this, &ProcessHead::refresh);
  connect(&actions.run(), &app::RunControl::state_changed, this, &ProcessHead::refresh);
  connect(&actions, &RunActions::hold_changed, this, &ProcessHead::refresh);
  connect(&theme, &Theme::changed, this, &ProcessHead::refresh);
  refresh();
}

/// The thesis' words for where a group is, as seen from N2NQ.
void ProcessHead::show_place() {
  // As wide as the widest of a group's, so that nothing beside it moves.
  place_->ensurePolished();
  int widest = 0;
  for (const QString& each : {unknown_place, internal_place, external_place})
    widest = qMax(widest, place_->fontMetrics().horizontalAdvance(each));
  if (role_ != app::Role::broker) place_->setMinimumWidth(widest);
  const app::Settings& settings = form_.settings();
  const std::string host = app::host_of(role_, settings);
  place_->setToolTip(QString());
  const bool known = host == app::local_host || hosts_.hosts().find(host) != nullptr;
  set_style_property(place_, "tone", known ? QString() : QStringLiteral("warning"));
  if (!known) {
    place_->setText(unknown_place);
    return place_->setToolTip(QStringLiteral("%1 is not among the machines of the page Hosts").arg(QString::fromStdString(host)));
  }
  if (role_ == app::Role::broker) return place_->setText(QStringLiteral("Source"));
  const bool internal = app::host_of(role_, settings) == settings.broker.host;
  place_->setText(internal ? internal_place : external_place);
  place_->setToolTip(internal ? QStringLiteral("On N2NQ's own host") : QStringLiteral("On another host than N2NQ"));
}

void ProcessHead::refresh() {
  const QString who = role_word(role_);
  const bool stops = actions_.run().can_stop(role_);
  const bool held = !actions_.hold().isEmpty() && actions_.run().can_start(role_);
  const bool starts = actions_.can_start(role_);
  const app::ProcessState state = actions_.run().process(role_).state;
  const bool offers_stop = stops || (!starts && !held && state != app::ProcessState::died);
  // The card says whose; what that takes is room for the name of a machine.
  const QString start = QStringLiteral("Start"), stop = QStringLiteral("Stop");
  // As wide as the wider of both, so that nothing beside it moves.
  button_->ensurePolished();
  button_->setIcon(theme_.icon(offers_stop ? Glyph::stop : Glyph::play));
  int widest = 0;
  for (const QString& each : {start, stop}) {
    button_->setText(each);
    widest = qMax(widest, button_->sizeHint().width());
  }
  button_->setFixedWidth(widest);
  button_->setText(offers_stop ? stop : start);
  button_->setEnabled(stops || starts);
  button_->setAccessibleName(button_->text() + u' ' + who);
  if (stops) {
    button_->setToolTip(actions_.run().state() == app::RunState::running
                            ? QStringLiteral("Ends the run in order: senders, what is queued, receivers, N2NQ")
                            : QStringLiteral("Ends this process"));
  } else {
    const bool again = actions_.run().state() == app::RunState::running && is_killed_on_purpose(actions_.run().process(role_));
    const QString why_not = held ? actions_.hold()
                            : state == app::ProcessState::died || state == app::ProcessState::not_started
                                ? QStringLiteral("The run is ending: nothing is started in it any more")
                            : state == app::ProcessState::ended ? QStringLiteral("Has ended already")
                                                                : QStringLiteral("Is ending already");
    button_->setToolTip(!starts ? why_not
                        : again ? QStringLiteral("Starts it again, where the killed process was")
                                : QStringLiteral("Starts only this process; it waits for the others, in any order"));
  }
  faults_button_->setIcon(theme_.icon(Glyph::chevron_down, theme_.tokens().secondary));
  notice_->set_status(actions_.run().process(role_));
}

}  // namespace n2nq::ui
