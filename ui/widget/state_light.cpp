// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/state_light.h"

#include <QFontMetrics>
#include <QPainter>
#include <QRegularExpression>

#include "ui/text/figures.h"
#include "ui/text/tooltip.h"
#include "ui/theme/glyph_icon.h"

namespace n2nq::ui {

namespace {

constexpr int sign_px = 10;
constexpr int name_left_px = sign_px + 6;

struct Sign {
  double filled;  // share of the disc, clockwise from the top
  QColor color;
};

Sign sign_of(app::ProcessState state, const Tokens& t) {
  switch (state) {
    case app::ProcessState::starting:
      return {0.25, t.warning};
    case app::ProcessState::waiting:
      return {0.5, t.warning};
    case app::ProcessState::running:
      return {1, t.good};
    case app::ProcessState::ending:
      return {0.75, t.warning};
    default:
      return {0, t.secondary};
  }
}

QString connected_words(std::int64_t connected, std::int64_t all) {
  return QStringLiteral("%1/%2 connected").arg(count_text(connected), count_text(all));
}

// What is waited for in two words; all of it stands in the tooltip.
QString short_wait(const QString& waiting_for) {
  static const QRegularExpression connected(QStringLiteral("\\(([0-9]+) of ([0-9]+) connected\\)"));
  const QRegularExpressionMatch match = connected.match(waiting_for);
  if (match.hasMatch()) return connected_words(match.captured(1).toLongLong(), match.captured(2).toLongLong());
  if (waiting_for.contains(QStringLiteral("being compared"))) return QStringLiteral("comparing clocks");
  if (waiting_for.contains(QStringLiteral(" and "))) return QStringLiteral("waiting for services");
  if (waiting_for == QLatin1String("the first message")) return QStringLiteral("waiting for messages");
  static const QRegularExpression amount(QStringLiteral("^[0-9]+ "));
  return QStringLiteral("waiting for ") + QString(waiting_for).remove(amount).section(u' ', 0, 0);
}

}  // namespace

void draw_state_sign(QPainter& painter, const QRectF& box, app::ProcessState state, const Tokens& tokens) {
  painter.setRenderHint(QPainter::Antialiasing);
  if (state == app::ProcessState::ended) return draw_glyph(painter, Glyph::check, box.adjusted(-2, -2, 2, 2), tokens.good);
  if (state == app::ProcessState::died) return draw_glyph(painter, Glyph::close, box.adjusted(-3, -3, 3, 3), tokens.bad);
  const Sign sign = sign_of(state, tokens);
  const QRectF disc = box.adjusted(0.75, 0.75, -0.75, -0.75);
  painter.setPen(QPen(sign.color, 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(disc);
  if (sign.filled <= 0) return;
  constexpr int full_turn = 360 * 16;
  constexpr int top = 90 * 16;
  painter.setPen(Qt::NoPen);
  painter.setBrush(sign.color);
  if (sign.filled >= 1) return painter.drawEllipse(disc);
  painter.drawPie(disc, top, -static_cast<int>(sign.filled * full_turn));
}

StateLight::StateLight(const Theme& theme, app::Role role, QWidget* parent) : QWidget(parent), theme_(theme), role_(role) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(&theme, &Theme::changed, this, [this] { updateGeometry(); });
  set_state({}, 0);
}

void StateLight::set_state(const app::ProcessStatus& status, int amount) {
  state_ = status.state;
  name_ = amount > 0 ? amount_text(role_, amount) : role_word(role_);
  paused_ = status.paused;
  word_ = state_word(status);
  QString more = word_;
  if (status.state == app::ProcessState::waiting && !status.waiting_for.isEmpty()) {
    word_ = short_wait(status.waiting_for);
    more = QStringLiteral("waiting for ") + status.waiting_words();
  }
  if (!status.advice.isEmpty()) more += QStringLiteral(". ") + status.advice;
  if (status.copied_percent >= 0) more = QStringLiteral("its program is being copied to its machine: %1 %").arg(status.copied_percent);
  if (status.state == app::ProcessState::died && !status.error.isEmpty()) more += QStringLiteral(": ") + status.error;
  setToolTip(tooltip_of(QStringLiteral("%1: %2").arg(name_, more)));
  setAccessibleName(QStringLiteral("State of %1").arg(role_word(role_)));
  setAccessibleDescription(more);
  update();
}

bool StateLight::is_word_whole() const {
  return QFontMetrics(theme_.font(TextStyle::caption)).horizontalAdvance(word_) <= width() - name_left_px;
}

QSize StateLight::sizeHint() const {
  const QString widest = role_ == app::Role::broker ? role_word(role_) : count_text(2000) + u' ' + role_word(role_);
  const QFontMetrics name(theme_.font(TextStyle::body));
  const QFontMetrics word(theme_.font(TextStyle::caption));
  const int text = qMax(name.horizontalAdvance(widest), word.horizontalAdvance(connected_words(1999, 2000)));
  return {name_left_px + text, name.height() + word.height()};
}

void StateLight::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  QPainter painter(this);
  const QFont name_font = theme_.font(TextStyle::body), word_font = theme_.font(TextStyle::caption);
  const QFontMetrics name(name_font), word(word_font);
  const QRectF box(0, (name.height() - sign_px) / 2.0 + 1, sign_px, sign_px);
  if (paused_) {
    draw_glyph(painter, Glyph::pause, box.adjusted(-3, -3, 3, 3), t.warning);
  } else {
    draw_state_sign(painter, box, state_, t);
  }
  painter.setFont(name_font);
  painter.setPen(t.text);
  painter.drawText(name_left_px, name.ascent(), name_);
  painter.setFont(word_font);
  painter.setPen(state_ == app::ProcessState::died ? t.bad : t.secondary);
  painter.drawText(name_left_px, name.height() + word.ascent(), word.elidedText(word_, Qt::ElideRight, width() - name_left_px));
}

}  // namespace n2nq::ui
