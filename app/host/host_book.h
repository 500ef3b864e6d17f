// SPDX-License-Identifier: GPL-3.0-or-later
// The hosts file, open: what it says, and every change written to it at once. Window and command line share one. What another window, or an
// editor, has written meanwhile is read before each change, and stays. Where it lies on a file server that is away nobody stands for that: a
// change is refused then, and what was read last counts for the rest. Lives on one thread.
#pragma once

#include <QObject>
#include <chrono>

#include "app/host/hosts_file.h"

namespace n2nq::app {

class HostBook : public QObject {
  Q_OBJECT
 public:
  /// `may_be_absent`: the user's own file, which is made with the first host.
  explicit HostBook(QString path = default_hosts_path(), bool may_be_absent = true, QObject* parent = nullptr);

  const QString& path() const { return path_; }
  const Hosts& hosts() const { return hosts_; }
  /// Why the file cannot be read, a line per mistake; empty: it can. As long as it is not, nothing is written over it.
  const QStringList& problems() const { return problems_; }
  /// As long as that takes.
  void reload();
  /// Before a deed: what an editor has written meanwhile, if that is something else. A second at most, or as long as this thread has patience
  /// (ask_database()).
  void look_again();
  /// The same for no deed: what does not come within this thread's patience is left for the next time.
  void glance();
  /// Why the last look before a deed has found out nothing, in a sentence that says what to do; empty: it has, or something was read since.
  const QString& unread() const { return unread_; }

  /// Adds a host, or puts it in the place of the one called `old_name`. Empty result: done, and written.
  QString put(const Host& host, const QString& old_name = {});
  /// The same for several new ones: all of them, or none.
  QString add(const std::vector<Host>& hosts);
  QString remove(const QString& name);
  /// Back to what was there before the last remove(); without effect when there is nothing to undo.
  QString undo_remove();
  /// Empty: nothing to undo.
  QString removed_name() const;
  QString set_local_data_address(const QString& address);

 signals:
  void changed();

 private:
  QString look(std::chrono::milliseconds at_least);
  void take(ReadHosts read);
  QString not_to_change();
  QString write(Hosts next);

  QString path_;
  bool may_be_absent_;
  Hosts hosts_;
  QStringList problems_;
  QString unread_;
  std::optional<std::pair<std::size_t, Host>> removed_;  // where it stood
};

}  // namespace n2nq::app
