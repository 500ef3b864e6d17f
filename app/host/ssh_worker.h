// SPDX-License-Identifier: GPL-3.0-or-later
// What runs on the thread of one session: it connects, and then turns its loop until the connection is gone or closed.
//
//   loop:  jobs that were given ─► channels: open, write, read, end ─► forwards ─► keep-alive ─► wait for socket, jobs, forwards
//
// A session for control never blocks in a job. One for files does (libssh's SFTP knows nothing else) and has no channels beside.
// Used by one thread only; what happens is told to the owner through SshShared::post.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/host/ssh_channel.h"
#include "app/host/ssh_forward.h"
#include "app/host/ssh_link.h"

namespace n2nq::app {

enum class SshUse { control, files };

class SshWorker {
 public:
  SshWorker(SshTarget target, SshUse use, std::shared_ptr<SshShared> shared);

  /// Until the end. `connected` is called on this thread, once, when the host has let us in.
  SshProblem run(const std::function<void(SshLink&)>& connected);

  SshLink& link() { return link_; }
  SshShared& shared() { return *shared_; }
  void add(std::unique_ptr<SshChannel> channel) { channels_.push_back(std::move(channel)); }
  /// Null: there is none (any more).
  SshChannel* channel(quint64 id);
  void add(std::unique_ptr<SshForward> forward) { forwards_.push_back(std::move(forward)); }

 private:
  void turn();
  void keep_alive();
  void wait();

  std::shared_ptr<SshShared> shared_;
  SshUse use_;
  SshLink link_;
  SshEventHandle event_;  // before the session is freed
  std::vector<std::unique_ptr<SshChannel>> channels_;
  std::vector<std::unique_ptr<SshForward>> forwards_;
  SshShared::Clock::time_point last_in_, last_asked_;
  std::optional<SshShared::Clock::time_point> last_heard_;  // last_in_ without what does not count as silence; none: not logged in yet
  quint64 bytes_in_ = 0;
};

}  // namespace n2nq::app
