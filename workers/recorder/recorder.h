// SPDX-License-Identifier: GPL-3.0-or-later
// The service logs of one worker process. The data thread notes records and never waits for anything: a full ring drops the line and counts
// it. A thread of the recorder turns records into lines, every file at most 100 ms behind. A disk that is full costs lines, never the run.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "broker/net/clock.h"
#include "workers/recorder/clock_lines.h"
#include "workers/recorder/clock_note.h"
#include "workers/recorder/service_log.h"
#include "workers/recorder/staging_ring.h"

namespace n2nq::worker {

enum class LogMode { all, sampled, off };

struct LogOptions {
  LogMode mode = LogMode::all;
  std::uint32_t sample_every = 100;  // sampled: messages whose index is a multiple of it
  std::string folder;
  HeadLines head;      // beside what the recorder says itself
  bool go_on = false;  // the logs are there already, by a process before this one
  std::int64_t touch_every_ns = 60 * net::ns_per_s;  // the staging file, which then is nobody's only long after its process's end
};

/// The head of a service's log; port and offset as text, for they may be unknown.
HeadLines head_of_log(WorkerRole role, std::uint32_t number, const LogOptions& options, const std::string& source_port,
                      const std::string& offset_to_broker_ns);

struct LogCounts {
  std::uint64_t lines = 0;    // in the files
  std::uint64_t dropped = 0;  // not in the files, though they should be
  std::string error;          // the first thing that went wrong, with path and reason; empty: nothing
};

class Recorder {
 public:
  /// Services are numbered from `first` to `last`. Creates the folder and the staging file and starts the thread. Throws std::runtime_error
  /// naming what cannot be created. With LogMode::off it has neither file nor thread.
  Recorder(WorkerRole role, std::uint32_t first, std::uint32_t last, LogOptions options, const std::string& staging_folder);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Data thread: the service has its connection; its log begins. Later calls for the same service change nothing.
  void begin_log(std::uint32_t service, std::uint16_t source_port, std::int64_t offset_to_broker_ns);
  /// False with LogMode::off: note() does nothing.
  bool is_on() const { return ring_ != nullptr; }
  /// Data thread. Costs a copy into the ring.
  void note(const Record& record);

  /// Data thread: every log says so before its next line. Is kept while the ring is full: no line comes before what it is written by.
  void note_clock(const ClockNote& note);

  /// Before the first note(): what the process before this one had not written, and what went wrong there.
  void go_on_from(const LogCounts& before);

  /// Any thread.
  LogCounts counts() const;
  /// Path of the staging file; empty when there is none.
  std::string staging_file() const;

  /// After the last note(): writes what waits and the feet, removes the staging file. Once; the destructor does it otherwise.
  void finish();

 private:
  struct Begun {  // told by the data thread, read by the writer once the port is there
    std::atomic<std::uint32_t> port_and_one{0};
    std::atomic<std::int64_t> offset_to_broker_ns{0};
    std::atomic<std::uint64_t> dropped{0};  // by a full ring
  };

  bool push_clocks();
  void run();
  void touch_now_and_then();
  void write_waiting();
  void begin_logs();
  void open_log(std::size_t place);
  void close_logs();
  void keep_error(const std::string& error);
  void count_lines();

  const WorkerRole role_;
  const std::uint32_t first_;
  const LogOptions options_;
  std::unique_ptr<StagingRing> ring_;
  /// The data thread's: what there was no room for yet. Of each clock the last alone: there is no line between it and those before.
  std::optional<ClockNote> own_waiting_, senders_waiting_;
  std::vector<Begun> begun_;      // by service, from first_
  std::vector<ServiceLog> logs_;  // the same; the writer's
  std::vector<ServiceLog*> touched_;
  ClockLines clock_lines_;
  std::vector<std::uint64_t> clock_lines_there_;    // by service: up to which its log has them, or they wait to be written there
  std::vector<std::uint64_t> clock_lines_written_;  // of these
  std::vector<bool> head_written_;              // or tried
  std::size_t logs_begun_ = 0;                  // while their services ran
  std::int64_t touched_ns_ = 0;
  std::atomic<std::uint64_t> lines_{0};
  std::uint64_t dropped_by_disk_ = 0;  // the writer's
  std::string foot_remark_;            // of all logs; set before anything is noted

  mutable std::mutex mutex_;
  std::condition_variable finishing_changed_;
  bool finishing_ = false;  // guarded by mutex_
  std::string error_;       // guarded by mutex_
  std::thread thread_;
};

}  // namespace n2nq::worker
