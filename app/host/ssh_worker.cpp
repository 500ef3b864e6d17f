// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_worker.h"

#include <libssh/server.h>
#include <poll.h>

#include <algorithm>

namespace n2nq::app {

namespace {

using std::chrono::milliseconds;

// A host that says nothing is asked; one that does not answer is lost: 3 s + 6 s, noticed at the next tick.
constexpr milliseconds ask_after{3'000}, ask_every{2'000}, lost_after{8'000};

}  // namespace

SshWorker::SshWorker(SshTarget target, SshUse use, std::shared_ptr<SshShared> shared)
    : shared_(std::move(shared)), use_(use), link_(std::move(target), *shared_) {}

SshChannel* SshWorker::channel(quint64 id) {
  const auto found = std::find_if(channels_.begin(), channels_.end(), [id](const auto& channel) { return channel->id() == id; });
  return found == channels_.end() ? nullptr : found->get();
}

SshProblem SshWorker::run(const std::function<void(SshLink&)>& connected) {
  SshProblem problem;
  try {
    link_.connect();
    ssh_set_blocking(link_.session(), use_ == SshUse::files);
    event_.reset(ssh_event_new());
    ssh_event_add_session(event_.get(), link_.session());
    last_in_ = last_asked_ = SshShared::Clock::now();
    last_heard_ = last_in_;
    connected(link_);
    for (;;) turn();
  } catch (const SshError& error) {
    problem = error.problem;
  } catch (const std::exception& error) {
    problem = {SshProblem::Kind::lost, QString("%1: %2").arg(link_.target().name, QString::fromUtf8(error.what())), {}};
  }
  if (shared_->closed()) problem = shared_->why_closed();
  if (link_.bytes_in() != bytes_in_ && last_heard_) last_heard_ = SshShared::Clock::now();
  problem.last_heard = last_heard_;
  shared_->close(problem);  // no more jobs; those that wait may hold what belongs to the connection
  shared_->take_jobs();
  channels_.clear();
  forwards_.clear();
  event_.reset();
  return problem;
}

void SshWorker::turn() {
  shared_->check();
  for (const SshShared::Job& job : shared_->take_jobs()) {
    shared_->check();
    job(*this);
    shared_->end_step();  // the next one may have something to do here first
    if (use_ == SshUse::files) last_in_ = SshShared::Clock::now();
  }
  shared_->end_step();
  std::erase_if(channels_, [](const auto& channel) { return !channel->go_on(); });
  std::erase_if(forwards_, [](const auto& forward) { return !forward->go_on(); });
  if (!ssh_is_connected(link_.session())) link_.throw_lost({});
  keep_alive();
  wait();
}

void SshWorker::keep_alive() {
  const auto now = SshShared::Clock::now();
  if (link_.bytes_in() != bytes_in_) {
    bytes_in_ = link_.bytes_in();
    last_in_ = now;
    last_heard_ = now;
  }
  shared_->note_silence(std::chrono::duration_cast<milliseconds>(now - last_in_));
  if (now - last_in_ < ask_after) return;
  const SshProblem lost{
      SshProblem::Kind::lost,
      QString("the connection to %1 was lost: no answer for %2 s").arg(link_.target().name).arg(lost_after.count() / 1000),
      still_there};
  // Also between two questions: else it is the third one that finds it, up to 2 s later.
  if (now - last_in_ >= lost_after) throw SshError(lost);
  if (now - last_asked_ < ask_every) return;
  last_asked_ = now;
  // In a session that blocks it returns with the answer, or when the step's time is over.
  shared_->begin_step(static_cast<int>((lost_after - ask_after).count()), lost);
  ssh_send_keepalive(link_.session());
  // In one that does not, this may only have taken the answer to the question before, and have asked nothing.
  if (use_ == SshUse::control) ssh_send_keepalive(link_.session());
  shared_->end_step();
  if (use_ == SshUse::files) last_in_ = SshShared::Clock::now();
}

void SshWorker::wait() {
  std::vector<pollfd> waits;
  const bool writes = (ssh_get_poll_flags(link_.session()) & SSH_WRITE_PENDING) != 0;
  waits.push_back({ssh_get_fd(link_.session()), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0});
  waits.push_back({shared_->wake_fd(), POLLIN, 0});
  for (const auto& forward : forwards_) {
    if (forward->poll_events() != 0) waits.push_back({forward->fd(), forward->poll_events(), 0});
  }
  int patience_ms = ssh_tick_ms;
  for (const auto& channel : channels_) patience_ms = std::min(patience_ms, channel->patience_ms());
  for (const auto& forward : forwards_) patience_ms = std::min(patience_ms, forward->patience_ms());
  const auto began = SshShared::Clock::now();
  ::poll(waits.data(), waits.size(), patience_ms);
  // What the host has said meanwhile is read, and it is asked, before its silence is counted again.
  const auto late = SshShared::Clock::now() - began - milliseconds(patience_ms);
  if (late > own_standstill_min) last_in_ += late;
  if (waits[1].revents != 0) shared_->clear_wake();
  if (waits[0].revents != 0) ssh_event_dopoll(event_.get(), 0);
}

}  // namespace n2nq::app
