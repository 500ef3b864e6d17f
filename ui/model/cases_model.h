// SPDX-License-Identifier: GPL-3.0-or-later
// Test cases as rows of a table, each with a box to tick. Holds nothing: the CasesDesk does.
#pragma once

#include <QAbstractTableModel>
#include <optional>

#include "ui/model/cases_desk.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class CasesModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { tick, name, sweep, figures, runs, state, column_count };

  CasesModel(CasesDesk& desk, const Theme& theme, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  QString text(const CasesDesk::Row& row, int column) const;
  QString tooltip(const CasesDesk::Row& row) const;
  QVariant color(const CasesDesk::Row& row, int column) const;

  CasesDesk& desk_;
  const Theme& theme_;
  int count_;  // of rows, as was told
};

/// "○ not begun", "● running", "◕ paused", "◕ stopped", "✓ done", …
QString case_state_text(const CasesDesk::Row& row);
/// "0.1–1 s × 1–50 services × 4 sets".
QString sweep_text(const app::CaseFile& file, app::Scale scale);
/// What the sets are: "broadcaster, load balancer × external, internal"; empty: there is one.
QString sets_text(const app::CaseFile& file, app::Scale scale);
/// 16 of "fig-16", which a figure of the thesis is called by.
std::optional<int> figure_number(const app::CaseFigure& figure);
/// "Fig. 13, 22–23, 29–30".
QString figures_text(const app::CaseFile& file);

}  // namespace n2nq::ui
