// SPDX-License-Identifier: GPL-3.0-or-later
// The state of one process: a sign, whose process it is, and the state's word. Of fixed width, so that nothing moves when it changes.
#pragma once

#include <QWidget>

#include "app/control/run_control.h"
#include "ui/theme/theme.h"

class QPainter;

namespace n2nq::ui {

/// ○ ◔ ◑ ● ◕ ✓ ✕, drawn, because not every font has them.
void draw_state_sign(QPainter& painter, const QRectF& box, app::ProcessState state, const Tokens& tokens);

class StateLight : public QWidget {
  Q_OBJECT
 public:
  StateLight(const Theme& theme, app::Role role, QWidget* parent = nullptr);
  /// `amount`: how many services the process runs; 0 for the broker.
  void set_state(const app::ProcessStatus& status, int amount);
  QString word() const { return word_; }
  /// Whether the word fits beside the sign.
  bool is_word_whole() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  app::Role role_;
  app::ProcessState state_ = app::ProcessState::not_started;
  bool paused_ = false;
  QString name_, word_;
};

}  // namespace n2nq::ui
