// SPDX-License-Identifier: GPL-3.0-or-later
// Which launcher a host of the settings gets: this machine's own, or one over SSH for a lab machine of the hosts file.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "app/host/host_book.h"
#include "app/host/launcher.h"
#include "app/host/local_launcher.h"

namespace n2nq::app {

class HostLaunchers : public LauncherFactory {
 public:
  /// Makes a launcher for a lab machine.
  using MakeRemote = std::function<std::unique_ptr<Launcher>(const Host& host)>;

  /// `book` lives longer. `programs_folder`: as of LocalLauncherFactory.
  HostLaunchers(HostBook& book, MakeRemote make_remote, QString programs_folder = {});
  /// At what an editor has written into the file.
  void look_again() override { book_.look_again(); }
  MakeLauncher launchers_of(const QString& host) override;

 private:
  /// A host that the file does not know, a file with mistakes, or a broker here that nobody elsewhere could reach.
  QString find_problem(const Settings& settings, const std::set<std::string>& settled) const override;

  HostBook& book_;
  MakeRemote make_remote_;
  QString programs_folder_;
};

/// Numeric addresses of this machine at which others may reach it, IPv4 first; no loopback and no link-local ones.
QStringList own_addresses();

}  // namespace n2nq::app
