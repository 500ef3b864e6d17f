// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/event_loop.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "broker/net/clock.h"
#include "broker/wire/frame.h"

namespace n2nq::net {

namespace {

constexpr int events_per_wake_up_max = 512;
constexpr size_t own_descriptors = 2;
constexpr size_t frames_read_at_once_first = 4;  // of the longest that N2NQ puts together of many messages
// Of reads that are looked at later, so that much is still in the processor's caches; and how often the kernel is asked for more of them.
constexpr size_t late_bytes_max = 192 * 1024;
constexpr int late_looks_max = 8;
constexpr int64_t timers_share = 4;  // of what a wake-up took before them, a fourth

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void drain_counter(int fd) {
  uint64_t count = 0;
  // A failure means that there is nothing to drain (EAGAIN), which is what is wanted.
  [[maybe_unused]] const ssize_t bytes = ::read(fd, &count, sizeof count);
}

}  // namespace

void Timer::arm(int64_t at_ns) {
  at_ns = std::max(at_ns, loop_.due_from_ns_);
  if (armed() && at_ns == at_ns_) return;
  disarm();
  at_ns_ = at_ns;
  loop_.heap_.push_back(this);
  loop_.heap_place(loop_.heap_.size() - 1, this);
  loop_.heap_up(heap_index_);
}

void Timer::disarm() {
  if (armed()) loop_.heap_remove(heap_index_);
}

EventLoop::EventLoop()
    : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      timerfd_(checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")),
      eventfd_(checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")),
      ready_(std::make_unique<epoll_event[]>(events_per_wake_up_max)),
      read_bytes_max_(wire::FrameReader::read_bytes_max),
      read_room_(read_bytes_max_) {
  // The loop's own two descriptors carry no watcher: their address tells them apart.
  for (Fd* own : {&timerfd_, &eventfd_}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = own;
    checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, own->get(), &event), "epoll_ctl");
  }
}

EventLoop::~EventLoop() {
  for (Timer* timer : heap_) timer->heap_index_ = Timer::not_armed;
}

void EventLoop::watch(int fd, uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watcher;
  checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl add");
  ++watched_;
}

void EventLoop::change(int fd, uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watcher;
  checked(epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event), "epoll_ctl change");
}

void EventLoop::unwatch(int fd, Watcher& watcher) {
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0) --watched_;
  for (int i = ready_next_; i < ready_count_; ++i) {
    if (ready_[i].data.ptr == &watcher) ready_[i].data.ptr = nullptr;
  }
}

void EventLoop::run() {
  while (!stop_) wait_and_run_once();
  stop_ = false;
}

void EventLoop::stop() {
  stop_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(eventfd_.get(), &one, sizeof one);
}

void EventLoop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    if (posted_.size() > 1) return;  // the loop is woken already and has not looked yet
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(eventfd_.get(), &one, sizeof one);
}

void EventLoop::set_reads_first() {
  reads_first_ = true;
  read_bytes_max_ = frames_read_at_once_first * wire::FrameReader::read_bytes_max;
  read_room_.resize(late_bytes_max + read_bytes_max_);
}

std::span<uint8_t> EventLoop::read_room() {
  if (room_used_ > late_bytes_max) look_now();
  return std::span(read_room_).subspan(room_used_, read_bytes_max_);
}

bool EventLoop::look_later(LateReader& reader, size_t bytes) {
  // Where a read was full there is more than anybody stamps one by one.
  if (!reads_first_ || bytes >= read_bytes_max_) return false;
  room_used_ += bytes;
  late_.push_back(&reader);
  return true;
}

void EventLoop::forget_read(LateReader& reader) {
  for (LateReader*& late : late_) {
    if (late == &reader) late = nullptr;
  }
}

void EventLoop::look_now() {
  // Who looks may close others, but nobody reads meanwhile.
  for (size_t i = 0; i < late_.size(); ++i) {
    if (LateReader* reader = std::exchange(late_[i], nullptr)) reader->look_at_read();
  }
  late_.clear();
  room_used_ = 0;
}

/// As epoll_wait().
int EventLoop::look(int timeout_ms) {
  look_ns_ = now_ns();
  return epoll_wait(epoll_.get(), ready_.get(), events_per_wake_up_max, timeout_ms);
}

int EventLoop::sleep() {
  const int ready = look(-1);
  if (ready < 1 || ready > courteous_ready_max_) return ready;
  const int64_t awake_ns = now_ns();
  if (courtesy_.due(awake_ns)) {
    sched_yield();
    courtesy_.yielded(awake_ns, now_ns());
  }
  return ready;
}

int EventLoop::wait() {
  if (std::exchange(wake_again_, false)) return look(0);
  if (const int64_t awake_ns = spin_ns_ + (nap_was_short_ ? short_nap_ns_ : 0); awake_ns > 0) {
    const int64_t until_ns = now_ns() + awake_ns;
    do {
      if (const int ready = look(0); ready != 0) return ready;
    } while (now_ns() < until_ns);
  }
  if (short_nap_ns_ == 0) return sleep();
  const int64_t asleep_ns = now_ns();
  const int ready = sleep();
  nap_was_short_ = now_ns() - asleep_ns < short_nap_ns_;
  return ready;
}

void EventLoop::wait_and_run_once() {
  set_timerfd();
  // A process that stood still is interrupted: what has come meanwhile goes before the timers that fell due.
  do {
    ready_count_ = wait();
  } while (ready_count_ < 0 && errno == EINTR);
  if (ready_count_ < 0) {
    ready_count_ = 0;
    throw std::system_error(errno, std::generic_category(), "epoll_wait");
  }
  woke_ns_ = now_ns();
  closings_ = 0;
  note_look();
  bool posted = run_ready();
  for (int i = 0; i < late_looks_max && !late_.empty(); ++i) {
    ready_count_ = std::max(look(0), 0);  // interrupted: as if there was nothing, which the next wake-up finds
    if (ready_count_ == 0) break;
    posted |= run_ready();
  }
  look_now();
  run_due_timers();
  if (posted) run_posted();
  if (after_wake_up_) after_wake_up_();
}

/// What is ready comes in turn: after so many looks each descriptor had one.
void EventLoop::note_look() {
  if (behind_looks_ == 0) behind_since_ns_ = look_ns_;
  const bool left_some = ready_count_ == events_per_wake_up_max && behind_looks_ < (watched_ + own_descriptors) / events_per_wake_up_max;
  behind_looks_ = left_some ? behind_looks_ + 1 : 0;
  if (!left_some) looked_ns_ = behind_since_ns_;
}

/// True: work was posted.
bool EventLoop::run_ready() {
  bool posted = false;
  for (ready_next_ = 0; ready_next_ < ready_count_;) {
    const epoll_event& event = ready_[ready_next_++];
    if (event.data.ptr == nullptr) continue;  // unwatched during this wake-up
    if (event.data.ptr == &timerfd_) {
      drain_counter(timerfd_.get());
      timerfd_set_ns_ = 0;
    } else if (event.data.ptr == &eventfd_) {
      drain_counter(eventfd_.get());
      posted = true;
    } else {
      static_cast<Watcher*>(event.data.ptr)->on_events(event.events);
    }
  }
  ready_count_ = 0;
  return posted;
}

void EventLoop::run_due_timers() {
  if (heap_.empty()) return;
  // What is armed meanwhile, for an instant already past too, waits for the next wake-up: descriptors get their turn, and so do all timers.
  const int64_t now = now_ns();
  due_from_ns_ = now + 1;
  const auto is_due = [&](int64_t by_ns) { return !heap_.empty() && heap_.front()->at_ns_ <= by_ns; };
  // Where a wake-up is long they have a share of it: by their number alone, many that strangers brought would be in the way of all others.
  const int64_t by_ns = now + (now - woke_ns_) / timers_share;
  for (size_t done = 0; is_due(now) && (done < due_max_ || now_ns() < by_ns); ++done) {
    Timer* timer = heap_.front();
    timer->disarm();
    timer->on_due_();
  }
  if (is_due(due_from_ns_)) wake_again();
  due_from_ns_ = INT64_MIN;
}

void EventLoop::run_posted() {
  {
    const std::lock_guard lock(mutex_);
    running_.swap(posted_);
  }
  for (auto& work : running_) work();
  running_.clear();
}

void EventLoop::set_timerfd() {
  const int64_t wanted_ns = heap_.empty() ? 0 : std::max<int64_t>(kernel_timer_ns(heap_.front()->at_ns_), 1);
  // A timerfd that rings too early costs one empty wake-up; setting it anew for each change would cost a system call each time.
  if (wanted_ns == 0 || (timerfd_set_ns_ != 0 && timerfd_set_ns_ <= wanted_ns)) return;
  itimerspec spec{};
  spec.it_value.tv_sec = wanted_ns / ns_per_s;
  spec.it_value.tv_nsec = wanted_ns % ns_per_s;
  checked(timerfd_settime(timerfd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr), "timerfd_settime");
  timerfd_set_ns_ = wanted_ns;
}

void EventLoop::heap_place(size_t index, Timer* timer) {
  heap_[index] = timer;
  timer->heap_index_ = index;
}

void EventLoop::heap_up(size_t index) {
  Timer* timer = heap_[index];
  while (index > 0 && heap_[(index - 1) / 2]->at_ns_ > timer->at_ns_) {
    heap_place(index, heap_[(index - 1) / 2]);
    index = (index - 1) / 2;
  }
  heap_place(index, timer);
}

void EventLoop::heap_down(size_t index) {
  Timer* timer = heap_[index];
  while (2 * index + 1 < heap_.size()) {
    size_t child = 2 * index + 1;
    if (child + 1 < heap_.size() && heap_[child + 1]->at_ns_ < heap_[child]->at_ns_) ++child;
    if (heap_[child]->at_ns_ >= timer->at_ns_) break;
    heap_place(index, heap_[child]);
    index = child;
  }
  heap_place(index, timer);
}

void EventLoop::heap_remove(size_t index) {
  heap_[index]->heap_index_ = Timer::not_armed;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (index == heap_.size()) return;
  heap_place(index, last);
  heap_up(index);
  heap_down(last->heap_index_);
}

}  // namespace n2nq::net
