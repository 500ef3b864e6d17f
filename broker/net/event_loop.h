// SPDX-License-Identifier: GPL-3.0-or-later
// One epoll loop for one thread: descriptors, timers, and work posted by other threads.
//
// Every wake-up runs in this order: ready descriptors, what was read and is looked at later (set_reads_first), due timers, posted work,
// then after_wake_up. Level-triggered. All functions belong to the loop's thread (the one that calls run()) except post() and stop().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "broker/net/courtesy.h"
#include "broker/net/fd.h"

struct epoll_event;

namespace n2nq::net {

class EventLoop;

/// Something that waits for a descriptor.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP as epoll says. May unwatch anything, itself included.
  virtual void on_events(uint32_t events) = 0;
};

/// Someone who looks at what it has read when the loop says so.
class LateReader {
 public:
  virtual void look_at_read() = 0;

 protected:
  ~LateReader() = default;
};

/// A timer on CLOCK_MONOTONIC. Arming allocates nothing once the loop's heap has grown to the number of timers.
/// Disarmed when it is destroyed. Belongs to the loop's thread, and must not outlive the loop.
class Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> on_due) : loop_(loop), on_due_(std::move(on_due)) {}
  ~Timer() { disarm(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Calls on_due once, at `at_ns` (now_ns() time) or as soon after it as possible; an instant in the past is due at the next look at the
  /// timers. Arming again moves it.
  void arm(int64_t at_ns);
  void disarm();
  bool armed() const { return heap_index_ != not_armed; }
  int64_t at_ns() const { return at_ns_; }

 private:
  friend class EventLoop;
  static constexpr size_t not_armed = static_cast<size_t>(-1);

  EventLoop& loop_;
  std::function<void()> on_due_;
  int64_t at_ns_ = 0;
  size_t heap_index_ = not_armed;
};

class EventLoop {
 public:
  /// Throws std::system_error when the kernel gives no descriptors.
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// `events` as for epoll; the watcher must stay alive until unwatch(). Throws std::system_error.
  void watch(int fd, uint32_t events, Watcher& watcher);
  void change(int fd, uint32_t events, Watcher& watcher);
  /// Also drops events of this wake-up that were not handed out yet. To be called before the descriptor is closed.
  void unwatch(int fd, Watcher& watcher);

  /// Called at the end of each wake-up, before the loop sleeps again: the place to write what the wake-up has made.
  void set_after_wake_up(std::function<void()> after_wake_up) { after_wake_up_ = std::move(after_wake_up); }
  /// Instead of sleeping at once the loop goes on looking for so long: a sleeping thread takes some 10 us to wake up, a looking one takes a
  /// whole core. 0: it sleeps.
  void set_spin(int64_t spin_ns) { spin_ns_ = spin_ns; }
  /// After a sleep that was shorter than this the loop looks for as long before it sleeps again, until nothing came for so long: where
  /// things come one behind the other, it does not let each wake it, which costs who sends them. 0: it sleeps at once.
  void set_short_nap(int64_t short_nap_ns) { short_nap_ns_ = short_nap_ns; }
  /// A wake-up that finds at most so many ready lets others of its core go first, see courtesy.h. 0: none does.
  void set_courteous(int ready_max) { courteous_ready_max_ = ready_max; }
  /// So many timers have their turn in one wake-up, of those that are due the soonest ones, and more of them for a fourth of the time that it
  /// took until then; before the next ones do, so has everybody who has something to read or to write. At first all that are due.
  void set_due_max(size_t due_max) { due_max_ = due_max; }
  /// So many connections that the other end has closed are closed in one wake-up: a process of thousands may die. At first all.
  void set_closings_max(size_t closings_max) { closings_max_ = closings_max; }
  /// For who is about to close because of that, or to do as much work for somebody who goes in another way: false, it is to be left for the
  /// next wake-up (of what is closed epoll says the same again then).
  bool takes_closing() { return closings_ < closings_max_ && ++closings_ > 0; }
  /// What was closed was as much work as so many more.
  void count_closings(size_t more) { closings_ += more; }
  /// Makes the loop look again without sleeping (for work that was left for fairness).
  void wake_again() { wake_again_ = true; }

  /// Until stop().
  void run();
  /// Any thread. run() returns after the wake-up under way; a stop before run() makes run() return at once.
  void stop();
  /// Any thread: `work` runs on the loop's thread, in the order of posting. At most as many as callers post: they bound it.
  void post(std::function<void()> work);
  /// Memory for one read, shared by all who read on this loop's thread: until look_later() it is the next one's, too.
  std::span<uint8_t> read_room();
  /// From now on everybody reads who has something to read before anybody looks at what came: for who stamps what comes in, so that the
  /// stamps of the last do not wait until the others' messages are looked at. Each reads up to 256 KiB at a time then, in place of 64: who has
  /// that much before it is behind, and a call for each 64 KiB is a fourth of what they cost it. To be called before run().
  void set_reads_first();
  /// After a read of `bytes` into the room, or elsewhere: true when look_at_read() follows, in the order of these calls, at the latest
  /// before the timers of this wake-up. False: look at once.
  bool look_later(LateReader& reader, size_t bytes);
  /// For who closes.
  void forget_read(LateReader& reader);
  /// All that have read.
  void look_now();
  /// Inside run(): all descriptors that were ready by then were handed out, in this wake-up or before; of one with more than one read takes, a
  /// part was read. For who judges what did not come in time: this process may have stood still since, or more may be ready than one wake-up
  /// looks at. Behind a sleep this is the time when it fell asleep, so that it takes another look to know more.
  int64_t looked_ns() const { return looked_ns_; }
  /// Inside run(): the time this wake-up began.
  int64_t woke_ns() const { return woke_ns_; }

 private:
  friend class Timer;
  void wait_and_run_once();
  int wait();
  int look(int timeout_ms);
  int sleep();
  void note_look();
  bool run_ready();
  void run_due_timers();
  void run_posted();
  void set_timerfd();
  void heap_up(size_t index);
  void heap_down(size_t index);
  void heap_place(size_t index, Timer* timer);
  void heap_remove(size_t index);

  Fd epoll_;
  Fd timerfd_;
  Fd eventfd_;
  int64_t timerfd_set_ns_ = 0;  // by the kernel's clock; 0: not set
  int64_t woke_ns_ = 0;
  int64_t due_from_ns_ = INT64_MIN;  // while due timers run: what is armed is due no sooner
  bool wake_again_ = false;
  size_t watched_ = 0;
  int64_t look_ns_ = 0;          // when the last look began
  int64_t looked_ns_ = 0;
  int64_t behind_since_ns_ = 0;  // the first look of several that left some
  size_t behind_looks_ = 0;      // these
  int64_t spin_ns_ = 0, short_nap_ns_ = 0;
  size_t due_max_ = std::numeric_limits<size_t>::max();
  size_t closings_max_ = std::numeric_limits<size_t>::max();
  size_t closings_ = 0;  // in this wake-up
  bool nap_was_short_ = false;
  int courteous_ready_max_ = 0;
  Courtesy courtesy_;
  std::atomic<bool> stop_{false};
  std::function<void()> after_wake_up_;
  std::vector<Timer*> heap_;  // binary heap, soonest first

  std::unique_ptr<epoll_event[]> ready_;
  int ready_count_ = 0;
  int ready_next_ = 0;

  size_t read_bytes_max_;
  std::vector<uint8_t> read_room_;
  size_t room_used_ = 0;
  bool reads_first_ = false;
  std::vector<LateReader*> late_;  // null: forgotten

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
  std::vector<std::function<void()>> running_;
};

}  // namespace n2nq::net
