// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for a preset's name; a refused name is said beside the field, with what would be right.
#pragma once

#include <QDialog>

#include "ui/model/preset_choice.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace n2nq::ui {

class SaveAsDialog : public QDialog {
  Q_OBJECT
 public:
  SaveAsDialog(PresetChoice& presets, QWidget* parent);

  void accept() override;

 private:
  bool would_replace(const QString& name) const;
  void refresh();

  PresetChoice& presets_;
  QLineEdit* name_;
  QLabel* problem_;
  QPushButton* save_;
};

}  // namespace n2nq::ui
