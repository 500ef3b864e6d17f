// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/page/results_page.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QDateTime>
#include <QDesktopServices>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSet>
#include <QStandardPaths>
#include <QStackedWidget>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

#include "app/cases/case_folder.h"
#include "app/host/shell_quoted.h"
#include "app/report/report_files.h"
#include "app/results/result_note.h"
#include "app/settings/all_digits.h"
#include "app/settings/qt_text.h"
#include "app/settings/settings_file.h"
#include "ui/card/report_view.h"
#include "ui/card/results_list.h"
#include "ui/text/figures.h"
#include "ui/text/verdict_text.h"
#include "ui/widget/card.h"
#include "ui/widget/elided_label.h"

namespace n2nq::ui {

namespace {

constexpr int progress_every_ms = 100;

/// What a shell runs this bench by: its name where it is found by that, else its path.
QString bench_command() {
  const QString name = QStringLiteral("n2nq-bench"), here = QCoreApplication::applicationDirPath() + u'/' + name;
  const auto file = [](const QString& path) { return QFileInfo(path).canonicalFilePath(); };
  return file(QStandardPaths::findExecutable(name)) == file(here) ? name : app::shell_quoted(here);
}

/// Runs a test case again, as it was chosen then.
QString case_command(const QString& folder) {
  QString command = bench_command() + QStringLiteral(" case ") + app::shell_quoted(folder + QStringLiteral("/case.yaml")), ignored;
  const auto opened = app::CaseFolder::open(folder, ignored);
  if (!opened) return command;
  const app::CaseChoice& choice = opened->choice();
  command += QStringLiteral(" --scale ") + qt_text(app::scale_word(choice.scale));
  if (choice.repeats) command += QStringLiteral(" --repeats %1").arg(*choice.repeats);
  if (choice.warm_up_s) command += QStringLiteral(" --warm-up ") + app::all_digits(*choice.warm_up_s);
  if (const auto& hosts = choice.hosts)
    command += QStringLiteral(" --on ") + app::shell_quoted(qt_text(hosts->broker + ',' + hosts->senders + ',' + hosts->receivers));
  return command;
}

bool lies_in_one_of(const QSet<QString>& folders, const QString& folder) {
  for (qsizetype end = folder.lastIndexOf('/'); end > 0; end = folder.lastIndexOf('/', end - 1)) {
    if (folders.contains(folder.first(end))) return true;
  }
  return false;
}

/// The one of `exported` that is this folder, holds it or lies in it; empty: none.
QString exported_with(const QStringList& exported, const QString& folder) {
  for (const QString& each : exported) {
    if (each == folder || each.startsWith(folder + '/') || folder.startsWith(each + '/')) return each;
  }
  return {};
}

QString path_of_log(const QString& folder, QChar letter, int number) {
  return QStringLiteral("%1/%2/%3%4.log")
      .arg(folder, letter == 'S' ? QStringLiteral("senders") : QStringLiteral("receivers"), letter)
      .arg(number, 3, 10, QChar('0'));
}

}  // namespace

ResultsPage::ResultsPage(QString runs_folder, Theme& theme, QWidget* parent)
    : QWidget(parent), runs_folder_(QDir::cleanPath(runs_folder)), theme_(theme) {
  setObjectName(QStringLiteral("results_page"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(space::card, space::card, space::card, space::card);
  stack_ = new QStackedWidget;
  stack_->addWidget(list_ = new ResultsList(theme_));
  stack_->addWidget(make_report());
  all->addWidget(stack_);
  connect(list_, &ResultsList::open_requested, this, [this] { open(chosen_folders()); });
  connect(list_, &ResultsList::compare_requested, this, [this] { open(chosen_folders()); });
  connect(list_, &ResultsList::export_requested, this, &ResultsPage::export_chosen);
  connect(list_, &ResultsList::rerun_requested, this, &ResultsPage::rerun);
  connect(list_, &ResultsList::copy_requested, this, &ResultsPage::copy_command);
  connect(list_, &ResultsList::folder_requested, this, &ResultsPage::open_folder);
  connect(list_, &ResultsList::remove_requested, this, &ResultsPage::remove_chosen);
  connect(list_, &ResultsList::undo_requested, this, &ResultsPage::undo);
  connect(list_, &ResultsList::note_changed, this, &ResultsPage::save_note);
  show_removed();
}

QWidget* ResultsPage::make_report() {
  auto* card = new Card(QStringLiteral("Result"));
  name_ = new ElidedLabel("strong");
  name_->setObjectName(QStringLiteral("result_name"));
  verdict_ = make_label(QString(), "strong");
  verdict_->setObjectName(QStringLiteral("result_verdict"));
  busy_ = make_label(QString(), "secondary");
  busy_->setObjectName(QStringLiteral("result_busy"));
  const auto button = [&](const char* object_name, const QString& text, const QString& tooltip, void (ResultsPage::*act)()) {
    auto* made = described(new QPushButton(text), object_name, text, tooltip);
    connect(made, &QPushButton::clicked, this, act);
    return made;
  };
  back_ =
      button("button_results_back", QStringLiteral("All results"), QStringLiteral("Back to the list (Escape)"), &ResultsPage::show_list);
  export_ = button("button_report_export", QStringLiteral("Export"),
                   QStringLiteral("Writes report.html, figures (SVG, PNG, PDF) and tables (CSV, JSON, XLSX)"), &ResultsPage::export_chosen);
  card->title_row()->insertWidget(0, back_);
  card->title_row()->insertWidget(2, verdict_);
  card->title_row()->insertWidget(3, name_, 100);
  card->title_row()->addWidget(busy_);
  card->title_row()->addWidget(export_);
  view_ = new ReportView(theme_);
  card->body()->addWidget(view_, 1);
  connect(view_, &ReportView::log_requested, this, [this](QChar letter, int number, const QString& text) {
    if (shown_.size() != 1) return;
    const QString path = path_of_log(shown_.first(), letter, number);
    // There may be logs of several results beside each other.
    const QString title = QStringLiteral("Log of %1 · %2").arg(QFileInfo(path).completeBaseName(), QFileInfo(shown_.first()).fileName());
    emit log_requested(title, path, text);
  });
  return card;
}

bool ResultsPage::is_busy() const {
  return listing_.is_on() || reading_.is_on() || writing_.is_on() || moving_.is_on() || forgetting_.is_on();
}

QStringList ResultsPage::chosen_folders() const {
  QStringList out;
  for (const app::ResultEntry& entry : list_->chosen()) out += entry.folder;
  return out;
}

// Reading the list is put off until somebody looks.
void ResultsPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  list_now();
}

void ResultsPage::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && stack_->currentIndex() == 1) return show_list();
  QWidget::keyPressEvent(event);
}

void ResultsPage::refresh() {
  if (isVisible()) list_now();
}

void ResultsPage::list_now() {
  struct Listed {
    std::vector<app::ResultEntry> entries;
    QString remark;
  };
  if (!listed_) list_->set_loading(true);
  listing_.start(
      [folder = runs_folder_, first = !listed_](const BackgroundJob::Cancelled& cancelled) {
        if (first) app::DeletedResults(folder).forget();
        Listed out;
        out.entries = app::ResultIndex(folder).list(out.remark, &cancelled);
        return out;
      },
      [this](Listed listed) {
        list_->set_entries(std::move(listed.entries));
        // Once: a person who has dismissed it has read it.
        if (std::exchange(remark_, listed.remark) != listed.remark) emit list_remarked(listed.remark);
        if (std::exchange(listed_, true)) return;
        // Behind the list, which it would hold up.
        forgetting_.start(
            [folder = runs_folder_](const BackgroundJob::Cancelled& cancelled) {
              app::DeletedResults(folder).delete_forgotten(cancelled);
              return true;
            },
            [](bool /*done*/) {});
      });
}

void ResultsPage::open(const QStringList& folders) {
  if (folders.isEmpty()) return;
  reading_.start(
      [folders](const BackgroundJob::Cancelled& cancelled) {
        Read read;
        read.result = app::report_of_results(folders, read.error, {}, &cancelled);
        return read;
      },
      [this, folders](Read read) {
        show_doing();
        if (!read.error.isEmpty()) return emit told(read.error, true);
        if (!read.result) return;
        shown_ = folders;
        show_read(std::move(read));
      });
  show_doing();
}

void ResultsPage::show_read(Read read) {
  const app::Report& report = read.result->report;
  const bool one = read.result->sides == 1;
  name_->set_text(one ? report.title : QString());
  name_->setToolTip(shown_.join('\n'));
  verdict_->setText(!one                       ? QStringLiteral("%1 compared").arg(read.result->sides)
                    : report.verdict.isEmpty() ? QString()
                                               : verdict_sign(report.verdict) + disturbed_sign(report.is_disturbed));
  set_style_property(verdict_, "verdict", one ? report.verdict : QString());
  view_->show_report(report, std::move(read.result->digest));
  stack_->setCurrentIndex(1);
}

void ResultsPage::show_list() {
  reading_.cancel();
  show_doing();
  shown_.clear();
  stack_->setCurrentIndex(0);
}

void ResultsPage::export_chosen() {
  write(stack_->currentIndex() == 1 ? shown_ : chosen_folders());
}

/// Of one run into its folder, of several into one of its own beside all runs.
void ResultsPage::write(const QStringList& folders) {
  if (folders.isEmpty() || writing_.is_on()) return;
  const QString to = folders.size() == 1
                         ? folders.first()
                         : QStringLiteral("%1/../reports/%2")
                               .arg(runs_folder_, QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-ddTHH-mm-ss")));
  const auto which = folders.size() == 1 ? app::ReportFolder::of_a_result : app::ReportFolder::of_its_own;
  exported_ = folders;
  writing_.start(
      [folders, which, to = QDir::cleanPath(to)](const BackgroundJob::Cancelled& cancelled) {
        QString error;
        const auto result = app::report_of_results(folders, error, {}, &cancelled);
        return std::pair(result ? app::write_report(to, result->report, {}, &cancelled, which) : error, to);
      },
      [this, folders](const std::pair<QString, QString>& written) {
        exported_.clear();
        show_doing();
        const auto& [error, folder] = written;
        if (error.isEmpty() && folders.size() > 1) {
          report_folder_ = folder;
          list_->set_reported(folders);
        }
        emit told(error.isEmpty() ? QStringLiteral("Exported: %1/report.html").arg(folder) : error, !error.isEmpty());
      });
  show_doing();
}

void ResultsPage::rerun() {
  const QStringList folders = chosen_folders();
  if (folders.size() != 1) return;
  const app::ReadSettings read = app::read_settings_file((folders.first() + QStringLiteral("/settings.yaml")).toStdString());
  if (!read.settings) {
    return emit told(read.errors.empty() ? QStringLiteral("%1 has no settings").arg(folders.first())
                                         : QString::fromStdString(read.errors.front().text()),
                     true);
  }
  emit settings_requested(*read.settings);
}

void ResultsPage::copy_command() {
  const QStringList folders = chosen_folders();
  if (folders.size() != 1) return;
  QString command = app::CaseFolder::is_one(folders.first())
                        ? case_command(folders.first())
                        : bench_command() + QStringLiteral(" run ") + app::shell_quoted(folders.first() + QStringLiteral("/settings.yaml"));
  if (!hosts_file_.isEmpty()) command += QStringLiteral(" --hosts ") + app::shell_quoted(hosts_file_);
  QGuiApplication::clipboard()->setText(command);
  emit told(QStringLiteral("Copied: ") + command, false);
}

void ResultsPage::open_folder() {
  const QStringList folders = chosen_folders();
  const QString folder = folders.size() == 1 ? folders.first() : report_folder_;
  if (folder.isEmpty() || QDesktopServices::openUrl(QUrl::fromLocalFile(folder))) return;
  emit told(QStringLiteral("The folder is %1 (no file manager opened it)").arg(folder), false);
}

void ResultsPage::remove_chosen() {
  const QStringList chosen = chosen_folders();
  const QSet<QString> all(chosen.begin(), chosen.end());
  QStringList folders;  // with a case its runs go
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(folders),
               [&all](const QString& folder) { return !lies_in_one_of(all, folder); });
  const QString run_folder = run_folder_ ? run_folder_() : QString();
  QStringList exported = exported_;
  if (const QString other = exported_elsewhere_ ? exported_elsewhere_() : QString(); !other.isEmpty()) exported += QDir::cleanPath(other);
  move_results(
      folders, {QStringLiteral("deleting"), QStringLiteral("deleted")}, Closing::leaves,
      [run_folder, exported](app::DeletedResults& results, const QString& folder) {
        if (!run_folder.isEmpty() && QFileInfo(run_folder) == QFileInfo(folder))
          return QStringLiteral("This run is on, on the page Bench: stop it first (Shift+F5)");
        if (const QString with = exported_with(exported, folder); !with.isEmpty())
          return QStringLiteral("%1 is being exported: wait until that is done").arg(QFileInfo(with).fileName());
        return results.remove(folder);
      },
      [this](const QStringList& removed) {
        if (!removed.isEmpty()) removed_.append(removed);
      });
}

void ResultsPage::undo() {
  if (removed_.isEmpty() || moving_.is_on()) return;
  const auto left = std::make_shared<QStringList>();
  move_results(
      removed_.takeLast(), {QStringLiteral("bringing back"), QStringLiteral("brought back")}, Closing::moves,
      [left](app::DeletedResults& results, const QString& folder) {
        const QString error = results.restore(folder);
        if (!error.isEmpty() && results.can_be_restored(folder)) *left += folder;
        return error;
      },
      // Offered again, behind what was deleted before it.
      [this, left](const QStringList&) {
        if (!left->isEmpty()) removed_.prepend(*left);
      });
}

void ResultsPage::move_results(const QStringList& folders, const Words& words, Closing closing, MoveOne move_one,
                               std::function<void(const QStringList&)> then) {
  if (folders.isEmpty() || moving_.is_on()) return;
  struct Moved {
    QStringList folders;
    qsizetype failed = 0;
    QString first_error;
  };
  const auto progress = [doing = words.doing, all = folders.size()](qsizetype so_far) {
    return QStringLiteral("%1 %2 of %3 …").arg(doing, count_text(so_far), count_text(all));
  };
  moved_words_ = progress(0);
  moving_.start(
      [this, folders, progress, closing, root = runs_folder_, move_one = std::move(move_one)](const BackgroundJob::Cancelled& cancelled) {
        app::DeletedResults results(root);
        Moved moved;
        QElapsedTimer since_told;
        since_told.start();
        for (qsizetype at = 0; at < folders.size() && (closing == Closing::moves || !cancelled); ++at) {
          const QString error = move_one(results, folders[at]);
          if (error.isEmpty()) {
            moved.folders += folders[at];
          } else if (moved.failed++ == 0) {
            moved.first_error = error;
          }
          if (since_told.elapsed() < progress_every_ms) continue;
          since_told.start();
          const auto show = [this, text = progress(at + 1)] {
            moved_words_ = text;
            show_doing();
          };
          QMetaObject::invokeMethod(this, show, Qt::QueuedConnection);
        }
        return moved;
      },
      [this, done = words.done, then = std::move(then)](const Moved& moved) {
        then(moved.folders);
        show_doing();
        show_removed();
        if (moved.failed == 1) emit told(moved.first_error, true);
        if (moved.failed > 1) {
          emit told(QStringLiteral("%1 of %2 results could not be %3; the first: %4")
                        .arg(count_text(moved.failed), count_text(moved.failed + moved.folders.size()), done, moved.first_error),
                    true);
        }
        list_now();
      });
  show_doing();
}

void ResultsPage::show_removed() {
  const QStringList last = removed_.isEmpty() ? QStringList() : removed_.last();
  list_->set_removed(last.isEmpty()     ? QString()
                     : last.size() == 1 ? QFileInfo(last.first()).fileName()
                                        : QStringLiteral("%1 results").arg(count_text(last.size())));
}

void ResultsPage::save_note(const QString& folder, const QString& note, const QStringList& tags) {
  const QString error = app::write_note(folder, {note, tags});
  if (!error.isEmpty()) emit told(error, true);
  list_now();
}

void ResultsPage::show_doing() {
  QStringList doing;
  if (reading_.is_on()) doing += QStringLiteral("reading …");
  if (writing_.is_on()) doing += QStringLiteral("exporting …");
  setCursor(doing.isEmpty() ? Qt::ArrowCursor : Qt::BusyCursor);
  if (moving_.is_on()) doing += moved_words_;
  const QString words = doing.join(QStringLiteral(" · "));
  busy_->setText(words);
  export_->setEnabled(!writing_.is_on());
  list_->set_doing(words, moving_.is_on(), writing_.is_on());
}

}  // namespace n2nq::ui
