// SPDX-License-Identifier: GPL-3.0-or-later
// Until when what is started on a host is to have answered. Each step on the way has a limit of its own, and a host that answers late again
// and again, and then no more, would take as long as all of them together until its start fails.
//
// Made with std::make_shared. Starts begin and end on one thread; the threads of the host's connections ask what a step may take.
#pragma once

#include <QString>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace n2nq::app {

/// A start that fails says so within 10 s, and what was begun elsewhere is ended by then.
inline constexpr int start_ms_max = 9'000;
/// A host is far away, or busy: what takes no longer is no hang, however late it is.
inline constexpr int slow_answer_ms = 3'000;
/// What comes later than this by itself does so because this bench stood still: stopped, or on a machine without a free core. Nobody else's
/// silence is counted in that time.
inline constexpr std::chrono::milliseconds own_standstill_min{1'000};

/// Whose time a step of a start has: "All steps of a start have 9 s".
QString start_time_words();
/// Behind these, where it was not all of it.
inline constexpr const char* rest_was_taken = " together; what came before has taken the rest";
/// What would help where a step that may take `own_ms` by itself was not answered within `limit_ms`: that alone is not to be blamed where it
/// had less.
QString advice_in_hurry(const QString& advice, int limit_ms, int own_ms);

class StartDeadline : public std::enable_shared_from_this<StartDeadline> {
 public:
  using Clock = std::chrono::steady_clock;

  /// `now`: in place of the clock, for tests.
  explicit StartDeadline(int limit_ms = start_ms_max, std::function<Clock::time_point()> now = Clock::now) : limit_(limit_ms), now_(std::move(now)) {}

  /// A start begins, and is over when what this gives is destroyed. Of several the time of the last one is that of all: none is hurried by
  /// one before it.
  std::shared_ptr<void> begin();
  /// True: a person is asked for something. False: they have answered, and the time begins anew: what they typed may be wrong, and a host
  /// takes seconds to say so.
  void stand_still(bool stands);
  /// Of what is being sent: it begins, or gets on. The time since the last word of it does not count then.
  void note_sent(bool begins);
  /// This bench stood still since then: nobody else's silence is counted in that time.
  void note_standstill(Clock::time_point since);
  /// So long the host took, without what a person did, to be reached and to let in: as long, and a quarter more, is no hang there. It is
  /// logged in to twice. Counts until it is reached the next time, and for the starts that are under way to their end.
  void note_reached(int took_ms);
  /// The same of any other answer, for the starts that are under way: what is read at each login there may take its time, each time.
  void note_answer(int took_ms);
  /// What a step that may take `limit_ms` by itself may take now.
  int step_ms(int limit_ms) const;

 private:
  void end();
  void begin_anew();
  void give_back_since(Clock::time_point since);

  const std::chrono::milliseconds limit_;
  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  int starts_ = 0;  // that are under way
  Clock::time_point until_, sent_;
  Clock::time_point counted_until_;  // time before that is not given back once more
  bool stands_ = false;
  int reached_ms_ = 0, answered_ms_ = 0;  // the last time, and the longest one of the starts that are under way
};

}  // namespace n2nq::app
