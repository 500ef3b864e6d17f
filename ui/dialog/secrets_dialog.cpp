// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialog/secrets_dialog.h"

#include <QCheckBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/text/check_text.h"
#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/dialog_foot.h"

namespace n2nq::ui {

namespace {

constexpr int secrets_width_px = 460;
constexpr int words_px_max = 420;  // a machine may ask for much, and say more
constexpr int answer_chars_max = 1024;

QString headline(const app::SecretQuestion& question) {
  switch (question.kind) {
    case app::SecretQuestion::Kind::passphrase:
      return QStringLiteral("Passphrase of a key");
    case app::SecretQuestion::Kind::password:
      return QStringLiteral("Password of %1 on %2").arg(question.user, question.host);
    case app::SecretQuestion::Kind::keyboard_interactive:
      break;
  }
  return QStringLiteral("%1 asks, to let %2 in").arg(question.host, question.user);
}

}  // namespace

SecretsDialog::SecretsDialog(const app::SecretQuestion& question, QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("secrets_dialog"));
  setWindowTitle(QStringLiteral("Log in to %1").arg(question.host));
  setFixedWidth(secrets_width_px);
  auto* dialog = new QVBoxLayout(this);
  dialog->setContentsMargins(space::card, space::card, space::card, space::card);
  dialog->setSpacing(space::between);
  auto* words = new QWidget;
  auto* all = new QVBoxLayout(words);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(space::between);
  const auto add_words = [](QVBoxLayout* to, const QString& text, const char* role) {
    auto* label = make_label(breakable(text), role);
    label->setTextFormat(Qt::PlainText);  // part of it comes from the machine
    label->setWordWrap(true);
    to->addWidget(label);
    return label;
  };
  add_words(all, headline(question), "title");
  if (question.kind == app::SecretQuestion::Kind::passphrase) {
    add_words(all, QStringLiteral("%1, to log in as %2 on %3").arg(question.key_file, question.user, question.host), "secondary");
  }
  if (question.once_more) add_words(all, app::once_more_words(question), "secondary");
  if (!question.instruction.isEmpty()) add_words(all, question.instruction, "secondary");
  if (question.again) add_words(all, QStringLiteral("✕ ") + app::again_words(question), "problem");
  for (const app::SecretPrompt& prompt : question.prompts) {
    if (prompt.text != headline(question)) add_words(all, prompt.text, "body");
    const QByteArray name = "secret_" + QByteArray::number(fields_.size() + 1);
    auto* field = described(new QLineEdit, name.constData(), prompt.text,
                            app::may_be_right_again(question)
                                ? QStringLiteral("Kept in memory until the bench ends, and nowhere else unless you tick it")
                                : QStringLiteral("Not kept"));
    field->setEchoMode(prompt.echo ? QLineEdit::Normal : QLineEdit::Password);
    field->setMaxLength(answer_chars_max);
    all->addWidget(field);
    fields_ << field;
  }
  if (all->totalHeightForWidth(secrets_width_px - 2 * space::card) <= words_px_max) {
    dialog->addWidget(words);
  } else {
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidgetResizable(true);
    scroll->setWidget(words);
    scroll->setFixedHeight(words_px_max);
    dialog->addWidget(scroll);
  }
  keyring_ = described(new QCheckBox(QStringLiteral("Keep it in this computer's keyring")), "secrets_keyring",
                       QStringLiteral("Keep it in this computer's keyring"), QString());
  keyring_->hide();
  dialog->addWidget(keyring_);
  no_keyring_ = add_words(dialog, QString(), "secondary");
  no_keyring_->setObjectName(QStringLiteral("secrets_no_keyring"));
  no_keyring_->hide();
  add_dialog_foot(*this, *dialog, "secrets_cancel", "secrets_log_in", QStringLiteral("Log in"));
}

SecretsDialog::~SecretsDialog() {
  for (QLineEdit* field : fields_) field->clear();
}

void SecretsDialog::keyPressEvent(QKeyEvent* event) {
  const bool is_enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  const qsizetype at = fields_.indexOf(qobject_cast<QLineEdit*>(focusWidget()));
  for (qsizetype next = at + 1; is_enter && at >= 0 && next < fields_.size(); ++next) {
    if (fields_[next]->text().isEmpty()) return fields_[next]->setFocus(Qt::TabFocusReason);
  }
  QDialog::keyPressEvent(event);
}

void SecretsDialog::offer_keyring(const QString& problem) {
  keyring_->show();
  keyring_->setEnabled(problem.isEmpty());
  keyring_->setToolTip(
      QStringLiteral("If it is right, the next start of the bench does not ask for it again; what is wrong is forgotten there"));
  no_keyring_->setText(problem);
  no_keyring_->setVisible(!problem.isEmpty());
}

bool SecretsDialog::wants_keyring() const {
  return keyring_->isChecked() && keyring_->isEnabled();
}

std::vector<app::Secret> SecretsDialog::take_answers() {
  std::vector<app::Secret> answers;
  for (QLineEdit* field : fields_) {
    QByteArray text = field->text().toUtf8();
    answers.emplace_back(text);
    text.fill('\0');
    field->clear();
  }
  return answers;
}

}  // namespace n2nq::ui
