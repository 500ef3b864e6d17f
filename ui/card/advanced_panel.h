// SPDX-License-Identifier: GPL-3.0-or-later
// The settings a first run needs none of: start, seed, logs, port and N2NQ's limits. Scrolls; folded away by default. In two columns where
// it is wide enough.
#pragma once

#include <QScrollArea>
#include <array>
#include <vector>

#include "ui/model/settings_form.h"
#include "ui/theme/theme.h"

class QBoxLayout;
class QGridLayout;
class QLabel;

namespace n2nq::ui {

class AdvancedPanel : public QScrollArea {
  Q_OBJECT
 public:
  AdvancedPanel(SettingsForm& form, const Theme& theme, QWidget* parent = nullptr);

  /// Whether this panel holds the field of the key.
  static bool holds(const QString& key);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add_column(int column);
  void arrange();
  QWidget* make_field(const QString& key);
  QLabel* make_pending_note();

  SettingsForm& form_;
  const Theme& theme_;
  QBoxLayout* flow_ = nullptr;
  std::array<QGridLayout*, 2> columns_{};
  std::vector<QLabel*> labels_;
};

}  // namespace n2nq::ui
