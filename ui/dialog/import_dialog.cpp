// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialog/import_dialog.h"

#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/tokens.h"
#include "ui/widget/card.h"
#include "ui/widget/dialog_foot.h"

namespace n2nq::ui {

namespace {
constexpr QSize size_px(420, 380);
}

ImportDialog::ImportDialog(app::HostBook& book, const ImportOffer& offer, QWidget* parent) : QDialog(parent), book_(book) {
  setObjectName(QStringLiteral("import_dialog"));
  setWindowTitle(QStringLiteral("Import from ~/.ssh/config"));
  resize(size_px);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  all->setSpacing(space::between);
  if (!offer.problems.isEmpty()) {
    auto* troubles = make_label(offer.problems.first(), "problem");
    troubles->setObjectName(QStringLiteral("import_config_problem"));
    troubles->setToolTip(offer.problems.join('\n'));
    troubles->setWordWrap(true);
    all->addWidget(troubles);
  }
  if (!offer.names.isEmpty() || offer.problems.isEmpty()) {
    auto* words = make_label(
        offer.names.isEmpty() ? QStringLiteral("~/.ssh/config names no machine. A line such as \"Host lab-1\" does, or use Add.")
                              : QStringLiteral("Address, port, user and key stay as ~/.ssh/config says. A click or Space chooses."),
        "secondary");
    words->setWordWrap(true);
    all->addWidget(words);
  }
  list_ = described(new QListWidget, "import_names", QStringLiteral("Machines of ~/.ssh/config"), QString());
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setTextElideMode(Qt::ElideMiddle);  // why a name cannot be taken stands at its end
  list_->ensurePolished();  // or the rows become higher when they are painted first
  for (const QString& name : offer.names) {
    app::Host host;
    auto* item = new QListWidgetItem(name, list_);
    const auto problem = app::parse_host_name(name.toStdString(), host.name);
    const bool known = book_.hosts().find(name.toStdString()) != nullptr;
    if (problem || known) {
      item->setText(name + (known ? QStringLiteral("  (is there)") : QStringLiteral("  (no name for a machine)")));
      item->setToolTip(known ? QString() : QString::fromStdString("A name " + *problem));
      item->setFlags(Qt::NoItemFlags);
    } else {
      item->setData(Qt::UserRole, name);
      item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
      item->setCheckState(Qt::Unchecked);
      if (!list_->currentItem()) list_->setCurrentItem(item);  // which Space chooses
    }
  }
  all->addWidget(list_, 1);
  problem_ = make_problem_label(QStringLiteral("import_problem"));
  all->addWidget(problem_);
  take_ = add_dialog_foot(*this, *all, "import_cancel", "import_take", QStringLiteral("Import"));
  connect(list_, &QListWidget::itemChanged, this, &ImportDialog::refresh);
  // A click on the name chooses as one on its box does, which the list itself has heeded by then.
  connect(list_, &QListWidget::itemPressed, this, [this](const QListWidgetItem* item) { pressed_ = item->checkState(); });
  connect(list_, &QListWidget::itemClicked, this, [this](QListWidgetItem* item) {
    if (item->flags().testFlag(Qt::ItemIsUserCheckable) && item->checkState() == pressed_)
      item->setCheckState(pressed_ == Qt::Checked ? Qt::Unchecked : Qt::Checked);
  });
  refresh();
}

QStringList ImportDialog::chosen() const {
  QStringList out;
  for (int i = 0; i < list_->count(); ++i) {
    const QListWidgetItem* item = list_->item(i);
    if (item->checkState() == Qt::Checked) out << item->data(Qt::UserRole).toString();
  }
  return out;
}

void ImportDialog::refresh() {
  const qsizetype count = chosen().size();
  take_->setEnabled(count > 0);
  set_style_property(take_, "main", count > 0);
  take_->setText(count > 0 ? QStringLiteral("Import %1").arg(count) : QStringLiteral("Import"));
}

void ImportDialog::accept() {
  std::vector<app::Host> hosts;
  for (const QString& name : chosen()) hosts.emplace_back().name = name.toStdString();
  const QString error = book_.add(hosts);
  if (error.isEmpty()) return QDialog::accept();
  problem_->setText(QStringLiteral("✕ ") + error);
}

}  // namespace n2nq::ui
