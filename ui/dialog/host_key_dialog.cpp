// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialog/host_key_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "ui/text/check_text.h"
#include "ui/widget/card.h"

namespace n2nq::ui {

namespace {
constexpr int host_key_width_px = 560;
}

HostKeyDialog::HostKeyDialog(const app::HostKeyQuestion& question, const Theme& theme, QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("host_key_dialog"));
  setWindowTitle(QStringLiteral("Unknown machine"));
  setFixedWidth(host_key_width_px);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  all->setSpacing(space::between);
  const auto add_words = [all](const QString& text, const char* role) {
    auto* label = make_label(text, role);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    all->addWidget(label);
    return label;
  };
  add_words(QStringLiteral("Is this %1?").arg(breakable(question.host)), "title");
  add_words(QStringLiteral("The machine at %1 shows an %2 key that stands in no known_hosts file. ")
                    .arg(breakable(question.address), question.key_type) +
                breakable(question.beside) + QStringLiteral("Its fingerprint:"),
            "body");
  auto* print = described(new QLineEdit(question.fingerprint), "host_key_fingerprint", QStringLiteral("Fingerprint of the key"), QString());
  print->setReadOnly(true);
  print->setFont(theme.monospaced_font());
  print->setCursorPosition(0);
  all->addWidget(print);
  add_words(QStringLiteral("Compare it with what somebody at that machine reads. There, this prints it:\n"
                           "for key in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf \"$key\"; done"),
            "secondary")
      ->setTextInteractionFlags(Qt::TextSelectableByMouse);
  const bool is_added = !question.known_hosts_file.isEmpty();
  const QString yes_does = is_added ? QStringLiteral("Yes adds the key to %1.").arg(breakable(question.known_hosts_file))
                                    : QStringLiteral("Yes counts until the bench ends: as UserKnownHostsFile in ~/.ssh/config says, no key is remembered.");
  add_words(QStringLiteral("If it is another one, somebody may stand between you and %1. ").arg(breakable(question.host)) + yes_does, "secondary");
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  auto* yes = described(new QPushButton(QStringLiteral("Yes, it is")), "host_key_yes", QStringLiteral("Yes, it is"),
                        is_added ? QStringLiteral("Adds the key and connects") : QStringLiteral("Connects"));
  auto* no = described(new QPushButton(QStringLiteral("Do not connect")), "host_key_no", QStringLiteral("Do not connect"), QString());
  no->setProperty("main", true);
  no->setDefault(true);
  yes->setAutoDefault(false);
  row->addStretch(1);
  row->addWidget(yes);
  row->addWidget(no);
  all->addLayout(row);
  no->setFocus();
  // Of exactly these lines: a layout that asks labels for their height at another width leaves gaps that differ from host to host.
  setFixedHeight(all->heightForWidth(host_key_width_px));
  connect(yes, &QPushButton::clicked, this, &QDialog::accept);
  connect(no, &QPushButton::clicked, this, &QDialog::reject);
}

}  // namespace n2nq::ui
