// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/card.h"

#include <QLabel>
#include <QStyle>
#include <QVBoxLayout>
#include <QVariant>

#include "ui/theme/tokens.h"

namespace n2nq::ui {

Card::Card(const QString& title, QWidget* parent) : QFrame(parent), title_(new QVBoxLayout), title_row_(new QHBoxLayout), body_(new QVBoxLayout) {
  setProperty("card", true);
  setAccessibleName(title);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  all->setSpacing(space::between);
  title_row_->setSpacing(space::between);
  title_->setSpacing(0);
  title_->addWidget(make_label(title, "title"));
  title_row_->addLayout(title_);
  title_row_->addStretch(1);
  body_->setSpacing(space::between);
  all->addLayout(title_row_);
  all->addLayout(body_, 1);
}

void Card::set_subtitle(QLabel* caption, QWidget* control) {
  title_->addWidget(caption);
  title_row_->insertWidget(1, control);
}

QLabel* make_label(const QString& text, const char* role, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("role", QString::fromLatin1(role));
  return label;
}

QLabel* make_problem_label(const QString& object_name) {
  auto* label = make_label(QString(), "problem");
  label->setObjectName(object_name);
  label->setWordWrap(true);
  return label;
}

void set_label_text(QLabel* label, const QString& text) {
  label->setText(text);
  label->setAccessibleDescription(text);
}

void set_style_property(QWidget* widget, const char* name, const QVariant& value) {
  if (widget->property(name) == value) return;
  widget->setProperty(name, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
  widget->update();
}

}  // namespace n2nq::ui
