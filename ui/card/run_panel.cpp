// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/run_panel.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QWidgetAction>
#include <algorithm>

#include "app/control/role.h"
#include "ui/text/check_text.h"
#include "ui/text/figures.h"
#include "ui/text/tooltip.h"
#include "ui/text/verdict_text.h"
#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/small_button.h"
#include "ui/widget/text_popup.h"

namespace n2nq::ui {

namespace {

constexpr int counts_in_row = 4;
constexpr std::size_t in_flight_at = 3, duplicated_at = 5;  // in `counts`
constexpr int story_lines = 2;

struct Count {
  const char* object_name;
  const char* caption;
  const char* meaning;
  std::int64_t app::LiveFigures::*value;
  Taint taint;                             // what more than none of it makes of the run
  app::Role known_by = app::Role::broker;  // a group: not known without its final account
};

constexpr Count counts[] = {
    {"count_sent", "sent", "Messages the senders have offered to N2NQ", &app::LiveFigures::attempted, Taint::none, app::Role::senders},
    {"count_accepted", "accepted", "Messages N2NQ has said it took in", &app::LiveFigures::accepted, Taint::none},
    {"count_received", "received", "Deliveries the receivers have received", &app::LiveFigures::received, Taint::none,
     app::Role::receivers},
    {"count_in_flight", "in flight", "Accepted × copies − received − skipped: deliveries still to come", &app::LiveFigures::in_flight,
     Taint::none},
    {"count_expired", "expired", "Removed from the queue before their receiver got them", &app::LiveFigures::expired, Taint::degrades},
    {"count_duplicated", "duplicated", "Delivered more than once; degrades the run unless it is marked as sent again",
     &app::LiveFigures::duplicated, Taint::degrades, app::Role::receivers},
    {"count_out_of_order", "out of order", "Delivered after a later message of the same sender", &app::LiveFigures::out_of_order,
     Taint::degrades, app::Role::receivers},
    {"count_unexpected", "unexpected", "Delivered though no such message was sent", &app::LiveFigures::unexpected, Taint::breaks,
     app::Role::receivers},
};

}  // namespace

RunPanel::RunPanel(SettingsForm& form, RunActions& actions, const app::HostBook& hosts, const Theme& theme, QWidget* parent)
    : QWidget(parent), form_(form), actions_(actions), hosts_(hosts), theme_(theme) {
  setObjectName(QStringLiteral("run_panel"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(space::between);
  all->addWidget(invitation_box_ = make_invitation(), 1);
  // The counts stay where they are when the verdict comes.
  counts_ = make_counts();
  all->addWidget(counts_);
  verdict_row_ = make_verdict();
  all->addWidget(verdict_row_, 1);
  all->addStretch(0);
  connect(&form_, &SettingsForm::changed, this, &RunPanel::refresh);
  connect(&actions_.run(), &app::RunControl::state_changed, this, &RunPanel::refresh);
  connect(&actions_.run(), &app::RunControl::process_changed, this, &RunPanel::refresh);
  connect(&hosts_, &app::HostBook::changed, this, &RunPanel::refresh);
  connect(&theme_, &Theme::changed, this, &RunPanel::refresh);
  clear_figures();
  refresh();
}

QWidget* RunPanel::make_invitation() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(space::between, 0, space::between, 0);
  layout->setSpacing(space::between);
  invitation_ = described(make_label(QString(), "secondary"), "invitation", QStringLiteral("What to do"), QString());
  remarks_ = described(make_label(QString(), "caption"), "remarks", QStringLiteral("Worth knowing before the start"), QString());
  layout->addStretch(1);
  for (QLabel* label : {invitation_, remarks_}) {
    label->setWordWrap(true);
    label->setAlignment(Qt::AlignCenter);
    layout->addWidget(label);
  }
  layout->addStretch(1);
  return box;
}

QWidget* RunPanel::make_verdict() {
  auto* box = new QWidget;
  auto* all = new QVBoxLayout(box);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(space::in_row);
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  verdict_ = described(make_label(QString(), "title"), "verdict", QStringLiteral("Verdict of the run"), QString());
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  reasons_ = small_button("button_reasons", QStringLiteral("Reasons"), QStringLiteral("Shows why the verdict is what it is"));
  folder_ = described(new QPushButton(QStringLiteral("Open folder")), "button_open_folder", QStringLiteral("Open the run's folder"),
                      QStringLiteral("Opens the folder with the run's logs and summary"));
  // Takes what room the others leave: no verdict makes the window wider.
  disturbed_ = described(new ElidedLabel("secondary"), "verdict_disturbed", QStringLiteral("Whether others disturbed the run"), QString());
  row->addWidget(verdict_);
  row->addWidget(reasons_);
  row->addWidget(disturbed_, 1);
  row->addWidget(folder_);
  all->addLayout(row);
  story_ = described(new ElidedLabel("secondary", story_lines), "verdict_story", QStringLiteral("What the run did"), QString());
  story_->set_grows();
  all->addWidget(story_, 1);
  connect(reasons_, &QPushButton::clicked, this, &RunPanel::show_reasons);
  connect(folder_, &QPushButton::clicked, this, &RunPanel::open_folder_requested);
  return box;
}

QWidget* RunPanel::make_counts() {
  auto* box = new QWidget;
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(space::between);
  int at = 0;
  for (const Count& count : counts) {
    auto* tile = new Tile(theme_, Tile::Size::small, QString::fromUtf8(count.meaning));
    tile->setObjectName(QString::fromUtf8(count.object_name));
    tile->set_caption(QString::fromUtf8(count.caption));
    grid->addWidget(tile, at / counts_in_row, at % counts_in_row);
    grid->setColumnStretch(at % counts_in_row, 1);
    tiles_.push_back(tile);
    ++at;
  }
  lost_ = new Tile(theme_, Tile::Size::small,
                   QStringLiteral("Copies that were sent and never arrived, by comparing which were sent with which arrived"));
  lost_->setObjectName(QStringLiteral("count_lost"));
  lost_->set_caption(QStringLiteral("lost"));
  lost_->hide();
  grid->addWidget(lost_, static_cast<int>(in_flight_at) / counts_in_row, static_cast<int>(in_flight_at) % counts_in_row);
  return box;
}

void RunPanel::show_figures(const app::LiveFigures& figures) {
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const std::int64_t value = figures.*counts[i].value;
    const bool lacking = (counts[i].known_by == app::Role::senders && figures.lacks_senders()) ||
                         (counts[i].known_by == app::Role::receivers && figures.lacks_receivers());
    tiles_[i]->set_figure(lacking ? Figure() : Figure{count_text(value), {}}, {}, count_short(value));
    const std::int64_t tainting = i == duplicated_at ? figures.duplicated_unflagged : value;
    tiles_[i]->set_taint(tainting > 0 ? counts[i].taint : Taint::none);
  }
  if (figures.in_flight_at_most && figures.in_flight > 0) {
    const auto at_most = [](const QString& count) { return QStringLiteral("≤ ") + count; };  // in the caption there is no room for it
    tiles_[in_flight_at]->set_figure({at_most(count_text(figures.in_flight)), {}}, at_most(count_text(figures.in_flight)),
                                     at_most(count_short(figures.in_flight)));
  }
  if (figures.in_flight_bound != 0) show_in_flight_bound(figures);
  QString meaning = figures.in_flight_at_most
                        ? QStringLiteral(
                              "Accepted × copies − received − skipped. With requests this contains\n"
                              "what nobody asked for, until N2NQ tells that it was skipped,\n"
                              "and behind a restart or a disconnect what was lost by it:\n"
                              "deliveries still to come are at most as many")
                        : QString::fromUtf8(counts[in_flight_at].meaning);
  if (figures.in_flight_bound != 0)
    meaning += QStringLiteral(".\n") + in_flight_bound_explained(figures.in_flight_is_below_bound());
  tiles_[in_flight_at]->set_meaning(meaning);
  // Both groups know a part of it.
  if (figures.senders_silent || figures.receivers_silent) tiles_[in_flight_at]->set_figure({});
  const bool over = figures.lost >= 0, told = over && !figures.lacks_senders() && !figures.lacks_receivers();
  lost_->set_figure(told ? Figure{count_text(figures.lost), {}} : Figure{}, {}, count_short(figures.lost));
  lost_->set_taint(figures.lost > 0 ? Taint::breaks : Taint::none);
  lost_->setVisible(over);
  tiles_[in_flight_at]->setVisible(!over);
}

/// The groups' counts are of two hosts, and so of two instants.
void RunPanel::show_in_flight_bound(const app::LiveFigures& figures) {
  const bool known = !std::isnan(figures.in_flight_bound);
  const QString most = figures.in_flight_at_most && figures.in_flight > 0 ? QStringLiteral("≤ ") : QString();
  const QString off = count_bound_text(figures.in_flight_bound);
  const QString off_short = known ? QStringLiteral(" ± ") + count_short(std::llround(figures.in_flight_bound)) : off;
  const QString exact = most + count_text(figures.in_flight) + off;
  tiles_[in_flight_at]->set_figure({exact, {}}, exact, most + count_short(figures.in_flight) + off_short);
}

void RunPanel::set_compact(bool compact) {
  if (compact == compact_) return;
  compact_ = compact;
  gives_room_ = compact;
  refresh();
}

void RunPanel::clear_figures() {
  for (Tile* tile : tiles_) {
    tile->set_figure({});
    tile->set_taint(Taint::none);
  }
  lost_->hide();
  tiles_[in_flight_at]->show();
}

QString RunPanel::invitation() const {
  const app::Settings& settings = form_.settings();
  if (actions_.is_on()) return waiting_words();
  for (const app::Role role : app::all_roles) {
    const std::string host = app::host_of(role, settings);
    if (host == app::local_host || hosts_.hosts().find(host) != nullptr) continue;
    return QStringLiteral("No run yet. The Source of %1 is %2, which is not on the page Hosts: choose another, or add it there.")
        .arg(role_word(role), breakable(QString::fromStdString(host)));
  }
  const bool all_local = std::all_of(app::all_roles.begin(), app::all_roles.end(),
                                     [&](app::Role role) { return app::host_of(role, settings) == app::local_host; });
  const QString where =
      all_local ? QStringLiteral("on this machine")
                : QStringLiteral("(N2NQ on %1, senders on %2, receivers on %3)")
                      .arg(host_words(settings.broker.host), host_words(settings.senders.host), host_words(settings.receivers.host));
  return QStringLiteral("No run yet. Press F5 to start %1 and %2 %3.")
      .arg(amount_text(app::Role::senders, settings.senders.amount), amount_text(app::Role::receivers, settings.receivers.amount),
           breakable(where));
}

QString RunPanel::waiting_words() const {
  QStringList lines;
  for (const app::Role role : {app::Role::broker, app::Role::senders, app::Role::receivers}) {
    const app::ProcessStatus status = actions_.run().process(role);
    QString who = role_word(role);
    who[0] = who[0].toUpper();
    QString line = QStringLiteral("%1: %2").arg(who, state_word(status));
    if (!status.waiting_for.isEmpty()) line += QStringLiteral(" for ") + status.waiting_words();
    if (!status.advice.isEmpty()) line += QStringLiteral(". ") + status.advice;
    lines << line;
  }
  return lines.join(u'\n');
}

void RunPanel::refresh() {
  const app::RunState state = actions_.run().state();
  const bool preparing = state == app::RunState::preparing;
  const bool idle = state == app::RunState::idle || preparing;  // no counts yet
  const bool finished = state == app::RunState::finished;
  if (actions_.is_on()) gives_room_ = false;
  if (preparing && !preparing_) told_ = remarks_->isVisible() ? form_.remarks() : QStringList();
  preparing_ = preparing;
  invitation_box_->setVisible(idle && !compact_);
  const QStringList remarks = form_.remarks();
  remarks_->setVisible(idle && !preparing && !remarks.isEmpty());
  if (idle) {
    set_label_text(invitation_, invitation());
    // No line ends between a number and its unit.
    static const QRegularExpression before_unit(QStringLiteral("(?<=\\d) (?=(?:MiB|kB|B|ms|s)\\b)"));
    set_label_text(remarks_, remarks.join(u'\n').replace(before_unit, app::narrow_space));
  }
  story_->setVisible(!gives_room_);
  verdict_row_->setVisible(finished);
  counts_->setVisible(!idle && !gives_room_);
  // The room for both is kept from the beginning, so that no splitter moves when they come.
  const bool keeps_none = gives_room_ || (idle && compact_);
  setMinimumHeight(keeps_none ? 0 : counts_->sizeHint().height() + space::between + verdict_row_->sizeHint().height());
  if (!finished) return;

  const app::RunOutcome& outcome = actions_.run().outcome();
  const app::LiveFigures& figures = actions_.run().figures();
  const QString verdict = verdict_word(outcome.verdict);
  set_style_property(verdict_, "verdict", verdict);
  set_label_text(verdict_, verdict_sign(verdict));
  disturbed_->set_text(outcome.disturbances.isEmpty() ? QString() : QStringLiteral("disturbed"));
  disturbed_->setToolTip(tooltip_of(outcome.disturbances.join(u'\n')));
  reasons_->setVisible(!outcome.reasons.isEmpty());
  // What disturbed it has its own word beside the verdict.
  const qsizetype reasons = outcome.reasons.size();
  // A clean run needs none: what is told of it are notes.
  const QString kind = outcome.verdict == app::Verdict::clean ? QStringLiteral("note") : QStringLiteral("reason");
  reasons_->setText(reasons == 1 ? QStringLiteral("1 ") + kind : QStringLiteral("%1 %2s").arg(reasons).arg(kind));
  reasons_->setIcon(theme_.icon(Glyph::chevron_down, theme_.tokens().secondary));
  // N2NQ's own death stands in this card already, with its last lines; but that nothing was sent tells nobody what to do.
  const app::ProcessStatus broker = actions_.run().process(app::Role::broker);
  const bool told = outcome.reasons.isEmpty() || (figures.attempted > 0 && outcome.reasons.first() == broker.error);
  const auto known = [](bool lacking, std::int64_t count) { return lacking ? dash() : count_text(count); };
  QStringList story = why();
  if (told) {
    if (!outcome.reasons.isEmpty()) story.removeFirst();
    QString counted = QStringLiteral("%1 sent, %2 delivered")
                          .arg(known(figures.lacks_senders(), figures.attempted), known(figures.lacks_receivers(), figures.received));
    if (figures.unrequested > 0) counted += QStringLiteral(", %1 not asked for").arg(count_text(figures.unrequested));
    story.prepend(counted);
  }
  // As many as there is room for; behind the button stand all of them.
  story_->set_text(story.size() > 1 ? QStringLiteral("• ") + story.join(QStringLiteral("\n• ")) : story.first());
  folder_->setVisible(!outcome.folder.isEmpty());
}

QStringList RunPanel::why() const {
  QStringList sentences = actions_.run().outcome().reasons;
  for (const QString& disturbance : actions_.run().outcome().disturbances) sentences += QStringLiteral("disturbed: ") + disturbance;
  for (QString& sentence : sentences) sentence = app::grouped_in(sentence);
  return sentences;
}

void RunPanel::show_reasons() {
  auto* popup = new TextPopup(QStringLiteral("reasons"), QStringLiteral("Reasons of the verdict"), why(), this, TextPopup::Form::points);
  popup->open_below(reasons_);
}

}  // namespace n2nq::ui
