// SPDX-License-Identifier: GPL-3.0-or-later
// Results: the list of all, one opened, several compared. Reads and writes beside the window's thread.
//
// So are results deleted and brought back, as many as the list has (ResultIndex::results_max): one such work at a time. A window that is
// closed meanwhile waits for the folder that is being deleted, not for the rest; and for all that is brought back, for the next start
// deletes for good what is not.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "app/report/result_report.h"
#include "app/results/deleted_results.h"
#include "app/results/result_index.h"
#include "app/settings/settings.h"
#include "ui/model/background_job.h"
#include "ui/theme/theme.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace n2nq::ui {

class ElidedLabel;
class ReportView;
class ResultsList;

class ResultsPage : public QWidget {
  Q_OBJECT
 public:
  ResultsPage(QString runs_folder, Theme& theme, QWidget* parent = nullptr);

  /// Reads the list anew, as after a run, if it is in sight.
  void refresh();
  ReportView* report_view() const { return view_; }
  bool is_busy() const;
  /// It reads the list, or will behind what it moves. Whatever else it does ends without.
  bool will_list() const { return listing_.is_on() || moving_.is_on(); }
  /// The folder of the run that is on in this window, which is not deleted; an empty text: none is.
  using RunFolder = std::function<QString()>;
  void set_run_folder(RunFolder run_folder) { run_folder_ = std::move(run_folder); }
  /// The folder that another page exports: neither it, nor what holds it or lies in it, is deleted meanwhile. An empty text: none is.
  using ExportedFolder = std::function<QString()>;
  void set_exported_elsewhere(ExportedFolder exported) { exported_elsewhere_ = std::move(exported); }
  /// For the command that runs a result again; empty: the user's own file, which it takes by itself.
  void set_hosts_file(QString path) { hosts_file_ = std::move(path); }

 signals:
  /// Settings of a run that shall be used again, and the preset-like name it is known by.
  void settings_requested(const n2nq::app::Settings& settings);
  void log_requested(const QString& title, const QString& path, const QString& text);
  /// For the window's message bar.
  void told(const QString& text, bool bad);
  /// What is wrong with the list but prevents none; empty: nothing any more.
  void list_remarked(const QString& remark);

 protected:
  void showEvent(QShowEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Read {
    std::optional<app::ResultReport> result;
    QString error;
  };
  QWidget* make_report();
  void list_now();
  void open(const QStringList& folders);
  void show_read(Read read);
  void show_list();
  void export_chosen();
  void write(const QStringList& folders);
  void rerun();
  void copy_command();
  /// Of several: that of their report.
  void open_folder();
  void remove_chosen();
  void undo();
  /// Moves one result: why that could not be; an empty text: it is done.
  using MoveOne = std::function<QString(app::DeletedResults& results, const QString& folder)>;
  struct Words {
    QString doing;  // "deleting"
    QString done;   // "deleted"
  };
  /// What is left when the window is closed stays where it is, or is moved all the same.
  enum class Closing { leaves, moves };
  /// `then` is given what was moved.
  void move_results(const QStringList& folders, const Words& words, Closing closing, MoveOne move_one,
                    std::function<void(const QStringList&)> then);
  void show_removed();
  void save_note(const QString& folder, const QString& note, const QStringList& tags);
  /// Whether the list is in sight or a report: what was begun in one goes on in the other.
  void show_doing();
  QStringList chosen_folders() const;

  QString runs_folder_;
  RunFolder run_folder_;
  ExportedFolder exported_elsewhere_;
  QString hosts_file_;
  Theme& theme_;
  BackgroundJob listing_, reading_, writing_, moving_, forgetting_;
  QStackedWidget* stack_ = nullptr;
  ResultsList* list_ = nullptr;
  ReportView* view_ = nullptr;
  ElidedLabel* name_ = nullptr;
  QLabel *verdict_ = nullptr, *busy_ = nullptr;
  QPushButton *back_ = nullptr, *export_ = nullptr;
  QStringList shown_;           // folders of the report in sight
  QStringList exported_;        // folders that are read for the report which is being written
  QString report_folder_;       // of the last report of several; empty: there is none
  QList<QStringList> removed_;  // each what was deleted together, in the order in which Undo offers it, the next one last
  QString moved_words_;         // "deleting 3 of 10 …"
  QString remark_;              // of the list, as it was said last
  bool listed_ = false;
};

}  // namespace n2nq::ui
