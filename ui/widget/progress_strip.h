// SPDX-License-Identifier: GPL-3.0-or-later
// How far the run is: a thin bar and "62 % · 9 s left". Of fixed size, painted by itself.
#pragma once

#include <QWidget>

#include "ui/theme/theme.h"

namespace n2nq::ui {

class ProgressStrip : public QWidget {
  Q_OBJECT
 public:
  explicit ProgressStrip(const Theme& theme, QWidget* parent = nullptr);
  enum class Tone { good, bad };
  /// `share` 0…1, negative: unknown (until stopped); `text` stands below the bar, which has the colour of `tone`.
  void set_progress(double share, const QString& text, Tone tone = Tone::good);
  double share() const { return share_; }
  QString text() const { return text_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void tell();

  const Theme& theme_;
  double share_ = 0;
  Tone tone_ = Tone::good;
  QString text_;
};

}  // namespace n2nq::ui
