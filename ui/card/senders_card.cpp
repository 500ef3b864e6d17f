// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/senders_card.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/card/fault_menu.h"
#include "ui/card/load_form.h"
#include "ui/card/process_head.h"
#include "ui/widget/process_notice.h"
#include "ui/widget/whole_rows.h"

namespace n2nq::ui {

SendersCard::SendersCard(SettingsForm& form, RunActions& actions, const app::HostBook& hosts, const Theme& theme, QWidget* parent)
    : Card(QStringLiteral("Senders"), parent), actions_(actions), model_(new ServiceModel(app::Role::senders, this)) {
  setObjectName(QStringLiteral("senders_card"));
  auto* head = new ProcessHead(*this, app::Role::senders, form, actions, hosts, theme);
  body()->addWidget(new LoadForm(form, theme));
  add_tiles(theme);
  table_ = new ServiceTable(theme, model_);
  head->faults()->set_table(table_);
  body()->addWidget(new WholeRows(table_), 1);
  body()->addWidget(head->notice());
  connect(&form, &SettingsForm::changed, this, &SendersCard::take_settings);
  connect(&actions.run(), &app::RunControl::state_changed, this, &SendersCard::take_settings);
  take_settings();
}

void SendersCard::add_tiles(const Theme& theme) {
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  sent_ = new Tile(theme, Tile::Size::large, QStringLiteral("Messages all senders have sent"));
  rate_ =
      new Tile(theme, Tile::Size::large,
               QStringLiteral(
                   "Messages sent per second, while it runs over the last second, at the end the mean of the run; below it payload bytes"));
  delay_ = new Tile(theme, Tile::Size::large, QStringLiteral("Gap between two sends of one sender, over all senders"));
  sent_->setObjectName(QStringLiteral("tile_sent"));
  rate_->setObjectName(QStringLiteral("tile_upload"));
  delay_->setObjectName(QStringLiteral("tile_delay"));
  sent_->set_caption(QStringLiteral("packets sent"));
  rate_->set_caption(QStringLiteral("upload rate"));
  delay_->set_caption(QStringLiteral("delay, mean"));
  for (Tile* tile : {sent_, rate_, delay_}) row->addWidget(tile, 1);
  body()->addLayout(row);
}

void SendersCard::take_settings() {
  const app::Settings& settings = actions_.shown_settings();
  const bool over = actions_.run().state() == app::RunState::finished;
  model_->set_amount(settings.senders.amount);
  model_->set_planned_each(settings.senders.messages);
  model_->set_means(over);
  rate_->set_caption(over ? QStringLiteral("upload, mean") : QStringLiteral("upload rate"));
  const auto planned = settings.planned_messages();
  sent_->set_detail(planned ? QStringLiteral("of ") + count_text(*planned) : QStringLiteral("until stopped"));
}

void SendersCard::show_figures(const app::LiveFigures& figures) {
  sent_->set_figure(figures.lacks_senders() ? Figure() : Figure{count_text(figures.attempted), {}}, {}, count_short(figures.attempted));
  rate_->set_figure(rate_figure(figures.sent_per_s), fixed_text(figures.sent_per_s, 3) + QStringLiteral(" /s"));
  rate_->set_detail(bytes_rate_text(figures.sent_bytes_per_s));
  delay_->set_figure(time_figure(figures.delay.mean_us, 1), fixed_text(figures.delay.mean_us, 3) + QStringLiteral(" µs"));
  delay_->set_detail(QStringLiteral("p99 ") + time_figure(figures.delay.p99_us, 1).text());
  model_->update(figures);
}

void SendersCard::clear_figures() {
  sent_->set_figure({});
  rate_->set_figure({});
  rate_->set_detail(dash());
  delay_->set_figure({});
  delay_->set_detail(QStringLiteral("p99 ") + dash());
  model_->clear_figures();
}

}  // namespace n2nq::ui
