// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/page/hosts_page.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QResizeEvent>
#include <QShortcut>
#include <QTableView>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <iterator>
#include <utility>

#include "app/host/check_advice.h"
#include "app/host/host_launchers.h"
#include "ui/dialog/host_dialog.h"
#include "ui/dialog/import_dialog.h"
#include "ui/model/hosts_model.h"
#include "ui/text/check_text.h"
#include "ui/widget/card.h"
#include "ui/widget/focus_table.h"
#include "ui/widget/middle_elided.h"
#include "ui/widget/whole_rows.h"

namespace n2nq::ui {

namespace {

constexpr int local_address_px = 200;
constexpr int look_again_ms = 1000;
constexpr std::chrono::milliseconds advise_every(100);
constexpr int hosts_share = 3, below_share = 2;
constexpr int paths_share = 7, advice_share = 6;  // three machines of some length stand beside each other at 1280 px
// Machine, SSH, and what a check finds: of the width and the names alone, so that nothing moves when findings come in. 0: a share of what is left.
// Each has room for "unknown", and for "no answer" where that may stand.
constexpr int column_px[] = {0, 0, 100, 84, 92, 132, 72, 72, 92, 96, 172, 72};
// From that width on all columns grow, the first two four times as much as the others.
constexpr int roomy_px = 1240, shares_of_room = 18;
constexpr int column_min_px = 70;
constexpr int way_min_px = 80;  // room for what a check finds, so that nothing moves when it comes
static_assert(std::size(column_px) == HostsModel::first_check_column + app::check_items_count);

QTableView* make_table(const Theme& theme, const char* name, const QString& accessible_name, QAbstractItemModel* model) {
  auto* table = described(new FocusTable(theme), name, accessible_name, QString());
  table->setModel(model);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setTabKeyNavigation(false);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table->verticalHeader()->setDefaultSectionSize(table_row_px + space::in_row);
  table->horizontalHeader()->setHighlightSections(false);
  table->verticalHeader()->setHighlightSections(false);
  return table;
}

/// A command that ends a sentence stands on a line of its own, as it is to be typed.
QString advice_html(const QString& what_to_do) {
  static const QRegularExpression command(QStringLiteral("(?:^|: )((?:ssh-copy-id|ssh-add|ssh-keygen|chmod|mkdir|echo|printf) .+)$"));
  const auto found = command.match(what_to_do);
  if (!found.hasMatch()) return what_to_do.toHtmlEscaped();
  const QString before = what_to_do.left(found.capturedStart(1)).trimmed().toHtmlEscaped();
  return before + (before.isEmpty() ? QString() : QStringLiteral("<br>")) +
         QStringLiteral("<code>%1</code>").arg(found.captured(1).toHtmlEscaped());
}

}  // namespace

HostsPage::HostsPage(Parts parts, const Theme& theme, QWidget* parent)
    : QWidget(parent), parts_(std::move(parts)), theme_(theme), advise_(advise_every, [this] { show_advice(); }) {
  setObjectName(QStringLiteral("hosts_page"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  all->setSpacing(space::card);
  all->addWidget(make_hosts_card(), hosts_share);
  below_ = new QWidget;
  auto* below = new QHBoxLayout(below_);
  below->setContentsMargins(0, 0, 0, 0);
  below->setSpacing(space::card);
  below->addWidget(make_paths_card(), paths_share);
  below->addWidget(make_advice_card(), advice_share);
  all->addWidget(below_, below_share);
  make_shortcuts();
  look_again_.setInterval(look_again_ms);
  known_ = parts_.book->hosts();
  connect(&look_again_, &QTimer::timeout, this, [this] {
    parts_.book->glance();
    if (parts_.book->problems().isEmpty()) refresh();
  });
  connect(parts_.book, &app::HostBook::changed, this, &HostsPage::take_hosts);
  connect(&theme_, &Theme::changed, this, &HostsPage::show_advice);
  if (parts_.checker != nullptr) {
    // Of many machines each says at nearly the same moment that it does not answer.
    connect(parts_.checker, &app::HostChecker::changed, this, [this] { advise_.request(); });
    connect(parts_.checker, &app::HostChecker::checked, this, [this] {
      checked_->setText(QStringLiteral("Checked on ") + QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd 'at' HH:mm")));
      refresh();
    });
  }
  refresh();
}

QWidget* HostsPage::make_hosts_card() {
  auto* card = new Card(QStringLiteral("Lab machines"));
  const auto button = [&](const char* name, const QString& text, const QString& tooltip, void (HostsPage::*act)()) {
    auto* made = described(new QPushButton(text), name, text, tooltip);
    card->title_row()->addWidget(made);
    connect(made, &QPushButton::clicked, this, act);
    return made;
  };
  undo_ = button("button_host_undo", QStringLiteral("Undo"), QString(), &HostsPage::undo);
  edit_ = button("button_host_edit", QStringLiteral("Edit…"), QStringLiteral("Edits the selected machine (Enter)"), &HostsPage::edit);
  remove_ = button("button_host_remove", QStringLiteral("Remove"), QStringLiteral("Removes the selected machine from this list (Delete)"),
                   &HostsPage::remove);
  import_ = button("button_host_import", QStringLiteral("Import…"), QStringLiteral("Takes machines over from ~/.ssh/config (Ctrl+I)"),
         &HostsPage::import);
  add_ = button("button_host_add", QStringLiteral("Add…"), QStringLiteral("Adds a machine (Ctrl+N)"), &HostsPage::add);
  check_ = button("button_host_check", QStringLiteral("Check"), QString(), &HostsPage::check);
  check_->setProperty("main", true);
  check_->setText(QStringLiteral("Cancel"));  // what it says while it checks, which must not move the others
  check_->ensurePolished();
  check_->setMinimumWidth(check_->sizeHint().width());

  model_ = new HostsModel(*parts_.book, parts_.checker, theme_, this);
  table_ = make_table(theme_, "hosts_table", QStringLiteral("Lab machines"), model_);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->setMinimumSectionSize(column_min_px);
  table_->horizontalHeader()->setSectionResizeMode(HostsModel::address_column, QHeaderView::Stretch);
  for (const int column : {HostsModel::name_column, HostsModel::address_column})
    table_->setItemDelegateForColumn(column, new MiddleElided<>(table_));
  table_->installEventFilter(this);
  table_->viewport()->installEventFilter(this);  // a scroll bar takes some of it
  connect(table_, &QTableView::doubleClicked, this, &HostsPage::edit);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    const app::Host* host = model_->host(current.row());
    chosen_ = host != nullptr ? host->name : std::string();
    refresh();
  });
  card->body()->addWidget(rows_ = new WholeRows(table_), 1);
  invitation_ = make_label(QString(), "secondary");
  invitation_->setObjectName(QStringLiteral("hosts_invitation"));
  invitation_->setWordWrap(true);
  invitation_->setAlignment(Qt::AlignCenter);
  card->body()->addWidget(invitation_, 1);
  card->body()->addWidget(make_local_row());
  return card;
}

QWidget* HostsPage::make_local_row() {
  auto* band = new QWidget;
  auto* row = new QHBoxLayout(band);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(space::between);
  local_address_ =
      described(new QLineEdit, "local_data_address", QStringLiteral("Data address of this machine"),
                QStringLiteral("Numeric address at which lab machines reach this one: needed when N2NQ runs here and others there"));
  local_address_->setFixedWidth(local_address_px);
  const QStringList own = app::own_addresses();
  local_address_->setPlaceholderText(own.isEmpty() ? QStringLiteral("not set") : QStringLiteral("such as ") + own.first());
  auto* label = make_label(QStringLiteral("Data address of this machine"), "secondary");
  label->setBuddy(local_address_);
  problem_ = make_problem_label(QStringLiteral("hosts_problem"));
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(label);
  row->addWidget(local_address_);
  row->addWidget(problem_, 1);
  row->addWidget(checked_ = make_label(QString(), "caption"));
  checked_->setObjectName(QStringLiteral("hosts_checked"));
  checked_->setToolTip(QStringLiteral("What has changed since is not seen here"));
  connect(local_address_, &QLineEdit::editingFinished, this, &HostsPage::take_local_address);
  return band;
}

QWidget* HostsPage::make_paths_card() {
  auto* card = new Card(QStringLiteral("Ways between machines"));
  paths_ = make_table(theme_, "paths_table", QStringLiteral("Ways between machines: from a row to a column"),
                      new PathsModel(*parts_.book, parts_.checker, theme_, this));
  paths_->horizontalHeader()->setMinimumSectionSize(way_min_px);
  paths_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  card->body()->addWidget(new WholeRows(paths_), 1);
  // Shown before a check as well: nothing moves when its findings come.
  paths_hint_ =
      make_label(QStringLiteral("Ways to this machine stay unknown while its data address, above, is empty."), "caption");
  paths_hint_->setToolTip(QStringLiteral("Only N2NQ here with senders or receivers on a lab machine needs it"));
  paths_hint_->setObjectName(QStringLiteral("paths_hint"));
  paths_hint_->setWordWrap(true);
  QSizePolicy keeps_room = paths_hint_->sizePolicy();  // or the field above would move when something is entered there
  keeps_room.setRetainSizeWhenHidden(true);
  paths_hint_->setSizePolicy(keeps_room);
  card->body()->addWidget(paths_hint_);
  return card;
}

QWidget* HostsPage::make_advice_card() {
  auto* card = new Card(QStringLiteral("What to do"));
  advice_ = described(new QTextBrowser, "hosts_advice", QStringLiteral("What to do"), QString());
  advice_->setProperty("plain", true);
  advice_->setTabChangesFocus(true);
  advice_->document()->setDocumentMargin(0);  // its text stands below the title
  card->body()->addWidget(advice_);
  return card;
}

void HostsPage::make_shortcuts() {
  const auto shortcut = [this](const QKeySequence& keys, void (HostsPage::*act)()) {
    // The window's, because the focus may still be on the tab that led here; while the page does not show they are nobody's.
    connect(new QShortcut(keys, this), &QShortcut::activated, this, act);
  };
  shortcut(QKeySequence(Qt::CTRL | Qt::Key_N), &HostsPage::add);
  shortcut(QKeySequence(Qt::CTRL | Qt::Key_I), &HostsPage::import);
  shortcut(QKeySequence(Qt::CTRL | Qt::Key_R), &HostsPage::check);
  // Wherever the focus is on the page; a text field takes back what was typed into it.
  auto* undo = new QShortcut(QKeySequence::Undo, this);
  undo->setContext(Qt::WidgetWithChildrenShortcut);
  connect(undo, &QShortcut::activated, undo_, &QPushButton::click);
}

// So that what belongs to a machine stays near its name in a wide window.
void HostsPage::share_width() {
  const int width_px = table_->viewport()->width();
  const int more_px = qMax(0, width_px - roomy_px) / shares_of_room;
  int left_px = width_px;
  for (int i = 0; i < model_->columnCount(); ++i) {
    if (column_px[i] == 0) continue;
    table_->setColumnWidth(i, column_px[i] + more_px);
    left_px -= column_px[i] + more_px;
  }
  // Names and addresses have a half each, unless one of them needs more and the other has some to spare.
  const int half_px = left_px / 2, name_px = needed_px(HostsModel::name_column), address_px = needed_px(HostsModel::address_column);
  int given_px = half_px;
  if (name_px > half_px) given_px = qMax(half_px, qMin(name_px, left_px - address_px));
  else if (address_px > half_px) given_px = qMax(name_px, left_px - address_px);
  table_->setColumnWidth(HostsModel::name_column, qMax(column_min_px, given_px));
}

int HostsPage::needed_px(int column) const {
  int widest_px = 0;
  for (int row = 0; row < model_->rowCount(); ++row)
    widest_px = qMax(widest_px, table_->fontMetrics().horizontalAdvance(model_->index(row, column).data().toString()));
  return widest_px + 2 * (table_->style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1) + space::between;
}

// Keys only while the table has the focus: in a field they mean what they mean everywhere.
bool HostsPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport() && event->type() == QEvent::Resize) share_width();
  if (watched != table_ || event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) return edit(), true;
  if (key->key() == Qt::Key_Delete) return key->isAutoRepeat() || (remove(), true);  // Undo brings back one
  return QWidget::eventFilter(watched, event);
}

/// The file may have been edited by hand meanwhile.
void HostsPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  parts_.book->glance();
}

void HostsPage::check() {
  app::HostChecker* checker = parts_.checker;
  if (checker == nullptr || !check_->isEnabled()) return;
  take_local_address();  // a key does not take the focus from the field
  if (checker->is_checking()) {
    checker->cancel();
  } else if (parts_.book->look_again(); !parts_.book->unread().isEmpty()) {
    tell(parts_.book->unread());
  } else if (parts_.book->problems().isEmpty() && !parts_.book->hosts().hosts.empty()) {
    checker->check(parts_.book->hosts(), parts_.broker_port ? parts_.broker_port() : 0);
  }
  refresh();
}

void HostsPage::add() {
  if (!add_->isEnabled()) return;
  HostDialog dialog(*parts_.book, nullptr, window());
  if (dialog.exec() == QDialog::Accepted) select(dialog.name());
}

void HostsPage::import() {
  if (!import_->isEnabled()) return;
  ImportDialog dialog(*parts_.book, parts_.ssh_offer ? parts_.ssh_offer() : ImportOffer(), window());
  dialog.exec();
}

void HostsPage::edit() {
  const app::Host* host = model_->host(table_->currentIndex().row());
  if (host == nullptr) return;
  HostDialog dialog(*parts_.book, host, window());
  if (dialog.exec() == QDialog::Accepted) select(dialog.name());
}

void HostsPage::remove() {
  const int row = table_->currentIndex().row();
  const app::Host* host = model_->host(row);
  if (host == nullptr) return;
  tell(parts_.book->remove(QString::fromStdString(host->name)));
  table_->selectRow(qMin(row, model_->rowCount() - 1));
}

void HostsPage::undo() {
  const QString name = parts_.book->removed_name();
  tell(parts_.book->undo_remove());
  if (!name.isEmpty()) select(name);
}

void HostsPage::take_local_address() {
  if (local_address_->text() == shown_address_) {  // nothing was typed: what an editor wrote meanwhile is not to be undone
    set_style_property(local_address_, "refused", false);
    address_problem_.clear();
    tell(QString());
    return;
  }
  address_problem_ = parts_.book->set_local_data_address(local_address_->text());
  set_style_property(local_address_, "refused", !address_problem_.isEmpty());
  if (address_problem_.isEmpty()) shown_address_ = local_address_->text();
  tell(QString());
}

/// Of what this window has changed, or somebody else with an editor: what a check found out belongs to the machines as they were then.
void HostsPage::take_hosts() {
  const app::Hosts& hosts = parts_.book->hosts();
  if (parts_.book->problems().isEmpty()) {
    const app::Hosts before = std::exchange(known_, hosts);
    if (parts_.checker != nullptr) {
      for (const app::Host& host : before.hosts) {
        const app::Host* after = hosts.find(host.name);
        if (after == nullptr || *after != host) parts_.checker->leave_out(host.name);
      }
      if (before.local_data_address != hosts.local_data_address) parts_.checker->forget_ways_to(std::string(app::local_host));
    }
    select_row_of(chosen_);
  }
  refresh();
}

void HostsPage::select_row_of(const std::string& name) {
  for (int row = 0; row < model_->rowCount(); ++row) {
    const app::Host* host = model_->host(row);
    if (host != nullptr && host->name == name) return table_->selectRow(row);
  }
}

void HostsPage::select(const QString& name) {
  select_row_of(name.toStdString());
  table_->setFocus();
}

void HostsPage::tell(const QString& problem_of_deed) {
  // What is wrong with the file comes first, as long as that is so.
  const QStringList& of_file = parts_.book->problems();
  const QString of_page = problem_of_deed.isEmpty() ? address_problem_ : problem_of_deed;
  const QString problem = of_file.isEmpty() ? of_page : of_file.join(QStringLiteral("; "));
  problem_->setText(problem.isEmpty() ? QString() : QStringLiteral("✕ ") + problem);
}

void HostsPage::show_advice() {
  const Tokens& t = theme_.tokens();
  QString html;
  int count = 0;
  if (parts_.checker != nullptr) {
    const auto names = names_in_order(parts_.book->hosts(), parts_.checker->hosts());
    for (const app::CheckAdvice& advice : advice_of(names, parts_.checker->hosts(), parts_.checker->paths())) {
      // Below the ways stands what to do about that.
      const bool said_below = advice.what == QStringLiteral("way to this machine") && parts_.book->hosts().local_data_address.empty();
      if (advice.state == app::CheckState::not_known && said_below) continue;
      ++count;
      QStringList machines;
      for (const std::string& name : advice.machines) machines << host_words(name);
      html += QStringLiteral("<p><span style=\"color: %1\">%2 <b>%3</b> · %4: %5</span><br>%6</p>")
                  .arg(state_color(advice.state, t).name(), state_sign(advice.state),
                       machines.join(QStringLiteral(", ")).toHtmlEscaped(), advice.what.toHtmlEscaped(), advice.why.toHtmlEscaped(),
                       advice_html(advice.what_to_do));
    }
  }
  const bool checked = parts_.checker != nullptr && !parts_.checker->hosts().empty();
  const bool checking = parts_.checker != nullptr && parts_.checker->is_checking();
  const bool unknown = checked && something_is_unknown(parts_.checker->hosts());
  QStringList sent;
  if (checking) {
    for (const auto& [name, report] : parts_.checker->hosts()) {
      if (report.now.kind == app::CheckActivity::Kind::sending) sent << app::activity_text(name, report.now).toHtmlEscaped();
    }
  }
  if (!sent.isEmpty()) {
    html.prepend(QStringLiteral("<p style=\"color: %1\">Checking … %2</p>").arg(t.secondary.name(), sent.join(QStringLiteral("<br>"))));
  } else if (count == 0) {
    html = QStringLiteral("<p style=\"color: %1\">%2</p>")
               .arg(t.secondary.name(),
                    checking ? QStringLiteral("Checking …")
                    : checked && was_cancelled(parts_.checker->hosts())
                        ? QStringLiteral("The check was cancelled. Nothing is wrong with what was found out until then.")
                    : unknown
                        ? QStringLiteral("Nothing is wrong with what was found out. What is unknown says why when the pointer rests on it.")
                    : checked ? QStringLiteral("✓ Nothing: all that was checked is as it should be.")
                              : QStringLiteral("Check tells whether the machines can be used, and what is missing."));
  }
  // Rebuilding would throw away what is selected in it.
  if (advice_->property("shown") == html) return;
  advice_->setProperty("shown", html);
  advice_->setHtml(html);
}

/// It starts programs and fills links on machines whose run is measured.
QString HostsPage::why_not_now() const {
  return parts_.why_not_now ? parts_.why_not_now() : QString();
}

void HostsPage::refresh() {
  const bool any = !parts_.book->hosts().hosts.empty();
  const bool chosen = model_->host(table_->currentIndex().row()) != nullptr;
  const bool checking = parts_.checker != nullptr && parts_.checker->is_checking();
  edit_->setEnabled(chosen);
  remove_->setEnabled(chosen);
  const QString removed = parts_.book->removed_name();
  undo_->setEnabled(!removed.isEmpty() && parts_.book->problems().isEmpty());
  undo_->setToolTip(removed.isEmpty() ? QStringLiteral("Brings back what was removed last (Ctrl+Z); nothing was")
                                      : QStringLiteral("Brings back %1 (Ctrl+Z)").arg(removed));
  const QString why_not = checking ? QString() : why_not_now();
  check_->setEnabled((any || checking) && parts_.checker != nullptr && why_not.isEmpty());
  set_style_property(check_, "main", check_->isEnabled());
  check_->setText(checking ? QStringLiteral("Cancel") : QStringLiteral("Check"));
  check_->setAccessibleName(check_->text());
  check_->setToolTip(checking             ? QStringLiteral("Ends the check; what was found stays (Ctrl+R)")
                     : !any               ? QStringLiteral("There is nothing to check: add a machine first")
                     : !why_not.isEmpty() ? why_not
                                          : QStringLiteral("Looks at all machines at once, and at the ways between them (Ctrl+R)"));
  invitation_->setVisible(!any);
  invitation_->setText(
      parts_.book->problems().isEmpty()
          ? QStringLiteral("No lab machine yet. Import takes over what ~/.ssh/config names, Add asks for one.\nThen N2NQ, senders and "
                           "receivers can each run on a machine of their own: choose a Source beside each start button.")
          : QStringLiteral("The file of the lab machines cannot be read; what is wrong in it stands below. Nothing is written over it, and it is "
                           "read again as soon as it is mended."));
  if (!any && table_->hasFocus()) undo_->setFocus(Qt::OtherFocusReason);  // the next one would be a text field, with a Ctrl+Z of its own
  rows_->setVisible(any);
  share_width();
  below_->setVisible(any);
  paths_hint_->setVisible(parts_.book->hosts().local_data_address.empty());
  const bool readable = parts_.book->problems().isEmpty();
  const bool untouched = local_address_->text() == shown_address_;
  if (readable && untouched) {
    set_style_property(local_address_, "refused", false);
    address_problem_.clear();
    shown_address_ = QString::fromStdString(parts_.book->hosts().local_data_address);
    local_address_->setText(shown_address_);
  }
  for (QWidget* needs_file : std::initializer_list<QWidget*>{local_address_, import_, add_}) needs_file->setEnabled(readable);
  const bool mended = std::exchange(tells_file_problems_, !readable) && readable;
  if (!readable) {
    tell(QString());
    look_again_.start();
  } else {
    look_again_.stop();
    if (mended) untouched ? tell(QString()) : take_local_address();  // it was refused for the file's sake
  }
  show_advice();
}

}  // namespace n2nq::ui
