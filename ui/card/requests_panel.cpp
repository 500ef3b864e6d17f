// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/card/requests_panel.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>

#include "app/settings/qt_text.h"
#include "ui/text/figures.h"
#include "ui/text/tooltip.h"
#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"
#include "ui/widget/setting_fields.h"
#include "ui/widget/small_button.h"

namespace n2nq::ui {

namespace {

constexpr int entries_shown_max = 100;
constexpr int numbers_px = 108;
constexpr int sizes_px = 92;
constexpr int prefetch_px = 56;
/// What a low window leaves for the rules of an entry; longer ones get a second line.
constexpr int rules_px_min = 108;
constexpr int list_min_px = 44;
constexpr int who_px_max = 120;

// What a person copies from the window carries its dashes.
std::string plain(const QString& text) {
  return QString(text).replace(QChar(0x2013), u'-').trimmed().toStdString();
}

app::Problem parse_services(const QString& text, char letter, app::Role role, int amount, std::optional<app::NumberRanges>& out) {
  if (auto problem = app::parse_numbers(plain(text), letter, out)) return problem;
  if (out && !out->empty() && out->back().second > amount) {
    const std::string last = std::to_string(amount);
    return "must be at most " + std::string(1, letter) + last + (amount == 1 ? ": there is " : ": there are ") +
           amount_text(role, amount).toStdString();
  }
  return {};
}

QString sentence(const QString& label, const app::Problem& problem) {
  return problem ? label + u' ' + qt_text(*problem) : QString();
}

}  // namespace

RequestsPanel::RequestsPanel(RequestDesk& desk, const Theme& theme, QWidget* parent) : QWidget(parent), desk_(desk), theme_(theme) {
  setObjectName(QStringLiteral("requests_panel"));
  setAccessibleName(QStringLiteral("Receiver requests"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  const QString numbers = QStringLiteral("any, or numbers such as %1");
  receivers_ = make_field("request_receivers", QStringLiteral("Receivers"), {},
                          QStringLiteral("Which receivers ask: ") + numbers.arg(QStringLiteral("R1-R25")), numbers_px);
  senders_ = make_field(
      "request_senders", QStringLiteral("Senders"), {},
      QStringLiteral("Whose messages they get: ") + numbers.arg(QStringLiteral("S1-S10, S40")) + QStringLiteral("; none: nothing"),
      numbers_px);
  sizes_ = make_field("request_sizes", QStringLiteral("Sizes"), QStringLiteral("B"),
                      QStringLiteral("Of which sizes, in payload letters: any, one size, or a range such as 20-100"), sizes_px);
  prefetch_ = make_field(
      "request_prefetch", QStringLiteral("Prefetch"), {},
      QStringLiteral("How many deliveries N2NQ may have under way to each of them, from 1 to %1; 1 as in the thesis. While messages "
                     "flow, more hold at once, fewer as deliveries come in; with responses fewer hold once a receiver "
                     "connects again.")
          .arg(count_text(app::prefetch_max)),
      prefetch_px);
  for (UnitEdit* field : {receivers_, senders_, sizes_}) field->setText(QStringLiteral("any"));
  prefetch_->setText(QStringLiteral("1"));
  make_ = described(new QPushButton(QStringLiteral("Make request")), "button_make_request", QStringLiteral("Make request"), QString());
  set_style_property(make_, "main", true);

  auto* whom = make_row();
  whom->addWidget(make_label(QStringLiteral("Receivers"), "secondary"));
  whom->addWidget(receivers_, 1);
  whom->addWidget(make_label(QStringLiteral("get from"), "secondary"));
  whom->addWidget(senders_, 1);
  all->addLayout(whom);
  all->addWidget(whom_problem_ = described(new ElidedLabel("problem", 2), "problem_request_whom", QStringLiteral("Problem"), QString()));
  whom_problem_->offer_copy();
  auto* what = make_row();
  what->addWidget(make_label(QStringLiteral("sizes"), "secondary"));
  what->addWidget(sizes_);
  what->addWidget(make_label(QStringLiteral("prefetch"), "secondary"));
  what->addWidget(prefetch_);
  what->addStretch(1);
  what->addWidget(make_);
  all->addLayout(what);
  all->addWidget(what_problem_ = described(new ElidedLabel("problem", 2), "problem_request_what", QStringLiteral("Problem"), QString()));
  what_problem_->offer_copy();
  all->addWidget(make_list(), 1);

  for (UnitEdit* field : {receivers_, senders_, sizes_, prefetch_}) {
    connect(field, &QLineEdit::textEdited, this, [this] { read(); });
    connect(field, &QLineEdit::returnPressed, this, &RequestsPanel::make_request);
  }
  connect(make_, &QPushButton::clicked, this, &RequestsPanel::make_request);
  connect(all_back_, &QPushButton::clicked, this, [this] { desk_.put_back({}); });
  connect(&desk_, &RequestDesk::changed, this, &RequestsPanel::refresh);
  connect(&theme_, &Theme::changed, this, &RequestsPanel::refresh);
  refresh();
}

UnitEdit* RequestsPanel::make_field(const char* object_name, const QString& name, const QString& unit, const QString& tooltip,
                                    int width_px) {
  auto* field = described(new UnitEdit(unit), object_name, name, tooltip);
  field->setMinimumWidth(width_px);
  if (width_px != numbers_px) field->setFixedWidth(width_px);
  return field;
}

QHBoxLayout* RequestsPanel::make_row() {
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  return row;
}

QWidget* RequestsPanel::make_list() {
  auto* well = new QFrame;
  well->setProperty("well", true);
  auto* all = new QVBoxLayout(well);
  all->setContentsMargins(space::between, space::in_row, space::between, space::in_row);
  all->setSpacing(space::in_row);
  auto* head = make_row();
  state_ = described(new ElidedLabel("caption"), "requests_state", QStringLiteral("Which requests these are"), QString());
  all_back_ = small_button("button_requests_back", QStringLiteral("All back to any"), QString());
  head->addWidget(state_, 1);
  head->addWidget(all_back_);
  all->addLayout(head);
  auto* scroll = new QScrollArea;
  scroll->setObjectName(QStringLiteral("requests_list"));
  scroll->setAccessibleName(QStringLiteral("What receivers ask for"));
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setMinimumHeight(list_min_px);
  scroll->setFocusPolicy(Qt::NoFocus);  // it would not show it; a button in it that gets the focus scrolls into sight
  auto* content = new QWidget;
  list_ = new QGridLayout(content);
  list_->setContentsMargins(0, 0, space::between, 0);
  list_->setHorizontalSpacing(space::between);
  list_->setVerticalSpacing(space::in_row);
  list_->setColumnStretch(1, 1);  // who asks takes what it needs, what they ask for takes the rest
  scroll->setWidget(content);
  all->addWidget(scroll, 1);
  return well;
}

std::optional<app::ReceiverRequest> RequestsPanel::read() {
  app::ReceiverRequest request;
  app::Problem receivers = parse_services(receivers_->text(), 'R', app::Role::receivers, desk_.receivers(), request.receivers);
  if (!receivers && request.receivers && request.receivers->empty()) receivers = "must name a receiver, such as R1, or any";
  const app::Problem senders = parse_services(senders_->text(), 'S', app::Role::senders, desk_.senders(), request.senders);
  const app::Problem sizes = app::parse_sizes(plain(sizes_->text()), request.sizes);
  std::int64_t prefetch = 1;
  const app::Problem credit = app::parse_integer(plain(prefetch_->text()), 1, app::prefetch_max, prefetch);
  request.prefetch = static_cast<int>(prefetch);

  const auto tell = [](ElidedLabel* line, UnitEdit* first, const QString& first_problem, UnitEdit* second, const QString& second_problem) {
    const std::pair<UnitEdit*, QString> both[] = {{first, first_problem}, {second, second_problem}};
    QStringList said;
    for (const auto& [field, problem] : both) {
      field->set_refused(!problem.isEmpty());
      field->setAccessibleDescription(problem);
      if (!problem.isEmpty()) said << problem;
    }
    line->set_text(said.isEmpty() ? QString() : QStringLiteral("✕ ") + said.join(QStringLiteral("; ")));
  };
  tell(whom_problem_, receivers_, sentence(QStringLiteral("receivers"), receivers), senders_, sentence(QStringLiteral("senders"), senders));
  tell(what_problem_, sizes_, sentence(QStringLiteral("sizes"), sizes), prefetch_, sentence(QStringLiteral("prefetch"), credit));
  if (receivers || senders || sizes || credit) return {};
  return request;
}

void RequestsPanel::make_request() {
  if (!desk_.problem().isEmpty()) return;
  const auto request = read();
  if (!request) {
    for (UnitEdit* field : {receivers_, senders_, sizes_, prefetch_}) {
      if (field->property("refused").toBool()) return field->setFocus(Qt::OtherFocusReason);
    }
    return;
  }
  desk_.make(*request);
}

void RequestsPanel::refresh() {
  refresh_state();
  refresh_list();
}

void RequestsPanel::refresh_state() {
  const QString problem = desk_.problem();
  make_->setEnabled(problem.isEmpty());
  const QString whose = desk_.is_for_this_run() ? QStringLiteral("this run") : QStringLiteral("the next run");
  const QString effect = desk_.is_live()
                             ? QStringLiteral("Applies now: N2NQ is told at once, and what is still queued is looked at again")
                             : QStringLiteral("Goes into the settings of %1, in place of what these receivers asked before").arg(whose);
  make_->setToolTip(problem.isEmpty() ? effect : problem);
  const bool none = desk_.entries().empty();
  all_back_->setEnabled(problem.isEmpty() && !none);
  all_back_->setToolTip(none ? QStringLiteral("All receivers ask for anything already")
                             : QStringLiteral("All receivers ask for anything again"));
  const QString verdict = desk_.verdict(), reason = desk_.reason();
  state_->set_text(!problem.isEmpty() ? problem
                   : desk_.is_live()  ? QStringLiteral("In force now; a request applies at once")
                                      : QStringLiteral("For ") + whose);
  // These are not the ones that the figures of the run that is over are of.
  if (problem.isEmpty() && !verdict.isEmpty()) {
    const QString why = QStringLiteral("For the next run: the last one is over (%1)").arg(verdict) +
                        (reason.isEmpty() ? QString() : QStringLiteral(". Reason: ") + reason);
    state_->setToolTip(tooltip_of(why));
    state_->setAccessibleDescription(why);
  }
}

void RequestsPanel::refresh_list() {
  const std::vector<RequestDesk::Entry> entries = desk_.entries();
  const bool can = desk_.problem().isEmpty();
  QString shown = QStringLiteral("%1%2").arg(can).arg(theme_.is_dark());
  for (const auto& entry : entries) {
    shown += receivers_text(entry.receivers) + u'|' + qt_text(entry.rules.text()) + u'|' + QString::number(entry.rules.prefetch) + u'\n';
  }
  if (shown == shown_ && list_->count() > 0) return;  // ten changes a second elsewhere must not take the focus from a button
  shown_ = shown;
  while (QLayoutItem* item = list_->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->setObjectName({});  // its name is the next one's
      item->widget()->deleteLater();
    }
    delete item;
  }
  const QFontMetrics body(theme_.font(TextStyle::body));
  int row = 0, who_px = 0;
  QWidget* before = all_back_;  // in the order of the Tab key; what is new would stand behind all else in the window
  for (const auto& entry : entries) {
    if (row == entries_shown_max) break;
    auto* who = new ElidedLabel;
    who->set_text(receivers_text(entry.receivers));
    who->setObjectName(QStringLiteral("request_who_%1").arg(row));
    who_px = qMax(who_px, body.horizontalAdvance(who->full_text()) + space::in_row);
    const QString rules = rules_words(entry.rules);
    auto* what = new ElidedLabel("", body.horizontalAdvance(rules) > rules_px_min ? 2 : 1);
    what->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);  // beside receivers of one line
    what->set_text(rules);
    what->setObjectName(QStringLiteral("request_rules_%1").arg(row));
    auto* back = small_button(qPrintable(QStringLiteral("request_back_%1").arg(row)), QStringLiteral("any"),
                              QStringLiteral("%1 ask for anything again").arg(receivers_text(entry.receivers)));
    back->setAccessibleName(QStringLiteral("Put %1 back to any").arg(receivers_text(entry.receivers)));
    back->setIcon(theme_.icon(Glyph::close, theme_.tokens().secondary));
    back->setEnabled(can);
    list_->addWidget(who, row, 0);
    list_->addWidget(what, row, 1);
    list_->addWidget(make_label(QStringLiteral("prefetch ") + count_text(entry.rules.prefetch), "caption"), row, 2);
    list_->addWidget(back, row, 3);
    setTabOrder(before, back);
    before = back;
    connect(back, &QPushButton::clicked, this, [this, receivers = entry.receivers] { desk_.put_back(receivers); });
    ++row;
  }
  list_->setColumnMinimumWidth(0, qMin(who_px, who_px_max));
  const auto more = static_cast<int>(entries.size()) - row;
  if (entries.empty() || more > 0) {
    const QString text = entries.empty() ? QStringLiteral("Every receiver asks for anything, one delivery at a time.")
                                         : QStringLiteral("… and %1 more").arg(count_text(more));
    list_->addWidget(make_label(text, "secondary"), row, 0, 1, 4);
    ++row;
  }
  auto* rest = new QWidget;
  list_->addWidget(rest, row, 0);
  for (int at = 0; at < list_->rowCount(); ++at) list_->setRowStretch(at, at == row ? 1 : 0);
}

}  // namespace n2nq::ui
