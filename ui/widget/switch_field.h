// SPDX-License-Identifier: GPL-3.0-or-later
// A key that is on or off, as a switch with its name and a line of explanation. Holds no value of its own: the SettingsForm does.
#pragma once

#include <QAbstractButton>

#include "ui/model/settings_form.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class SwitchField : public QAbstractButton {
  Q_OBJECT
 public:
  /// `meaning` stands in the tooltip before the key's own. Keys whose value is "false" are off; any other value is on, and comes back
  /// when it is switched on again.
  SwitchField(SettingsForm& form, const QString& key, const QString& meaning, const Theme& theme, QWidget* parent = nullptr);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 signals:
  /// Switched by a person, not by a preset.
  void switched(bool on);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void show_value();
  void show_lock();
  void turn(bool on);

  SettingsForm& form_;
  QString key_, meaning_, last_on_;
  const Theme& theme_;
};

}  // namespace n2nq::ui
