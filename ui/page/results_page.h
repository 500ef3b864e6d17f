// SPDX-License-Identifier: GPL-3.0-or-later
// Results: the list of all, one opened, several compared. Reads and writes beside the window's thread.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "app/report/result_report.h"
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

  /// Reads the list anew, as after a run.
  void refresh();
  ReportView* report_view() const { return view_; }
  bool is_busy() const;
  /// Says why the result in a folder cannot be deleted now; an empty text: it can.
  using InUse = std::function<QString(const QString& folder)>;
  void set_in_use(InUse in_use) { in_use_ = std::move(in_use); }

 signals:
  /// Settings of a run that shall be used again, and the preset-like name it is known by.
  void settings_requested(const n2nq::app::Settings& settings);
  void log_requested(const QString& title, const QString& path, const QString& text);
  /// For the window's message bar.
  void told(const QString& text, bool bad);

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
  void open_folder();
  void remove_chosen();
  void undo();
  void save_note(const QString& folder, const QString& note, const QStringList& tags);
  void set_busy(const QString& what);
  QStringList chosen_folders() const;

  QString runs_folder_;
  InUse in_use_;
  Theme& theme_;
  BackgroundJob listing_, reading_, writing_;
  QStackedWidget* stack_ = nullptr;
  ResultsList* list_ = nullptr;
  ReportView* view_ = nullptr;
  ElidedLabel* name_ = nullptr;
  QLabel *verdict_ = nullptr, *busy_ = nullptr;
  QPushButton *back_ = nullptr, *export_ = nullptr;
  QStringList shown_;           // folders of the report in sight
  QList<QStringList> removed_;  // each what was deleted together, in order
  bool listed_ = false, forgot_removed_ = false;
};

}  // namespace n2nq::ui
