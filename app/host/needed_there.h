// SPDX-License-Identifier: GPL-3.0-or-later
// What the runs of this bench still need on lab machines, however old it became while the bench slept: their folders, and what their
// groups have written into memory there. Shared by the machines of a HostPool, whose connections come and go. Lives on one thread; others
// get copies.
#pragma once

#include <QString>
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>

namespace n2nq::app {

class NeededThere {
 public:
  /// `folder`: of a run, there, in which the process of this number writes from now on.
  void add(const QString& folder, int pid) { pids_[folder].insert(pid); }
  /// It was fetched. What is left there stays needed: its day may be over already where the bench slept.
  void remove(const QString& folder) {
    pids_.erase(folder);
    is_made_.erase(folder);
  }
  /// Whether it was seen to be made, and is not about to be cleared away: where it is not found then, its disk is not there. Of all who
  /// write there one after the other, some of which may have come to nothing.
  std::shared_ptr<std::atomic<bool>> is_made(const QString& folder) {
    auto& made = is_made_[folder];
    if (!made) made = std::make_shared<std::atomic<bool>>(false);
    return made;
  }
  bool has_folder(const QString& folder) const { return pids_.contains(folder); }
  /// On whichever machine: what another process of that number has left elsewhere is spared meanwhile, too.
  bool has_process(int pid) const {
    return std::any_of(pids_.begin(), pids_.end(), [pid](const auto& each) { return each.second.contains(pid); });
  }

 private:
  std::map<QString, std::set<int>> pids_;  // by folder, whose name is one run's and one role's
  std::map<QString, std::shared_ptr<std::atomic<bool>>> is_made_;
};

}  // namespace n2nq::app
