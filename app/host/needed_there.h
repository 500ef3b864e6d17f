// SPDX-License-Identifier: GPL-3.0-or-later
// What the runs of this bench still need on lab machines, however old it became while the bench slept: their folders, and what their
// groups have written into memory there. Shared by the machines of a HostPool, whose connections come and go. Lives on one thread; others
// get copies.
#pragma once

#include <QString>
#include <algorithm>
#include <map>
#include <set>

namespace n2nq::app {

class NeededThere {
 public:
  /// `folder`: of a run, there, in which the process of this number writes from now on.
  void add(const QString& folder, int pid) { pids_[folder].insert(pid); }
  /// It was fetched. What is left there stays needed: its day may be over already where the bench slept.
  void remove(const QString& folder) { pids_.erase(folder); }
  bool has_folder(const QString& folder) const { return pids_.contains(folder); }
  /// On whichever machine: what another process of that number has left elsewhere is spared meanwhile, too.
  bool has_process(int pid) const {
    return std::any_of(pids_.begin(), pids_.end(), [pid](const auto& each) { return each.second.contains(pid); });
  }

 private:
  std::map<QString, std::set<int>> pids_;  // by folder, whose name is one run's and one role's
};

}  // namespace n2nq::app
