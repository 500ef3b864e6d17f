// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/process_notice.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "ui/text/figures.h"
#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/small_button.h"
#include "ui/widget/text_popup.h"

namespace n2nq::ui {

ProcessNotice::ProcessNotice(app::Role role, QWidget* parent) : QFrame(parent), role_(role) {
  const QString who = role_word(role);
  setObjectName(QStringLiteral("notice_") + who);
  setAccessibleName(QStringLiteral("What happened to %1").arg(who));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::between, space::in_row, space::between, space::in_row);
  all->setSpacing(space::in_row);
  text_ = described(new ElidedLabel, "notice_text", accessibleName(), QString());
  if (role != app::Role::broker) text_->set_lines_max(2);  // whose card has no room to spare; the verdict beside it tells its reason, too
  auto* row = new QHBoxLayout;
  row->setSpacing(space::in_row);
  fold_ = small_button(qPrintable(QStringLiteral("notice_fold_") + who), QStringLiteral("Details"),
                       QStringLiteral("Shows all of it, to be copied: what happened, and the last lines the process wrote where it died"));
  row->addWidget(text_, 1);
  row->addWidget(fold_);
  all->addLayout(row);
  connect(fold_, &QPushButton::clicked, this, [this] {
    auto* popup = new TextPopup(QStringLiteral("notice"), popup_title_.arg(role_word(role_)), lines_, this);
    popup->open_below(fold_);
  });
  hide();
}

void ProcessNotice::set_status(const app::ProcessStatus& status) {
  const bool died = status.state == app::ProcessState::died;
  if (died) {
    QString what = status.error.isEmpty() ? QStringLiteral("%1 died").arg(role_word(role_)) : status.error;
    const QString go_on = status.may_be_back ? QStringLiteral("; start again to go on") : QString();
    // Who was killed stands above in the same card; so the words have room on a small screen. All of them stand among the details.
    text_->set_text(is_killed_on_purpose(status) ? QStringLiteral("✕ Killed on purpose") + go_on : QStringLiteral("✕ ") + what);
    lines_ = {what += go_on};
    if (!status.last_lines.isEmpty()) {
      lines_ << QStringLiteral("The last it wrote:") << status.last_lines;
    } else if (!status.never_ran) {
      lines_ << QStringLiteral("It wrote nothing before that.");
    }
  }
  const bool advised = !status.advice.isEmpty();
  popup_title_ = advised ? QStringLiteral("What may keep %1 from N2NQ") : QStringLiteral("Last lines of %1");
  if (advised) {
    text_->set_text(QStringLiteral("Does not get to N2NQ. ") + status.advice);
    lines_ = {text_->full_text()};
  }
  set_style_property(this, "notice", died ? QStringLiteral("bad") : QStringLiteral("remark"));
  setVisible(died || advised);
}

}  // namespace n2nq::ui
