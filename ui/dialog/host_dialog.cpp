// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialog/host_dialog.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

#include "app/settings/qt_text.h"
#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/dialog_foot.h"
#include "ui/widget/elided_label.h"

namespace n2nq::ui {

namespace {
constexpr int host_width_px = 520;
constexpr int field_text_max = 4096;
}  // namespace

HostDialog::HostDialog(app::HostBook& book, const app::Host* host, QWidget* parent) : QDialog(parent), book_(book) {
  setObjectName(QStringLiteral("host_dialog"));
  setWindowTitle(host != nullptr ? QStringLiteral("Edit lab machine") : QStringLiteral("Add lab machine"));
  setFixedWidth(host_width_px);
  if (host != nullptr) edited_ = before_ = *host;
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  all->setSpacing(space::between);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(space::card);
  grid->setVerticalSpacing(0);
  grid->setColumnStretch(1, 1);
  for (const app::HostField& field : app::host_fields()) field.is_yes_or_no ? add_box(*grid, field) : add_row(*grid, field);
  all->addLayout(grid);
  refused_ = make_problem_label(QStringLiteral("host_refused"));
  all->addWidget(refused_);
  add_dialog_foot(*this, *all, "host_cancel", "host_save", host != nullptr ? QStringLiteral("Save") : QStringLiteral("Add"));
}

void HostDialog::add_row(QGridLayout& grid, const app::HostField& field) {
  const QString key = qt_text(field.key);
  auto* edit = described(new QLineEdit(QString::fromStdString(field.text(edited_))), qPrintable(QStringLiteral("host_") + key),
                         qt_text(field.label), qt_text(field.meaning));
  edit->setPlaceholderText(qt_text(field.unset));
  edit->setMaxLength(field_text_max);
  auto* label = make_label(qt_text(field.label), "secondary");
  label->setBuddy(edit);
  auto* problem = make_problem_label(QStringLiteral("host_%1_problem").arg(key));
  // Room for one line, so that nothing moves when something short is refused.
  problem->setMinimumHeight(problem->fontMetrics().height());
  const int row = grid.rowCount();
  grid.addWidget(label, row, 0);
  grid.addWidget(edit, row, 1);
  grid.addWidget(problem, row + 1, 1);
  fields_.insert(key, edit);
  problems_.insert(key, problem);
  connect(edit, &QLineEdit::textEdited, this, [this, &field] { check(field); });
}

void HostDialog::add_box(QGridLayout& grid, const app::HostField& field) {
  auto* box = described(new QCheckBox(qt_text(field.meaning)), qPrintable(QStringLiteral("host_") + qt_text(field.key)),
                        qt_text(field.label), QStringLiteral("Unless ticked, ") + qt_text(field.unset));
  box->setChecked(!field.text(edited_).empty());
  const int row = grid.rowCount();
  grid.addWidget(make_label(qt_text(field.label), "secondary"), row, 0);
  grid.addWidget(box, row, 1);
  connect(box, &QCheckBox::toggled, this, [this, &field](bool on) { (void)field.set(edited_, on ? "yes" : "no"); });
}

void HostDialog::check(const app::HostField& field) {
  const QString key = qt_text(field.key);
  if (!fields_.contains(key)) return;
  const auto problem = field.set(edited_, app::trimmed(fields_[key]->text().toStdString()));
  problems_[key]->setText(problem ? QStringLiteral("✕ ") + qt_text(*problem) : QString());
  fields_[key]->setAccessibleDescription(problem ? qt_text(*problem) : QString());
  set_style_property(fields_[key], "refused", problem.has_value());
  refused_->clear();
  grow();
}

/// By reasons of several lines: a window does not follow the height that its texts take at its width.
void HostDialog::grow() {
  layout()->activate();
  const int needed_px = layout()->totalHeightForWidth(width());
  if (needed_px > height()) resize(width(), needed_px);
}

/// What was not edited here stays as an editor or another window has written it meanwhile. Empty: done.
QString HostDialog::put() {
  app::Host host = edited_;
  const QString old_name = QString::fromStdString(before_.name);
  book_.look_again();
  if (!book_.unread().isEmpty()) return book_.unread();
  if (!old_name.isEmpty() && book_.problems().isEmpty()) {
    const app::Host* now = book_.hosts().find(before_.name);
    if (now == nullptr) return QStringLiteral("%1 is no machine of the list any more: it was removed or renamed").arg(old_name);
    for (const app::HostField& field : app::host_fields()) {
      if (field.text(edited_) == field.text(before_)) (void)field.set(host, field.text(*now));
    }
  }
  return book_.put(host, old_name);
}

void HostDialog::accept() {
  for (const app::HostField& field : app::host_fields()) check(field);
  for (const app::HostField& field : app::host_fields()) {
    const QString key = qt_text(field.key);
    if (!fields_.contains(key)) continue;
    if (!problems_[key]->text().isEmpty()) return fields_[key]->setFocus();
  }
  const QString error = put();
  if (error.isEmpty()) return QDialog::accept();
  refused_->setText(QStringLiteral("✕ ") + error);
  grow();
}

}  // namespace n2nq::ui
