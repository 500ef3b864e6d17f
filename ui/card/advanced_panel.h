// SPDX-License-Identifier: GPL-3.0-or-later
// The settings a first run needs none of: start, seed, logs, port and N2NQ's limits. Scrolls; folded away by default.
#pragma once

#include <QHBoxLayout>
#include <QScrollArea>

#include "ui/model/settings_form.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class AdvancedPanel : public QScrollArea {
  Q_OBJECT
 public:
  AdvancedPanel(SettingsForm& form, const Theme& theme, QWidget* parent = nullptr);

  /// Whether this panel holds the field of the key.
  static bool holds(const QString& key);

 private:
  QWidget* make_field(const QString& key);
  QHBoxLayout* make_pending_row();
  SettingsForm& form_;
  const Theme& theme_;
};

}  // namespace n2nq::ui
