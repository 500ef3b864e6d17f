// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a form: label, fields, and below them the line that says what was refused. Labels of one form share a column.
#pragma once

#include <QStringList>
#include <QWidget>

#include "ui/model/settings_form.h"

class QGridLayout;
class QHBoxLayout;

namespace n2nq::ui {

class FormRows : public QWidget {
  Q_OBJECT
 public:
  explicit FormRows(SettingsForm& form, QWidget* parent = nullptr);

  /// Adds a row whose problems are those of `keys`; its fields are added to the returned layout, which ends with a stretch.
  QHBoxLayout* add_row(const QString& label, const QStringList& keys);
  /// The same with a control in the label's place.
  QHBoxLayout* add_row(QWidget* label, const QStringList& keys);

 private:
  SettingsForm& form_;
  QGridLayout* grid_;
  int row_ = 0;
};

}  // namespace n2nq::ui
