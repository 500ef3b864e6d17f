// SPDX-License-Identifier: GPL-3.0-or-later
// What the thread of a session and the session's owner share: being closed, deadlines of what may block, questions and their answers, and
// messages in both directions.
//
// libssh calls may block in the socket. They are ended from outside by shutting the sockets down: when the session is closed, and when a
// step takes longer than it may. Therefore nobody ever waits for the thread. Only a file of this machine can keep it: one whose file server is
// away.
#pragma once

#include <QObject>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "app/host/owned_fd.h"
#include "app/host/ssh_problem.h"
#include "app/host/ssh_questions.h"
#include "app/host/start_deadline.h"

namespace n2nq::app {

class SshWorker;

/// Whether it is the connection of a jump host, on the way to who is started there.
enum class OnTheWay { no, yes };

/// Connecting, key exchange and log-in together, but for what a person takes.
inline constexpr int ssh_reach_ms_max = start_ms_max;

/// Whose time a step takes: how long the host does is noted for the steps behind it (StartDeadline::note_answer).
enum class Takes { other_time, host_time };

/// Made with std::make_shared.
class SshShared : public std::enable_shared_from_this<SshShared> {
 public:
  using Job = std::function<void(SshWorker&)>;
  using Clock = std::chrono::steady_clock;

  /// `owner`: whom post() reaches.
  explicit SshShared(QObject* owner);

  // --- the owner's thread ---
  /// From now on nothing reaches the owner, and the thread ends as soon as it can.
  void leave();
  /// The thread is to end, because of this. Only the first reason counts.
  void close(const SshProblem& why);
  /// To be run by the thread, in order. Without effect once it has ended.
  void give(Job job);
  /// Closes when the step that is under way takes too long: with its problem, but where the network is silent, or the link
  /// stands no longer, with the advice for that. To be called a few times a second: the time in which it was not does not count.
  void look_at_deadline();

  int silence_ms() const { return silence_ms_.load(); }
  /// What is begun from now on has no more time than a start there. Null: it has its own. How long a jump host takes says nothing about
  /// the host behind it.
  void hurry_by(std::shared_ptr<StartDeadline> starts, OnTheWay on_the_way = OnTheWay::no);

  // --- both ---
  /// What a step that may take `limit_ms` by itself may take now: less, where a start waits for it.
  int step_ms(int limit_ms) const;

  // --- the session's thread ---
  bool closed() const;
  SshProblem why_closed() const;
  /// Throws why it was closed.
  void check() const;
  /// What begins now is over within `limit_ms`, or the session is closed with `problem`. Ends with the next begin_step or end_step.
  void begin_step(int limit_ms, const SshProblem& problem, Takes takes = Takes::other_time);
  void end_step();
  /// Reaching the host begins now, and is to be over within `limit_ms`. Called again when a person has answered, with all of it, and with
  /// what was left when others were waited for whose time does not count.
  void begin_reach(int limit_ms = ssh_reach_ms_max);
  /// What is left of it.
  int reach_left_ms() const;
  /// What of that the next step has: less, where a start waits for it.
  int reach_step_ms() const { return step_ms(reach_left_ms()); }
  /// Whose time it is that a step of `limit_ms` has: "Reaching it and logging in have 9 s", or those of a start.
  QString time_words(int limit_ms) const;
  /// What would help where such a step was not answered: `advice`, but where what came before has taken most of the time.
  QString reach_advice(const QString& advice, int limit_ms) const;
  /// The host has let in.
  void note_reached();
  /// Jobs that were given meanwhile.
  std::deque<Job> take_jobs();
  int wake_fd() const { return wake_.get(); }
  void clear_wake();
  /// Shut down when the session is closed. A duplicate is kept.
  void watch_socket(int fd);
  /// For how long the host has said nothing, though it is asked every few seconds.
  void note_silence(std::chrono::milliseconds silence) { silence_ms_.store(static_cast<int>(silence.count())); }
  void post(std::function<void()> to_owner);
  /// Wait for the owner's answer; `ask` is called on the owner's thread with whom to tell. Throw when the session is closed meanwhile.
  template <class Answer>
  using Ask = std::function<void(std::function<void(Answer)>)>;
  using Answers = std::optional<std::vector<Secret>>;
  bool ask_yes(const Ask<bool>& ask);
  Answers ask_secrets(const Ask<Answers>& ask);

 private:
  template <class Answer>
  Answer wait_for(const Ask<Answer>& ask);
  void wake() const;
  void close_locked(const SshProblem& why);
  void end_step_locked();
  void give_back_standstill(Clock::time_point now);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  QObject* owner_;
  std::optional<SshProblem> closed_;
  std::deque<Job> jobs_;
  OwnedFd wake_;
  std::vector<OwnedFd> sockets_;
  std::optional<Clock::time_point> deadline_;
  Clock::time_point step_began_, looked_at_;
  SshProblem deadline_problem_;
  Takes takes_ = Takes::other_time;
  Clock::time_point reach_until_;
  std::shared_ptr<StartDeadline> starts_;
  OnTheWay on_the_way_ = OnTheWay::no;
  std::atomic<int> silence_ms_ = 0;
};

}  // namespace n2nq::app
