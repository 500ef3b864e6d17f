// SPDX-License-Identifier: GPL-3.0-or-later
// The run's ledger: every count with its meaning, as far as it is known while messages flow, and all of it at the end, with the sum that
// has to come out. Painted by itself; it changes ten times a second.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/model/run_actions.h"
#include "ui/model/taint.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class LedgerPanel : public QWidget {
  Q_OBJECT
 public:
  LedgerPanel(RunActions& actions, const Theme& theme, QWidget* parent = nullptr);

  void show_figures(const app::LiveFigures& figures);
  void clear_figures();
  /// The count as it is shown; a dash where it is not known yet.
  QString value(const QString& name) const;
  /// What a count means, and what it says about the run.
  QString meaning(const QString& name) const;
  /// What this count makes of the run now.
  Taint taint(const QString& name) const;
  /// The sum: "1 000 accepted = 990 delivered + 10 expired".
  QString sum() const { return sum_; }
  /// The same as it is shown, line by line.
  QStringList sum_lines() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Count {
    const char* name;
    const char* meaning;
    Taint taint;  // what more than none of it makes of the run
  };
  struct Group {
    const char* title;
    const char* role;  // in the tooltip of each of its counts
    std::vector<Count> counts;
  };
  struct Cell {
    const Group* group;
    const Count* count;
    std::int64_t value = -1;
    std::int64_t tainting = 0;  // how much of the value the count's taint is for
    bool known = false;
  };

  static const std::vector<Group>& groups();
  /// The groups that are shown: warm-up only where there is one.
  std::size_t groups_shown() const;
  void put(const char* name, std::int64_t value, bool known = true);
  void put_tainting(const char* name, std::int64_t value, std::int64_t tainting, bool known);
  static Taint taint_of(const Cell& cell);
  const Cell* find(const QString& name) const;
  /// Which cell is where; null: none.
  const Cell* cell_at(const QPoint& at) const;
  QRect cell_box(std::size_t group, std::size_t row) const;
  void paint_title(QPainter& painter, std::size_t group) const;
  void paint_cell(QPainter& painter, const Cell& cell, const QRect& box, std::size_t row) const;
  void explain(const Cell& cell, const QPoint& at);
  QColor tone_of(const Cell& cell) const;
  void settle(const app::LiveFigures& figures);
  void describe();

  RunActions& actions_;
  const Theme& theme_;
  std::vector<std::vector<Cell>> cells_;  // by group
  QString headline_, sum_;
  bool over_ = false, balanced_ = true, warm_up_ = false;
  int current_ = -1;  // the count that the keyboard is at
};

}  // namespace n2nq::ui
