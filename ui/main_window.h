// SPDX-License-Identifier: GPL-3.0-or-later
// The window: puts the parts together and connects them. Decides nothing about a run.
#pragma once

#include <QMainWindow>
#include <QTimer>
#include <memory>
#include <optional>

#include "app/control/run_control.h"
#include "app/host/host_book.h"
#include "app/host/host_report.h"
#include "app/host/launcher.h"
#include "ui/dialog/import_dialog.h"
#include "ui/log/log_viewers.h"
#include "ui/log/run_logs.h"
#include "ui/model/busy.h"
#include "ui/model/preset_choice.h"
#include "ui/model/run_actions.h"
#include "ui/stall_meter.h"
#include "ui/window_memory.h"

class QMenu;
class QStackedWidget;
class QTabBar;
class QPushButton;

namespace n2nq::ui {

class BenchPage;
class CasesPage;
class Closing;
class HelpPage;
class HostsPage;
class MessageBar;
class ResultsPage;
class RunBar;
class StatusStrip;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  struct Parts {
    std::unique_ptr<app::LauncherFactory> launchers;
    QString runs_folder;     // parent of run folders
    QString presets_folder;  // saved presets
    std::unique_ptr<QSettings> memory;
    app::HostBook* hosts = nullptr;          // lab machines; lives longer
    app::HostChecker* checker = nullptr;     // lives longer; null: nothing is checked
    std::function<ImportOffer()> ssh_offer;  // machines that ~/.ssh/config names
    // Of test cases: each of their runs gets launchers of its own.
    std::function<std::unique_ptr<app::LauncherFactory>()> case_launchers;
    QString cases_folder;     // own files
    QString programs_folder;  // whose build runs are of
  };
  /// A window lower than this shows the charts on a page of their own.
  static constexpr int charts_page_below_px = 800;

  explicit MainWindow(Parts parts);
  ~MainWindow() override;

  SettingsForm& form() { return form_; }
  PresetChoice& presets() { return presets_; }
  app::RunControl& run() { return run_; }
  Theme& theme() { return theme_; }
  LogViewers& logs() { return logs_; }
  RunLogs& run_logs() { return run_logs_; }
  BenchPage* bench_page() const { return bench_; }
  HostsPage* hosts_page() const { return hosts_page_; }
  ResultsPage* results_page() const { return results_page_; }
  CasesPage* cases_page() const { return cases_; }
  const StallMeter& stalls() const { return stalls_; }
  /// Pages in sight, from the left: "Bench", "Charts" (low windows only), "Test cases", "Results", "Hosts", "Help".
  QStringList page_names() const;
  void show_page(const QString& name);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void restore();
  void remember();
  void build(Parts& parts);
  QWidget* make_tab_row();
  void make_actions();
  void make_menu();
  void fill_pages_menu(QMenu* menu);
  QAction* add_action(const char* object_name, const QString& text, const QKeySequence& keys, const QString& tooltip);
  void connect_parts();
  void place_charts();
  void show_tab(int index);
  void open_folder();
  void choose_theme(ThemeChoice choice);
  void refresh_actions();
  void use_settings(const app::Settings& settings);
  void refuse(const QString& key);
  void fit_to_screen();
  void measure_cpu();
  /// What is on that has the machines for itself.
  std::optional<Busy> busy() const;
  void refresh_hold();
  void connect_cases();

  app::HostBook& hosts_;
  app::HostChecker* const checker_;  // or null
  WindowMemory memory_;
  Theme theme_;
  SettingsForm form_;
  app::RunControl run_;
  PresetChoice presets_;
  RunActions actions_;
  LogViewers logs_;
  RunLogs run_logs_;
  StallMeter stalls_;
  QTimer cpu_timer_;
  QString runs_folder_;
  double cpu_before_s_ = 0;
  Closing* closing_ = nullptr;

  RunBar* bar_ = nullptr;
  QTabBar* tabs_ = nullptr;
  QPushButton* menu_button_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  MessageBar* messages_ = nullptr;
  BenchPage* bench_ = nullptr;
  QWidget* charts_page_ = nullptr;
  HostsPage* hosts_page_ = nullptr;
  ResultsPage* results_page_ = nullptr;
  CasesPage* cases_ = nullptr;
  HelpPage* help_ = nullptr;
  StatusStrip* status_ = nullptr;
  QAction *start_all_ = nullptr, *stop_all_ = nullptr, *save_as_ = nullptr, *log_ = nullptr, *broker_log_ = nullptr, *folder_ = nullptr,
          *show_help_ = nullptr, *quit_ = nullptr;
  QMenu* preset_menu_ = nullptr;
  bool charts_on_page_ = false;
};

}  // namespace n2nq::ui
