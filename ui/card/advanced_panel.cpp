// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/advanced_panel.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QScrollBar>
#include <algorithm>

#include "ui/widget/card.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

namespace {

constexpr int advanced_field_px = 96;
const QString pending_key = QStringLiteral("limits.pending_mib");

struct Group {
  int column;  // where there is room for more than one
  const char* title;
  QStringList keys;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {0, "Run",
       {"senders.warmup_messages", "start_when", "seed", "log", "log_sample_every", "messages_tsv_max_mib", "broker.port", "broker.io",
        "broker.spin_us", "broker.keep_core", "transport"}},
      {1, "Responses", {"responses.window", "responses.deadline_s", "responses.attempts_max"}},
      {1, "Limits",
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
  setFocusPolicy(Qt::NoFocus);  // it would not show it; a field in it that gets the focus scrolls into sight
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  flow_ = new QBoxLayout(QBoxLayout::TopToBottom, content);
  flow_->setContentsMargins(0, 0, space::between, 0);
  flow_->setSpacing(space::between);
  for (int column = 0; column < static_cast<int>(columns_.size()); ++column) add_column(column);
  flow_->setStretch(1, 1);
  setWidget(content);
}

void AdvancedPanel::add_column(int column) {
  auto* grid = columns_[static_cast<std::size_t>(column)] = new QGridLayout;
  flow_->addLayout(grid);
  grid->setVerticalSpacing(0);  // the lines for what was refused keep the rows apart
  grid->setHorizontalSpacing(space::between);
  grid->setColumnStretch(1, 1);
  int row = 0;
  for (const Group& group : groups()) {
    if (group.column != column) continue;
    auto* title = make_label(QString::fromUtf8(group.title), "strong");
    title->setContentsMargins(0, row == 0 ? 0 : space::between, 0, space::in_row);
    grid->addWidget(title, row++, 0, 1, 2);
    for (const QString& key : group.keys) {
      auto* label = make_label(SettingsForm::label(key), "secondary");
      label->setToolTip(SettingsForm::explanation(key));
      labels_.push_back(label);
      grid->addWidget(label, row, 0, Qt::AlignLeft | Qt::AlignVCenter);
      grid->addWidget(make_field(key), row, 1, Qt::AlignLeft);
      grid->addWidget(new ProblemLine(form_, {key}), row + 1, 0, 1, 2);
      if (key == pending_key) grid->addWidget(make_pending_note(), row + 1, 1);
      row += 2;
    }
  }
  grid->setRowStretch(row, 1);
}

/// Beside each other as soon as there is room for both. Goes by the room there is with the scroll bar, which comes and goes with that.
void AdvancedPanel::arrange() {
  int label_px = 0;
  for (const QLabel* label : labels_) label_px = std::max(label_px, label->sizeHint().width());
  int wanted_px = space::card;
  for (QGridLayout* grid : columns_) {
    if (grid->columnMinimumWidth(0) != label_px) grid->setColumnMinimumWidth(0, label_px);  // fields below each other stay in line
    wanted_px += grid->sizeHint().width();
  }
  const int room_px = contentsRect().width() - verticalScrollBar()->sizeHint().width() - flow_->contentsMargins().right();
  const bool wide = wanted_px <= room_px;
  const auto direction = wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom;
  if (direction == flow_->direction()) return;
  flow_->setDirection(direction);
  flow_->setSpacing(wide ? space::card : space::between);
  flow_->setStretch(0, wide ? 1 : 0);  // below each other the first one takes no height from the last
}

void AdvancedPanel::resizeEvent(QResizeEvent* event) {
  if (flow_ != nullptr) arrange();
  QScrollArea::resizeEvent(event);
}

/// What 0 stands for: read as a number it would say that nothing may wait. Stands where a problem would, below the field, and asks for no
/// room, so that nothing moves when either comes or goes.
QLabel* AdvancedPanel::make_pending_note() {
  QLabel* note = make_label(QString(), "caption");
  note->setObjectName(QStringLiteral("pending_note"));
  note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
  note->setAttribute(Qt::WA_TransparentForMouseEvents);  // of a problem the whole text is shown and copied from its own line
  const auto refresh = [this, note] {
    const app::Settings& settings = form_.settings();
    const bool says = settings.limits.pending_mib <= 0 && form_.problem(pending_key).isEmpty();
    note->setText(says ? QStringLiteral("auto: %1 MiB").arg(settings.pending_mib()) : QString());
  };
  connect(&form_, &SettingsForm::changed, note, refresh);
  refresh();
  return note;
}

QWidget* AdvancedPanel::make_field(const QString& key) {
  const app::KeyInfo* info = app::find_key(key.toStdString());
  if (info && !info->words.empty()) return new WordField(form_, key, shown_words(key), theme_);
  auto* field = new TextField(form_, key);
  field->setFixedWidth(advanced_field_px);
  return field;
}

}  // namespace n2nq::ui
