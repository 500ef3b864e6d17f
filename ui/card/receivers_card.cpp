// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/receivers_card.h"

#include <QButtonGroup>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <cmath>

#include "ui/card/fault_menu.h"
#include "ui/card/process_head.h"
#include "ui/widget/form_rows.h"
#include "ui/widget/process_notice.h"
#include "ui/widget/setting_fields.h"
#include "ui/widget/small_button.h"
#include "ui/widget/whole_rows.h"

namespace n2nq::ui {

namespace {

constexpr int receivers_field_px = 84;

struct TileText {
  const char* object_name;
  const char* caption;
  const char* meaning;
};

QString exact_us(double value_us) {
  return fixed_text(value_us, 3) + QStringLiteral(" µs");
}

}  // namespace

ReceiversCard::ReceiversCard(SettingsForm& form, RunActions& actions, RequestDesk& desk, const app::HostBook& hosts, const Theme& theme,
                             QWidget* parent)
    : Card(QStringLiteral("Receivers"), parent),
      form_(form),
      actions_(actions),
      desk_(desk),
      model_(new ServiceModel(app::Role::receivers, this)) {
  setObjectName(QStringLiteral("receivers_card"));
  auto* head = new ProcessHead(*this, app::Role::receivers, form, actions, hosts, theme);
  add_form();
  add_tiles(theme);
  table_ = new ServiceTable(theme, model_);
  head->faults()->set_table(table_);
  body()->addWidget(new WholeRows(table_), 1);
  body()->addWidget(head->notice());
  connect(&form_, &SettingsForm::changed, this, &ReceiversCard::take_settings);
  connect(&actions.run(), &app::RunControl::state_changed, this, &ReceiversCard::take_settings);
  connect(&desk_, &RequestDesk::changed, this, &ReceiversCard::take_requests);
  connect(table_, &ServiceTable::room_changed, this, &ReceiversCard::show_views);
  connect(views_, &QButtonGroup::idClicked, this, [this](int id) { table_->set_view(static_cast<ServiceModel::View>(id)); });
  take_settings();
  show_views();
}

void ReceiversCard::add_views(QHBoxLayout* row) {
  views_ = new QButtonGroup(this);
  auto* box = new QHBoxLayout(views_row_ = new QWidget);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(space::in_row);
  const std::tuple<ServiceModel::View, const char*, QString, QString> views[] = {
      {ServiceModel::View::latency, "view_latency", QStringLiteral("Latency"), QStringLiteral("Shows the columns latency, p99 and rate")},
      {ServiceModel::View::deliveries, "view_deliveries", QStringLiteral("Deliveries"),
       QStringLiteral("Shows the columns about what was confirmed, sent again, expired and skipped")},
      {ServiceModel::View::requests, "view_requests", QStringLiteral("Asks for"), QStringLiteral("Shows what each receiver asks for")}};
  for (const auto& [view, name, text, tooltip] : views) {
    QPushButton* button = small_button(name, text, tooltip);
    button->setCheckable(true);
    views_->addButton(button, static_cast<int>(view));
    box->addWidget(button);
  }
  views_->button(static_cast<int>(ServiceModel::View::latency))->setChecked(true);
  row->addWidget(views_row_);
}

void ReceiversCard::take_requests() {
  model_->set_rules(desk_.shown_rules());
  take_extras();
}

void ReceiversCard::take_extras() {
  const app::Settings& settings = actions_.shown_settings();
  const bool requests = settings.queue.requests.has_value();
  model_->set_extras({settings.queue.responses, requests || skips_, requests});
  show_views();
}

// Only where there is a choice: something beside the latency, and no room for all of it.
void ReceiversCard::show_views() {
  const ServiceModel::Extras& extras = model_->extras();
  const bool has[] = {true, extras.responses || extras.skipped, extras.requests};
  views_row_->setVisible(!table_->shows_all() && (has[1] || has[2]));
  for (int view = 0; view < 3; ++view) views_->button(view)->setVisible(has[view]);
  if (has[views_->checkedId()]) return;
  views_->button(0)->setChecked(true);
  table_->set_view(ServiceModel::View::latency);
}

void ReceiversCard::add_form() {
  const QString key = QStringLiteral("receivers.amount");
  auto* rows = new FormRows(form_);
  auto* amount = new TextField(form_, key);
  amount->setFixedWidth(receivers_field_px);
  auto* row = rows->add_row(QStringLiteral("Receiver amount"), {key});
  row->addWidget(amount);
  row->addStretch(1);
  add_views(row);
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
  model_->set_apart(settings.senders.host != settings.receivers.host);
  model_->set_means(over);
  take_requests();
  rate_->set_caption(over ? QStringLiteral("download, mean") : QStringLiteral("download rate"));
  tell_planned(actions_.run().figures());
}

/// Below what was received: of how many.
void ReceiversCard::tell_planned(const app::LiveFigures& figures) {
  const app::Settings& settings = actions_.shown_settings();
  const auto planned = settings.planned_messages();
  if (!planned) return received_->set_detail(QStringLiteral("until stopped"));
  std::int64_t copies = *planned * settings.copies();
  // With requests nobody knows before the end how many of them are asked for, and then not of what N2NQ never had, kept for who was gone, or
  // took with it.
  bool at_most = settings.queue.requests.has_value();
  if (at_most && figures.settled && !figures.lacks_senders() && !figures.lacks_receivers()) {
    const app::LiveFigures::Settled& settled = *figures.settled;
    copies = settled.expected - figures.unrequested;
    at_most = settled.accepted < settled.expected || settled.still_queued > 0 || figures.cut_off > 0 || figures.lost != 0;
  }
  received_->set_detail((at_most ? QStringLiteral("of ≤ ") : QStringLiteral("of ")) + count_text(copies));
}

namespace {

/// The caption of a latency, and what stands below it: another one of the same deliveries, or what is to be said of both.
void caption_latency(Tile& tile, const QString& name, const app::ClockBound& bound, double value_us, const QString& other_name,
                     double other_us) {
  const QString other = other_name + ' ' + time_figure(other_us).text();
  tile.set_caption(bound.apart ? name : QStringLiteral("latency ") + name);
  tile.set_second(bound.apart ? other : QString());
  tile.set_detail(!bound.apart                ? other
                  : std::isnan(value_us)      ? dash()
                  : is_below(bound, value_us) ? bound_words(bound, value_us)
                  : is_below(bound, other_us) ? bound_text(bound) + QStringLiteral(": %1 less").arg(other_name)
                                              : QStringLiteral("both ") + bound_text(bound));
}

}  // namespace

void ReceiversCard::show_figures(const app::LiveFigures& figures) {
  const app::Percentiles& latency = figures.latency;
  received_->set_figure(figures.lacks_receivers() ? Figure() : Figure{count_text(figures.received), {}}, {}, count_short(figures.received));
  tell_planned(figures);
  rate_->set_figure(rate_figure(figures.received_per_s), fixed_text(figures.received_per_s, 3) + QStringLiteral(" /s"));
  rate_->set_detail(bytes_rate_text(figures.received_bytes_per_s));
  const auto hidden = static_cast<std::int64_t>(latency.left_out), samples = static_cast<std::int64_t>(latency.count);
  const app::ClockBound& bound = figures.clocks.latency;
  const auto exact = [&](double value_us, double share = 0) {
    const bool bounded = bound.apart && !std::isnan(value_us);
    return exact_us(value_us) + (bounded ? QStringLiteral(" ") + bound_explained(bound, value_us) : QString()) +
           percentile_doubt_words(figures.floor_us, value_us, share, samples);
  };
  const bool is_bounded = bound.apart && latency.count > 0;
  lowest_->set_caption(is_bounded ? QStringLiteral("low 95 % ") + bound_text(bound) : QStringLiteral("mean lowest 95 %"));
  struct Shown {
    Tile* tile;
    double value_us, share;
  };
  for (const auto& [tile, value_us, share] : {Shown{lowest_, latency.mean_lowest_95_us, 0},
                                              {p50_, latency.p50_us, 0.5},
                                              {p95_, latency.p95_us, 0.95},
                                              {p99_, latency.p99_us, 0.99}})
    tile->set_dimmed(figures.is_near_floor(value_us) || is_below(bound, value_us) || has_few_above(share, samples));
  lowest_->set_figure(time_figure(latency.mean_lowest_95_us),
                      exact(latency.mean_lowest_95_us) +
                          QStringLiteral("; trimming hides %1 of %2 samples, the slowest").arg(count_text(hidden), count_text(samples)));
  lowest_->set_detail(latency.count == 0                            ? dash()
                      : is_below(bound, latency.mean_lowest_95_us) ? QStringLiteral("no finer; %1 out").arg(count_tight(hidden))
                                                                    : QStringLiteral("leaves out ") + count_tight(hidden));
  p50_->set_figure(time_figure(latency.p50_us), exact(latency.p50_us, 0.5));
  caption_latency(*p50_, QStringLiteral("p50"), bound, latency.p50_us, QStringLiteral("mean"), latency.mean_us);
  p95_->set_figure(time_figure(latency.p95_us), exact(latency.p95_us, 0.95));
  caption_latency(*p95_, QStringLiteral("p95"), bound, latency.p95_us, QStringLiteral("p90"), latency.p90_us);
  p99_->set_figure(time_figure(latency.p99_us), exact(latency.p99_us, 0.99));
  caption_latency(*p99_, QStringLiteral("p99"), bound, latency.p99_us, QStringLiteral("max"), latency.max_us);
  if (figures.skipped > 0 && !skips_) {
    skips_ = true;
    take_extras();
  }
  model_->update(figures);
}

void ReceiversCard::clear_figures() {
  app::LiveFigures nothing;
  show_figures(nothing);
  received_->set_figure({});
  skips_ = false;
  take_extras();
  model_->clear_figures();
}

}  // namespace n2nq::ui
