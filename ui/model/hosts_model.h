// SPDX-License-Identifier: GPL-3.0-or-later
// Lab machines as rows: what the hosts file says of each, and what the last check found. The first row is this machine.
#pragma once

#include <QAbstractTableModel>

#include "app/host/host_book.h"
#include "app/host/host_report.h"
#include "ui/model/throttle.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

/// What both tables of machines have: a row for this machine and one for each of the book, shown anew when these, the check or the colours
/// change.
class MachinesModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// `checker` may be null: then nothing is ever checked.
  MachinesModel(const app::HostBook& book, const app::HostChecker* checker, const Theme& theme, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;

 protected:
  const app::HostBook& book_;
  const app::HostChecker* checker_;
  const Theme& theme_;

 private:
  void repaint();

  Throttle repaint_;  // of many machines each says at nearly the same moment what was found
};

class HostsModel : public MachinesModel {
  Q_OBJECT
 public:
  static constexpr int name_column = 0, address_column = 1, first_check_column = 2;

  using MachinesModel::MachinesModel;

  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  /// Null: the row of this machine, or no row.
  const app::Host* host(int row) const;

 private:
  QVariant said(const app::Host* host, int column, int role) const;
  QVariant found(const std::string& name, int column, int role) const;
};

/// The ways between machines: a row for where from, a column for where to.
class PathsModel : public MachinesModel {
  Q_OBJECT
 public:
  using MachinesModel::MachinesModel;

  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::string name(int place) const;
  QStringList names() const;
};

}  // namespace n2nq::ui
