// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/start_deadline.h"

#include <algorithm>
#include <utility>

namespace n2nq::app {

std::shared_ptr<void> StartDeadline::begin() {
  const std::lock_guard lock(mutex_);
  ++starts_;
  until_ = Clock::now() + limit_;
  return {this, [self = shared_from_this()](void*) { self->end(); }};
}

void StartDeadline::end() {
  const std::lock_guard lock(mutex_);
  --starts_;
}

void StartDeadline::stand_still(bool stands) {
  const std::lock_guard lock(mutex_);
  if (stands_ && !stands) until_ = Clock::now() + limit_;
  stands_ = stands;
}

void StartDeadline::note_sent(bool begins) {
  const std::lock_guard lock(mutex_);
  const auto before = std::exchange(sent_, Clock::now());
  if (!begins) until_ += sent_ - before;
}

void StartDeadline::note_standstill(Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const auto uncounted = std::max(since, std::exchange(stood_until_, now));  // each connection of the host tells of it
  if (now > uncounted) until_ += now - uncounted;
}

void StartDeadline::note_reached(int took_ms) {
  const std::lock_guard lock(mutex_);
  slow_ms_ = std::max(took_ms + took_ms / 4, slow_answer_ms);
}

int StartDeadline::step_ms(int limit_ms) const {
  const std::lock_guard lock(mutex_);
  if (starts_ == 0 || stands_) return limit_ms;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now());
  return std::min(limit_ms, std::max(static_cast<int>(left.count()), slow_ms_));
}

}  // namespace n2nq::app
