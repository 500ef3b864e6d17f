// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/start_deadline.h"

#include <algorithm>
#include <utility>

namespace n2nq::app {

QString start_time_words() {
  return QString("All steps of a start have %1 s").arg(start_ms_max / 1000);
}

QString advice_in_hurry(const QString& advice, int limit_ms, int own_ms) {
  return limit_ms >= own_ms ? advice : advice + (advice.endsWith('?') ? " " : ". ") + start_time_words() + rest_was_taken;
}

std::shared_ptr<void> StartDeadline::begin() {
  const std::lock_guard lock(mutex_);
  if (starts_++ == 0) answered_ms_ = 0;
  begin_anew();
  return {this, [self = shared_from_this()](void*) { self->end(); }};
}

void StartDeadline::end() {
  const std::lock_guard lock(mutex_);
  --starts_;
}

void StartDeadline::stand_still(bool stands) {
  const std::lock_guard lock(mutex_);
  if (stands_ && !stands) begin_anew();
  stands_ = stands;
}

void StartDeadline::note_sent(bool begins) {
  const std::lock_guard lock(mutex_);
  if (!begins) give_back_since(sent_);
  sent_ = now_();
}

// Each connection of the host tells of it.
void StartDeadline::note_standstill(Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  give_back_since(since);
}

void StartDeadline::begin_anew() {
  counted_until_ = now_();
  until_ = counted_until_ + limit_;
}

void StartDeadline::give_back_since(Clock::time_point since) {
  const auto now = now_();
  until_ += now - std::max(since, std::exchange(counted_until_, now));
}

void StartDeadline::note_reached(int took_ms) {
  note_answer(took_ms);
  const std::lock_guard lock(mutex_);
  reached_ms_ = took_ms;
}

void StartDeadline::note_answer(int took_ms) {
  const std::lock_guard lock(mutex_);
  answered_ms_ = std::max(answered_ms_, took_ms);
}

int StartDeadline::step_ms(int limit_ms) const {
  const std::lock_guard lock(mutex_);
  if (starts_ == 0 || stands_) return limit_ms;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - now_());
  const int took_ms = std::max(reached_ms_, answered_ms_);
  return std::min(limit_ms, std::max({static_cast<int>(left.count()), took_ms + took_ms / 4, slow_answer_ms}));
}

}  // namespace n2nq::app
