// SPDX-License-Identifier: GPL-3.0-or-later
// What the senders send: how many of them, how much, how large, how fast, and how they start.
#pragma once

#include "ui/theme/theme.h"
#include "ui/widget/form_rows.h"

class QLabel;

namespace n2nq::ui {

class ChoiceBox;
class TextField;
class UnitEdit;

class LoadForm : public FormRows {
  Q_OBJECT
 public:
  LoadForm(SettingsForm& form, const Theme& theme, QWidget* parent = nullptr);

 private:
  void add_length_row();
  void add_size_row();
  void add_pace_row();
  void choose_length(int choice);
  void choose_size(int choice);
  void choose_pace(int choice);
  void edit_size();
  void refresh();
  void refresh_size();

  SettingsForm& form_;
  const Theme& theme_;
  ChoiceBox *length_, *size_, *pace_;
  TextField *messages_, *duration_, *delay_, *rate_;
  UnitEdit *size_min_, *size_max_;
  QLabel* size_to_;
  bool editing_size_ = false;
};

}  // namespace n2nq::ui
