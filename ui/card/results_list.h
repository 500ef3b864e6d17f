// SPDX-License-Identifier: GPL-3.0-or-later
// The list of all results with what narrows and sorts it, and note and tags of the one that is chosen. Decides nothing: it says what a
// person wants.
#pragma once

#include <QWidget>
#include <utility>

#include "ui/model/results_model.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace n2nq::ui {

class ElidedLabel;
class ResultsList : public QWidget {
  Q_OBJECT
 public:
  explicit ResultsList(Theme& theme, QWidget* parent = nullptr);

  void set_entries(std::vector<app::ResultEntry> entries);
  void set_loading(bool loading);
  /// The name of what was deleted last; empty: there is nothing to bring back.
  void set_removed(const QString& name);
  /// What goes on ("deleting 3 of 10 …"); empty: nothing. While results are deleted or brought back neither can be begun again, nor another
  /// export while one is written.
  void set_doing(const QString& words, bool moving, bool exporting);
  /// These have a report together, in a folder of its own.
  void set_reported(const QStringList& folders);
  std::vector<app::ResultEntry> chosen() const;
  void choose(const QStringList& folders);

 signals:
  void open_requested();
  void compare_requested();
  void rerun_requested();
  void copy_requested();
  void export_requested();
  void folder_requested();
  void remove_requested();
  void undo_requested();
  void note_changed(const QString& folder, const QString& note, const QStringList& tags);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* make_list();
  QWidget* make_filters();
  QWidget* make_details();
  bool are_reported(const std::vector<app::ResultEntry>& entries) const;
  void take_filter();
  void take_note();
  void refresh();
  void refill_tags();
  void fit_columns();

  Theme& theme_;
  ResultsModel* model_ = nullptr;
  QTableView* table_ = nullptr;
  QWidget* rows_ = nullptr;  // the table, or nothing while it has none
  QLineEdit *search_ = nullptr, *note_ = nullptr, *tags_ = nullptr;
  QComboBox *kind_ = nullptr, *mode_ = nullptr, *verdict_ = nullptr, *days_ = nullptr, *tag_ = nullptr;
  QPushButton *open_ = nullptr, *compare_ = nullptr, *remove_ = nullptr, *undo_ = nullptr, *rerun_ = nullptr, *copy_ = nullptr,
              *export_ = nullptr, *folder_ = nullptr;
  QLabel *invitation_ = nullptr, *count_ = nullptr, *doing_ = nullptr;
  ElidedLabel* chosen_ = nullptr;
  QString noted_;         // folder whose note the fields show
  QString removed_;       // what was deleted last; empty: nothing
  QStringList all_tags_;  // that can be chosen
  QStringList reported_;  // sorted
  bool loading_ = true, refilling_ = false, moving_ = false, exporting_ = false;
  struct Fit {  // what the columns' widths were made for
    int room_px = 0, name_px = 0, mode_px = 0, services_px = 0, machines_px = 0, verdict_px = 0, p50_px = 0, p99_px = 0, deliveries_px = 0;
    bool notes = false;
    bool operator==(const Fit&) const = default;
  };
  Fit fitted_;
};

}  // namespace n2nq::ui
