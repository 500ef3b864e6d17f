// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/page/cases_page.h"

#include <QAbstractButton>
#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QPushButton>
#include <QShortcut>
#include <QTextBrowser>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>
#include <limits>
#include <utility>

#include "app/figure/figure_doubts.h"
#include "app/figure/figure_words.h"
#include "app/report/case_report.h"
#include "app/report/report_files.h"
#include "app/settings/qt_text.h"
#include "ui/card/case_figure_card.h"
#include "ui/card/case_menu.h"
#include "ui/card/cases_card.h"
#include "ui/model/cases_model.h"
#include "ui/text/figures.h"
#include "ui/widget/card.h"

namespace n2nq::ui {

namespace {

constexpr int list_share = 5, figure_share = 4, cases_share = 3, notes_share = 2;

/// What the row's figures are of: once it was begun, the file of then, which somebody may have edited since.
const app::CaseFile& file_of_figures(const CasesDesk::Row& row) {
  return row.planned ? row.planned->plan.file() : *row.file.read.file;
}

}  // namespace

CasesPage::CasesPage(CasesDesk::Parts parts, Theme& theme, QWidget* parent)
    : QWidget(parent), cases_folder_(parts.cases_folder), theme_(theme) {
  setObjectName(QStringLiteral("cases_page"));
  app::HostBook& hosts = *parts.hosts;
  app::CaseLibrary(cases_folder_).forget_removed();
  desk_ = new CasesDesk(std::move(parts), this);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(space::card, space::card, space::card, space::card);
  row->setSpacing(space::card);
  auto* left = new QVBoxLayout;
  left->setSpacing(space::card);
  left->addWidget(list_ = new CasesCard(*desk_, hosts, cases_folder_, theme_), cases_share);
  left->addWidget(make_notes(), notes_share);
  row->addLayout(left, list_share);
  row->addWidget(figure_ = new CaseFigureCard(theme_), figure_share);
  connect(list_, &CasesCard::row_selected, this, &CasesPage::show_row);
  connect(list_, &CasesCard::copy_requested, this, &CasesPage::copy_case);
  connect(list_->menu(), &CaseMenu::edit_requested, this, &CasesPage::edit_case);
  connect(list_->menu(), &CaseMenu::remove_requested, this, &CasesPage::remove_case);
  connect(list_->menu(), &CaseMenu::undo_requested, this, &CasesPage::restore_case);
  // Wherever the focus is in here; a text field takes back what was typed into it.
  auto* undo = new QShortcut(QKeySequence::Undo, this);
  undo->setContext(Qt::WidgetWithChildrenShortcut);
  connect(undo, &QShortcut::activated, this, &CasesPage::restore_case);
  connect(figure_, &CaseFigureCard::figure_chosen, this, &CasesPage::show_figure);
  connect(figure_, &CaseFigureCard::export_requested, this, &CasesPage::export_case);
  connect(figure_, &CaseFigureCard::run_again_requested, this, [this](const QStringList& folders) { desk_->run_again(row_, folders); });
  connect(desk_, &CasesDesk::told, this, &CasesPage::told);
  connect(desk_, &CasesDesk::rows_changed, this, [this] { show_row(list_->current_row()); });
  connect(desk_, &CasesDesk::opened, this, [this](int opened) {
    if (desk_->active_row() == opened && opened != row_) return list_->select(opened);
    if (opened == row_) show_row(row_);
  });
  connect(desk_, &CasesDesk::figures_changed, this, [this](int changed) {
    if (changed == row_) show_figure();
  });
  connect(desk_, &CasesDesk::on_changed, this, [this] {
    show_figure();
    // While a case runs, nothing is read anew.
    if (std::exchange(was_on_, desk_->is_on()) && !was_on_) refresh();
  });
  connect(desk_, &CasesDesk::hold_changed, this, [this] {
    refresh_again();
    if (desk_->hold().isEmpty()) refresh();
  });
  // Behind the signal: the question turns an event loop of its own.
  connect(desk_, &CasesDesk::build_asked, this, &CasesPage::ask_build, Qt::QueuedConnection);
  connect(&theme_, &Theme::changed, this, &CasesPage::show_figure);
}

QWidget* CasesPage::make_notes() {
  auto* card = new Card(QStringLiteral("About this figure"));
  notes_ = described(new QTextBrowser, "case_notes", QStringLiteral("About this figure"), QString());
  notes_->setProperty("plain", true);
  notes_->setOpenLinks(false);
  card->body()->addWidget(notes_, 1);
  return card;
}

// Files are read when somebody looks, and anew each time, as a person edits them.
void CasesPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

// Not beside a run: reading what hundreds of runs left takes a core for seconds, and what is measured may need it.
void CasesPage::refresh() {
  if (isVisible() && (!desk_->is_loaded() || desk_->hold().isEmpty())) desk_->reload();
}

void CasesPage::show_row(int row) {
  row_ = row;
  if (row < 0 || row >= static_cast<int>(desk_->rows().size())) return;
  const CasesDesk::Row& at = desk_->rows()[static_cast<std::size_t>(row)];
  // Figures of a case and of a copy of it are called the same.
  const QString path = at.file.built_in ? qt_text(at.file.name) : at.file.path;
  if (std::exchange(shown_path_, path) != path) figure_->forget_point();
  if (!at.file.read.file) return show_mistakes(at);
  QStringList titles;
  for (const app::CaseFigure& figure : file_of_figures(at).figures) {
    const auto number = figure_number(figure);
    titles += (number ? QStringLiteral("%1 · ").arg(*number) : QString()) + qt_text(figure.title);
  }
  figure_->set_titles(titles);
  show_figure();
  if (!at.planned) desk_->open(row);
}

void CasesPage::show_mistakes(const CasesDesk::Row& row) {
  figure_->set_titles({});
  figure_->set_export(false, {});
  QStringList lines;
  for (app::FileError error : row.file.read.errors) {
    error.file = row.file.name + ".yaml";
    lines += qt_text(error.text());
  }
  figure_->show_text(QStringLiteral("This file has mistakes:\n\n") + lines.join(u'\n'));
  shown_notes_.clear();
  notes_->setPlainText(row.file.path);
}

void CasesPage::show_figure() {
  if (row_ < 0 || row_ >= static_cast<int>(desk_->rows().size())) return;
  const CasesDesk::Row& at = desk_->rows()[static_cast<std::size_t>(row_)];
  if (!at.file.read.file || figure_->current() < 0) return;
  const app::Figure figure = desk_->figure(row_, static_cast<std::size_t>(figure_->current()));
  const bool any =
      std::any_of(figure.series.begin(), figure.series.end(), [](const app::FigureSeries& series) { return !series.points.empty(); });
  const CasesDesk::Estimate& estimate = at.estimates[static_cast<std::size_t>(desk_->choice().scale)];
  if (any) {
    figure_->show_figure(figure);
  } else if (!estimate.problem.isEmpty()) {
    figure_->show_text(estimate.problem);
  } else if (at.runner && at.runner->state() == app::CaseRunner::State::reading) {
    figure_->show_text(QStringLiteral("Reading what was run …"));
  } else if (!figure.series.empty() && std::all_of(figure.series.begin(), figure.series.end(),
                                                   [](const app::FigureSeries& series) { return !series.not_run.isEmpty(); })) {
    figure_->show_text(QStringLiteral("This figure is not run: %1.").arg(figure.series.front().not_run) +
                       (figure_->count() > 1 ? QStringLiteral("\nThe list above has the case's other figures.") : QString()));
  } else if (desk_->active_row() == row_) {
    figure_->show_text(QStringLiteral("The first points come when the first runs end."));
  } else if (at.runs_done > 0 && !at.planned && (desk_->is_on() || !desk_->hold().isEmpty())) {
    figure_->show_text(QStringLiteral("%1 runs are done. Their figures are read when no other run is on.").arg(count_text(at.runs_done)));
  } else {
    figure_->show_text(at.runs_done > 0
                           ? QStringLiteral("Nothing of this figure was run.")
                           : QStringLiteral("Not run yet. Run selected begins the ticked cases;\nthis one has %1 runs and takes about %2.")
                                 .arg(estimate.runs)
                                 .arg(span_text(estimate.seconds)));
  }
  figure_->set_export(
      at.runner && at.runs_done > 0 && !writing_.is_on(),
      at.folder.isEmpty() || !at.runner
          ? QString()
          : QStringLiteral("Writes report.html, figures (SVG, PNG, PDF) and tables (CSV, JSON, XLSX) into %1").arg(at.folder));
  show_notes(figure, at);
  refresh_again();
}

void CasesPage::show_notes(const app::Figure& figure, const CasesDesk::Row& row) {
  const app::CaseFile& file = file_of_figures(row);
  const auto paragraph = [](const QString& text) {
    return QStringLiteral("<p style=\"margin: 0 0 4px 0\">%1</p>").arg(text.toHtmlEscaped());
  };
  QString html;
  if (file.text != row.file.read.file->text) {
    html += paragraph(QStringLiteral("Its file has changed since it was begun: figures, and what stands here, are as the file was then. "
                                     "Resume goes on so; Run selected begins anew, with the file as it is now."));
  }
  if (!file.about.empty()) html += paragraph(qt_text(file.about));
  if (!file.source.empty()) html += paragraph(qt_text(file.source));
  if (const QString sets = sets_text(file, desk_->choice().scale); !sets.isEmpty()) html += paragraph(QStringLiteral("Sets: ") + sets);
  const auto& figures = file.figures;
  const auto which = static_cast<std::size_t>(std::max(0, figure_->current()));
  if (figure.references.empty() && which < figures.size()) {
    for (const app::CaseKnown& known : figures[which].known) html += paragraph(QStringLiteral("◇ ") + qt_text(known.text));
  }
  int number = 0;
  for (const app::FigureReference& reference : figure.references)
    html += paragraph(QStringLiteral("◇ %1 %2").arg(++number).arg(reference.text));
  for (const app::FigureSeries& series : figure.series) {
    if (!series.not_run.isEmpty()) html += paragraph(QStringLiteral("%1: not run: %2").arg(series.name, series.not_run));
  }
  for (const QString& marked : app::marked_notes(figure, std::numeric_limits<qsizetype>::max())) html += paragraph(marked);
  if (const QString grey = app::grey_words(figure); !grey.isEmpty()) html += paragraph(grey);
  for (const QString& remark : figure.remarks) html += paragraph(remark);
  // Set anew it begins at its top again, also for who reads further down.
  if (std::exchange(shown_notes_, html) != html) notes_->setHtml(html);
}

void CasesPage::refresh_again() {
  const bool known = row_ >= 0 && row_ < static_cast<int>(desk_->rows().size());
  const QString why_not = known ? desk_->why_not_changed(desk_->rows()[static_cast<std::size_t>(row_)]) : QString();
  const bool possible = known && desk_->rows()[static_cast<std::size_t>(row_)].runner && why_not.isEmpty();
  figure_->set_again(possible, why_not.isEmpty() ? QStringLiteral("Nothing was run yet") : why_not);
}

void CasesPage::ask_build(const QString& text) {
  QMessageBox question(QMessageBox::NoIcon, QStringLiteral("Another build"), text, QMessageBox::NoButton, this);
  question.setObjectName(QStringLiteral("build_question"));
  QAbstractButton* anew = question.addButton(QStringLiteral("Begin anew"), QMessageBox::AcceptRole);
  QAbstractButton* go_on = question.addButton(QStringLiteral("Go on all the same"), QMessageBox::DestructiveRole);
  question.addButton(QStringLiteral("Leave it"), QMessageBox::RejectRole);
  question.exec();
  desk_->answer(question.clickedButton() == anew    ? CasesDesk::Answer::anew
                : question.clickedButton() == go_on ? CasesDesk::Answer::go_on
                                                    : CasesDesk::Answer::leave);
}

void CasesPage::copy_case(int row) {
  QString error;
  const QString path = app::CaseLibrary(cases_folder_).copy(desk_->rows()[static_cast<std::size_t>(row)].file, error);
  if (path.isEmpty()) return emit told(error, true);
  const bool opened = QDesktopServices::openUrl(QUrl::fromLocalFile(path));
  list_->select_when_listed(QFileInfo(path).completeBaseName().toStdString(), true);  // who makes one wants to run it
  emit told((opened ? QStringLiteral("Copied to %1") : QStringLiteral("Copied to %1; no editor opened by itself")).arg(path), false);
  desk_->reload();
}

void CasesPage::edit_case(const QString& path) {
  if (QDesktopServices::openUrl(QUrl::fromLocalFile(path))) return;
  emit told(QStringLiteral("The file is %1 (no editor opened it)").arg(path), false);
}

void CasesPage::remove_case(const QString& path) {
  const auto& rows = desk_->rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&path](const CasesDesk::Row& each) { return each.file.path == path; });
  if (found == rows.end()) return;  // by now, while the menu was open
  if (const QString why_not = desk_->why_not_changed(*found); !why_not.isEmpty())
    return emit told(QStringLiteral("Not deleted: ") + why_not, true);
  QString error;
  auto removed = app::CaseLibrary::remove(path, error);
  if (!removed) return emit told(error, true);
  removed_.push_back({std::move(*removed), found->ticked});
  list_->menu()->set_removed(QFileInfo(path).fileName());
  const auto row = static_cast<int>(found - rows.begin());
  desk_->set_ticked(row, false);  // nor is another one of that name in a later session
  if (row == list_->current_row()) list_->select(row_beside(row));  // which stays chosen once it is gone
  emit told(QStringLiteral("Deleted: %1 (Ctrl+Z brings it back)").arg(path), false);
  desk_->reload();
}

int CasesPage::row_beside(int row) const {
  const auto& rows = desk_->rows();
  // Deleted ones are listed until the list is read again.
  const auto is_there = [&rows](int at) {
    const app::LibraryCase& file = rows[static_cast<std::size_t>(at)].file;
    return file.built_in || QFileInfo::exists(file.path);
  };
  for (int below = row + 1; below < static_cast<int>(rows.size()); ++below) {
    if (is_there(below)) return below;
  }
  int above = row - 1;
  while (above > 0 && !is_there(above)) --above;
  return above;
}

void CasesPage::restore_case() {
  if (removed_.empty()) return;
  if (!desk_->hold().isEmpty()) return emit told(QStringLiteral("Nothing is brought back now: ") + desk_->hold(), true);
  const auto [removed, ticked] = removed_.back();
  const QString error = app::CaseLibrary::restore(removed);
  if (app::CaseLibrary::can_be_restored(removed)) {
    std::rotate(removed_.begin(), removed_.end() - 1, removed_.end());  // the others do not wait for it
  } else {
    removed_.pop_back();
  }
  list_->menu()->set_removed(removed_.empty() ? QString() : QFileInfo(removed_.back().file.path).fileName());
  if (!error.isEmpty()) return emit told(error, true);
  list_->select_when_listed(QFileInfo(removed.path).completeBaseName().toStdString(), ticked);
  emit told(QStringLiteral("Brought back: %1").arg(removed.path), false);
  desk_->reload();
}

void CasesPage::export_case() {
  const QString folder = desk_->rows()[static_cast<std::size_t>(row_)].folder;
  if (folder.isEmpty() || writing_.is_on()) return;
  exported_ = folder;
  writing_.start(
      [folder](const BackgroundJob::Cancelled& cancelled) {
        QString error;
        const auto report = app::report_of_case(folder, error, &cancelled);
        return report ? app::write_report(folder, *report, {}, &cancelled, app::ReportFolder::of_a_result) : error;
      },
      [this, folder](const QString& error) {
        exported_.clear();
        show_figure();
        emit told(error.isEmpty() ? QStringLiteral("Exported: %1/report.html").arg(folder) : error, !error.isEmpty());
      });
  show_figure();
}

}  // namespace n2nq::ui
