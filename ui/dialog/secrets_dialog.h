// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for what only the person knows. What is typed is handed over once and kept nowhere here.
#pragma once

#include <QDialog>
#include <QList>

#include "app/host/ssh_questions.h"

class QCheckBox;
class QLabel;
class QLineEdit;

namespace n2nq::ui {

class SecretsDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SecretsDialog(const app::SecretQuestion& question, QWidget* parent = nullptr);
  ~SecretsDialog() override;
  /// As many as there were prompts; the fields are empty afterwards.
  std::vector<app::Secret> take_answers();
  /// A box to tick; with a problem it cannot be.
  void offer_keyring(const QString& problem);
  bool wants_keyring() const;

 protected:
  /// Enter goes to the next field that is empty, and on from the last.
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QCheckBox* keyring_ = nullptr;
  QLabel* no_keyring_ = nullptr;  // why there is none
  QList<QLineEdit*> fields_;
};

}  // namespace n2nq::ui
