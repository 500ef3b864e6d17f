// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/recorder.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>

namespace n2nq::worker {

namespace {

constexpr auto look_every = std::chrono::milliseconds(20);
/// A pass over the ring writes to every log that has new lines, so passes are rare as long as the ring is far from full.
constexpr std::int64_t pass_every_ns = 80 * net::ns_per_ms;
constexpr std::size_t pass_early_at_part = 8;  // when an eighth of the ring is full
constexpr std::size_t records_per_pass_max = 64 * 1024;
/// The writer yields to threads that carry messages.
constexpr int writer_nicer_by = 5, nice_max = 19;

std::vector<ServiceLog> make_logs(const std::string& folder, WorkerRole role, std::uint32_t first, std::uint32_t last) {
  std::vector<ServiceLog> logs;
  logs.reserve(last - first + 1);
  for (std::uint32_t number = first; number <= last; ++number) logs.emplace_back(folder, role, number);
  return logs;
}

/// 0: no connection; 1: one without a port.
std::string port_text(std::uint32_t port_and_one) {
  if (port_and_one == 0) return "none";
  return port_and_one == 1 ? "unix" : std::to_string(port_and_one - 1);
}

}  // namespace

HeadLines head_of_log(WorkerRole role, std::uint32_t number, const LogOptions& options, const std::string& source_port,
                      const std::string& offset_to_broker_ns) {
  HeadLines head = {{"format", "1"}, {"service", measure::service_name(role == WorkerRole::senders ? 'S' : 'R', number)}};
  head.insert(head.end(), options.head.begin(), options.head.end());
  head.emplace_back("log", options.mode == LogMode::all ? "all" : "every " + std::to_string(options.sample_every) + "th message");
  head.emplace_back("source_port", source_port);
  head.emplace_back("offset_to_broker_ns", offset_to_broker_ns);
  return head;
}

Recorder::Recorder(WorkerRole role, std::uint32_t first, std::uint32_t last, LogOptions options, const std::string& staging_folder)
    : role_(role), first_(first), options_(std::move(options)) {
  if (options_.mode == LogMode::off) return;
  begun_ = std::vector<Begun>(last - first + 1);
  logs_ = make_logs(options_.folder, role, first, last);
  head_written_.resize(logs_.size());
  clock_lines_there_.resize(logs_.size());
  clock_lines_written_.resize(logs_.size());
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  if (error || access(options_.folder.c_str(), W_OK | X_OK) != 0) {
    throw std::runtime_error("log folder " + options_.folder + ": " + (error ? error.message() : "cannot be written to"));
  }
  if (!options_.go_on) StagingRing::remove_abandoned(staging_folder);  // what it goes on from may look like that
  const std::string name = std::string("n2nq-") + name_of(role) + "-" + std::to_string(getpid()) + "-" + std::to_string(net::now_ns());
  ring_ = std::make_unique<StagingRing>(StagingRing::create(staging_folder, name + std::string(StagingRing::suffix), role));
  thread_ = std::thread([this] { run(); });
}

Recorder::~Recorder() {
  finish();
}

void Recorder::begin_log(std::uint32_t service, std::uint16_t source_port, std::int64_t offset_to_broker_ns) {
  if (!ring_) return;
  Begun& begun = begun_[service - first_];
  if (begun.port_and_one.load(std::memory_order_relaxed) != 0) return;
  begun.offset_to_broker_ns.store(offset_to_broker_ns, std::memory_order_relaxed);
  begun.port_and_one.store(std::uint32_t{source_port} + 1, std::memory_order_release);
}

void Recorder::note(const Record& record) {
  if (!ring_) return;
  if (options_.mode == LogMode::sampled && (record.is_skipped() || record.index % options_.sample_every != 0)) return;
  // Behind a clock that waits still, even where there is room again by now: its line would be by another one.
  if (!own_waiting_ && !senders_waiting_) [[likely]] {
    if (ring_->push(record)) [[likely]]
      return;
  } else if (push_clocks()) {
    if (ring_->push(record)) return;
  } else {
    ring_->count_dropped();
  }
  Begun& begun = begun_[record.service - first_];
  begun.dropped.store(begun.dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Recorder::note_clock(const ClockNote& note) {
  if (!ring_) return;
  (note.whose == ClockNote::Whose::own ? own_waiting_ : senders_waiting_) = note;
  push_clocks();
}

/// True when none waits any more.
bool Recorder::push_clocks() {
  for (std::optional<ClockNote>* waiting : {&own_waiting_, &senders_waiting_}) {
    if (*waiting && ring_->try_push((*waiting)->record())) waiting->reset();
  }
  return !own_waiting_ && !senders_waiting_;
}

void Recorder::go_on_from(const LogCounts& before) {
  if (ring_) ring_->add_unwritten(before.dropped);
  if (before.dropped > 0) foot_remark_ = dropped_before(before.dropped);
  keep_error(before.error);
}

LogCounts Recorder::counts() const {
  LogCounts counts;
  counts.lines = lines_.load(std::memory_order_relaxed);
  if (ring_) counts.dropped = ring_->unwritten() + ring_->dropped();
  const std::lock_guard lock(mutex_);  // never held while something is written
  counts.error = error_;
  return counts;
}

std::string Recorder::staging_file() const {
  return ring_ ? ring_->path() : "";
}

void Recorder::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  finishing_changed_.notify_all();
  thread_.join();
}

void Recorder::run() {
  const int writer_nice = std::min(nice_max, getpriority(PRIO_PROCESS, static_cast<id_t>(getpid())) + writer_nicer_by);
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), writer_nice);
  std::int64_t last_pass_ns = 0;
  touched_ns_ = net::now_ns();
  for (bool finishing = false; !finishing;) {
    {
      std::unique_lock lock(mutex_);
      finishing = finishing_changed_.wait_for(lock, look_every, [this] { return finishing_; });
    }
    begin_logs();
    const bool due = net::now_ns() - last_pass_ns >= pass_every_ns;
    if (!due && !finishing && ring_->fill() < ring_->capacity() / pass_early_at_part) continue;
    do {
      write_waiting();
      touch_now_and_then();  // here, because a ring that stays that full keeps it here
    } while (ring_->fill() >= (finishing ? 1 : ring_->capacity() / pass_early_at_part));
    last_pass_ns = net::now_ns();
  }
  close_logs();
  ring_->remove_file();
}

void Recorder::touch_now_and_then() {
  const std::int64_t now_ns = net::now_ns();
  if (now_ns - touched_ns_ < options_.touch_every_ns) return;
  ring_->touch();
  touched_ns_ = now_ns;
}

void Recorder::begin_logs() {
  if (logs_begun_ == logs_.size()) return;
  for (std::size_t place = 0; place < logs_.size(); ++place) {
    if (head_written_[place] || begun_[place].port_and_one.load(std::memory_order_acquire) == 0) continue;
    open_log(place);
    ++logs_begun_;
  }
}

void Recorder::open_log(std::size_t place) {
  const std::uint32_t port_and_one = begun_[place].port_and_one.load(std::memory_order_relaxed);
  const HeadLines head = head_of_log(role_, logs_[place].number(), options_, port_text(port_and_one),
                                     std::to_string(begun_[place].offset_to_broker_ns.load(std::memory_order_relaxed)));
  std::error_code unknown;  // then it is opened as a new one, which says what is wrong
  const bool goes_on = options_.go_on && std::filesystem::exists(logs_[place].path(), unknown);
  if (goes_on) {
    bool has_head = false;
    keep_error(logs_[place].open_again([&has_head](std::string_view line) { has_head = has_head || line.starts_with("# format: "); }));
    // The disk had no room for it: then nothing stands there.
    if (logs_[place].is_open() && !has_head && logs_[place].lines() == 0) keep_error(logs_[place].open(head));
  } else {
    keep_error(logs_[place].open(head));
  }
  head_written_[place] = true;
}

void Recorder::write_waiting() {
  // Records are given up only when their lines are written: a process that is killed in between leaves them twice, never lost.
  const std::span<const Record> records = ring_->waiting(records_per_pass_max);
  for (const Record& record : records) {
    if (record.is_clock()) {
      clock_lines_.add(ClockNote::of(record));
      continue;
    }
    const std::size_t place = record.service - first_;
    ServiceLog& log = logs_[place];
    if (!log.has_waiting()) touched_.push_back(&log);
    clock_lines_.each_from(clock_lines_there_[place], [&log](const std::string& line) { log.add_remark(line); });
    clock_lines_there_[place] = clock_lines_.end();
    log.add(record);
  }
  for (ServiceLog* log : touched_) {
    const auto place = static_cast<std::size_t>(log - logs_.data());
    if (!log->is_open()) open_log(place);
    const std::string error = log->flush();
    // Those that went with it have to come again when there is room: what stands behind them needs them.
    (error.empty() ? clock_lines_written_ : clock_lines_there_)[place] = (error.empty() ? clock_lines_there_ : clock_lines_written_)[place];
    keep_error(error);
  }
  touched_.clear();
  ring_->drop(records.size());
  count_lines();
}

void Recorder::close_logs() {
  for (std::size_t place = 0; place < logs_.size(); ++place) {
    if (!logs_[place].is_open()) open_log(place);  // also where there was no room for the file before
    keep_error(logs_[place].close(begun_[place].dropped.load(std::memory_order_relaxed), foot_remark_));
  }
  count_lines();
}

void Recorder::count_lines() {
  std::uint64_t lines = 0, dropped = 0;
  for (const ServiceLog& log : logs_) {
    lines += log.lines();
    dropped += log.dropped();
  }
  lines_.store(lines, std::memory_order_relaxed);
  ring_->add_unwritten(dropped - dropped_by_disk_);
  dropped_by_disk_ = dropped;
}

void Recorder::keep_error(const std::string& error) {
  if (error.empty()) return;
  const std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = error;
}

}  // namespace n2nq::worker
