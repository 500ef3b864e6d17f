// SPDX-License-Identifier: GPL-3.0-or-later
// The hosts file, open: what it says, and every change written to it at once. Window and command line share one. What another window, or an
// editor, has written meanwhile is read before each change, and stays. Lives on one thread.
#pragma once

#include <QObject>

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
  void reload();
  /// What an editor has written meanwhile, if that is something else.
  void look_again();

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
  void take(ReadHosts read);
  QString not_written_over() const;
  QString write(Hosts next);

  QString path_;
  bool may_be_absent_;
  Hosts hosts_;
  QStringList problems_;
  std::optional<std::pair<std::size_t, Host>> removed_;  // where it stood
};

}  // namespace n2nq::app
