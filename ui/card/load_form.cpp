// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/load_form.h"

#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>
#include <cmath>

#include "app/settings/qt_text.h"
#include "app/settings/settings.h"
#include "app/settings/text_value.h"
#include "ui/text/figures.h"
#include "ui/widget/card.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

namespace {

constexpr int load_field_px = 84;
constexpr int size_field_px = 66;
const QString messages_key = QStringLiteral("senders.messages");
const QString duration_key = QStringLiteral("senders.duration_s");
const QString size_key = QStringLiteral("senders.size_bytes");
const QString delay_key = QStringLiteral("senders.delay_ms");
const QString rate_key = QStringLiteral("senders.rate_per_s");

enum Length { by_messages, by_duration, until_stopped };
enum Size { fixed, range };
enum Pace { by_delay, by_rate };

// `look`: "true" beside a field, "label" in a label's place.
ChoiceBox* make_choice(const Theme& theme, const char* look, const char* object_name, const QString& name, const QStringList& items) {
  auto* box = new ChoiceBox(theme);
  box->setObjectName(QString::fromLatin1(object_name));
  box->setAccessibleName(name);
  box->setProperty("plain", QString::fromLatin1(look));
  box->addItems(items);
  return box;
}

constexpr int pace_decimals = 6;

/// The value in that key's range that is nearest to it, as the key is written.
QString text_for(const QString& key, double value, int decimals) {
  const app::KeyInfo& info = *app::find_key(key.toStdString());
  const double places = std::pow(10, decimals);
  return qt_text(app::decimal_text(std::round(std::clamp(value, info.min, info.max) * places) / places));
}

// "[20, 100]" or "50" into its two ends, as they were typed.
std::pair<QString, QString> ends_of(const QString& text) {
  const QString trimmed = text.trimmed();
  if (!trimmed.startsWith(u'[')) return {trimmed, trimmed};
  const QString inner = trimmed.mid(1, trimmed.size() - 2);
  return {inner.section(u',', 0, 0).trimmed(), inner.section(u',', 1).trimmed()};
}

}  // namespace

LoadForm::LoadForm(SettingsForm& form, const Theme& theme, QWidget* parent) : FormRows(form, parent), form_(form), theme_(theme) {
  auto* amount = new TextField(form, QStringLiteral("senders.amount"));
  amount->setFixedWidth(load_field_px);
  auto* row = add_row(QStringLiteral("Sender amount"), {QStringLiteral("senders.amount")});
  row->addWidget(amount);
  row->addStretch(1);
  add_length_row();
  add_size_row();
  add_pace_row();
  connect(&form_, &SettingsForm::changed, this, &LoadForm::refresh);
  connect(&form_, &SettingsForm::lock_changed, this, &LoadForm::refresh);
  refresh();
}

void LoadForm::add_length_row() {
  length_ = make_choice(theme_, "label", "choice_length", QStringLiteral("How long senders send"),
                        {QStringLiteral("Messages each"), QStringLiteral("Duration"), QStringLiteral("Until stopped")});
  auto* row = add_row(length_, {messages_key, duration_key});
  messages_ = new TextField(form_, messages_key);
  duration_ = new TextField(form_, duration_key);
  for (TextField* field : {messages_, duration_}) {
    field->setFixedWidth(load_field_px);
    row->addWidget(field);
  }
  row->addStretch(1);
  connect(length_, &QComboBox::activated, this, &LoadForm::choose_length);
}

void LoadForm::add_size_row() {
  auto* row = add_row(QStringLiteral("Message size"), {size_key});
  size_min_ = new UnitEdit(QStringLiteral("B"));
  size_max_ = new UnitEdit(QStringLiteral("B"));
  size_to_ = make_label(QStringLiteral("to"), "secondary");
  size_ =
      make_choice(theme_, "true", "choice_size", QStringLiteral("Fixed size or range"), {QStringLiteral("fixed"), QStringLiteral("range")});
  size_min_->setObjectName(QStringLiteral("field_senders_size_bytes"));
  size_min_->setAccessibleName(QStringLiteral("Message size"));
  size_max_->setObjectName(QStringLiteral("field_senders_size_bytes_max"));
  size_max_->setAccessibleName(QStringLiteral("Largest message size"));
  row->addWidget(size_min_);
  row->addWidget(size_to_);
  row->addWidget(size_max_);
  row->addWidget(size_);
  row->addStretch(1);
  connect(size_, &QComboBox::activated, this, &LoadForm::choose_size);
  for (UnitEdit* edit : {size_min_, size_max_}) {
    connect(edit, &QLineEdit::textEdited, this, &LoadForm::edit_size);
    connect(edit, &QLineEdit::editingFinished, &form_, &SettingsForm::end_edit);
  }
}

void LoadForm::add_pace_row() {
  pace_ = make_choice(theme_, "label", "choice_pace", QStringLiteral("Pace as delay or as rate"),
                      {QStringLiteral("Delay"), QStringLiteral("Rate")});
  auto* row = add_row(pace_, {delay_key, rate_key});
  delay_ = new TextField(form_, delay_key);
  rate_ = new TextField(form_, rate_key);
  auto* start =
      new WordField(form_, QStringLiteral("senders.start"), {QStringLiteral("spread evenly"), QStringLiteral("in phase")}, theme_);
  start->setProperty("plain", QStringLiteral("true"));
  for (TextField* field : {delay_, rate_}) {
    field->setFixedWidth(load_field_px);
    row->addWidget(field);
  }
  row->addWidget(start);
  row->addStretch(1);
  connect(pace_, &QComboBox::activated, this, &LoadForm::choose_pace);
}

// Taking up another way of saying how long keeps the length where both can say it.
void LoadForm::choose_length(int choice) {
  form_.forget(messages_key);
  form_.forget(duration_key);
  const auto planned = form_.settings().planned_duration_s();
  if (choice == by_duration) {
    form_.set(duration_key, planned && *planned > 0 ? text_for(duration_key, *planned, *planned < 1 ? 3 : 0) : QStringLiteral("30"));
  } else if (choice == by_messages) {
    const app::Interval interval = form_.settings().interval();
    const double period_s = static_cast<double>(interval.num_ns) / static_cast<double>(interval.den) / 1e9;
    const double messages = planned && period_s > 0 ? *planned / period_s : 50;
    form_.set(messages_key, text_for(messages_key, messages, 0));
  } else {
    form_.set(messages_key, QStringLiteral("none"));
    form_.set(duration_key, QStringLiteral("none"));
  }
}

void LoadForm::choose_size(int choice) {
  const auto& senders = form_.settings().senders;
  const qint64 min = senders.size_min_bytes;
  const bool wants_range = choice == range;
  form_.set(size_key,
            wants_range ? QStringLiteral("[%1, %2]").arg(min).arg(qMax<qint64>(senders.size_max_bytes, 2 * min)) : QString::number(min));
}

void LoadForm::choose_pace(int choice) {
  form_.forget(delay_key);
  form_.forget(rate_key);
  const auto& senders = form_.settings().senders;
  if (choice == by_rate && !senders.rate_per_s) {
    const double delay_ms = senders.delay_ms.value_or(0);
    form_.set(rate_key, text_for(rate_key, delay_ms > 0 ? 1000 / delay_ms : 1, pace_decimals));
  } else if (choice == by_delay && !senders.delay_ms) {
    form_.set(delay_key, text_for(delay_key, 1000 / senders.rate_per_s.value_or(2), pace_decimals));
  }
}

void LoadForm::edit_size() {
  const bool is_range = size_->currentIndex() == range;
  editing_size_ = true;  // "[50, 50]" on the way to "[50, 500]" is still a range to the person typing
  form_.begin_edit(size_key);
  form_.set_needed(size_key, is_range ? QStringLiteral("[%1, %2]").arg(size_min_->text(), size_max_->text()) : size_min_->text());
  editing_size_ = false;
}

void LoadForm::refresh() {
  const auto& senders = form_.settings().senders;
  const int length = senders.messages ? by_messages : senders.duration_s ? by_duration : until_stopped;
  length_->setCurrentIndex(length);
  messages_->setVisible(length == by_messages);
  duration_->setVisible(length == by_duration);

  const int pace = senders.rate_per_s ? by_rate : by_delay;
  pace_->setCurrentIndex(pace);
  delay_->setVisible(pace == by_delay);
  rate_->setVisible(pace == by_rate);
  refresh_size();

  length_->set_locked(form_.locked(messages_key), field_tooltip(form_, messages_key));
  pace_->set_locked(form_.locked(delay_key), field_tooltip(form_, pace == by_rate ? rate_key : delay_key));
  size_->set_locked(form_.locked(size_key), field_tooltip(form_, size_key));
  for (UnitEdit* edit : {size_min_, size_max_}) {
    edit->set_locked(form_.locked(size_key), field_tooltip(form_, size_key));
    edit->set_refused(!form_.problem(size_key).isEmpty());
  }
}

void LoadForm::refresh_size() {
  const QString text = form_.text(size_key);
  // What was refused is no range because it begins like one: the choice stays where the person who types has it.
  const bool stays = editing_size_ || form_.is_refused(size_key);
  const bool is_range = stays ? size_->currentIndex() == range : text.trimmed().startsWith(u'[');
  size_->setCurrentIndex(is_range ? range : fixed);
  const auto [min, max] = is_range ? ends_of(text) : std::pair(text.trimmed(), text.trimmed());
  if (!editing_size_ && size_min_->text() != min) size_min_->setText(min);
  if (!editing_size_ && size_max_->text() != max) size_max_->setText(max);
  size_min_->setFixedWidth(is_range ? size_field_px : load_field_px);
  size_max_->setFixedWidth(size_field_px);
  size_to_->setVisible(is_range);
  size_max_->setVisible(is_range);
}

}  // namespace n2nq::ui
