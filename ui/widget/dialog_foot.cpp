// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/dialog_foot.h"

#include <QDialog>
#include <QHBoxLayout>
#include <QPushButton>

#include "ui/theme/tokens.h"
#include "ui/widget/card.h"

namespace n2nq::ui {

QPushButton* add_dialog_foot(QDialog& dialog, QVBoxLayout& all, const char* cancel_name, const char* main_name, const QString& main_text) {
  auto* row = new QHBoxLayout;
  row->setSpacing(space::between);
  auto* cancel = described(new QPushButton(QStringLiteral("Cancel")), cancel_name, QStringLiteral("Cancel"), QString());
  auto* main = described(new QPushButton(main_text), main_name, main_text, QString());
  main->setProperty("main", true);
  main->setDefault(true);
  row->addStretch(1);
  row->addWidget(cancel);
  row->addWidget(main);
  all.addLayout(row);
  QObject::connect(cancel, &QPushButton::clicked, &dialog, &QDialog::reject);
  QObject::connect(main, &QPushButton::clicked, &dialog, &QDialog::accept);
  return main;
}

}  // namespace n2nq::ui
