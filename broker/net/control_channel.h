// SPDX-License-Identifier: GPL-3.0-or-later
// The control protocol's pipe: newline-delimited JSON over two descriptors (stdin and stdout), read and written by a thread of its own,
// so that neither a silent bench nor a slow one can hold the data thread.
//
// Who shares stdout with others, behind a login shell whose scripts left something running, gets each line marked as the program's own, and long
// ones in parts: each is of 4 KiB at most, which the kernel takes in one piece, so that what others write comes between them and never into one.
//
// The thread also keeps the lease, and turns SIGTERM into a `stop` and a `bye` as if the bench had sent them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "broker/net/event_loop.h"
#include "broker/net/fd.h"

namespace n2nq::net {

/// Before the text of each part of a marked line, and behind that of the last one, which a short line's only one is: no JSON text has them.
constexpr char part_begin = '\x02', last_part_end = '\x03';
/// The argument of a program that asks for `Options::marked`.
constexpr const char* marked_argument = "--marked";

/// To be called first in main(), before any thread is started: SIGTERM is taken by the control channel, SIGINT, SIGPIPE and SIGXFSZ are ignored.
void prepare_signals();

class ControlChannel {
 public:
  struct Options {
    int in_fd = 0;
    int out_fd = 1;
    /// A bench may stand still for 10 s though its last line was the oldest that it can be; and what a cut leaves behind ends 5 s
    /// after the bench has found the link lost, which it does from 8 s on.
    int64_t lease_ns = 12'500'000'000;
    size_t line_bytes_max = 64 * 1024 * 1024;
    size_t unsent_bytes_max = 256 * 1024 * 1024;  // lines the bench has not read; beyond it the lease counts as lost
    bool marked = false;
  };
  struct Handlers {
    /// On the loop's thread: every object that handle_here did not take.
    std::function<void(const nlohmann::json& object)> on_object;
    /// On the control thread, before on_object; true: taken. May be empty.
    std::function<bool(const nlohmann::json& object)> handle_here;
    /// On the control thread, once: nothing was read for lease_ns, stdin ended (and what came before was answered, for which it waits a second
    /// at most), or stdout is gone. The process is to flush its files and
    /// leave with exit code 3.
    std::function<void(const std::string& reason)> on_lease_lost;
  };

  /// Starts the thread. `loop` must outlive the channel.
  ControlChannel(EventLoop& loop, Options options, Handlers handlers);
  /// Writes what waits (unless flush() has waited in vain) and joins the thread. Gives up when the bench has taken nothing for 5 s; where the
  /// lease was lost meanwhile that is 5 s in all, and where it was lost before, and on_lease_lost called, at once.
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  /// Any thread; never blocks. One line: `object` must not contain what does not fit in JSON (invalid UTF-8 is replaced). In place of one that is
  /// longer than unsent_bytes_max an error says so.
  void write_line(const nlohmann::json& object);
  size_t written_line_bytes_max() const { return options_.unsent_bytes_max; }
  /// That error, for who knows of a line of this `type` how many `bytes` it would have ("at least 300"), and has not built it.
  void leave_out(const std::string& type, const std::string& bytes);
  /// {"type":"error",…}; `key` and `order`, the type of what is not done, are left out when they are empty.
  void write_error(const std::string& code, const std::string& message, const std::string& key = {}, const std::string& order = {});
  /// Any thread but the control thread: waits until everything is written, or the bench has taken nothing for `stall_ns`; true when it is
  /// written. A bench that takes it slowly, over a thin line, gets it whole while it keeps its lease.
  bool flush(int64_t stall_ns);
  /// On the control thread: since when nothing was read.
  int64_t unheard_ns() const;

 private:
  void run();
  bool must_end(int64_t now);
  void take_signal();
  void read_input();
  void append_to_line(std::string_view part);
  void take_line(std::string_view line);
  void deliver(nlohmann::json object);
  void queue_output(std::string line);
  void write_output();
  void check_output();
  void lose_lease(const std::string& reason);
  void wake();
  bool output_waits();
  int64_t give_up_ns(int64_t since_ns, int64_t stall_ns) const;

  EventLoop& loop_;
  const Options options_;
  const Handlers handlers_;
  Fd wake_fd_;
  Fd signal_fd_;
  std::string line_;
  bool line_too_long_ = false;
  bool input_ended_ = false;
  std::string input_end_;                    // for which the lease is lost; empty: it has not ended
  int64_t input_end_ns_ = 0;                 // when
  std::atomic<bool> input_handled_ = false;  // all that came before that, on the loop's thread
  bool bye_read_ = false;  // the bench may close its end then
  bool lease_lost_ = false;
  int64_t last_read_ns_ = 0;
  int64_t ending_since_ns_ = 0;  // 0: not ending

  std::mutex mutex_;
  std::condition_variable written_out_;
  bool output_failed_ = false;      // guarded by mutex_
  bool gave_up_ = false;            // flush(); guarded by mutex_
  std::deque<std::string> output_;  // lines, or their parts; guarded by mutex_
  size_t output_written_ = 0;       // of the first one; guarded by mutex_
  size_t output_bytes_ = 0;         // guarded by mutex_
  int64_t last_written_ns_ = 0;     // guarded by mutex_
  bool may_be_slow_ = true;         // until the lease is lost; guarded by mutex_
  bool lost_told_ = false;          // on_lease_lost was called; guarded by mutex_
  bool ending_ = false;             // guarded by mutex_
  std::thread thread_;
};

}  // namespace n2nq::net
