// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/elided_label.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QRegularExpression>
#include <QTextLayout>
#include <QTextOption>
#include <algorithm>

#include "ui/text/tooltip.h"

namespace n2nq::ui {

ElidedLabel::ElidedLabel(const char* role, int lines, QWidget* parent) : QLabel(parent), lines_(lines) {
  setProperty("role", QString::fromLatin1(role));
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  setTextFormat(Qt::PlainText);
  setAlignment(Qt::AlignLeft | (lines > 1 ? Qt::AlignTop : Qt::AlignVCenter));
}

void ElidedLabel::set_text(const QString& text) {
  full_ = text;
  setToolTip(tooltip_of(text));
  setAccessibleDescription(text);
  if (copy_ != nullptr) copy_->setEnabled(!text.isEmpty());
  elide();
}

void ElidedLabel::offer_copy(const QString& words, const QString& what) {
  copy_ = new QAction(words, this);
  copy_->setEnabled(!full_.isEmpty());
  copy_->setShortcut(QKeySequence::Copy);
  copy_->setShortcutContext(Qt::WidgetShortcut);
  connect(copy_, &QAction::triggered, this, [this, what] { QGuiApplication::clipboard()->setText(what.isEmpty() ? full_ : what); });
  addAction(copy_);
  setContextMenuPolicy(Qt::ActionsContextMenu);
  setFocusPolicy(Qt::ClickFocus);
}

QSize ElidedLabel::sizeHint() const {
  return {0, lines_ * fontMetrics().lineSpacing()};
}

QSize ElidedLabel::minimumSizeHint() const {
  return sizeHint();
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  elide();
}

void ElidedLabel::set_grows() {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::MinimumExpanding);
}

void ElidedLabel::set_lines_max(int lines) {
  lines_max_ = lines;
  elide();
}

bool ElidedLabel::grows() const {
  return sizePolicy().verticalPolicy() != QSizePolicy::Fixed;
}

int ElidedLabel::lines_shown() const {
  return grows() ? std::max(lines_, contentsRect().height() / fontMetrics().lineSpacing()) : std::max(lines_, lines_max_);
}

void ElidedLabel::elide() {
  const int lines_most = lines_shown();
  QStringList shown;
  for (const QString& paragraph : grows() ? full_.split(u'\n') : QStringList{full_.section(u'\n', 0, 0)}) {
    if (shown.size() == lines_most) break;
    shown += lines_of(paragraph, lines_most - shown.size());
  }
  const QString text = shown.join(u'\n');
  if (text != this->text()) setText(text);
  const int lines = std::max(1, static_cast<int>(shown.size()));
  if (lines_max_ == 0 || lines == lines_) return;
  lines_ = lines;
  updateGeometry();
}

QStringList ElidedLabel::lines_of(const QString& source, qsizetype lines_most) const {
  const int room = contentsRect().width();
  QStringList shown;
  // Lines break between words, and in one only where it is longer than a line, as paths are; a range such as "20–100" is one.
  QTextLayout layout(QString(source).replace(u'–', u'0'), font());
  QTextOption wrapping;
  wrapping.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  layout.setTextOption(wrapping);
  layout.beginLayout();
  int from = 0;
  while (shown.size() + 1 < lines_most) {
    QTextLine line = layout.createLine();
    if (!line.isValid()) break;
    line.setLineWidth(room);
    shown << source.mid(from, line.textLength()).trimmed();
    from = line.textStart() + line.textLength();
  }
  layout.endLayout();
  if (from < source.size()) shown << cut(source.mid(from), room);
  return shown;
}

/// The longest path gives of its beginning what the line is too long by; empty: there is none, or no room for its last name.
QString ElidedLabel::with_end_of_path(const QString& line, int room) const {
  static const QRegularExpression path_words(QStringLiteral("\\S*/\\S*/\\S*"));
  QRegularExpressionMatch longest;
  for (auto found = path_words.globalMatch(line); found.hasNext();) {
    const QRegularExpressionMatch path = found.next();
    if (path.capturedLength() > longest.capturedLength()) longest = path;
  }
  if (!longest.hasMatch()) return {};
  const QString path = longest.captured(), before = line.left(longest.capturedStart()), behind = line.mid(longest.capturedEnd());
  const int path_room = room - fontMetrics().horizontalAdvance(before) - fontMetrics().horizontalAdvance(behind);
  if (fontMetrics().horizontalAdvance(QStringLiteral("…/") + path.section(u'/', -1)) > path_room) return {};
  return before + fontMetrics().elidedText(path, Qt::ElideLeft, path_room) + behind;
}

/// Between words, or half an address would be read as a whole one; in a word only where that is most of the line, as paths are.
QString ElidedLabel::cut(const QString& line, int room) const {
  const QString elided = fontMetrics().elidedText(line, Qt::ElideRight, room);
  if (elided == line) return line;
  if (const QString path_cut = with_end_of_path(line, room); !path_cut.isEmpty()) return path_cut;
  const qsizetype kept = elided.size() - 1, space = elided.lastIndexOf(u' ');
  const bool in_a_word = kept > 0 && line[kept] != u' ';
  return in_a_word && space > kept / 2 ? elided.left(space) + QStringLiteral(" …") : elided;
}

}  // namespace n2nq::ui
