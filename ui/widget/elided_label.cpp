// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/elided_label.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
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

int ElidedLabel::lines_shown() const {
  const bool grows = sizePolicy().verticalPolicy() != QSizePolicy::Fixed;
  return grows ? std::max(lines_, contentsRect().height() / fontMetrics().lineSpacing()) : lines_;
}

void ElidedLabel::elide() {
  const QString source = full_.section(u'\n', 0, 0);
  const int room = contentsRect().width(), lines_most = lines_shown();
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
  if (from < source.size()) shown << fontMetrics().elidedText(source.mid(from), Qt::ElideRight, room);
  const QString text = shown.join(u'\n');
  if (text != this->text()) setText(text);
}

}  // namespace n2nq::ui
