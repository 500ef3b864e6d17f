// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_files.h"

namespace n2nq::app {

namespace {

using Answer = std::function<void(const SshProblem&)>;

/// One step, and then to the end of the queue: what was given meanwhile has its turn first.
void take_turn(SshWorker& worker, const std::shared_ptr<SshTask>& task, const std::shared_ptr<std::atomic<bool>>& given_up,
               const Answer& answer) {
  if (given_up->load()) return;
  try {
    if (!task->go_on(worker.link())) return answer({});
  } catch (const SshError& error) {
    // The end of the session tells all who wait, and then a new one can be asked for.
    if (worker.shared().closed() || error.problem.kind == SshProblem::Kind::lost) throw;
    return answer(error.problem);
  }
  worker.shared().give([task, given_up, answer](SshWorker& same) { take_turn(same, task, given_up, answer); });
}

}  // namespace

SshFiles::SshFiles(SshSession& session) : session_(session) {
  follow_timer_.setInterval(follow_every_ms);
  connect(&follow_timer_, &QTimer::timeout, this, &SshFiles::look_at_followed);
  connect(&session, &SshSession::ended, this, [this](const SshProblem& why) {
    follow_timer_.stop();
    for (const auto& [id, running] : std::exchange(running_, {})) {
      if (running.context) running.done(why);
    }
  });
}

SshFiles::~SshFiles() {
  for (const auto& [id, running] : running_) running.given_up->store(true);
}

quint64 SshFiles::run(std::shared_ptr<SshTask> task, QObject* context, Done done) {
  const quint64 id = next_++;
  auto given_up = std::make_shared<std::atomic<bool>>(false);
  running_[id] = {context, std::move(done), given_up};
  if (session_.state() != SshSession::State::ready) {
    QTimer::singleShot(0, this, [this, id] { finish(id, session_.problem()); });
    return id;
  }
  const QPointer<SshFiles> self(this);
  const Answer answer = [shared = session_.shared(), self, id](const SshProblem& problem) {
    shared->post([self, id, problem] {
      if (self) self->finish(id, problem);
    });
  };
  session_.run([task = std::move(task), given_up, answer](SshWorker& worker) { take_turn(worker, task, given_up, answer); });
  return id;
}

void SshFiles::give_up(quint64 id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  found->second.given_up->store(true);
  running_.erase(found);
}

void SshFiles::finish(quint64 id, const SshProblem& problem) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  const Running running = std::move(found->second);
  running_.erase(found);
  if (running.context) running.done(problem);
}

void SshFiles::follow(const QString& remote, const QString& local) {
  if (followed_.contains(local)) return;
  followed_[local].task = std::make_shared<FollowFile>(remote, local);
  follow_timer_.start();
  look_at_followed();
}

void SshFiles::unfollow(const QString& local) {
  const auto found = followed_.find(local);
  if (found == followed_.end()) return;
  if (found->second.running != 0) give_up(found->second.running);
  // Its file there is closed on the thread that opened it.
  session_.run([task = std::move(found->second.task)](SshWorker&) mutable { task.reset(); });
  followed_.erase(found);
  if (followed_.empty()) follow_timer_.stop();
}

void SshFiles::look_at_followed() {
  for (auto& [local, followed] : followed_) {
    if (followed.running != 0) continue;
    followed.running = run(followed.task, this, [this, name = local](const SshProblem&) {
      const auto found = followed_.find(name);
      if (found != followed_.end()) found->second.running = 0;
    });
  }
}

}  // namespace n2nq::app
