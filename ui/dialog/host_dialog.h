// SPDX-License-Identifier: GPL-3.0-or-later
// Edits a copy of one lab machine and hands what was edited to the book; what is refused is said beside its field.
#pragma once

#include <QDialog>
#include <QHash>

#include "app/host/host_book.h"

class QGridLayout;
class QLabel;
class QLineEdit;

namespace n2nq::ui {

class HostDialog : public QDialog {
  Q_OBJECT
 public:
  /// `host`: null for a new one.
  HostDialog(app::HostBook& book, const app::Host* host, QWidget* parent = nullptr);
  void accept() override;
  /// Of the host that was put into the book.
  QString name() const { return QString::fromStdString(edited_.name); }

 private:
  void add_row(QGridLayout& grid, const app::HostField& field);
  void add_box(QGridLayout& grid, const app::HostField& field);
  void check(const app::HostField& field);
  void grow();
  QString put();

  app::HostBook& book_;
  app::Host edited_;
  app::Host before_;  // as it was when this opened; without a name: it is new
  QHash<QString, QLineEdit*> fields_;  // but those that are yes or no, which cannot be wrong
  QHash<QString, QLabel*> problems_;
  QLabel* refused_;
};

}  // namespace n2nq::ui
