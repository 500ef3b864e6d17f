// SPDX-License-Identifier: GPL-3.0-or-later
// A live aggregate: a large figure with its unit, and up to two lines of caption.
//
// Painted by itself, not a label: ten updates a second of many figures must not make any layout work.
#pragma once

#include <QStringList>
#include <QWidget>

#include "ui/model/taint.h"
#include "ui/text/figures.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class Tile : public QWidget {
  Q_OBJECT
 public:
  enum class Size { large, small };  // small: body-sized figure, one caption line
  Tile(const Theme& theme, Size size, const QString& meaning, QWidget* parent = nullptr);

  void set_caption(const QString& caption) { put(caption_, caption); }
  void set_meaning(const QString& meaning) { put(meaning_, meaning); }
  /// A second figure, behind the caption: what the detail says is then of both.
  void set_second(const QString& second) { put(second_, second); }
  void set_detail(const QString& detail) { put(detail_, detail); }
  /// `exact`: all digits, for the tooltip. `shorter` is shown when the figure does not fit.
  void set_figure(const Figure& figure, const QString& exact = {}, const QString& shorter = {});
  /// Draws the figure in the colour of what it makes of the run, with its sign; tooltip and description say it.
  void set_taint(Taint taint);
  Taint taint() const { return taint_; }
  /// Draws the figure in grey: it tells less than it seems to.
  void set_dimmed(bool dimmed);
  bool dimmed() const { return dimmed_; }
  QString text() const { return figure_.text(); }
  /// The caption, and the second figure behind it.
  QString caption() const;
  const QString& detail() const { return detail_; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void put(QString& field, const QString& text);
  void describe();

  const Theme& theme_;
  Size size_;
  QString meaning_, caption_, second_, detail_;
  Figure figure_;
  QString exact_, shorter_;
  Taint taint_ = Taint::none;
  bool dimmed_ = false;
};

}  // namespace n2nq::ui
