// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/receivers_card.h"

#include <QGridLayout>
#include <QHBoxLayout>

#include "ui/card/process_head.h"
#include "ui/widget/form_rows.h"
#include "ui/widget/process_notice.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

namespace {

constexpr int field_px = 84;

struct TileText {
  const char* object_name;
  const char* caption;
  const char* meaning;
};

QString exact_us(double value_us) {
  return fixed_text(value_us, 3) + QStringLiteral(" µs");
}

}  // namespace

ReceiversCard::ReceiversCard(SettingsForm& form, RunActions& actions, const Theme& theme, QWidget* parent)
    : Card(QStringLiteral("Receivers"), parent), form_(form), actions_(actions), model_(new ServiceModel(app::Role::receivers, this)) {
  setObjectName(QStringLiteral("receivers_card"));
  auto* head = new ProcessHead(*this, app::Role::receivers, actions, theme);
  add_form();
  add_tiles(theme);
  table_ = new ServiceTable(theme, model_);
  body()->addWidget(table_, 1);
  body()->addWidget(head->notice());
  connect(&form_, &SettingsForm::changed, this, &ReceiversCard::take_settings);
  connect(&actions.run(), &app::RunControl::state_changed, this, &ReceiversCard::take_settings);
  take_settings();
}

void ReceiversCard::add_form() {
  const QString key = QStringLiteral("receivers.amount");
  auto* rows = new FormRows(form_);
  auto* amount = new TextField(form_, key);
  amount->setFixedWidth(field_px);
  auto* row = rows->add_row(QStringLiteral("Receiver amount"), {key});
  row->addWidget(amount);
  row->addStretch(1);
  body()->addWidget(rows);
}

void ReceiversCard::add_tiles(const Theme& theme) {
  static constexpr TileText texts[] = {
      {"tile_received", "packets received", "Deliveries all receivers have received"},
      {"tile_download", "download rate",
       "Deliveries per second, while it runs over the last second, at the end the mean of the run; below it payload bytes"},
      {"tile_lowest_95", "mean lowest 95 %", "Mean latency of the lowest 95 % of all deliveries, and how many it leaves out"},
      {"tile_p50", "latency p50", "Half of all deliveries took at most this long; below it the mean of all"},
      {"tile_p95", "latency p95", "95 of 100 deliveries took at most this long; below it 90 of 100"},
      {"tile_p99", "latency p99", "99 of 100 deliveries took at most this long; below it the longest"},
  };
  Tile** const tiles[] = {&received_, &rate_, &lowest_, &p50_, &p95_, &p99_};
  auto* grid = new QGridLayout;
  grid->setSpacing(space::between);
  for (int i = 0; i < 6; ++i) {
    Tile* tile = *tiles[i] = new Tile(theme, Tile::Size::large, QString::fromUtf8(texts[i].meaning));
    tile->setObjectName(QString::fromUtf8(texts[i].object_name));
    tile->set_caption(QString::fromUtf8(texts[i].caption));
    grid->addWidget(tile, i / 3, i % 3);
    grid->setColumnStretch(i % 3, 1);
  }
  body()->addLayout(grid);
}

void ReceiversCard::take_settings() {
  const app::Settings& settings = actions_.shown_settings();
  const bool over = actions_.run().state() == app::RunState::finished;
  model_->set_amount(settings.receivers.amount);
  model_->set_means(over);
  rate_->set_caption(over ? QStringLiteral("download, mean") : QStringLiteral("download rate"));
  const auto planned = settings.planned_messages();
  received_->set_detail(planned ? QStringLiteral("of ") + count_text(*planned * settings.copies()) : QStringLiteral("until stopped"));
}

void ReceiversCard::show_figures(const app::LiveFigures& figures) {
  const app::Percentiles& latency = figures.latency;
  received_->set_figure({count_text(figures.received), {}}, count_text(figures.received), count_short(figures.received));
  rate_->set_figure(rate_figure(figures.received_per_s), fixed_text(figures.received_per_s, 3) + QStringLiteral(" /s"));
  rate_->set_detail(bytes_rate_text(figures.received_bytes_per_s));
  lowest_->set_figure(time_figure(latency.mean_lowest_95_us), exact_us(latency.mean_lowest_95_us));
  lowest_->set_detail(latency.count == 0 ? dash()
                                         : QStringLiteral("leaves out ") + count_short(static_cast<std::int64_t>(latency.left_out)));
  p50_->set_figure(time_figure(latency.p50_us), exact_us(latency.p50_us));
  p50_->set_detail(QStringLiteral("mean ") + time_figure(latency.mean_us).text());
  p95_->set_figure(time_figure(latency.p95_us), exact_us(latency.p95_us));
  p95_->set_detail(QStringLiteral("p90 ") + time_figure(latency.p90_us).text());
  p99_->set_figure(time_figure(latency.p99_us), exact_us(latency.p99_us));
  p99_->set_detail(QStringLiteral("max ") + time_figure(latency.max_us).text());
  model_->update(figures);
}

void ReceiversCard::clear_figures() {
  app::LiveFigures nothing;
  show_figures(nothing);
  received_->set_figure({});
  model_->clear_figures();
}

}  // namespace n2nq::ui
