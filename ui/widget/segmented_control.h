// SPDX-License-Identifier: GPL-3.0-or-later
// Two words of one key side by side, one of them pressed; the arrow keys change over.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "ui/model/settings_form.h"

class QPushButton;

namespace n2nq::ui {

class SegmentedControl : public QWidget {
  Q_OBJECT
 public:
  /// `shown`: how each of the key's words is written, in the key's order.
  SegmentedControl(SettingsForm& form, const QString& key, const QStringList& shown, QWidget* parent = nullptr);

 private:
  void show_value();
  void show_lock();

  SettingsForm& form_;
  QString key_;
  std::vector<QPushButton*> buttons_;
};

}  // namespace n2nq::ui
