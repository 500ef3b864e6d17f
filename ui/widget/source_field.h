// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses where a process runs: Local, or one of the lab machines. A host that the settings name and nobody knows is shown as such.
#pragma once

#include "app/host/host_book.h"
#include "ui/widget/setting_fields.h"

namespace n2nq::ui {

class SourceField : public ChoiceBox {
  Q_OBJECT
 public:
  SourceField(SettingsForm& form, const QString& key, const app::HostBook& book, const Theme& theme, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 private:
  void fill();
  void show_lock();

  SettingsForm& form_;
  QString key_;
  const app::HostBook& book_;
};

}  // namespace n2nq::ui
