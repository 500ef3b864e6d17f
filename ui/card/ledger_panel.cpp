// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/ledger_panel.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <cstring>

#include "ui/text/figures.h"
#include "ui/text/tabular.h"
#include "ui/text/verdict_text.h"

namespace n2nq::ui {

namespace {

constexpr int row_px = 16;
constexpr int pad_px = space::between;
constexpr int column_gap_px = 20;
constexpr int sign_px = 12;  // for what joins the counts of a balance
constexpr int lines = 16;    // headline, sum, and the longer column with its titles
constexpr int lines_with_warm_up = 18;
constexpr int sum_lines_max = 3;
enum GroupAt : std::size_t { messages_at, copies_at, findings_at, reference_at, warm_up_at };

}  // namespace

const std::vector<LedgerPanel::Group>& LedgerPanel::groups() {
  static const std::vector<Group> all = {
      {"messages in balance",
       "A part of the balance: attempted = accepted + refused + lost before queue",
       {{"attempted", "Messages the senders have offered to N2NQ", Taint::none},
        {"accepted", "Messages N2NQ has taken in", Taint::none},
        {"refused", "Messages N2NQ has refused, with a named error", Taint::degrades},
        {"lost before queue", "Messages that were sent and that N2NQ never took in, because a connection or a process broke before",
         Taint::breaks}}},
      {"copies in balance",
       "A part of the balance: what was accepted is the sum of what stands below it",
       {{"copies accepted", "Deliveries to be made of what N2NQ has taken in: once to each receiver (broadcaster), or once (load balancer)",
         Taint::none},
        {"delivered", "Copies that arrived at their receiver, each counted once", Taint::none},
        {"expired", "Removed from the queue at its retention before the receiver got it", Taint::degrades},
        {"unrequested", "Not sent, because the receiver's request does not ask for it; no fault", Taint::none},
        {"parked", "Put aside after the most attempts, and never arrived whole; what did arrive stands under delivered", Taint::degrades},
        {"cut off", "Not sent any more to a receiver that took its messages too slowly", Taint::degrades},
        {"still queued", "In the queue when the run ended; degrades the run unless it was stopped", Taint::degrades},
        {"lost", "Sent and never arrived: found by comparing which were accepted with which arrived", Taint::breaks},
        {"unexplained", "What remains when all of these are taken off what was accepted; has to be 0", Taint::breaks}}},
      {"findings, in no balance",
       "A finding beside the balance: any of these makes the verdict worse",
       {{"duplicated", "Arrived more than once; degrades the run unless it is marked as sent again", Taint::degrades},
        {"parked, delivered",
         "Of delivered: N2NQ gave them up after the most attempts, because the receiver that has them refused them or answered too late",
         Taint::degrades},
        {"out of order", "Arrived after a later message of the same sender, without being marked as sent again", Taint::degrades},
        {"negative", "Deliveries whose latency came out below zero: clocks that do not fit", Taint::degrades},
        {"unexpected", "Arrived though nobody sent it, or not to this receiver", Taint::breaks},
        {"wrong checksum", "Arrived with other bytes than were sent; counted as nothing else, because nothing in it can be relied on",
         Taint::breaks},
        {"not asked for", "Arrived though no request of its receiver, that can have been in force, asks for it", Taint::breaks}}},
      {"for comparison",
       "Neither a part of the balance nor a finding",
       {{"expected", "Deliveries that the plan comes to: messages times receivers (broadcaster), or messages (load balancer)", Taint::none},
        {"confirmed", "Deliveries whose receiver confirmed them: it has the message, whole and checked", Taint::none},
        {"sent again", "Deliveries marked as redelivered: sent once more because they were not confirmed; no fault", Taint::none}}},
      {"warm-up, in no other count",
       "Neither a part of the balance nor a finding",
       {{"warm-up sent", "Messages the senders have offered before the first one that counts; in no figure and no other count",
         Taint::none},
        {"warm-up received", "Deliveries of warm-up messages; what is lost or expires of them stands among the reasons of the verdict",
         Taint::none}}},
  };
  return all;
}

LedgerPanel::LedgerPanel(RunActions& actions, const Theme& theme, QWidget* parent) : QWidget(parent), actions_(actions), theme_(theme) {
  setObjectName(QStringLiteral("ledger_panel"));
  setAccessibleName(QStringLiteral("Ledger"));
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::MinimumExpanding);
  for (const Group& group : groups()) {
    auto& cells = cells_.emplace_back();
    for (const Count& count : group.counts) cells.push_back({&group, &count});
  }
  connect(&theme, &Theme::changed, this, [this] { update(); });
  connect(&actions_.run(), &app::RunControl::state_changed, this, [this] { show_figures(actions_.run().figures()); });
  clear_figures();
}

std::size_t LedgerPanel::groups_shown() const {
  return warm_up_ ? cells_.size() : std::size_t{warm_up_at};
}

void LedgerPanel::put(const char* name, std::int64_t value, bool known) {
  put_tainting(name, value, value, known);
}

void LedgerPanel::put_tainting(const char* name, std::int64_t value, std::int64_t tainting, bool known) {
  for (auto& group : cells_) {
    for (Cell& cell : group) {
      if (std::strcmp(cell.count->name, name) == 0) cell.value = value, cell.tainting = tainting, cell.known = known;
    }
  }
}

const LedgerPanel::Cell* LedgerPanel::find(const QString& name) const {
  for (const auto& group : cells_) {
    for (const Cell& cell : group) {
      if (name == QLatin1String(cell.count->name)) return &cell;
    }
  }
  return nullptr;
}

QString LedgerPanel::value(const QString& name) const {
  const Cell* cell = find(name);
  return cell != nullptr && cell->known ? count_text(cell->value) : dash();
}

QString LedgerPanel::meaning(const QString& name) const {
  const Cell* cell = find(name);
  return cell != nullptr ? QString::fromUtf8(cell->count->meaning) : QString();
}

Taint LedgerPanel::taint(const QString& name) const {
  const Cell* cell = find(name);
  return cell != nullptr ? taint_of(*cell) : Taint::none;
}

Taint LedgerPanel::taint_of(const Cell& cell) {
  return cell.known && cell.tainting != 0 ? cell.count->taint : Taint::none;
}

void LedgerPanel::clear_figures() {
  for (auto& group : cells_) {
    for (Cell& cell : group) cell.known = false;
  }
  over_ = warm_up_ = false;
  headline_ = QStringLiteral("No run yet: every message will be accounted for here.");
  sum_.clear();
  describe();
  update();
}

void LedgerPanel::show_figures(const app::LiveFigures& f) {
  const app::RunState state = actions_.run().state();
  if (state == app::RunState::idle || state == app::RunState::preparing) return;
  const app::Settings& settings = actions_.shown_settings();
  const auto planned = settings.planned_messages();
  put("attempted", f.attempted);
  put("accepted", f.accepted);
  put("copies accepted", f.accepted * settings.copies());
  put("expected", (planned ? *planned : f.attempted) * settings.copies());
  // What only one group counts is not known where it gave no final account.
  const bool by_receivers = !f.lacks_receivers();
  put("delivered", f.received - f.duplicated, by_receivers);
  put("expired", f.expired);
  put("unrequested", f.unrequested);
  put("parked", f.parked);
  put("parked, delivered", f.parked_delivered);
  put("cut off", f.cut_off);
  put("confirmed", f.confirmed, settings.queue.responses && by_receivers);
  put("sent again", f.redelivered, by_receivers);
  put_tainting("duplicated", f.duplicated, f.duplicated_unflagged, by_receivers);
  put("out of order", f.out_of_order, by_receivers);
  put("unexpected", f.unexpected, by_receivers);
  put("negative", f.negative, by_receivers);
  put("wrong checksum", f.bad_checksum, by_receivers);
  put("not asked for", f.unasked, by_receivers);
  put("warm-up sent", f.warm_up.sent, f.warm_up.planned > 0);
  put("warm-up received", f.warm_up.received, f.warm_up.planned > 0);
  if (const bool warm_up = f.warm_up.planned > 0; warm_up != warm_up_) {
    warm_up_ = warm_up;
    updateGeometry();
  }
  over_ = f.settled.has_value() && state == app::RunState::finished;
  balanced_ = true;
  sum_.clear();
  if (over_) {
    settle(f);
  } else {
    for (const char* name : {"refused", "lost before queue", "still queued", "lost", "unexplained"}) put(name, -1, false);
    headline_ = state == app::RunState::finished ? QStringLiteral("No ledger: nothing was sent.")
                                                 : QStringLiteral("So far; what is lost is found when all is over.");
  }
  describe();
  update();
}

void LedgerPanel::settle(const app::LiveFigures& f) {
  const app::LiveFigures::Settled& end = *f.settled;
  put("refused", end.refused, !f.lacks_senders());
  put("lost before queue", end.lost_before_queue, !f.lacks_senders());
  put("expected", end.expected);
  put("copies accepted", end.accepted);
  put("delivered", end.delivered);
  put_tainting("still queued", end.still_queued, end.stopped ? 0 : end.still_queued, true);
  put("lost", f.lost);
  put("unexplained", end.unexplained);
  balanced_ = end.balanced;
  const app::RunOutcome& outcome = actions_.run().outcome();
  headline_ = QStringLiteral("Verdict: ") + verdict_word(outcome.verdict) + disturbed_sign(!outcome.disturbances.isEmpty());
  QStringList parts;
  for (const Cell& cell : cells_[copies_at]) {
    const bool whole = &cell == &cells_[copies_at].front();
    if (!whole && (cell.value != 0 || std::strcmp(cell.count->name, "delivered") == 0))
      parts << count_text(cell.value) + u' ' + QLatin1String(cell.count->name);
  }
  sum_ = QStringLiteral("%1 copies accepted = %2").arg(count_text(end.accepted), parts.join(QStringLiteral(" + ")));
}

// As many lines as it takes and there is room for, broken before a part; what is left over is cut off in the last one.
QStringList LedgerPanel::sum_lines() const {
  if (sum_.isEmpty()) return {QString()};
  const QFontMetrics metrics(theme_.font(TextStyle::caption));
  const int room = width() - 2 * pad_px;
  const int lines_most = qBound(1, 1 + (height() - sizeHint().height()) / row_px, sum_lines_max);
  const QString plus = QStringLiteral(" + ");
  QStringList parts = sum_.split(plus);
  QStringList out{(balanced_ ? QStringLiteral("✓ ") : QStringLiteral("✕ ")) + parts.takeFirst()};
  for (const QString& part : parts) {
    const QString longer = out.last() + plus + part;
    if (out.size() == lines_most || tabular_width(metrics, longer) <= room) {
      out.last() = longer;
    } else {
      out << plus.trimmed() + u' ' + part;
    }
  }
  out.last() = metrics.elidedText(out.last(), Qt::ElideRight, room);
  return out;
}

void LedgerPanel::describe() {
  QStringList lines{headline_};
  if (!sum_.isEmpty()) lines << sum_;
  for (const auto& group : cells_) {
    for (const Cell& cell : group) {
      if (cell.known) lines << QStringLiteral("%1: %2").arg(QLatin1String(cell.count->name), count_text(cell.value));
    }
  }
  setAccessibleDescription(lines.join(QStringLiteral("; ")));
}

QSize LedgerPanel::sizeHint() const {
  return {3 * 112, (warm_up_ ? lines_with_warm_up : lines) * row_px + space::in_row + 2 * pad_px};
}

// Two columns below the headline: on the left messages, findings and warm-up, on the right copies and what to compare them with.
QRect LedgerPanel::cell_box(std::size_t group, std::size_t row) const {
  const int room = width() - 2 * pad_px;
  const int column = (room - column_gap_px) / 2;
  const bool right = group == copies_at || group == reference_at;
  std::size_t line = row + 1;                            // below its title
  for (std::size_t above = 0; above < group; ++above) {  // below the groups of the same column
    const bool above_right = above == copies_at || above == reference_at;
    if (above_right == right) line += cells_[above].size() + 1;
  }
  const int top = pad_px + (1 + static_cast<int>(sum_lines().size())) * row_px + space::in_row;  // below headline and sum
  return {pad_px + (right ? column + column_gap_px : 0), top + static_cast<int>(line) * row_px, column, row_px};
}

const LedgerPanel::Cell* LedgerPanel::cell_at(const QPoint& at) const {
  for (std::size_t group = 0; group < groups_shown(); ++group) {
    for (std::size_t row = 0; row < cells_[group].size(); ++row) {
      if (cell_box(group, row).contains(at)) return &cells_[group][row];
    }
  }
  return nullptr;
}

bool LedgerPanel::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const Cell* cell = cell_at(help->pos());
  if (cell != nullptr) {
    explain(*cell, help->globalPos());
  } else {
    QToolTip::showText(help->globalPos(), sum_.isEmpty() ? headline_ : sum_, this);
  }
  return true;
}

void LedgerPanel::explain(const Cell& cell, const QPoint& at) {
  const QString known = cell.known ? count_text(cell.value) : QStringLiteral("not known yet");
  QToolTip::showText(
      at,
      QStringLiteral("%1: %2\n%3\n%4")
          .arg(QLatin1String(cell.count->name), known, QString::fromUtf8(cell.count->meaning), QString::fromUtf8(cell.group->role)),
      this);
}

// With the keyboard: up and down go from count to count and tell its meaning.
void LedgerPanel::keyPressEvent(QKeyEvent* event) {
  const bool up = event->key() == Qt::Key_Up, down = event->key() == Qt::Key_Down;
  if (!up && !down) return QWidget::keyPressEvent(event);
  int total = 0;
  for (std::size_t group = 0; group < groups_shown(); ++group) total += static_cast<int>(cells_[group].size());
  current_ = (current_ < 0 ? (up ? total - 1 : 0) : current_ + (up ? total - 1 : 1)) % total;
  int at = current_;
  std::size_t group = 0;
  while (at >= static_cast<int>(cells_[group].size())) at -= static_cast<int>(cells_[group++].size());
  explain(cells_[group][static_cast<std::size_t>(at)], mapToGlobal(cell_box(group, static_cast<std::size_t>(at)).bottomLeft()));
  update();
}

void LedgerPanel::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  current_ = -1;
  QToolTip::hideText();
}

QColor LedgerPanel::tone_of(const Cell& cell) const {
  const Tokens& t = theme_.tokens();
  if (!cell.known) return t.secondary;
  const Taint taint = taint_of(cell);
  return taint == Taint::breaks ? t.bad : taint == Taint::degrades ? t.warning : t.text;
}

void LedgerPanel::paintEvent(QPaintEvent* event) {
  Q_UNUSED(event);
  const Tokens& t = theme_.tokens();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(hasFocus() ? QPen(t.primary, 1) : QPen(Qt::NoPen));
  painter.setBrush(t.background);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius_px, radius_px);
  const QFont caption = theme_.font(TextStyle::caption), strong = theme_.font(TextStyle::strong);
  const QFontMetrics metrics(caption);
  const auto baseline = [&metrics](const QRect& box) { return box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2.0; };

  const int room = width() - 2 * pad_px;
  const QRect head(pad_px, pad_px, room, row_px);
  painter.setFont(over_ ? strong : caption);
  painter.setPen(over_ ? verdict_color(verdict_word(actions_.run().outcome().verdict), t) : t.secondary);
  painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(headline_, Qt::ElideRight, room));
  painter.setFont(caption);
  painter.setPen(balanced_ ? t.text : t.bad);
  QRect line = head;
  for (const QString& text : sum_lines()) {
    line.translate(0, row_px);
    draw_tabular(painter, QPointF(pad_px, baseline(line)), text);
  }

  for (std::size_t group = 0, place = 0; group < groups_shown(); place += cells_[group++].size()) {
    paint_title(painter, group);
    for (std::size_t row = 0; row < cells_[group].size(); ++row) {
      const QRect box = cell_box(group, row);
      if (static_cast<int>(place + row) == current_) {
        painter.fillRect(box.adjusted(-space::in_row, 0, space::in_row, 0), mixed(t.primary, t.background, 0.15));
      }
      paint_cell(painter, cells_[group][row], box, row);
    }
  }
}

void LedgerPanel::paint_title(QPainter& painter, std::size_t group) const {
  const Tokens& t = theme_.tokens();
  const QRect title = cell_box(group, 0).translated(0, -row_px);
  painter.setPen(t.secondary);
  painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(QString::fromUtf8(groups()[group].title), Qt::ElideRight, title.width()));
  painter.setPen(QPen(t.border, 1));
  painter.drawLine(QPointF(title.left(), title.bottom() + 0.5), QPointF(title.right(), title.bottom() + 0.5));
}

void LedgerPanel::paint_cell(QPainter& painter, const Cell& cell, const QRect& box, std::size_t row) const {
  const QFontMetrics metrics = painter.fontMetrics();
  const qreal baseline = box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2.0;
  const QColor tone = tone_of(cell);
  const Taint taint = taint_of(cell);
  const bool balanced = cell.group == &groups()[messages_at] || cell.group == &groups()[copies_at];
  painter.setPen(theme_.tokens().secondary);
  if (balanced && row > 0) painter.drawText(QPointF(box.left(), baseline), row == 1 ? QStringLiteral("=") : QStringLiteral("+"));
  const QString name = taint_sign(taint) + QLatin1String(cell.count->name);
  painter.setPen(taint != Taint::none ? tone : theme_.tokens().secondary);
  painter.drawText(QPointF(box.left() + (balanced ? sign_px : 0), baseline), name);
  const QString value = cell.known ? count_text(cell.value) : dash();
  painter.setPen(tone);
  draw_tabular(painter, QPointF(box.left() + box.width() - tabular_width(QFontMetricsF(painter.font()), value), baseline), value);
}

}  // namespace n2nq::ui
