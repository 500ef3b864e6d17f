// SPDX-License-Identifier: GPL-3.0-or-later
// How one process is brought to a host, started there, spoken with and ended. Everything is asynchronous: calls return at once, signals
// answer.
//
// One Launcher is one process. The order is put_file, start, write …, and then gone, exactly once, whatever happened; only a start that
// never succeeded says failed in its place. Nothing here knows what the process says: bytes in, bytes out.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace n2nq::app {

struct Settings;

/// How a process ended, as the host's kernel tells it.
struct ProcessExit {
  int code = 0;
  int signal = 0;               // 0: it ended by itself, with `code`
  QStringList last_lines = {};  // of its stderr, at most stderr_lines_max
  QString lost = {};            // empty: seen to end; else a sentence that names the host: the link is cut; how it ended is not known, but where exited came before
  std::optional<std::chrono::steady_clock::time_point> last_heard = {};  // with lost: when the host's last bytes came
};

inline constexpr int stderr_lines_max = 20;
inline constexpr int stderr_line_chars_max = 1000;

class Launcher : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  /// Numeric address at which the other hosts of a run reach this one. Known once the file is put.
  virtual QString data_address() const = 0;
  /// Where, on that host, the process writes the files that belong into `local_folder`: the same for all launchers of the host. Known
  /// once the file is put.
  virtual QString folder_there(const QString& local_folder) const = 0;

  /// Whether a login shell starts the process: what its scripts began in the background may say something in between.
  virtual bool is_behind_login() const { return false; }

  /// To be said before put_file(): the process writes no logs, or is needed even where there is no room for them.
  void set_needs_no_room() { needs_no_room_ = true; }
  /// The same: it reads back what a process before it wrote for `local_folder`. While nothing that the bench made there is there (its disk is
  /// not mounted yet, as when it boots) nothing is made anew, and the host counts as away.
  void set_reads_back(const QString& local_folder) { reads_back_ = local_folder; }
  /// The same: where the connection is lost meanwhile the file is put once more, over a new one.
  void set_puts_again() { puts_again_ = true; }
  /// The same: it is a start, whose steps have no more time together than StartDeadline says.
  void set_is_start() { is_start_ = true; }
  /// What a step of that may take now which may take `limit_ms` by itself.
  virtual int step_ms(int limit_ms) const { return limit_ms; }
  /// The process has answered: its start is over.
  virtual void end_start() {}
  /// How long ago a person answered last, to any host: from then on it has its time anew. 0 while one is asked. Empty: none was.
  virtual std::optional<qint64> since_answer_ms() const { return {}; }
  /// Makes the program runnable on the host. Answered by file_put or failed.
  virtual void put_file(const QString& program) = 0;
  /// From now on the person is asked for nothing because of it: where that is necessary it is given up, and would_ask told in place of
  /// both.
  virtual void put_without_asking() {}
  /// Why its host may never be able to run it, in a sentence that names the host; empty: it answers, and the program is on its way.
  virtual QString not_reached() const { return {}; }
  /// Neither of both is told any more, nor the person asked for anything because of it.
  virtual void give_up_put() {}
  /// Answered by started or failed.
  virtual void start(const QString& program) = 0;
  /// To the process's stdin; buffered, in order. Without effect once the process is gone.
  virtual void write(const QByteArray& bytes) = 0;
  /// SIGTERM and SIGKILL. Without effect once the process is gone. What the host does not carry out not_killed tells. Behind exited nothing
  /// is signalled: kill() then makes gone come without what is still on its way.
  virtual void terminate() = 0;
  virtual void kill() = 0;
  /// What is left where the host does not even kill it: it hears nothing any more, and ends by itself if it can.
  virtual void end_input() {}
  /// SIGSTOP and SIGCONT: the process stands still, and goes on. Without effect once the process is gone. What the host
  /// does not carry out not_paused tells, and went_on that it went on though nobody said so.
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// Brings what the process wrote for `local_folder` there, and leaves nothing of it on the host. For when the process is gone. Answered
  /// by brought_back; destroying the launcher gives up.
  virtual void bring_back(const QString& local_folder) = 0;
  /// To be said before bring_back(), or go_on_bringing(): when its host is reached, before anything is brought or removed there, reached is
  /// told and nothing more done until go_on_bringing(). Said before that once more, when the host has been away for as long as bring_back()
  /// waits for it, it is the end: nothing is brought.
  void hold_when_reached() { holds_when_reached_ = true; }
  virtual void go_on_bringing() {}
  /// From now on nothing is removed there: what was noted in memory could not be read back, and belongs to what is in the folder.
  void leave_all_there() { leaves_all_there_ = true; }
  /// Behind bring_back(): all that was to be brought is here, and only clearing away there goes on, or has not come to its end.
  virtual bool all_here() const { return false; }
  /// Behind failed and gone: it was because its host could not be reached, or the connection was lost; later it may be different.
  virtual bool was_away() const { return false; }
  /// Gives bring_back up: nothing is brought any more, and brought_back not told. Where the rest is, as "on h3 in FOLDER, for a day"; empty: nowhere.
  virtual QString leave_files() { return {}; }
  /// `local_file`, one that the process writes, is kept up to date here while the process lives, until unfollow or bring_back; nothing
  /// answers. Where the process writes it here already, there is nothing to do.
  virtual void follow(const QString& local_file) { static_cast<void>(local_file); }
  virtual void unfollow(const QString& local_file) { static_cast<void>(local_file); }
  /// A file or folder on its host, by its path there, that is needed though nobody has it open: its time is set to now, because what
  /// nobody touched for long is taken for left behind. Also when the process is gone; nothing answers, and where the connection was lost
  /// it is not made anew.
  virtual void touch(const QString& path) { static_cast<void>(path); }
  /// Of a process that is gone: such a file of its own, which lies elsewhere than what it wrote for `local_folder`. Should this bench not live
  /// to have it read back, it is to be found there. Nothing answers; nobody cares any more when what is given is destroyed. Null: the
  /// file stays where it is.
  virtual std::unique_ptr<QObject> stand_by(const QString& file, const QString& local_folder) {
    static_cast<void>(file), static_cast<void>(local_folder);
    return nullptr;
  }

 signals:
  void putting(qint64 done_bytes, qint64 all_bytes);  // from time to time, of what is not there yet
  void file_put();
  void would_ask();
  void started();
  // True: what is written to it is kept back, until what it is to find on its host is made. False: it has it.
  void keeps_back(bool keeps);
  void not_made(const QString& why);  // that could not be made, though it is needed: a sentence that names the host. Then it has it as well
  void output(const QByteArray& bytes);  // of its stdout, in pieces of any size
  void exited();  // where it is known before gone: it has ended, and what it said last may still be on its way
  void gone(const n2nq::app::ProcessExit& how);
  void not_paused(const QString& why);                      // half a sentence that names the host
  void went_on(const QString& why);                         // the same
  void not_killed(const QString& why);                      // half a sentence that names the host
  void failed(const QString& why);                          // a sentence that names program and host
  void bringing_back(qint64 done_bytes, qint64 all_bytes);  // from time to time
  void bring_back_waits(const QString& why);                // a sentence that names the host; it is tried again
  void reached();                                           // after hold_when_reached()
  /// `error`: why not; empty: all there. With `all_here` it is why what nobody needs any more could not be removed there.
  void brought_back(const QString& error, bool all_here);

 protected:
  bool leaves_all_there() const { return leaves_all_there_; }
  bool needs_no_room() const { return needs_no_room_; }
  bool is_start() const { return is_start_; }
  /// Empty: it does not.
  const QString& reads_back() const { return reads_back_; }
  /// True once, if so.
  bool take_puts_again() { return std::exchange(puts_again_, false); }
  bool holds_when_reached() const { return holds_when_reached_; }
  /// True once, if so.
  bool take_holds_when_reached() { return std::exchange(holds_when_reached_, false); }

 private:
  bool leaves_all_there_ = false;
  bool needs_no_room_ = false, is_start_ = false, puts_again_ = false, holds_when_reached_ = false;
  QString reads_back_;
};

/// Makes a launcher per process of one host, as that host was when this was given: what becomes of it meanwhile changes nothing.
using MakeLauncher = std::function<std::unique_ptr<Launcher>()>;

/// Gives launchers by the host's name in the settings.
class LauncherFactory {
 public:
  virtual ~LauncherFactory() = default;
  /// A run begins: what may have changed unseen is looked at again.
  virtual void look_again() {}
  virtual MakeLauncher launchers_of(const QString& host) = 0;
  /// Why these settings' hosts cannot be had, in a sentence that says what to do; empty: they can be tried. `settled`: keys of hosts, such
  /// as "broker.host", that are not asked about: what was launched there keeps to them as they were.
  QString problem(const Settings& settings, const std::set<std::string>& settled = {}) const { return find_problem(settings, settled); }

 protected:
  virtual QString find_problem(const Settings&, const std::set<std::string>&) const { return {}; }
};

}  // namespace n2nq::app
