// SPDX-License-Identifier: GPL-3.0-or-later
// A process on a lab machine: put there by SFTP, run by a command of fixed text, spoken with over its stdin and stdout. It ends when its
// stdin ends, and when it has heard nothing for 12.5 s: what becomes of the connection or of this program leaves nothing running.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <memory>
#include <optional>
#include <set>

#include "app/host/lab_host.h"
#include "app/host/launcher.h"
#include "app/host/line_tail.h"
#include "app/host/step_timer.h"

namespace n2nq::app {

class SshLauncher : public Launcher {
  Q_OBJECT
 public:
  enum class Reached { by_other_hosts, from_itself };
  /// `programs_folder`: where the programs are here. `reached`: N2NQ is not put where other hosts would not know its address.
  SshLauncher(std::shared_ptr<LabHost> host, QString programs_folder, Reached reached = Reached::by_other_hosts);
  /// Kills what still runs.
  ~SshLauncher() override;

  bool is_behind_login() const override { return true; }
  QString data_address() const override;
  QString folder_there(const QString& local_folder) const override;
  int step_ms(int limit_ms) const override { return starting_ ? host_->step_ms(limit_ms) : limit_ms; }
  void end_start() override { starting_.reset(); }
  std::optional<qint64> since_answer_ms() const override { return host_->since_answer_ms(); }
  void put_file(const QString& program) override;
  void put_without_asking() override;
  QString not_reached() const override;
  void give_up_put() override;
  void start(const QString& program) override;
  void write(const QByteArray& bytes) override;
  void terminate() override;
  void kill() override;
  void end_input() override;
  void pause() override;
  void resume() override;
  void bring_back(const QString& local_folder) override;
  void go_on_bringing() override;
  bool was_away() const override { return away_; }
  bool all_here() const override;
  QString leave_files() override;
  void follow(const QString& local_file) override;
  void unfollow(const QString& local_file) override;
  void touch(const QString& path) override;
  std::unique_ptr<QObject> stand_by(const QString& file, const QString& local_folder) override;

 private:
  void find_folder();
  void put_over(bool listens);
  void on_output(const QByteArray& bytes);
  void drop_exec();
  void give_up_start(const QString& why);
  void on_ended(const SshExit& how);
  void make_folders();
  void on_pause_over(const SshExit& how);
  void drop_pause();
  void end_pause();
  void go_on_by_command();
  void has_let_go();
  void send_signal(const char* name);
  void bring_back_again();
  QString on_host(const QString& folder) const;
  enum class Left { nothing, told, rest };  // there: nothing that anybody needs; what the error names; what is still to be named
  void on_brought_back(const QString& error, Left left);
  /// folder_there() that is only looked at.
  QString folder_for(const QString& local_folder) const;
  void follow_again();
  QString remote_of(const QString& local_file) const;

  std::shared_ptr<LabHost> host_;
  const QString programs_folder_;
  const Reached reached_;
  std::shared_ptr<void> starting_;    // as long as it is a start that is under way
  std::unique_ptr<QObject> putting_;  // as long as that is wanted
  QString placed_file_;               // here
  QString path_;                      // there
  bool away_ = false;                 // it failed, or is gone, by the way to its host
  std::unique_ptr<SshExec> exec_;
  std::shared_ptr<void> control_use_;  // as long as there is that
  std::unique_ptr<SshExec> pause_;  // holds the process still as long as it runs
  bool letting_go_ = false;         // the process was told to go on, and it is not known yet that it does
  bool pause_again_ = false;        // as soon as it is
  QTimer pause_timer_;              // it hears that it is still to
  QByteArray pause_said_;           // its stderr, or the beginning of that
  LineTail stderr_tail_{stderr_lines_max, stderr_line_chars_max};
  StepTimer start_timer_;                     // until the process has said its number
  QByteArray before_pid_;                     // what login scripts say, until the process has said its number
  int pid_ = 0;                               // 0: not known yet
  bool exited_ = false;                       // there is nothing to signal to
  std::vector<QByteArray> signals_;           // for when it is
  mutable std::set<QString> folders_wanted_;  // there, to be made before the process hears of them
  bool making_folders_ = false;
  bool made_no_folder_ = false;  // or not all
  std::shared_ptr<void> patience_;  // with its host, once it has run there and until its files are here
  QByteArray unwritten_;
  QStringList followed_;
  QTimer follow_timer_;  // until they are followed again, after the connection for files was lost
  QElapsedTimer brought_some_;         // since the host was last heard to answer for a log
  QElapsedTimer brought_more_;         // since more was here than ever before
  qint64 brought_bytes_ = 0;           // at most, in this run
  QString told_waiting_;               // last, since something was brought; empty: nothing
  QString bringing_;                   // the folder there; empty: nothing is brought
  QString bringing_to_;                // here
  std::unique_ptr<QObject> asking_;    // as long as the connection that it waits for is wanted
  bool all_here_ = false;              // of that folder, in an attempt that is over
  std::shared_ptr<BringFolder> bringing_folder_;
  std::optional<quint64> bring_task_;  // of host_->files(), while it is under way
};

}  // namespace n2nq::app
