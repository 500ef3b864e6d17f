// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_shared.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <QMetaObject>
#include <algorithm>
#include <utility>

namespace n2nq::app {

namespace {

constexpr unsigned unheard_ms_min = 4'000;  // long enough for what got lost to be sent again a few times

enum class Way { there, gives_no_answer, gone };

/// Whether the other end's kernel, too, says nothing to what was sent; or there is no connection any more, given up for that or reset, which
/// the session's thread may not have seen yet: then it is not the program there that is slow.
Way way_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return Way::there;  // leads to a proxy or a jump host
  if (info.tcpi_unacked > 0 && info.tcpi_last_ack_recv >= unheard_ms_min) return Way::gives_no_answer;
  return info.tcpi_state == TCP_CLOSE ? Way::gone : Way::there;
}

}  // namespace

SshShared::SshShared(QObject* owner) : owner_(owner), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void SshShared::leave() {
  const std::lock_guard lock(mutex_);
  owner_ = nullptr;
  close_locked({SshProblem::Kind::closed, "closed", {}});
}

void SshShared::close(const SshProblem& why) {
  const std::lock_guard lock(mutex_);
  close_locked(why);
}

void SshShared::close_locked(const SshProblem& why) {
  if (!closed_) closed_ = why;
  deadline_.reset();
  for (const OwnedFd& socket : sockets_) ::shutdown(socket.get(), SHUT_RDWR);
  changed_.notify_all();
  wake();
}

void SshShared::give(Job job) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  jobs_.push_back(std::move(job));
  wake();
}

void SshShared::look_at_deadline() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  give_back_standstill(now);
  if (!deadline_ || now <= *deadline_) return;
  SshProblem problem = deadline_problem_;
  // A file of this machine, or the agent, keeps its own advice.
  const bool is_of_link = problem.kind != SshProblem::Kind::settings && problem.kind != SshProblem::Kind::login;
  bool is_lost = false;
  for (const OwnedFd& socket : sockets_) {
    const Way way = way_of(socket.get());
    is_lost = is_lost || way != Way::there;
    if (way == Way::there || !is_of_link) continue;
    problem.what_to_do = still_there;
    if (way == Way::gives_no_answer) problem.what_to_do.prepend("What is sent to it does not even arrive. ");
  }
  if (is_lost && problem.kind == SshProblem::Kind::silent) problem.kind = SshProblem::Kind::lost;
  close_locked(problem);
}

/// Whoever comes first behind it, the owner or the thread with its next step.
void SshShared::give_back_standstill(Clock::time_point now) {
  const auto unseen = now - std::max(std::exchange(looked_at_, now), step_began_);
  if (unseen <= own_standstill_min) return;
  reach_until_ += unseen;
  if (!deadline_) return;
  *deadline_ += unseen;
  step_began_ += unseen;
  if (starts_) starts_->note_standstill(now - unseen);
}

void SshShared::hurry_by(std::shared_ptr<StartDeadline> starts, OnTheWay on_the_way) {
  const std::lock_guard lock(mutex_);
  starts_ = std::move(starts);
  on_the_way_ = on_the_way;
}

int SshShared::step_ms(int limit_ms) const {
  const std::lock_guard lock(mutex_);
  return starts_ ? starts_->step_ms(limit_ms) : limit_ms;
}

bool SshShared::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_.has_value();
}

SshProblem SshShared::why_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_.value_or(SshProblem());
}

void SshShared::check() const {
  const std::lock_guard lock(mutex_);
  if (closed_) throw SshError(*closed_);
}

void SshShared::begin_step(int limit_ms, const SshProblem& problem, Takes takes) {
  const std::lock_guard lock(mutex_);
  end_step_locked();
  step_began_ = Clock::now();
  deadline_ = step_began_ + std::chrono::milliseconds(limit_ms);
  deadline_problem_ = problem;
  takes_ = takes;
}

void SshShared::end_step() {
  const std::lock_guard lock(mutex_);
  end_step_locked();
}

void SshShared::end_step_locked() {
  const auto now = Clock::now();
  give_back_standstill(now);
  // Behind the end of the session there is none that was answered.
  if (deadline_ && takes_ == Takes::host_time && starts_)
    starts_->note_answer(static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(now - step_began_).count()));
  deadline_.reset();
}

void SshShared::begin_reach(int limit_ms) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  give_back_standstill(now);
  reach_until_ = now + std::chrono::milliseconds(limit_ms);
}

int SshShared::reach_left_ms() const {
  const std::lock_guard lock(mutex_);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(reach_until_ - Clock::now()).count();
  return static_cast<int>(std::max<decltype(left)>(left, 0));
}

QString SshShared::time_words(int limit_ms) const {
  constexpr int rounding_ms = 100;
  return limit_ms + rounding_ms < reach_left_ms() ? start_time_words()
                                                  : QString("Reaching it and logging in have %1 s").arg(ssh_reach_ms_max / 1000);
}

QString SshShared::reach_advice(const QString& advice, int limit_ms) const {
  return limit_ms < ssh_reach_ms_max / 2 ? time_words(limit_ms) + rest_was_taken : advice;
}

void SshShared::note_reached() {
  const int took_ms = ssh_reach_ms_max - reach_left_ms();
  const std::lock_guard lock(mutex_);
  if (starts_ && on_the_way_ == OnTheWay::no) starts_->note_reached(took_ms);
}

std::deque<SshShared::Job> SshShared::take_jobs() {
  const std::lock_guard lock(mutex_);
  return std::exchange(jobs_, {});
}

void SshShared::wake() const {
  const std::uint64_t one = 1;
  // A full counter is awake already.
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void SshShared::clear_wake() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(wake_.get(), &count, sizeof count);
}

void SshShared::watch_socket(int fd) {
  const std::lock_guard lock(mutex_);
  // What this program starts here would keep the connection open when this program is killed.
  sockets_.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (closed_) ::shutdown(fd, SHUT_RDWR);
}

void SshShared::post(std::function<void()> to_owner) {
  const std::lock_guard lock(mutex_);
  if (owner_) QMetaObject::invokeMethod(owner_, std::move(to_owner), Qt::QueuedConnection);
}

template <class Answer>
Answer SshShared::wait_for(const Ask<Answer>& ask) {
  end_step();  // a person takes the time they take; the host says when it has waited long enough
  struct Pending {
    Answer answer{};
    bool answered = false;
  };
  auto pending = std::make_shared<Pending>();
  // Whoever is asked may keep the question longer than the session lives.
  post([weak = weak_from_this(), pending, ask] {
    ask([weak, pending](Answer answer) {
      const auto self = weak.lock();
      if (!self) return;
      const std::lock_guard lock(self->mutex_);
      if (pending->answered) return;
      pending->answer = std::move(answer);
      pending->answered = true;
      self->changed_.notify_all();
    });
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return pending->answered || closed_; });
  pending->answered = true;
  if (closed_) throw SshError(*closed_);
  lock.unlock();
  begin_reach();
  return std::move(pending->answer);
}

bool SshShared::ask_yes(const Ask<bool>& ask) {
  return wait_for<bool>(ask);
}

SshShared::Answers SshShared::ask_secrets(const Ask<Answers>& ask) {
  return wait_for<Answers>(ask);
}

}  // namespace n2nq::app
