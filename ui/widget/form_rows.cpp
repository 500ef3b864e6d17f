// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/form_rows.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>

#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

FormRows::FormRows(SettingsForm& form, QWidget* parent) : QWidget(parent), form_(form), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(space::between);
  grid_->setVerticalSpacing(0);  // the lines for what was refused keep the rows apart
  grid_->setColumnStretch(1, 1);
}

QHBoxLayout* FormRows::add_row(const QString& label, const QStringList& keys) {
  return add_row(make_label(label, "secondary"), keys);
}

QHBoxLayout* FormRows::add_row(QWidget* label, const QStringList& keys) {
  grid_->addWidget(label, row_, 0, Qt::AlignLeft | Qt::AlignVCenter);
  auto* fields = new QHBoxLayout;
  fields->setSpacing(space::in_row);
  grid_->addLayout(fields, row_, 1);
  grid_->addWidget(new ProblemLine(form_, keys), row_ + 1, 0, 1, 2);
  row_ += 2;
  return fields;
}

}  // namespace n2nq::ui
