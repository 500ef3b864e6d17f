// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/process_notice.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QPushButton>

#include "ui/text/figures.h"
#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {
constexpr int lines_height_px = 60;
}

ProcessNotice::ProcessNotice(app::Role role, QWidget* parent) : QFrame(parent), role_(role) {
  const QString who = role_name(role);
  setProperty("notice", QStringLiteral("bad"));
  setObjectName(QStringLiteral("notice_") + who);
  setAccessibleName(QStringLiteral("What happened to %1").arg(who));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::between, space::in_row, space::between, space::in_row);
  all->setSpacing(space::in_row);
  text_ = described(new ElidedLabel, "notice_text", accessibleName(), QString());
  auto* row = new QHBoxLayout;
  row->setSpacing(space::in_row);
  fold_ = small_button(qPrintable(QStringLiteral("notice_fold_") + who), QStringLiteral("Details"),
                       QStringLiteral("Shows or hides what happened and the last lines the process wrote"));
  fold_->setCheckable(true);
  copy_ = small_button(qPrintable(QStringLiteral("notice_copy_") + who), QStringLiteral("Copy"),
                       QStringLiteral("Copies what happened and the last lines"));
  row->addWidget(text_, 1);
  row->addWidget(fold_, 0, Qt::AlignTop);
  row->addWidget(copy_, 0, Qt::AlignTop);
  all->addLayout(row);
  lines_ = described(new QPlainTextEdit, "notice_lines", QStringLiteral("Last lines of %1").arg(who), QString());
  lines_->setReadOnly(true);
  lines_->setLineWrapMode(QPlainTextEdit::NoWrap);
  lines_->setFixedHeight(lines_height_px);
  lines_->hide();
  all->addWidget(lines_);
  connect(fold_, &QPushButton::toggled, lines_, &QWidget::setVisible);
  connect(copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(lines_->toPlainText()); });
  hide();
}

void ProcessNotice::set_status(const app::ProcessStatus& status) {
  const bool died = status.state == app::ProcessState::died;
  if (died) {
    const QString what = status.error.isEmpty() ? QStringLiteral("%1 died").arg(role_name(role_)) : status.error;
    text_->set_text(QStringLiteral("✕ ") + what);
    QStringList lines{what};
    if (status.last_lines.isEmpty()) {
      lines << QStringLiteral("It wrote nothing before that.");
    } else {
      lines << QStringLiteral("The last it wrote:") << status.last_lines;
    }
    lines_->setPlainText(lines.join(u'\n'));
  } else {
    fold_->setChecked(false);
  }
  setVisible(died);
}

}  // namespace n2nq::ui
