// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/advanced_panel.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/widget/card.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

namespace {

constexpr int advanced_field_px = 96;

struct Group {
  const char* title;
  QStringList keys;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"Run",
       {"senders.warmup_messages", "start_when", "seed", "log", "log_sample_every", "messages_tsv_max_mib", "broker.port", "broker.io",
        "broker.spin_us", "broker.keep_core", "transport"}},
      {"Responses", {"responses.window", "responses.deadline_s", "responses.attempts_max"}},
      {"Limits",
       {"limits.memory_mib", "limits.pending_mib", "limits.books_mib", "limits.message_max_bytes", "limits.sessions_max",
        "limits.write_deadline_s", "limits.handshake_deadline_s", "limits.heartbeat_s", "limits.reconnect_deadline_s", "limits.drain_s"}},
  };
  return all;
}

QStringList shown_words(const QString& key) {
  if (key == QStringLiteral("start_when")) return {QStringLiteral("all are connected"), QStringLiteral("senders are connected")};
  if (key == QStringLiteral("log")) return {QStringLiteral("every message"), QStringLiteral("a sample"), QStringLiteral("off")};
  if (key == QStringLiteral("broker.keep_core")) return {QStringLiteral("off"), QStringLiteral("on")};
  if (key == QStringLiteral("transport")) return {QStringLiteral("TCP"), QStringLiteral("Unix-domain")};
  return {};
}

}  // namespace

bool AdvancedPanel::holds(const QString& key) {
  for (const Group& group : groups()) {
    if (group.keys.contains(key)) return true;
  }
  return false;
}

AdvancedPanel::AdvancedPanel(SettingsForm& form, const Theme& theme, QWidget* parent) : QScrollArea(parent), form_(form), theme_(theme) {
  setObjectName(QStringLiteral("advanced_panel"));
  setAccessibleName(QStringLiteral("Advanced settings"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  auto* grid = new QGridLayout(content);
  grid->setContentsMargins(0, 0, space::between, 0);
  grid->setVerticalSpacing(0);  // the lines for what was refused keep the rows apart
  grid->setHorizontalSpacing(space::card);
  grid->setColumnStretch(2, 1);
  int row = 0;
  for (const Group& group : groups()) {
    auto* title = make_label(QString::fromUtf8(group.title), "strong");
    title->setContentsMargins(0, row == 0 ? 0 : space::between, 0, 0);
    grid->addWidget(title, row++, 0, 1, 3);
    for (const QString& key : group.keys) {
      auto* label = make_label(SettingsForm::label(key), "secondary");
      label->setToolTip(SettingsForm::explanation(key));
      grid->addWidget(label, row, 0, Qt::AlignLeft | Qt::AlignVCenter);
      if (key == QStringLiteral("limits.pending_mib")) {
        grid->addLayout(make_pending_row(), row, 1, 1, 2);
      } else {
        grid->addWidget(make_field(key), row, 1, Qt::AlignLeft);
      }
      grid->addWidget(new ProblemLine(form_, {key}), row + 1, 0, 1, 3);
      row += 2;
    }
  }
  grid->setRowStretch(row, 1);
  setWidget(content);
}

/// With what 0 stands for: read as a number it would say that nothing may wait.
QHBoxLayout* AdvancedPanel::make_pending_row() {
  const QString key = QStringLiteral("limits.pending_mib");
  QLabel* note = make_label(QString(), "secondary");
  note->setObjectName(QStringLiteral("pending_note"));
  note->setToolTip(SettingsForm::explanation(key));
  const auto refresh = [this, note] {
    const app::Settings& settings = form_.settings();
    note->setText(settings.limits.pending_mib > 0 ? QString() : QStringLiteral("auto: %1 MiB").arg(settings.pending_mib()));
  };
  connect(&form_, &SettingsForm::changed, note, refresh);
  refresh();
  auto* both = new QHBoxLayout;
  both->setSpacing(space::between);
  both->addWidget(make_field(key));
  both->addWidget(note);
  both->addStretch();
  return both;
}

QWidget* AdvancedPanel::make_field(const QString& key) {
  const app::KeyInfo* info = app::find_key(key.toStdString());
  if (info && !info->words.empty()) return new WordField(form_, key, shown_words(key), theme_);
  auto* field = new TextField(form_, key);
  field->setFixedWidth(advanced_field_px);
  return field;
}

}  // namespace n2nq::ui
