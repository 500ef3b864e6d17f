// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/log/log_window.h"

#include <QClipboard>
#include <QCloseEvent>
#include <QDesktopServices>
#include <QFontMetricsF>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>
#include <QTextOption>
#include <QUrl>
#include <utility>

#include "ui/log/log_heading.h"
#include "ui/log/log_tail.h"
#include "ui/text/figures.h"
#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {

constexpr QSize log_size_at_first(1200, 520);
constexpr int column_letters = 16;  // of files without columns
constexpr int search_px = 220;
const char* const comes_yet = "Nothing is here yet; it comes when the process has started, its machine answers, and it can be written here";
const char* const is_not_here = "There is no such file here: it was not written, not brought, or was removed";
constexpr qint64 told_still_ms = 3'000;  // a log in use is written, and looked at, several times a second

QString bytes_text(qint64 bytes) {
  if (bytes < 1000) return QStringLiteral("%1 B").arg(bytes);
  if (bytes < 1'000'000) return QStringLiteral("%1 kB").arg(fixed_text(static_cast<double>(bytes) / 1e3, 1));
  return QStringLiteral("%1 MB").arg(fixed_text(static_cast<double>(bytes) / 1e6, 1));
}

}  // namespace

LogWindow::LogWindow(const QString& title, const QString& path, const Theme& theme, QThread& thread, QWidget* parent)
    : QWidget(parent, Qt::Window), path_(path), theme_(theme), tail_(new LogTail(path)) {
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName(QStringLiteral("log_window"));
  setWindowTitle(title);
  setAutoFillBackground(true);
  resize(log_size_at_first);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::between);
  all->setSpacing(space::between);
  all->addWidget(make_tools());
  view_ = described(new QPlainTextEdit, "log_text", title, QString());
  view_->setReadOnly(true);
  view_->setLineWrapMode(QPlainTextEdit::NoWrap);
  view_->setUndoRedoEnabled(false);
  view_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  heading_ = new LogHeading(*view_, theme_);
  auto* text = new QVBoxLayout;
  text->setSpacing(0);
  text->addWidget(heading_);
  text->addWidget(view_, 1);
  all->addLayout(text, 1);
  position_ = described(new ElidedLabel("caption"), "log_position", QStringLiteral("The file and how much of it is shown"), QString());
  position_->set_text(path);
  position_->offer_copy(QStringLiteral("Copy path"), path);
  all->addWidget(position_);

  connect(&theme_, &Theme::changed, this, &LogWindow::restyle);
  restyle();
  connect_tail();
  tail_->moveToThread(&thread);
  set_following(true);
}

LogWindow::~LogWindow() {
  tail_->deleteLater();
}

QWidget* LogWindow::make_tools() {
  auto* tools = new QWidget;
  auto* row = new QHBoxLayout(tools);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(space::in_row);
  search_ = described(new QLineEdit, "log_search", QStringLiteral("Search the log"),
                      QStringLiteral("Searches what is shown; Enter next, Shift+Enter previous (Ctrl+F)"));
  search_->setPlaceholderText(QStringLiteral("Search"));
  search_->setFixedWidth(search_px);
  previous_ = small_button("log_previous", QStringLiteral("Previous"), QStringLiteral("The previous place (Shift+F3)"));
  next_ = small_button("log_next", QStringLiteral("Next"), QStringLiteral("The next place (F3)"));
  found_ = described(make_label(QString(), "caption"), "log_found", QStringLiteral("Result of the search"), QString());
  earlier_ = small_button("log_earlier", QStringLiteral("Load earlier"), QStringLiteral("Loads what stands before the part that is shown"));
  follow_ =
      small_button("log_follow", QStringLiteral("Follow"), QStringLiteral("Shows what is added to the file, and keeps its end in sight"));
  follow_->setCheckable(true);
  copy_ = small_button("log_copy", QStringLiteral("Copy"), QStringLiteral("Copies the selection, or all that is shown"));
  outside_ = small_button("log_outside", QStringLiteral("Open in viewer"), QStringLiteral("Opens the whole file in the system's viewer"));
  for (QWidget* widget : std::initializer_list<QWidget*>{search_, previous_, next_, found_}) row->addWidget(widget);
  row->addStretch(1);
  for (QWidget* widget : std::initializer_list<QWidget*>{earlier_, follow_, copy_, outside_}) row->addWidget(widget);
  earlier_->hide();

  connect(previous_, &QPushButton::clicked, this, &LogWindow::find_previous);
  connect(next_, &QPushButton::clicked, this, &LogWindow::find_next);
  connect(search_, &QLineEdit::returnPressed, this, [this] { find(QGuiApplication::keyboardModifiers().testFlag(Qt::ShiftModifier)); });
  connect(search_, &QLineEdit::textEdited, this, [this] { set_label_text(found_, {}); });
  connect(follow_, &QPushButton::clicked, this, &LogWindow::set_following);
  connect(copy_, &QPushButton::clicked, this, &LogWindow::copy);
  connect(outside_, &QPushButton::clicked, this, &LogWindow::open_outside);
  connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, search_, qOverload<>(&QWidget::setFocus));
  connect(new QShortcut(QKeySequence(Qt::Key_F3), this), &QShortcut::activated, this, &LogWindow::find_next);
  connect(new QShortcut(QKeySequence(Qt::SHIFT | Qt::Key_F3), this), &QShortcut::activated, this, &LogWindow::find_previous);
  return tools;
}

void LogWindow::connect_tail() {
  connect(tail_, &LogTail::begun, this, [this] {
    view_->clear();
    shown_bytes_ = wanted_before_bytes_ = 0;
    loads_before_ = stopped_for_reader_ = false;
  });
  connect(tail_, &LogTail::fell_behind, this, [this] {
    if (is_following() && !is_read()) set_following(true);
  });
  connect(tail_, &LogTail::columns_found, this, [this](const QString& columns) {
    heading_->set_columns(columns);
    set_stops();
  });
  connect(tail_, &LogTail::appended, this, &LogWindow::append);
  connect(tail_, &LogTail::prepended, this, &LogWindow::prepend);
  connect(tail_, &LogTail::position_changed, this, &LogWindow::show_position);
  connect(earlier_, &QPushButton::clicked, this, [this] { load_before(LogTail::tail_bytes); });
}

void LogWindow::restyle() {
  view_->setFont(theme_.monospaced_font());
  view_->setTabStopDistance(column_letters * QFontMetricsF(view_->font()).horizontalAdvance('0'));
  set_stops();
  heading_->updateGeometry();
  const QColor color = theme_.tokens().secondary;
  previous_->setIcon(theme_.icon(Glyph::chevron_up, color));
  next_->setIcon(theme_.icon(Glyph::chevron_down, color));
  follow_->setIcon(theme_.icon(Glyph::live, color));
  copy_->setIcon(theme_.icon(Glyph::copy, color));
  outside_->setIcon(theme_.icon(Glyph::external, color));
}

// Lines have a tab between two columns; each column is as wide as what stands in it.
void LogWindow::set_stops() {
  QList<QTextOption::Tab> tabs;
  if (!heading_->columns().isEmpty()) {
    for (const double stop : heading_->stops()) tabs += QTextOption::Tab(stop, QTextOption::LeftTab);
  }
  QTextOption option = view_->document()->defaultTextOption();
  option.setTabs(tabs);
  view_->document()->setDefaultTextOption(option);
}

QString LogWindow::text() const {
  return view_->toPlainText();
}

bool LogWindow::is_following() const {
  return follow_->isChecked();
}

void LogWindow::set_following(bool following) {
  follow_->setChecked(following);
  QMetaObject::invokeMethod(tail_, following ? &LogTail::begin : &LogTail::pause);
}

void LogWindow::append(const QString& text) {
  if (stopped_for_reader_) return;  // or a part would be missing before it
  if (shown_bytes_ + text.size() > shown_bytes_max) return go_on_near_end();
  shown_bytes_ += text.size();
  QScrollBar* bar = view_->verticalScrollBar();
  const bool at_end = shows_end();
  QTextCursor end(view_->document());
  end.movePosition(QTextCursor::End);
  const bool first = view_->document()->isEmpty();
  end.insertText(text);
  if (first) view_->moveCursor(QTextCursor::Start);  // a search begins at the top
  if (at_end) bar->setValue(bar->maximum());
  if (!looking_ || view_->document()->find(search_->text()).isNull()) return;
  looking_ = false;
  find_next();
}

bool LogWindow::shows_end() const {
  const QScrollBar* bar = view_->verticalScrollBar();
  return bar->value() >= bar->maximum() - 1;
}

/// What would be gone from sight if the view began anew near the end.
bool LogWindow::is_read() const {
  return !shows_end() || (view_->textCursor().hasSelection() && view_->viewport()->rect().intersects(view_->cursorRect()));
}

void LogWindow::go_on_near_end() {
  if (!is_following()) return;
  stopped_for_reader_ = is_read();
  set_following(!stopped_for_reader_);
}

void LogWindow::prepend(const QString& text) {
  loads_before_ = false;
  wanted_before_bytes_ -= text.size();
  shown_bytes_ += text.size();
  QScrollBar* bar = view_->verticalScrollBar();
  const int below = bar->maximum() - bar->value();
  QTextCursor start(view_->document());
  start.insertText(text);
  bar->setValue(bar->maximum() - below);
  if (!looking_ || !text.contains(search_->text(), Qt::CaseInsensitive)) return;
  looking_ = false;
  wanted_before_bytes_ = 0;
  view_->moveCursor(QTextCursor::Start);
  find_next();
}

bool LogWindow::has_room_before() const {
  return !all_loaded_ && shown_bytes_ + LogTail::tail_bytes <= shown_bytes_max;
}

void LogWindow::load_before(qint64 bytes) {
  wanted_before_bytes_ = bytes;
  if (std::exchange(loads_before_, true)) return;
  QMetaObject::invokeMethod(tail_, &LogTail::load_earlier);
}

/// What is looked for stands before all that is shown, or nowhere.
void LogWindow::look_further() {
  if (loads_before_) return;
  if (has_room_before()) return load_before(LogTail::tail_bytes);
  looking_ = false;
  find_next();
}

void LogWindow::show_position(qint64 first, qint64 next, qint64 size) {
  if (size < 0) {
    const QString what = awaited_ ? QString::fromLatin1(comes_yet) : QString::fromLatin1(is_not_here);
    position_->set_text(what + QStringLiteral(" · ") + path_);
    return;
  }
  all_loaded_ = first == 0;
  earlier_->setVisible(has_room_before());
  // What may be cut off stands last.
  QString text = bytes_text(size);
  if (std::exchange(size_, size) != size || !since_growth_.isValid()) since_growth_.start();
  const qint64 still_ms = since_growth_.elapsed();
  if (stopped_for_reader_) text += QStringLiteral(" · no longer followed, to keep what you read; Follow goes on near the end");
  if (awaited_ && still_ms >= told_still_ms) text += QStringLiteral(" · nothing new for %1").arg(span_text(static_cast<double>(still_ms / 1000)));
  if (first > 0) text += QStringLiteral(" · the first %1 are not loaded").arg(bytes_text(first));
  text += QStringLiteral(" · ") + path_;
  if (position_->full_text() != text) position_->set_text(text);
  if (wanted_before_bytes_ > 0 && !all_loaded_) {
    if (!loads_before_) load_before(wanted_before_bytes_);
  } else if (looking_ && size > 0 && (next == size || !is_following())) {
    look_further();
  }
}

void LogWindow::look_for(const QString& text) {
  search_->setText(text);
  looking_ = view_->document()->find(text).isNull();
  view_->moveCursor(QTextCursor::Start);
  if (!looking_) return find_next();
  if (!is_following()) set_following(true);  // it may have come since
}

void LogWindow::find_next() {
  find(false);
}

void LogWindow::find_previous() {
  find(true);
}

void LogWindow::find(bool backwards) {
  if (search_->text().isEmpty()) return search_->setFocus();
  const QTextDocument::FindFlags flags = backwards ? QTextDocument::FindBackward : QTextDocument::FindFlags();
  // Looked for in the document, so that the view moves only when there is something to show.
  QTextCursor place = view_->document()->find(search_->text(), view_->textCursor(), flags);
  const bool wrapped = place.isNull();
  if (wrapped) {
    QTextCursor end(view_->document());
    if (backwards) end.movePosition(QTextCursor::End);
    place = view_->document()->find(search_->text(), end, flags);
  }
  if (place.isNull()) {
    set_label_text(found_, all_loaded_ ? QStringLiteral("not found") : QStringLiteral("not in the loaded part"));
    return;
  }
  view_->setTextCursor(place);
  // Lines are counted from the start of the file or not at all.
  const QString where = all_loaded_ ? QStringLiteral("line %1").arg(view_->textCursor().blockNumber() + 1) : QStringLiteral("found");
  set_label_text(found_, wrapped ? where + QStringLiteral(", from the other end") : where);
}

void LogWindow::copy() {
  if (view_->textCursor().hasSelection()) return view_->copy();
  QGuiApplication::clipboard()->setText(text());
}

void LogWindow::open_outside() {
  if (!QDesktopServices::openUrl(QUrl::fromLocalFile(path_))) set_label_text(found_, QStringLiteral("no viewer for it on this system"));
}

void LogWindow::closeEvent(QCloseEvent* event) {
  emit closed(path_);
  QWidget::closeEvent(event);
}

void LogWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    close();
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace n2nq::ui
