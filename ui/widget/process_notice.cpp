// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/process_notice.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QToolButton>

#include "ui/text/figures.h"
#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {
constexpr int lines_height_px = 88;
}

ProcessNotice::ProcessNotice(app::Role role, QWidget* parent) : QFrame(parent), role_(role) {
  const QString who = role_name(role);
  setProperty("notice", QStringLiteral("bad"));
  setObjectName(QStringLiteral("notice_") + who);
  setAccessibleName(QStringLiteral("What happened to %1").arg(who));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::between, space::in_row, space::between, space::in_row);
  all->setSpacing(space::in_row);
  text_ = new QLabel;
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  all->addWidget(text_);
  auto* row = new QHBoxLayout;
  row->setSpacing(space::in_row);
  fold_ = small_button("notice_fold", QStringLiteral("Last lines"), QStringLiteral("Shows or hides the last lines the process wrote"));
  fold_->setCheckable(true);
  copy_ = small_button("notice_copy", QStringLiteral("Copy"), QStringLiteral("Copies what happened and the last lines"));
  row->addWidget(fold_);
  row->addWidget(copy_);
  row->addStretch(1);
  all->addLayout(row);
  lines_ = described(new QPlainTextEdit, "notice_lines", QStringLiteral("Last lines of %1").arg(who), QString());
  lines_->setReadOnly(true);
  lines_->setLineWrapMode(QPlainTextEdit::NoWrap);
  lines_->setFixedHeight(lines_height_px);
  lines_->hide();
  all->addWidget(lines_);
  connect(fold_, &QToolButton::toggled, lines_, &QWidget::setVisible);
  connect(copy_, &QToolButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(text_->text() + u'\n' + lines_->toPlainText()); });
  hide();
}

void ProcessNotice::set_status(const app::ProcessStatus& status) {
  const bool died = status.state == app::ProcessState::died;
  if (died) {
    const QString who = role_ == app::Role::broker ? QStringLiteral("N2NQ") : QStringLiteral("The %1 process").arg(role_name(role_));
    text_->setText(status.error.isEmpty() ? QStringLiteral("✕ %1 died").arg(who) : QStringLiteral("✕ %1 died: %2").arg(who, status.error));
    lines_->setPlainText(status.last_lines.join(u'\n'));
    fold_->setVisible(!status.last_lines.isEmpty());
  } else {
    fold_->setChecked(false);
  }
  setVisible(died);
}

}  // namespace n2nq::ui
