// SPDX-License-Identifier: GPL-3.0-or-later
// Takes machines over from ~/.ssh/config: only their names, so that what stands there for them stays the one place where it is said.
#pragma once

#include <QDialog>

#include "app/host/host_book.h"

class QLabel;
class QListWidget;
class QPushButton;

namespace n2nq::ui {

/// What ~/.ssh/config has to offer.
struct ImportOffer {
  QStringList names;     // of machines
  QStringList problems;  // why there may be more of them: sentences
};

class ImportDialog : public QDialog {
  Q_OBJECT
 public:
  /// Machines that are in the book already are shown and cannot be chosen.
  ImportDialog(app::HostBook& book, const ImportOffer& offer, QWidget* parent = nullptr);
  void accept() override;

 private:
  QStringList chosen() const;
  void refresh();

  app::HostBook& book_;
  QListWidget* list_;
  QLabel* problem_;
  QPushButton* take_;
  Qt::CheckState pressed_ = Qt::Unchecked;  // of the row that was pressed, before that
};

}  // namespace n2nq::ui
