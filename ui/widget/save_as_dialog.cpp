// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/save_as_dialog.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/dialog_foot.h"

namespace n2nq::ui {

namespace {
constexpr int save_as_width_px = 400;
constexpr int name_chars_max = 60;
}  // namespace

SaveAsDialog::SaveAsDialog(PresetChoice& presets, QWidget* parent) : QDialog(parent), presets_(presets) {
  setObjectName(QStringLiteral("save_as_dialog"));
  setWindowTitle(QStringLiteral("Save as preset"));
  setFixedWidth(save_as_width_px);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  all->setSpacing(space::between);
  all->addWidget(make_label(QStringLiteral("Name of the preset"), "secondary"));
  name_ = described(new QLineEdit, "preset_name", QStringLiteral("Name of the preset"),
                    QStringLiteral("Also the name of its file: letters, digits, point, underscore and hyphen"));
  name_->setMaxLength(name_chars_max);
  all->addWidget(name_);
  problem_ = make_problem_label(QStringLiteral("preset_name_problem"));
  problem_->setMinimumHeight(2 * problem_->fontMetrics().height());
  problem_->setAlignment(Qt::AlignTop);
  all->addWidget(problem_);
  save_ = add_dialog_foot(*this, *all, "preset_cancel", "preset_save", QStringLiteral("Save"));
  connect(name_, &QLineEdit::textEdited, this, &SaveAsDialog::refresh);
  refresh();
}

bool SaveAsDialog::would_replace(const QString& name) const {
  for (const app::Preset& preset : presets_.list()) {
    if (!preset.built_in && QString::fromStdString(preset.name) == name) return true;
  }
  return false;
}

void SaveAsDialog::refresh() {
  problem_->clear();
  set_style_property(name_, "refused", false);
  save_->setText(would_replace(name_->text()) ? QStringLiteral("Replace") : QStringLiteral("Save"));
}

void SaveAsDialog::accept() {
  const QString problem = presets_.save_as(name_->text());
  if (problem.isEmpty()) return QDialog::accept();
  problem_->setText(QStringLiteral("✕ ") + problem);
  set_style_property(name_, "refused", true);
  name_->setFocus();
}

}  // namespace n2nq::ui
